"""A slow reading of the semantics: an expression's value in one row, None where missing."""

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from math import floor, isfinite

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
from letalone.plans.schema import Schema

Row = Mapping[str, object]


def evaluate(node: Expression, row: Row, schema: Schema) -> object:
    def value(part: Expression) -> object:
        return evaluate(part, row, schema)

    match node:
        case ColumnRef(name):
            return read(row[name], schema.column(name))
        case Literal(constant):
            return float(constant) if isinstance(constant, Fraction) else constant
        case Arithmetic(op, left, right):
            return arithmetic(op, value(left), value(right))
        case Negated(of):
            return None if (x := value(of)) is None else -float(x)
        case Comparison(op, left, right):
            return compared(op, value(left), value(right))
        case And(parts):
            return conjunction([value(part) for part in parts])
        case Or(parts):
            return opposite(conjunction([opposite(value(part)) for part in parts]))
        case Not(of):
            return opposite(value(of))
        case IsNull(of):
            return value(of) is None
        case OneOf(of, values):
            x = value(of)
            return None if x is None else any(compared("=", x, plain(v)) for v in values)
        case Case(branches, otherwise):
            chosen = next((v for c, v in branches if value(c) is True), otherwise)
            return value(chosen)
        case DatePart(part, of):
            return date_part(part, value(of))
        case Bin(of, lower, width, count):
            return binned(value(of), float(lower), float(width), count)
    raise AssertionError(node)


def read(value: object, column: object) -> object:
    if isinstance(value, float) and not isfinite(value):
        return None
    if value is None or (column.lower is None and column.upper is None):
        return value
    kind = int if isinstance(value, int) else float
    low = value if column.lower is None else max(value, kind(column.lower))
    return low if column.upper is None else min(low, kind(column.upper))


def arithmetic(op: str, left: object, right: object) -> float | None:
    if left is None or right is None:
        return None
    a, b = float(left), float(right)
    if op == "/" and b == 0:
        return None
    result = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else 0.0}[op]
    return result if isfinite(result) else None


def compared(op: str, left: object, right: object) -> bool | None:
    if left is None or right is None:
        return None
    if isinstance(left, float) != isinstance(right, float):
        left, right = float(left), float(right)
    tests = {"=": left == right, "<>": left != right}
    if op in tests:
        return tests[op]
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]


def conjunction(parts: list[object]) -> bool | None:
    if False in parts:
        return False
    return None if None in parts else True


def opposite(value: object) -> bool | None:
    return None if value is None else not value


def plain(value: object) -> object:
    return float(value) if isinstance(value, Fraction) else value


def date_part(part: str, value: object) -> int | None:
    if value is None:
        return None
    if part == "weekday":
        return value.isoweekday()
    assert part != "hour" or isinstance(value, datetime)
    return getattr(value, part)


def binned(x: object, lower: float, width: float, count: int) -> int | None:
    if x is None:
        return None
    q = (float(x) - lower) / width
    if not isfinite(q) or not 0 <= q <= count:
        return None
    return min(floor(q), count - 1)
