"""Reads a column that Spark stores as a value of a plan's type: total, whatever it holds.

The rules are those of stored_types.py, and text stands for what text_grammar.py says. Text is
compared byte by byte, whatever collation its column has; what is no UTF-8 is missing; CHAR(n) is
read without the blanks at its end. Times are in UTC.

  Proven:   the session has ANSI off, so that no cast, sum or quotient raises, and casts are tried;
            numbers are asked first whether they fit, since a cast would take the nearest that does
  Tested:   tests/on_spark/test_reading.py, tests/on_spark/test_text_grammar.py
"""

from collections.abc import Mapping

from sqlglot import exp

from letalone.engines.core import stored_types as reading
from letalone.engines.core import syntax
from letalone.engines.core.stored_types import FLOATS, Reader, Stored, in_the_calendar
from letalone.engines.core.syntax import BIGINT, DATE, DOUBLE, TEXT, TIMESTAMP, Sql
from letalone.engines.core.text_grammar import PATTERNS
from letalone.plans.types import Type

CHAR = "CHAR"
NO_SECONDS = "([ T][0-9]{1,2}:[0-9]{2})([-+Z])"  # Spark knows no offset right behind minutes
WIDE = "DECIMAL(38, 0)"


def unit(stored: Stored, value: Sql) -> Sql:
    """The unit of a row as it is stored; text byte by byte, one zero, nothing non-finite."""
    if stored.stored in FLOATS:
        return reading.with_one_zero(value)
    return _bytewise(stored, value) if stored.type is Type.TEXT else value


def _bytewise(stored: Stored, value: Sql) -> Sql:
    """Text in the order and with the equality of its bytes."""
    if stored.collated:
        value = syntax.call("COLLATE", value, syntax.text("UTF8_BINARY"))
    return syntax.call("RTRIM", value) if stored.stored == CHAR else value


def _plain(stored: Stored, value: Sql) -> Sql:
    return syntax.call("TRY_VALIDATE_UTF8", _bytewise(stored, value))


def _boolean(stored: Stored, source: Sql) -> Sql:
    if stored.type is Type.BOOLEAN:
        return source
    return reading.truth_of(syntax.call("TRIM", _plain(stored, source)))


def _integer(stored: Stored, source: Sql) -> Sql:
    if stored.type in (Type.INTEGER, Type.BOOLEAN):
        return source if stored.stored == "BIGINT" else syntax.cast_to(source, BIGINT)
    if stored.stored in FLOATS:
        nearest = syntax.call("RINT", syntax.cast_to(source, DOUBLE))
        return reading.as_long(nearest, (syntax.double(-(2.0**63)), syntax.double(2.0**63)))
    if stored.type is Type.TEXT:
        text = _plain(stored, source)
        rounded = _try_cast(text.copy(), WIDE)  # half away from zero
        return syntax.case((_is_written(text, Type.INTEGER), reading.as_long(rounded, LONG)))
    return reading.as_long(syntax.call("ROUND", source, syntax.whole(0)), LONG)


def _number(stored: Stored, source: Sql) -> Sql:
    if stored.stored == "DOUBLE":
        return source
    if stored.type is Type.TEXT:
        text = _plain(stored, source)
        return syntax.case((_is_written(text, Type.NUMBER), syntax.try_cast(text.copy(), DOUBLE)))
    return syntax.cast_to(source, DOUBLE)


def _text(stored: Stored, source: Sql) -> Sql:
    if stored.type is Type.TEXT:
        return _plain(stored, source)
    if stored.type in (Type.DATE, Type.TIMESTAMP):
        source = READERS[stored.type](stored, source)
    return syntax.cast_to(source, TEXT)


def _date(stored: Stored, source: Sql) -> Sql:
    if stored.stored == "DATE":
        return syntax.case((in_the_calendar(source, DATE), source.copy()))
    if stored.type is Type.TEXT:
        return _read_moment(_plain(stored, source), Type.DATE, DATE)
    return syntax.cast_to(_timestamp(stored, source), DATE)


def _timestamp(stored: Stored, source: Sql) -> Sql:
    if stored.type is Type.TEXT:
        return _read_moment(_plain(stored, source), Type.TIMESTAMP, TIMESTAMP)
    if stored.stored == "DATE":
        at = syntax.cast_to(source, TIMESTAMP)
        return syntax.case((in_the_calendar(source.copy(), DATE), at))
    at = source if stored.stored == "TIMESTAMPTZ" else syntax.cast_to(source, TIMESTAMP)
    return syntax.case((in_the_calendar(at, TIMESTAMP), at.copy()))


def _read_moment(text: Sql, kind: Type, wanted: exp.DType) -> Sql:
    """Text as a date or a time; a time of a date's text is dropped, whatever its zone."""
    full = [syntax.text(piece) for piece in (NO_SECONDS, "$1:00$2")]
    moment = syntax.try_cast(syntax.call("REGEXP_REPLACE", text.copy(), *full), wanted)
    inside = syntax.case((in_the_calendar(moment, wanted), moment.copy()))
    return syntax.case((_is_written(text, kind), inside))


READERS: Mapping[Type, Reader] = {
    Type.BOOLEAN: _boolean,
    Type.INTEGER: _integer,
    Type.NUMBER: _number,
    Type.TEXT: _text,
    Type.DATE: _date,
    Type.TIMESTAMP: _timestamp,
}


def _is_written(text: Sql, kind: Type) -> Sql:
    """Whether the grammar admits a text. Nothing may follow: $ would pass over a line break."""
    pattern = syntax.text(f"^ *(?:{PATTERNS[kind]}) *(?![-]|[^-])")
    written = [reading.is_short(text), syntax.call("REGEXP_LIKE", text, pattern)]
    return syntax.join_conditions(exp.And, written)


def _try_cast(of: Sql, kind: str) -> Sql:
    return exp.TryCast(this=of, to=exp.DataType.build(kind, dialect="spark"))


LONG = _try_cast(syntax.text(str(-(2**63))), WIDE), _try_cast(syntax.text(str(2**63)), WIDE)
