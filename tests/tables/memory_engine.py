"""A slow engine over lists of dicts, for tests: the contract of `core.measures` word for word.

Where a cut is needed it keeps the first of a unit's pairs in the order of their spelling: any order
that depends on the pair alone will do.

`Faults` are wrong ways to weigh, which the tests of sensitivities have to notice.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from math import floor, isqrt, prod
from typing import Any

import numpy as np

from letalone.engines.core.measures import (
    CellCounts,
    DistinctUnits,
    DistinctValues,
    Exact,
    GridSum,
    Listed,
    Measure,
    ProductSum,
    Rows,
    RowScope,
    RowsWith,
    ValueCounts,
)
from letalone.plans.expressions import (
    And,
    Case,
    ColumnRef,
    Comparison,
    Expression,
    IsNull,
    Literal,
    Not,
)

Row = dict[str, Any]
COMPARE = {
    "=": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def evaluate(of: Expression, row: Row) -> Any:
    match of:
        case ColumnRef(name):
            return row[name]
        case Literal(value):
            return value
        case Comparison(op, left, right):
            sides = evaluate(left, row), evaluate(right, row)
            return None if None in sides else COMPARE[op](*sides)
        case IsNull(inner):
            return evaluate(inner, row) is None
        case Not(inner):
            value = evaluate(inner, row)
            return None if value is None else not value
        case And(parts):
            values = [evaluate(part, row) for part in parts]
            return False if False in values else (None if None in values else True)
        case Case(branches, otherwise):
            for condition, value in branches:
                if evaluate(condition, row) is True:
                    return evaluate(value, row)
            return evaluate(otherwise, row)
    raise TypeError(type(of).__name__)


class Fault(Enum):
    """Ways to weigh that bound nothing, or not what is claimed."""

    ROUNDED_UP = auto()
    ROWS_BY_GROUP = auto()  # n counted in each group where it has to be that of the unit
    ROOT_OF_GROUPS = auto()  # √(G/g) where the L1 norm counts
    ALWAYS_A_SHARE = auto()  # k/n without min(1, ·)
    ROWS_OF_ALL = auto()  # n counted over all units
    NO_CUT = auto()  # of different values


@dataclass(frozen=True)
class Part:
    """Rows of one unit in one group, and what each of them weighs; the weight of the pair."""

    unit: Any
    key: Any
    rows: tuple[Row, ...]
    each: int
    pair: int


@dataclass
class MemoryEngine:
    rows: list[Row]
    fault: Fault | None = None

    def measure(self, scope: RowScope, measures: Sequence[Measure]) -> list[Exact]:
        keys = scope.keys if scope.groups else ((),)
        assert keys is not None
        parts = self._weighed(scope, set(keys))
        return [_amounts(measure, parts, keys, scope, self.fault) for measure in measures]

    def discover(self, scope: RowScope) -> list[tuple[tuple[Any, ...], int]]:
        found: dict[Any, int] = {}
        few = scope.bounding.key_groups
        most = _most_groups(scope) if few is None else few
        for rows in self._people(scope).values():
            for key in sorted({_key(row, scope) for row in rows}, key=repr)[:most]:
                found[key] = found.get(key, 0) + 1
        return list(found.items())

    def _people(self, scope: RowScope) -> dict[Any, list[Row]]:
        """The rows that pass the filter, by unit."""
        found: dict[Any, list[Row]] = defaultdict(list)
        for place, row in enumerate(self.rows):
            owner = place if scope.schema.unit is None else row[scope.schema.unit]
            passes = scope.where is None or evaluate(scope.where, row) is True
            if owner is not None and passes:
                found[owner].append(row)
        return found

    def _weighed(self, scope: RowScope, listed: set[Any]) -> list[Part]:
        bounding, whole, people = scope.bounding, _whole(scope), self._people(scope)
        paired = bounding.max_groups is not None and bool(scope.groups)
        found = []
        for owner, rows in people.items():
            groups: dict[Any, list[Row]] = defaultdict(list)
            for row in rows:
                groups[_key(row, scope)].append(row)
            here = {key: mine for key, mine in groups.items() if key in listed}
            pair = self._share(whole, _most_groups(scope), len(here), scope.norm)
            for key, mine in here.items():
                by_group = paired or self.fault is Fault.ROWS_BY_GROUP
                many = len(mine) if by_group else len(rows)
                if self.fault is Fault.ROWS_OF_ALL:
                    many = sum(map(len, people.values()))
                most = bounding.max_rows if scope.schema.unit is not None else None
                each = self._share(whole, most, many)
                weight = self._product(each, pair, whole) if paired else each
                found.append(Part(owner, key, tuple(mine), weight, pair))
        return found

    def _share(self, whole: int, most: int | None, number: int, norm: int = 1) -> int:
        if most is None or (number <= most and self.fault is not Fault.ALWAYS_A_SHARE):
            return whole
        if norm == 2 or (self.fault is Fault.ROOT_OF_GROUPS and norm == 1):
            return isqrt(whole**2 * most // number)
        up = number - 1 if self.fault is Fault.ROUNDED_UP else 0
        return (whole * most + up) // number

    def _product(self, each: int, pair: int, whole: int) -> int:
        up = whole - 1 if self.fault is Fault.ROUNDED_UP else 0
        return (each * pair + up) // whole


def _whole(scope: RowScope) -> int:
    weighed = scope.schema.unit is not None and scope.per_unit is None
    return 2**scope.weight_bits if weighed else 1


def _most_groups(scope: RowScope) -> int | None:
    if scope.schema.unit is None or not scope.groups:
        return None
    bounding = scope.bounding
    return bounding.max_rows if bounding.max_groups is None else bounding.max_groups


def _key(row: Row, scope: RowScope) -> tuple[Any, ...]:
    return tuple(evaluate(group.of, row) for group in scope.groups)


def _amounts(
    measure: Measure, parts: list[Part], keys: Any, scope: RowScope, fault: Fault | None
) -> Any:
    if isinstance(measure, DistinctValues):
        left = _different(measure, parts, scope, fault)
        return [_whole(scope) * len(left[key]) for key in keys]
    zero = np.zeros(measure.count if isinstance(measure, Listed) else (), dtype=object)
    found = dict.fromkeys(keys, zero)
    clipped = scope.bounding.clip and scope.schema.unit is not None
    for part in parts:
        if isinstance(measure, DistinctUnits):
            amount: Any = part.pair
        elif clipped:
            amount = part.pair * _clipped(measure, part.rows)
        else:
            amount = part.each * sum(_of_row(measure, row) for row in part.rows)
        found[part.key] = found[part.key] + amount
    return [np.asarray(found[key], dtype=object).tolist() for key in keys]


def _different(
    measure: DistinctValues, parts: list[Part], scope: RowScope, fault: Fault | None
) -> dict[Any, set[Any]]:
    bounding, left = scope.bounding, defaultdict(set)
    by_unit: dict[Any, list[tuple[Any, list[Any]]]] = defaultdict(list)
    for part in sorted(parts, key=lambda one: repr(one.key)):
        values = {evaluate(measure.of, row) for row in part.rows} - {None}
        by_unit[part.unit].append((part.key, sorted(values, key=repr)))
    for mine in by_unit.values():
        if scope.schema.unit is None or fault is Fault.NO_CUT:
            kept = [(key, value) for key, values in mine for value in values]
        elif scope.groups and bounding.max_groups is not None:
            some = mine[: bounding.max_groups]
            kept = [(key, value) for key, values in some for value in values[: bounding.max_rows]]
        else:
            kept = [(key, value) for key, values in mine for value in values][: bounding.max_rows]
        for key, value in kept:
            left[key].add(value)
    return left


def _of_row(measure: Measure, row: Row) -> Any:
    match measure:
        case Rows():
            return 1
        case RowsWith(of):
            return int(evaluate(of, row) is not None)
        case GridSum(of):
            place = _place(measure, evaluate(of, row))
            return 0 if place is None else _amount(measure, place)
        case ProductSum(grids, powers):
            places = [_place(grid, evaluate(grid.of, row)) for grid in grids]
            return 0 if None in places else _multiplied(grids, powers, places)
        case CellCounts(of, lower, step, count):
            cells = np.zeros(count, dtype=object)
            x = evaluate(of, row)
            if x is not None:
                cells[min(max(floor((Fraction(x) - lower) / step), 0), count - 1)] = 1
            return cells
        case ValueCounts(of, values):
            x = evaluate(of, row)
            return np.array([x is not None and x == value for value in values], dtype=object) * 1
    raise TypeError(type(measure).__name__)


def _place(measure: GridSum, x: Any) -> int | None:
    if x is None:
        return None
    return min(max(floor(Fraction(x) * Fraction(2) ** measure.shift), measure.low), measure.high)


def _amount(measure: GridSum, place: int) -> int:
    if measure.power == 1:
        return place - measure.low
    return (place - (measure.low + measure.high) // 2) ** 2


def _multiplied(grids: Sequence[GridSum], powers: Sequence[int], places: Sequence[Any]) -> int:
    each = zip(grids, powers, places, strict=True)
    return prod((place - (grid.low + grid.high) // 2) ** power for grid, power, place in each)


def _clipped(measure: Measure, rows: Iterable[Row]) -> int:
    """The own total of a unit, clipped to one row's range: what it counts for as one row."""
    match measure:
        case Rows():
            return 1
        case RowsWith(of):
            return int(any(evaluate(of, row) is not None for row in rows))
        case GridSum(of, low, high):
            places = [_place(measure, evaluate(of, row)) for row in rows]
            there = [place for place in places if place is not None]
            return min(max(sum(there), low), high) - low if there else 0
    raise TypeError(type(measure).__name__)
