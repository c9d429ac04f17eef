"""A slow engine in plain Python: the semantics of bounding and measures.

It shares no code with the engines. Rows are dicts of Python values. What a row, or a unit's rows in
one group, counts for is written from the definition: the largest whole number of parts that does
not exceed its share.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from hashlib import sha256
from math import floor, isqrt

from evaluator import Row, evaluate, read
from letalone.engines.core.measures import (
    CellCounts,
    DistinctUnits,
    DistinctValues,
    GridSum,
    Listed,
    Measure,
    ProductSum,
    Rows,
    RowScope,
    RowsWith,
    ValueCounts,
)
from letalone.plans.clauses import GroupColumn
from letalone.plans.expressions import Expression, col
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type


@dataclass
class Mine:
    """The rows of one unit that pass the filter, by group."""

    unit: object
    groups: dict[tuple, list[Row]]

    @property
    def rows(self) -> int:
        return sum(map(len, self.groups.values()))


class Reference:
    """The measures of a scope over a list of rows.

    `spelled` writes cells where they are stored as text: units are what is stored, so that "nan"
    is a unit there, and 0.0 another one than -0.0.
    """

    def __init__(self, rows: Sequence[Row], spelled: Callable[[object], str] | None = None) -> None:
        self.rows, self.spelled = rows, spelled

    def measure(self, scope: RowScope, measures: Sequence[Measure]) -> list[object]:
        people = self.people(scope)
        keys = scope.keys if scope.groups else ((),)
        return [_measured(one, people, keys, scope) for one in measures]

    def discover(self, scope: RowScope) -> dict[tuple, int]:
        """How many units each group has, once no unit has more groups than it may."""
        found: dict[tuple, int] = defaultdict(int)
        few = scope.bounding.key_groups
        most = most_groups(scope) if few is None else few
        for mine in self.people(scope):
            for key in first(mine.groups, most, mine.unit):
                found[key] += 1
        return dict(found)

    def one_row(self, scope: RowScope, names: Sequence[str], target: str | None) -> list[tuple]:
        """Of each unit the first row with a target, by all that is read of it."""
        found = []
        for mine in self.people(scope):
            rows = (row for group in mine.groups.values() for row in group)
            read_of = {tuple(self.value(col(name), row, scope) for name in names) for row in rows}
            place = None if target is None else list(names).index(target)
            labelled = [one for one in read_of if place is None or one[place] is not None]
            found += first(labelled, 1, mine.unit)
        return found

    def people(self, scope: RowScope) -> list[Mine]:
        """Whose rows they are that pass the filter."""
        found: dict[object, Mine] = {}
        for place, row in enumerate(self.rows):
            owner = place if scope.schema.unit is None else self.unit(row, scope.schema)
            if owner is None or (scope.where is not None and not self.chosen(scope, row)):
                continue
            mine = found.setdefault(owner, Mine(owner, defaultdict(list)))
            key = tuple(_key(group, self.value(group.of, row, scope)) for group in scope.groups)
            mine.groups[key].append(row)
        return list(found.values())

    def chosen(self, scope: RowScope, row: Row) -> bool:
        return self.value(scope.where, row, scope) is True

    def value(self, of: Expression, row: Row, scope: RowScope) -> object:
        return value_of(of, row, scope)

    def unit(self, row: Row, schema: Schema) -> object:
        if self.spelled is not None:
            return self.spelled(row[schema.unit]) or None
        column = schema.column(schema.unit)
        return read(row[schema.unit], Column(column.name, column.type))


def value_of(of: Expression, row: Row, scope: RowScope) -> object:
    return evaluate(of, row, scope.schema, dict(scope.derived))


def is_weighed(scope: RowScope) -> bool:
    return scope.schema.unit is not None and scope.per_unit is None


def is_paired(scope: RowScope) -> bool:
    """Whether pairs of a unit and a listed group are bounded."""
    return bool(scope.groups) and scope.bounding.max_groups is not None


def most_groups(scope: RowScope) -> int | None:
    if not is_weighed(scope):
        return None
    bounding = scope.bounding
    return bounding.max_rows if bounding.max_groups is None else bounding.max_groups


def whole(scope: RowScope) -> int:
    """What a whole row counts."""
    return 2**scope.weight_bits if is_weighed(scope) else 1


def part(whole: int, most: int | None, number: int, norm: int = 1) -> int:
    """The largest number of parts whose `norm`-th powers, `number` of them, keep to `most`."""
    if most is None or number <= most:
        return whole
    return (whole * most) // number if norm == 1 else isqrt(whole * whole * most // number)


def of_pair(mine: Mine, scope: RowScope, most: int | None) -> int:
    """What a unit weighs in each listed group."""
    listed = len([key for key in mine.groups if not scope.groups or key in scope.keys])
    return part(whole(scope), most, listed, scope.norm)


def of_row(mine: Mine, key: tuple, scope: RowScope) -> int:
    """What each of a unit's rows in a group weighs."""
    full, most = whole(scope), scope.bounding.max_rows
    if not is_weighed(scope):
        return 1
    if not is_paired(scope):
        return part(full, most, mine.rows)
    share = part(full, most, len(mine.groups[key]))
    return share * of_pair(mine, scope, scope.bounding.max_groups) // full


