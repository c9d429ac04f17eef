"""Reads a column that DuckDB stores as a value of a plan's type: total, whatever the cell holds.

The rules are those of stored_types.py.

  Tested:   tests/engines/test_reading.py
"""

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.stored_types import (
    DATED,
    FLOATS,
    SQL_TYPES,
    ZONED,
    Stored,
    check_readable,
    in_the_calendar,
    is_short,
    truth_of,
    within_bounds,
)
from letalone.engines.core.syntax import TEXT, TIMESTAMP, TIMESTAMPTZ, Sql
from letalone.engines.core.terms import SqlTerm
from letalone.engines.texts import text_grammar
from letalone.plans.schema import Column
from letalone.plans.types import Type


def read(stored: Stored, source: Sql, column: Column, *, clamped: bool = True) -> SqlTerm:
    """The value of a column in its declared type; text may still give a non-finite number."""
    check_readable(column, stored)
    kind = column.type
    if kind is Type.OTHER:
        return SqlTerm(source, kind)
    sql = _convert(stored, source, kind)
    doubles = kind is Type.NUMBER and stored.stored in FLOATS
    finite = kind is not Type.NUMBER or not (doubles or stored.type is Type.TEXT)
    if kind in (Type.DATE, Type.TIMESTAMP):
        inside = in_the_calendar(sql, SQL_TYPES[kind], syntax.is_finite(sql))
        sql = syntax.case((inside, sql))
    if clamped and (column.lower is not None or column.upper is not None):
        return SqlTerm(within_bounds(sql, column, finite=finite), kind)
    if doubles:  # no statistics know of NaN, so nothing above may take a comparison for a guard
        sql = syntax.case((syntax.is_finite(sql), sql))
    return SqlTerm(sql, kind, finite=finite or doubles)


def _convert(stored: Stored, source: Sql, kind: Type) -> Sql:
    """The stored value in another type, without the guards and the clamps."""
    if stored.stored in ZONED and kind is not Type.TEXT:
        source = syntax.try_cast(source, TIMESTAMP)  # the session's time zone is UTC
    if stored.collated:
        source = plain_text(source)
    if stored.stored.startswith("DECIMAL("):
        source = syntax.case((_has_its_digits(stored, source), source))
    if kind is Type.TEXT and stored.type in DATED and not stored.stored.startswith("TIMESTAMP_NS"):
        # Times beyond the calendar cannot be written; nanoseconds do not reach beyond it.
        when, sql_type = syntax.try_cast(source, SQL_TYPES[stored.type]), SQL_TYPES[stored.type]
        inside = in_the_calendar(when, sql_type, syntax.is_finite(when))
        source = syntax.case((inside, source))
    if _is_as_wanted(stored, kind):
        return source
    if stored.type is Type.TEXT and kind is not Type.TEXT:
        text = source if stored.stored == "VARCHAR" else syntax.try_cast(source, TEXT)
        return _from_text(text, kind)
    return syntax.try_cast(source, SQL_TYPES[kind])


def _from_text(source: Sql, kind: Type) -> Sql:
    """What a text stands for, by the grammar that all engines share."""
    trimmed = syntax.call("TRIM", source, syntax.text(" "))  # alone it takes other blanks, too
    if kind is Type.BOOLEAN:
        return truth_of(trimmed)
    # Straight to a time without zone would ignore an offset in the text; numbers and days need no
    # trimming, which costs more than the rest.
    value = syntax.try_cast(trimmed, TIMESTAMPTZ) if kind is Type.TIMESTAMP else source
    pattern = syntax.text(f" *{text_grammar.PATTERNS[kind]} *")
    matches = [is_short(source), syntax.call("REGEXP_FULL_MATCH", source, pattern)]
    written = syntax.join_conditions(exp.And, matches)
    return syntax.case((written, syntax.try_cast(value, SQL_TYPES[kind])))


def plain_text(source: Sql) -> Sql:
    """Text without its collation; NULL where its bytes are no UTF-8."""
    return syntax.call("TRY", syntax.call("DECODE", syntax.call("ENCODE", source)))


def _has_its_digits(stored: Stored, source: Sql) -> Sql:
    """Whether a decimal is as short as its type says: DuckDB cannot convert a longer one."""
    digits, scale = (int(n) for n in stored.stored[len("DECIMAL(") : -1].split(","))
    nines = "9" * (digits - scale) + "." + "9" * scale if scale else "9" * digits
    last = exp.Cast(this=syntax.text(nines), to=exp.DataType.build(stored.stored))
    low = syntax.operation(exp.GTE, source, syntax.minus(last))
    return syntax.join_conditions(exp.And, [low, syntax.operation(exp.LTE, source, last.copy())])


def _is_as_wanted(stored: Stored, kind: Type) -> bool:
    plain = {Type.INTEGER: "BIGINT", Type.NUMBER: "DOUBLE", Type.TEXT: "VARCHAR"}
    return stored.type is kind and stored.stored == plain.get(kind, kind.value.upper())
