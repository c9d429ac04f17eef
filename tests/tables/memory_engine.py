"""A slow engine over lists of dicts, for tests: the contract of `engines.measures` word for word.

The order of a unit's rows in the list is their stored order (rank).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, prod
from typing import Any

from letalone.engines.measures import (
    CellCounts,
    DistinctUnits,
    DistinctValues,
    Exact,
    GridSum,
    Measure,
    ProductSum,
    Rows,
    RowScope,
    RowsWith,
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


@dataclass
class MemoryEngine:
    rows: list[Row]

    def measure(self, scope: RowScope, measures: Sequence[Measure]) -> list[Exact]:
        keys = scope.keys if scope.groups else ((),)
        assert keys is not None
        kept = self._kept(scope, set(keys))
        return [[_value(measure, kept[key], scope) for key in keys] for measure in measures]

    def discover(self, scope: RowScope) -> list[tuple[tuple[Any, ...], int]]:
        kept = self._kept(scope, None)
        return [(key, len({unit for unit, _ in rows})) for key, rows in kept.items()]

    def _kept(self, scope: RowScope, listed: set[Any] | None) -> dict[Any, list[tuple[Any, Row]]]:
        """The rows that count, with their units, by key."""
        bounding, unit = scope.bounding, scope.schema.unit
        by_unit: dict[Any, list[Row]] = defaultdict(list)
        for place, row in enumerate(self.rows):
            owner = place if unit is None else row[unit]
            if owner is not None:
                by_unit[owner].append(row)
        found: dict[Any, list[tuple[Any, Row]]] = defaultdict(list)
        for owner, rows in by_unit.items():
            in_all = bounding.max_groups is None or not scope.groups
            mine = rows[: bounding.max_rows] if bounding.max_rows and in_all else rows
            for key, group in _groups(mine, scope, listed):
                found[key].extend((owner, row) for row in group)
        return found


def _groups(
    rows: list[Row], scope: RowScope, listed: set[Any] | None
) -> Iterable[tuple[Any, list[Row]]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        if scope.where is not None and evaluate(scope.where, row) is not True:
            continue
        key = tuple(evaluate(group.of, row) for group in scope.groups)
        if listed is None or key in listed:
            groups.setdefault(key, []).append(row)
    bounding = scope.bounding
    chosen = list(groups.items())  # in the order of their first rows
    if scope.groups and bounding.max_groups is not None:
        chosen = chosen[: bounding.max_groups]
        if bounding.max_rows is not None:
            chosen = [(key, group[: bounding.max_rows]) for key, group in chosen]
    return chosen


def _value(measure: Measure, rows: list[tuple[Any, Row]], scope: RowScope) -> Any:
    if isinstance(measure, DistinctUnits):
        return len({unit for unit, _ in rows})
    if scope.bounding.clip and scope.schema.unit is not None:
        return _clipped(measure, rows)
    match measure:
        case Rows():
            return len(rows)
        case RowsWith(of):
            return sum(evaluate(of, row) is not None for _, row in rows)
        case GridSum(of):
            places = (_place(measure, evaluate(of, row)) for _, row in rows)
            return sum(_amount(measure, place) for place in places if place is not None)
        case DistinctValues(of):
            return len({evaluate(of, row) for _, row in rows} - {None})
        case ProductSum(grids, powers):
            found = ([_place(grid, evaluate(grid.of, row)) for grid in grids] for _, row in rows)
            return sum(_multiplied(grids, powers, places) for places in found if None not in places)
        case CellCounts(of, lower, step, count):
            cells = [0] * count
            for _, row in rows:
                x = evaluate(of, row)
                if x is not None:
                    cells[min(max(floor((Fraction(x) - lower) / step), 0), count - 1)] += 1
            return cells


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


def _clipped(measure: Measure, rows: list[tuple[Any, Row]]) -> int:
    """Each unit's own total, clipped to one row's range, counts as one row."""
    by_unit: dict[Any, list[Row]] = defaultdict(list)
    for unit, row in rows:
        by_unit[unit].append(row)
    match measure:
        case Rows():
            return len(by_unit)
        case RowsWith(of):
            return sum(any(evaluate(of, r) is not None for r in mine) for mine in by_unit.values())
        case GridSum(of, low, high):
            total = 0
            for mine in by_unit.values():
                places = [_place(measure, evaluate(of, row)) for row in mine]
                there = [place for place in places if place is not None]
                if there:
                    total += min(max(sum(there), low), high) - low
            return total
    raise TypeError(type(measure).__name__)
