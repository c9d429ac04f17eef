"""A slow engine in plain Python: the semantics of expressions, bounding and measures.

It shares no code with the engines. Rows are dicts of Python values; `ranks` gives each row's
rank among the rows of its unit.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from math import floor, isfinite

from letalone.engines.measures import Cells, GridSum, Measure, Rows, RowsWith, Scope, Units
from letalone.plans.expressions import (
    And,
    Arithmetic,
    Bin,
    Case,
    ColumnRef,
    Comparison,
    DatePart,
    Expression,
    IsNull,
    Literal,
    Negated,
    Not,
    OneOf,
    Or,
)
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

Row = Mapping[str, object]


def value_of(node: Expression, row: Row, schema: Schema, derived: Mapping = {}) -> object:
    """The value of an expression in one row; None where it is missing."""

    def value(part: Expression) -> object:
        return value_of(part, row, schema, derived)

    match node:
        case ColumnRef(name) if name in derived:
            return value(derived[name])
        case ColumnRef(name):
            return read(row[name], schema.column(name))
        case Literal(constant):
            return float(constant) if isinstance(constant, Fraction) else constant
        case Arithmetic(op, left, right):
            return arithmetic(op, value(left), value(right))
        case Negated(of):
            return arithmetic("-", 0.0, value(of)) if value(of) is not None else None
        case Comparison(op, left, right):
            return compared(op, value(left), value(right))
        case And(parts):
            found = [value(part) for part in parts]
            return False if False in found else None if None in found else True
        case Or(parts):
            found = [value(part) for part in parts]
            return True if True in found else None if None in found else False
        case Not(of):
            return None if value(of) is None else not value(of)
        case IsNull(of):
            return value(of) is None
        case OneOf(of, values):
            x = value(of)
            plain = [float(v) if isinstance(v, Fraction) else v for v in values]
            return None if x is None else any(compared("=", x, v) for v in plain)
        case Case(branches, otherwise):
            return as_in(value(next((v for c, v in branches if value(c) is True), otherwise)), node)
        case DatePart(part, of):
            x = value(of)
            return None if x is None else x.isoweekday() if part == "weekday" else getattr(x, part)
        case Bin(of, lower, width, count):
            x = value(of)
            q = arithmetic("/", arithmetic("-", x, float(lower)), float(width))
            return None if q is None or not 0 <= q <= count else min(floor(q), count - 1)
    raise AssertionError(type(node))


def as_in(value: object, node: Case) -> object:
    """Whole numbers in a case that also has other numbers are doubles; here only for tests of =."""
    return value


def read(value: object, column: Column) -> object:
    if isinstance(value, float) and not isfinite(value):
        return None
    if column.type is Type.INTEGER and isinstance(value, int) and not -(2**63) <= value < 2**63:
        return None
    if value is None or not column.type.is_numeric:
        return value
    ends = int if column.type is Type.INTEGER else float
    if column.lower is not None and value < ends(column.lower):
        return ends(column.lower)
    if column.upper is not None and value > ends(column.upper):
        return ends(column.upper)
    return value


def arithmetic(op: str, left: object, right: object) -> float | None:
    if left is None or right is None:
        return None
    a, b = float(left), float(right)
    if op == "/" and b == 0:
        return None
    result = a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else a / b
    return result if isfinite(result) else None


def compared(op: str, left: object, right: object) -> bool | None:
    if left is None or right is None:
        return None
    if isinstance(left, float) != isinstance(right, float):
        left, right = float(left), float(right)
    match op:
        case "=":
            return left == right
        case "<>":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right


class Reference:
    """The measures of a scope over a list of rows."""

    def __init__(self, rows: Sequence[Row], ranks: Sequence[int | None]) -> None:
        self.rows, self.ranks = rows, ranks

    def measure(self, scope: Scope, measures: Sequence[Measure]) -> list[object]:
        kept = self.kept(scope, listed=True)
        keys = scope.keys if scope.groups else ((),)
        return [[amount(one, kept.get(key, []), scope) for key in keys] for one in measures]

    def discover(self, scope: Scope) -> dict[tuple, int]:
        kept = self.kept(scope, listed=False)
        return {key: len({unit for unit, _ in rows}) for key, rows in kept.items()}

    def kept(self, scope: Scope, *, listed: bool) -> dict[tuple, list[tuple[object, Row]]]:
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
            key = tuple(self.value(group.of, row, scope) for group in scope.groups)
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

    def chosen(self, scope: Scope, row: Row) -> bool:
        return self.value(scope.where, row, scope) is True

    def value(self, of: Expression, row: Row, scope: Scope) -> object:
        return value_of(of, row, scope.schema, dict(scope.derived))

    def unit(self, row: Row, schema: Schema) -> object:
        column = schema.column(schema.unit)
        return read(row[schema.unit], Column(column.name, column.type))


def amount(measure: Measure, rows: list[tuple[object, Row]], scope: Scope) -> object:
    def values(of: Expression) -> list[tuple[object, object]]:
        derived = dict(scope.derived)
        found = [(unit, value_of(of, row, scope.schema, derived)) for unit, row in rows]
        return [(unit, x) for unit, x in found if x is not None]

    clipped = scope.bounding.clip and scope.schema.unit is not None
    match measure:
        case Units():
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
        case Cells(of, _, _, count):
            cells = [0] * count
            for _, x in values(of):
                cells[cell(measure, float(x))] += 1
            return cells


def place(grid: GridSum, x: object) -> int:
    exact = floor(Fraction(float(x)) * Fraction(2) ** grid.shift)
    return min(max(exact, grid.low), grid.high)


def cell(cells: Cells, x: float) -> int:
    """The last cell whose edge, rounded to the nearest double, is not above x."""
    edges = [float(cells.lower + number * cells.step) for number in range(cells.count)]
    return max((number for number, edge in enumerate(edges) if edge <= x), default=0)


def is_date_only(value: object) -> bool:
    return isinstance(value, date) and not isinstance(value, datetime)
