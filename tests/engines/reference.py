"""A slow engine in plain Python: the semantics of bounding and measures.

It shares no code with the engines. Rows are dicts of Python values; `ranks` gives each row's
rank among the rows of its unit.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor

from evaluator import Row, evaluate, read
from letalone.engines.measures import (
    CellCounts,
    DistinctUnits,
    DistinctValues,
    GridSum,
    Measure,
    ProductSum,
    Rows,
    RowScope,
    RowsWith,
)
from letalone.plans.clauses import GroupColumn
from letalone.plans.expressions import Expression
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type


class Reference:
    """The measures of a scope over a list of rows.

    `spelled` writes cells where they are stored as text: units are what is stored, so that "nan"
    is a unit there, and 0.0 another one than -0.0.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        ranks: Sequence[int | None],
        spelled: Callable[[object], str] | None = None,
    ) -> None:
        self.rows, self.ranks, self.spelled = rows, ranks, spelled

    def measure(self, scope: RowScope, measures: Sequence[Measure]) -> list[object]:
        kept = self.kept(scope, listed=True)
        keys = scope.keys if scope.groups else ((),)
        return [[amount(one, kept.get(key, []), scope) for key in keys] for one in measures]

    def discover(self, scope: RowScope) -> dict[tuple, int]:
        kept = self.kept(scope, listed=False)
        return {key: len({unit for unit, _ in rows}) for key, rows in kept.items()}

    def kept(self, scope: RowScope, *, listed: bool) -> dict[tuple, list[tuple[object, Row]]]:
        """The rows that count, with their unit, by group."""
        bounding, unit = scope.bounding, scope.schema.unit
        paired = bounding.clip or (bounding.max_groups is not None and bool(scope.groups))
        mine: dict[object, list[tuple[int, tuple, Row]]] = defaultdict(list)
        for place, row in enumerate(self.rows):
            owner = place if unit is None else self.unit(row, scope.schema)
            rank = 1 if unit is None else self.ranks[place]
            if owner is None or (scope.where is not None and not self.chosen(scope, row)):
                continue
            if unit is not None and not paired and rank > (bounding.max_rows or rank):
                continue
            key = tuple(_key(group, self.value(group.of, row, scope)) for group in scope.groups)
            if not listed or not scope.groups or key in scope.keys:
                mine[owner].append((rank, key, row))
        found: dict[tuple, list[tuple[object, Row]]] = defaultdict(list)
        for owner, rows in mine.items():
            groups: dict[tuple, list[Row]] = defaultdict(list)
            for _, key, row in sorted(rows, key=lambda one: one[0]):
                groups[key].append(row)
            most = bounding.max_groups if unit is not None and paired else None
            for key in list(groups)[: most or len(groups)]:
                limit = bounding.max_rows if unit is not None and paired else None
                found[key] += [(owner, row) for row in groups[key][: limit or len(rows)]]
        return found

    def chosen(self, scope: RowScope, row: Row) -> bool:
        return self.value(scope.where, row, scope) is True

    def value(self, of: Expression, row: Row, scope: RowScope) -> object:
        return evaluate(of, row, scope.schema, dict(scope.derived))

    def unit(self, row: Row, schema: Schema) -> object:
        if self.spelled is not None:
            return self.spelled(row[schema.unit]) or None
        column = schema.column(schema.unit)
        return read(row[schema.unit], Column(column.name, column.type))


def amount(measure: Measure, rows: list[tuple[object, Row]], scope: RowScope) -> object:
    def values(of: Expression) -> list[tuple[object, object]]:
        derived = dict(scope.derived)
        found = [(unit, evaluate(of, row, scope.schema, derived)) for unit, row in rows]
        return [(unit, x) for unit, x in found if x is not None]

    clipped = scope.bounding.clip and scope.schema.unit is not None
    match measure:
        case DistinctUnits():
            return len({unit for unit, _ in rows})
        case Rows():
            return len({unit for unit, _ in rows}) if clipped else len(rows)
        case RowsWith(of):
            return len({unit for unit, _ in values(of)}) if clipped else len(values(of))
        case GridSum(of, low, high, _, power):
            places = [(unit, place(measure, x)) for unit, x in values(of)]
            if clipped:
                totals: dict[object, int] = defaultdict(int)
                for unit, one in places:
                    totals[unit] += one
                places = [(unit, min(max(one, low), high)) for unit, one in totals.items()]
            middle = (low + high) // 2
            return sum(one - low if power == 1 else (one - middle) ** 2 for _, one in places)
        case DistinctValues(of):
            return len({x for _, x in values(of)})
        case ProductSum(grids, powers):
            derived = dict(scope.derived)
            total = 0
            for _, row in rows:
                found = [evaluate(grid.of, row, scope.schema, derived) for grid in grids]
                if None not in found:
                    total += multiplied(grids, powers, found)
            return total
        case CellCounts(of, _, _, count):
            cells = [0] * count
            for _, x in values(of):
                cells[cell(measure, float(x))] += 1
            return cells


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
