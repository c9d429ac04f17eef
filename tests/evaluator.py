"""The semantics of expressions, slowly: the value of one in one row, None where it is missing.

It shares no code with the typing of plans or with the engines, which are both checked against it.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from fractions import Fraction
from math import isfinite

from letalone.plans.expressions import (
    And,
    Arithmetic,
    Bin,
    Case,
    Clamp,
    ColumnRef,
    Comparison,
    Concat,
    DatePart,
    DateText,
    Expression,
    IsNull,
    Length,
    Like,
    Literal,
    Negated,
    Not,
    OneOf,
    Or,
    Respelled,
    StartOf,
    Substring,
)
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

Row = Mapping[str, object]


def evaluate(node: Expression, row: Row, schema: Schema, derived: Mapping = {}) -> object:
    """The value of an expression in one row; None where it is missing."""

    def value(part: Expression) -> object:
        return evaluate(part, row, schema, derived)

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
            return value(next((v for c, v in branches if value(c) is True), otherwise))
        case DatePart(part, of):
            return None if value(of) is None else part_of(value(of), part)
        case StartOf(period, of):
            return None if value(of) is None else started(value(of), period)
        case DateText(pattern, of):
            return None if value(of) is None else written(value(of), pattern)
        case Like(of, pattern):
            return None if value(of) is None else matches(value(of), pattern)
        case Respelled(how, of):
            return None if value(of) is None else respelled(value(of), how)
        case Substring(of, start, letters):
            x = value(of)
            first = start - 1 if start > 0 else max(len(x or "") + start, 0)
            return None if x is None else x[first : None if letters is None else first + letters]
        case Length(of):
            return None if value(of) is None else len(value(of))
        case Concat(parts):
            found = [value(part) for part in parts]
            joined = "".join(map(str, found))
            return None if None in found or len(joined) > 1_000_000 else joined
        case Bin(of, lower, width, count):
            x = arithmetic("-", value(of), 0.0)
            edges = [float(lower + number * width) for number in range(count + 1)]
            if x is None or not edges[0] <= x <= edges[-1]:
                return None
            return min(bisect_right(edges, x) - 1, count - 1)
        case Clamp(of, lower, upper):
            return clamped(value(of), lower, upper)
    raise AssertionError(type(node))


def part_of(x: date, part: str) -> int:
    match part:
        case "weekday":
            return x.isoweekday()
        case "week":
            return x.isocalendar().week
        case "quarter":
            return sum(x.month >= first for first in (1, 4, 7, 10))
        case "yearday":
            return x.timetuple().tm_yday
        case _:
            return getattr(x, part)


def written(x: date, pattern: str) -> str:
    """By Python's strftime, which knows no quarters and does not fill up years."""
    year, quarter = f"{x.year:04}", str(part_of(x, "quarter"))
    ours = {"%Y": year, "%y": year[2:], "%q": quarter, "%%": "%"}
    pieces = re.findall(r"%.|[^%]", pattern, re.DOTALL)
    return "".join(
        ours.get(piece) or (x.strftime(piece) if piece[0] == "%" else piece) for piece in pieces
    )


def matches(text: str, pattern: str) -> bool:
    """By the set of places in the pattern that can be reached, letter by letter."""
    signs = re.findall(r"\\.|[^\\]", pattern, re.DOTALL)

    def without_letters(places: set[int]) -> set[int]:
        reached = set(places)
        for place, sign in enumerate(signs):
            if place in reached and sign == "%":
                reached.add(place + 1)
        return reached

    places = without_letters({0})
    for letter in text:
        stay = {place for place in places if place < len(signs) and signs[place] == "%"}
        step = {
            place + 1
            for place in places
            if place < len(signs)
            and (signs[place] == "_" or (signs[place] != "%" and signs[place][-1] == letter))
        }
        places = without_letters(stay | step)
    return len(signs) in places


def respelled(text: str, how: str) -> str:
    match how:
        case "trim":
            return text.strip(" ")
        case "trim_start":
            return text.lstrip(" ")
        case "trim_end":
            return text.rstrip(" ")
        case _:
            change = str.upper if how == "upper" else str.lower
            return "".join(change(letter) if letter.isascii() else letter for letter in text)


BEGINS = {
    "year": lambda day: (day.month, day.day) == (1, 1),
    "quarter": lambda day: day.month in (1, 4, 7, 10) and day.day == 1,
    "month": lambda day: day.day == 1,
    "week": lambda day: day.isoweekday() == 1,
    "day": lambda day: day is not None,
}


def started(x: date, period: str) -> date:
    """The last day up to x that begins such a period."""
    day = x.date() if isinstance(x, datetime) else x
    while not BEGINS[period](day):
        day -= timedelta(days=1)
    return day


def clamped(x: object, lower: Fraction | None, upper: Fraction | None) -> object:
    if x is None:
        return None
    ends = [end for end in (lower, upper) if end is not None]
    whole = isinstance(x, int) and all(end.denominator == 1 for end in ends)
    kind = int if whole else float
    x = kind(x)
    if lower is not None and x < kind(lower):
        return kind(lower)
    return kind(upper) if upper is not None and x > kind(upper) else x


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
    if isinstance(left, date):
        return float((left - right).days)
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
