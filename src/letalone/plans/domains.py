"""Keys that need no list, because the question itself says which there can be.

    month(day)                                      1 to 12
    date_trunc('month', day) WHERE year(day) = 2024   the first days of twelve months
    ward WHERE ward IN ('A', 'B')                   A and B

Proven:   by the semantics of each node: months are 1 to 12 in every table
Tested:   tests/plans/test_domains.py
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple, cast

from letalone.plans import expressions as nodes
from letalone.plans.dates import first_day
from letalone.plans.expressions import Expression, same
from letalone.plans.texts.date_patterns import PART_RANGE, Part, all_texts, parts_in, write_parts
from letalone.plans.types import Key, Type, type_of_value
from letalone.plans.typing import MISSING, TIMED, ColumnTypes

MOST_IMPLIED = 1_000  # keys that conditions imply; more are listed by whoever wants them
MOST_DAYS = 20_000
OPPOSITE: dict[nodes.ComparisonOp, nodes.ComparisonOp] = {
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
    "=": "=",
    "<>": "<>",
}


def domain_of(
    expression: Expression, columns: ColumnTypes, where: Expression | None = None
) -> tuple[Key, ...] | None:
    """All keys that rows which meet the condition can have, where that is public; else None."""
    closed, implied = closed_domain(expression, columns), implied_keys(expression, columns, where)
    if closed is None or implied is None:
        return implied if closed is None else closed
    return tuple(key for key in closed if key in implied) or closed


def closed_domain(expression: Expression, columns: ColumnTypes) -> tuple[Key, ...] | None:
    """All keys that an expression can have, where that is public; None where it is not.

    Public are declared keys, the two truth values, quarters, months, days, weekdays, hours, their
    names, the numbers of ranges and the constants of a case.
    """
    match cast("nodes.Node", expression):
        case nodes.ColumnRef(name) if name in columns.derived:
            return closed_domain(columns.derived[name], columns)
        case nodes.ColumnRef(name) if name in columns.declared and columns.declared[name].keys:
            return columns.declared[name].keys
        case nodes.DatePart(part) if part in PART_RANGE:
            lower, upper = PART_RANGE[part]
            return tuple(range(lower, upper + 1))
        case nodes.DateText(pattern):
            return all_texts(pattern)
        case nodes.Bin(count=count):
            return tuple(range(count))
        case nodes.Case(branches, otherwise):
            return _constants([*(value for _, value in branches), otherwise], columns)
        case _:
            return (False, True) if columns.type_of(expression).type is Type.BOOLEAN else None


def is_covered(
    expression: Expression,
    columns: ColumnTypes,
    keys: Collection[Key],
    where: Expression | None = None,
) -> bool:
    """Whether each row that meets the condition has one of these keys, as far as the question and
    the schema tell.

    Declared keys do not tell: a column may hold others.
    """
    implied = implied_keys(expression, columns, where)
    if implied is not None and set(implied) <= set(keys):
        return True  # what is missing meets no condition
    if columns.type_of(expression).nullable and None not in keys:
        return False
    inlined = nodes.inline_columns(expression, columns.derived)
    kind = columns.type_of(inlined).type
    if isinstance(inlined, nodes.ColumnRef | nodes.Bin) and kind is not Type.BOOLEAN:
        return False
    domain = closed_domain(inlined, columns)
    return domain is not None and set(domain) <= set(keys)


def _constants(results: list[Expression], columns: ColumnTypes) -> tuple[Key, ...] | None:
    if not all(isinstance(result, nodes.Literal) for result in results):
        return None
    types = [columns.type_of(result) for result in results]
    # A number may be no whole one, and then it is no key.
    if not all(
        typed == MISSING or (typed.type.is_groupable and typed.type is not Type.NUMBER)
        for typed in types
    ):
        return None
    values = [cast("Key", cast("nodes.Literal", result).value) for result in results]
    return tuple(dict.fromkeys(value for value in values if value is not None))


class RowTest(NamedTuple):
    """A comparison of an expression with a constant, which every row has to meet."""

    of: Expression
    op: nodes.ComparisonOp
    values: tuple[object, ...]  # one; several of "=", any of which is met


def implied_keys(
    expression: Expression, columns: ColumnTypes, where: Expression | None
) -> tuple[Key, ...] | None:
    """All keys of rows that meet the condition, as it is written; None where it does not tell."""
    if where is None:
        return None
    expression = nodes.inline_columns(expression, columns.derived)
    tests = list(_tests(nodes.inline_columns(where, columns.derived)))
    kind = columns.type_of(expression).type
    for test in tests:
        if test.op == "=" and same(test.of, expression) and _fit(test.values, kind):
            return tuple(dict.fromkeys(cast("tuple[Key, ...]", test.values)))
    if kind is Type.INTEGER and (numbers := _numbers(expression, tests)):
        return numbers
    return _of_days(expression, columns, tests)


def _tests(where: Expression) -> Iterator[RowTest]:
    match cast("nodes.Node", where):
        case nodes.And(parts):
            for part in parts:
                yield from _tests(part)
        case nodes.OneOf(of, values):
            yield RowTest(of, "=", values)
        case nodes.Comparison(op, of, nodes.Literal(value)):
            yield RowTest(of, op, (value,))
        case nodes.Comparison(op, nodes.Literal(value), of):
            yield RowTest(of, OPPOSITE[op], (value,))
        case _:
            pass


def _fit(values: Sequence[object], kind: Type) -> bool:
    if kind not in (Type.TEXT, Type.INTEGER, Type.DATE, Type.BOOLEAN):
        return False
    known = [value for value in values if isinstance(value, str | int | date)]
    return len(known) == len(values) and all(type_of_value(value) is kind for value in known)


def _numbers(of: Expression, tests: Sequence[RowTest]) -> tuple[int, ...] | None:
    """WHERE grade BETWEEN 5 AND 10: whole numbers from … to …"""
    lows: list[int] = []
    highs: list[int] = []
    for test in tests:
        value = test.values[0]
        if type(value) is not int or not same(test.of, of):
            continue
        if test.op in (">", ">="):
            lows.append(value + (test.op == ">"))
        elif test.op in ("<", "<="):
            highs.append(value - (test.op == "<"))
    if not lows or not highs or not 0 <= min(highs) - max(lows) < MOST_IMPLIED:
        return None
    return tuple(range(max(lows), min(highs) + 1))


def _of_days(
    expression: Expression, columns: ColumnTypes, tests: Sequence[RowTest]
) -> tuple[Key, ...] | None:
    """What a function of dates gives on the days that the conditions leave."""
    match cast("nodes.Node", expression):
        case nodes.StartOf(_, of) | nodes.DatePart(_, of) | nodes.DateText(_, of):
            pass
        case _:
            of = expression
    kind = columns.type_of(of).type
    if kind not in (Type.DATE, Type.TIMESTAMP) or (of is expression and kind is not Type.DATE):
        return None
    days = _days(of, tests, timed=kind is Type.TIMESTAMP)
    if days is None or any(part in TIMED for part in _parts_of(expression)):
        return None
    keys = tuple(dict.fromkeys(_on_day(expression, day) for day in days))
    return keys if 0 < len(keys) <= MOST_IMPLIED else None


def _days(of: Expression, tests: Sequence[RowTest], *, timed: bool) -> list[date] | None:
    """The days of a date on which all these are met, or may be; None where they have no end."""
    ends = [_ends_for(test, of, timed=timed) for test in tests]
    firsts = [first for first, _ in ends if first is not None]
    lasts = [last for _, last in ends if last is not None]
    if not firsts or not lasts or not 0 <= (min(lasts) - max(firsts)).days < MOST_DAYS:
        return None
    first, number = max(firsts), (min(lasts) - max(firsts)).days + 1
    days = (first + timedelta(days=place) for place in range(number))
    chosen = [test for test in tests if test.op == "=" and _is_part_of_day(test.of, of)]
    return [day for day in days if all(_on_day(test.of, day) in test.values for test in chosen)]


def _is_part_of_day(expression: Expression, of: Expression) -> bool:
    match cast("nodes.Node", expression):
        case nodes.DatePart(part, inner):
            return part not in TIMED and same(inner, of)
        case _:
            return False


Ends = tuple[date | None, date | None]


def _ends_for(test: RowTest, of: Expression, *, timed: bool) -> Ends:
    match cast("nodes.Node", test.of):
        case nodes.StartOf("day", inner) if same(inner, of):
            return _ends(test, timed=False)
        case nodes.DatePart("year", inner) if same(inner, of):
            return _ends_of_years(test)
        case _:
            return _ends(test, timed=timed) if same(test.of, of) else (None, None)


def _ends(test: RowTest, *, timed: bool) -> Ends:
    """The first and the last day that meet a comparison with dates."""
    if not all(isinstance(value, date) for value in test.values):
        return None, None
    moments = cast("tuple[date, ...]", test.values)
    days = [value.date() if isinstance(value, datetime) else value for value in moments]
    first, last = min(days), max(days)
    at_midnight = moments[0] == datetime(first.year, first.month, first.day)
    match test.op:
        case "=":
            return first, last
        case ">=":
            return first, None
        case ">":
            return first if timed else _beside(first, 1), None
        case "<=":
            return None, last
        case "<":
            return None, _beside(last, -1) if not timed or at_midnight else last
        case _:
            return None, None


def _ends_of_years(test: RowTest) -> Ends:
    years = [value for value in test.values if type(value) is int and 1 < value < 9999]
    if len(years) < len(test.values):
        return None, None
    low, high = min(years) + (test.op == ">"), max(years) - (test.op == "<")
    first = date(low, 1, 1) if test.op in ("=", ">", ">=") else None
    return first, date(high, 12, 31) if test.op in ("=", "<", "<=") else None


def _beside(day: date, days: int) -> date | None:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def part_of(day: date, part: nodes.Part) -> int:
    """A part of a date that is no time of day."""
    match part:
        case "quarter":
            return (day.month + 2) // 3
        case "week":
            return day.isocalendar().week
        case "yearday":
            return day.timetuple().tm_yday
        case "weekday":
            return day.isoweekday()
        case "year" | "month" | "day":
            return cast("int", getattr(day, part))
        case "hour" | "minute" | "second":
            raise ValueError(part)


def _parts_of(expression: Expression) -> Sequence[Part]:
    match cast("nodes.Node", expression):
        case nodes.DatePart(part):
            return (part,)
        case nodes.DateText(pattern):
            return parts_in(pattern)
        case _:
            return ()


def _on_day(expression: Expression, day: date) -> Key:
    """What a function of a date gives for a day."""
    match cast("nodes.Node", expression):
        case nodes.StartOf(period):
            return first_day(day, period)
        case nodes.DatePart(part):
            return part_of(day, part)
        case nodes.DateText(pattern):
            return write_parts(pattern, {part: part_of(day, part) for part in parts_in(pattern)})
        case _:
            return day
