"""Dates as people write them: text beside a date is one, and a date beside a time is its midnight.

    la.col("day") >= "2024-06-01"            as in SQL; year first, as ISO 8601 writes it
    la.col("at") >= datetime.date(2024, 6, 1)   from midnight on, in UTC

Only constants are read: which they are is decided by the types of columns, never by data.

  Tested:   tests/plans/test_dates.py
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import cast

from letalone.errors import ParameterError
from letalone.plans import expressions as nodes
from letalone.plans.clauses import Join
from letalone.plans.constants import Value, as_value
from letalone.plans.expressions import Expression
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from letalone.plans.typing import ColumnTypes, columns_of

EXAMPLES = {Type.DATE: "'2024-01-31'", Type.TIMESTAMP: "'2024-01-31 14:30:00'"}


def read_dates(expression: Expression, columns: ColumnTypes) -> Expression:
    """The expression with constants beside dates and times read as such."""
    return _read_dates_in(nodes.checked_size(expression), columns)


def read_derived(
    named: Sequence[tuple[str, Expression]], schema: Schema, joins: Sequence[Join]
) -> tuple[tuple[str, Expression], ...]:
    """Derived columns with the dates in them read, each beside the ones before it."""
    read: tuple[tuple[str, Expression], ...] = ()
    for name, expression in named:
        read += ((name, read_dates(expression, columns_of(schema, joins=joins, derived=read))),)
    return read


def first_day(day: date, period: nodes.Period) -> date:
    """The first day of the year, quarter, month or week (Monday) of a day; or the day itself."""
    match period:
        case "year":
            return date(day.year, 1, 1)
        case "quarter":
            return date(day.year, day.month - (day.month - 1) % 3, 1)
        case "month":
            return date(day.year, day.month, 1)
        case "week":
            return day - timedelta(days=day.weekday())
        case "day":
            return day


def read_moment(text: str, kind: Type) -> Value:
    """The date or the time that a text writes, or an error that shows how to write it."""
    read = date.fromisoformat if kind is Type.DATE else datetime.fromisoformat
    try:
        return as_value(read(text))
    except ValueError:
        pass
    raise ParameterError(f"{text[:40]!r} is no {kind.value}: write it as {EXAMPLES[kind]}.")


def _read_dates_in(node: Expression, columns: ColumnTypes) -> Expression:
    match cast("nodes.Node", node):
        case nodes.Comparison(_, left, right) | nodes.Arithmetic("-", left, right) as pair:
            left, right = _read_dates_in(left, columns), _read_dates_in(right, columns)
            sides = _beside(left, right, columns), _beside(right, left, columns)
            return replace(pair, left=sides[0], right=sides[1])
        case nodes.StartOf(period, nodes.Literal(str() as text)):
            return nodes.StartOf(period, nodes.Literal(read_moment(text, Type.DATE)))
        case nodes.OneOf(of, values):
            of = _read_dates_in(of, columns)
            if not any(isinstance(value, str | date) for value in values):
                return nodes.OneOf(of, values)
            kind = columns.type_of(of).type
            return nodes.OneOf(of, tuple(_read(value, kind) for value in values))
        case _:
            return nodes.with_parts(node, lambda part: _read_dates_in(part, columns))


def _beside(side: Expression, other: Expression, columns: ColumnTypes) -> Expression:
    if not isinstance(side, nodes.Literal) or not isinstance(side.value, str | date):
        return side
    return nodes.Literal(_read(side.value, columns.type_of(other).type))


def _read(value: Value, kind: Type) -> Value:
    if isinstance(value, str) and kind in EXAMPLES:
        return read_moment(value, kind)
    if type(value) is date and kind is Type.TIMESTAMP:
        return datetime(value.year, value.month, value.day)
    return value