def text(value: object) -> str:
    """How a part of a digest is spelled on every engine; others are left out of cuts here."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | str):
        return str(value)
    assert type(value) is date, "engines spell this in different ways"
    return value.isoformat()


def first(parts: Iterable[tuple], most: int | None, *before: object) -> list[tuple]:
    """The first of different parts in the order of their digests; a tie needs the parts."""
    parts = list(parts)
    if most is None or len(parts) <= most:
        return parts

    def order(one: tuple) -> tuple:
        each = "".join(sha256(text(x).encode()).hexdigest() for x in (*before, *one))
        return sha256(each.encode()).hexdigest(), [(x is None, text(x)) for x in one]

    return sorted(parts, key=order)[:most]


def _measured(measure: Measure, people: list[Mine], keys: Sequence, scope: RowScope) -> list:
    if isinstance(measure, DistinctValues):
        left = different(measure, people, scope)
        return [whole(scope) * len(left.get(key, ())) for key in keys]
    zero = [0] * measure.count if isinstance(measure, Listed) else 0
    found = dict.fromkeys(keys, zero)
    for mine in people:
        for key, rows in mine.groups.items():
            if key in found:
                found[key] = _added(found[key], _amount(measure, mine, key, rows, scope))
    return [found[key] for key in keys]


def _added(one: object, other: object) -> object:
    if isinstance(one, list):
        return [a + b for a, b in zip(one, other, strict=True)]
    return one + other


def different(
    measure: DistinctValues, people: list[Mine], scope: RowScope
) -> dict[tuple, set[object]]:
    """The different values of each group that are left of each unit's pairs."""
    bounding, left = scope.bounding, defaultdict(set)
    for mine in people:
        pairs = {
            (*key, found)
            for key, rows in mine.groups.items()
            for row in rows
            if (found := value_of(measure.of, row, scope)) is not None
        }
        if is_weighed(scope) and is_paired(scope):
            listed = {one[:-1] for one in pairs if one[:-1] in scope.keys}
            groups = first(listed, bounding.max_groups, mine.unit)
            in_each = [{one for one in pairs if one[:-1] == key} for key in groups]
            kept = [one for some in in_each for one in first(some, bounding.max_rows, mine.unit)]
        else:
            kept = first(pairs, bounding.max_rows if is_weighed(scope) else None, mine.unit)
        for one in kept:
            left[one[:-1]].add(one[-1])
    return left


def _amount(measure: Measure, mine: Mine, key: tuple, rows: list[Row], scope: RowScope) -> object:
    """What one unit adds to the number of one group."""
    if isinstance(measure, DistinctUnits):
        return of_pair(mine, scope, most_groups(scope) if scope.groups else None)
    if scope.bounding.clip and is_weighed(scope):
        most = scope.bounding.max_groups if scope.groups else None
        return of_pair(mine, scope, most) * _clipped(measure, rows, scope)
    weight = of_row(mine, key, scope)
    amounts = [_of_one(measure, row, scope) for row in rows]
    if isinstance(measure, Listed):
        there = [one for one in amounts if one is not None]
        return [weight * there.count(number) for number in range(measure.count)]
    return weight * sum(amounts)


def _clipped(measure: Measure, rows: list[Row], scope: RowScope) -> int:
    """What a unit's rows in a group count for as one row."""
    if isinstance(measure, Rows):
        return 1
    found = [value_of(measure.of, row, scope) for row in rows]
    there = [x for x in found if x is not None]
    if isinstance(measure, RowsWith) or not there:
        return int(bool(there))
    assert isinstance(measure, GridSum)
    total = sum(place(measure, x) for x in there)
    return _on_grid(measure, min(max(total, measure.low), measure.high))


def _of_one(measure: Measure, row: Row, scope: RowScope) -> int | None:
    """What one row adds; the cell that it is in, None without one."""
    match measure:
        case Rows():
            return 1
        case RowsWith(of):
            return int(value_of(of, row, scope) is not None)
        case GridSum(of):
            x = value_of(of, row, scope)
            return 0 if x is None else _on_grid(measure, place(measure, x))
        case ProductSum(grids, powers):
            found = [value_of(grid.of, row, scope) for grid in grids]
            return 0 if None in found else multiplied(grids, powers, found)
        case CellCounts(of):
            x = value_of(of, row, scope)
            return None if x is None else cell(measure, float(x))
        case ValueCounts(of, values):
            x = value_of(of, row, scope)
            return values.index(x) if x in values else None
    raise TypeError(type(measure).__name__)


def _on_grid(grid: GridSum, one: int) -> int:
    return one - grid.low if grid.power == 1 else (one - (grid.low + grid.high) // 2) ** 2


def place(grid: GridSum, x: object) -> int:
    exact = floor(Fraction(float(x)) * Fraction(2) ** grid.shift)
    return min(max(exact, grid.low), grid.high)


def multiplied(grids: Sequence[GridSum], powers: Sequence[int], row: Sequence[object]) -> int:
    product = 1
    for grid, power, x in zip(grids, powers, row, strict=True):
        product *= (place(grid, x) - (grid.low + grid.high) // 2) ** power
    return product


def cell(cells: CellCounts, x: float) -> int:
    """The last cell whose edge, rounded to the nearest double, is not above x."""
    edges = [float(cells.lower + number * cells.step) for number in range(cells.count)]
    return max((number for number, edge in enumerate(edges) if edge <= x), default=0)


def _key(group: GroupColumn, value: object) -> object:
    """What a value is as a key: of numbers, a whole one of at most 2^53, or nothing."""
    if group.type is not Type.NUMBER or value is None:
        return value
    whole = Fraction(value)
    return int(whole) if whole.denominator == 1 and abs(whole) <= 2**53 else None
