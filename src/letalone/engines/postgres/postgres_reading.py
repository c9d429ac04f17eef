"""Reads a column that PostgreSQL stores as a value of a plan's type: total, whatever it holds.

The rules are those of stored_types.py. PostgreSQL's casts raise, so each is asked first whether it
would: by a range, or for text by the grammar of text_grammar.py, and then, where the day may not
exist or the number not fit, by `pg_input_is_valid` (from PostgreSQL 16 on). Text is compared byte
by byte, whatever collation its column has; CHAR(n) without the blanks at its end; labels of
enumerations are text.

  Proven:   each cast stands in the branch of a CASE whose condition says that it fits, and
            conditions raise nothing: comparisons, regular expressions, `pg_input_is_valid`; a
            numeral of 400 letters with an exponent of three digits is a numeric
  Tested:   tests/engines/conformance/test_reading.py
"""

from collections.abc import Mapping

from sqlglot import exp

from letalone.engines.core import stored_types as reading
from letalone.engines.core import syntax
from letalone.engines.core.stored_types import FLOATS, Reader, Stored, in_the_calendar
from letalone.engines.core.syntax import BIGINT, DATE, DOUBLE, TIMESTAMP, Sql
from letalone.engines.texts.text_grammar import PATTERNS
from letalone.plans.types import Type

NUMERIC = "NUMERIC"
VALID: Mapping[Type, str] = {  # the type to ask for, where the grammar does not decide all
    Type.NUMBER: "double precision",
    Type.DATE: "date",
    Type.TIMESTAMP: "timestamp with time zone",
}


def unit(stored: Stored, value: Sql) -> Sql:
    """The unit of a row as it is stored; text byte by byte, one zero, nothing non-finite."""
    if stored.stored in FLOATS:
        return reading.with_one_zero(value)
    if stored.stored == NUMERIC:
        size, end = syntax.call("ABS", value), _numeric("Infinity")
        return syntax.case((syntax.operation(exp.LT, size, end), value))
    return plain(value) if stored.type is Type.TEXT else value


def plain(value: Sql) -> Sql:
    """Text in the order and with the equality of its bytes."""
    collation = exp.to_identifier("C", quoted=True)
    return exp.Paren(this=exp.Collate(this=_cast(value, "TEXT"), expression=collation))


def _boolean(stored: Stored, source: Sql) -> Sql:
    if stored.type is Type.BOOLEAN:
        return source
    return reading.truth_of(syntax.call("BTRIM", plain(source)))


def _integer(stored: Stored, source: Sql) -> Sql:
    if stored.type is Type.INTEGER:
        return source if stored.stored == "BIGINT" else syntax.cast_to(source, BIGINT)
    if stored.type is Type.BOOLEAN:
        return _cast(_cast(source, "INT"), "BIGINT")
    if stored.stored in FLOATS:
        return reading.as_long(source, (syntax.double(-(2.0**63)), syntax.double(2.0**63)))
    if stored.stored == NUMERIC:
        return reading.as_long(syntax.call("ROUND", source), LONG)
    rounded = syntax.call("ROUND", _cast(plain(source), NUMERIC))
    return syntax.case((_is_written(source, Type.INTEGER), reading.as_long(rounded, LONG)))


def _number(stored: Stored, source: Sql) -> Sql:
    if stored.stored == "DOUBLE":
        return source
    if stored.stored == NUMERIC:
        return _double_of_numeric(source)
    if stored.type is Type.BOOLEAN:
        return syntax.cast_to(_cast(source, "INT"), DOUBLE)
    if stored.type is Type.TEXT:
        return syntax.case((_is_written(source, Type.NUMBER), _double_of_text(plain(source))))
    return syntax.cast_to(source, DOUBLE)


def _double_of_text(text: Sql) -> Sql:
    """A numeral too large for a double is missing, one that is too small is 0."""
    size = syntax.call("ABS", _cast(text.copy(), NUMERIC))
    return syntax.case(
        (_is_valid(text, Type.NUMBER), syntax.cast_to(text.copy(), DOUBLE)),
        (syntax.operation(exp.LT, size, _numeric("1")), syntax.double(0.0)),
    )


def _double_of_numeric(source: Sql) -> Sql:
    """A numeric too large for a double is missing, one that is too small is 0."""
    size = syntax.call("ABS", source)
    ends = ((exp.LT, "1e308"), (exp.GT, "1e-307"))
    inside = [syntax.operation(kind, size, _numeric(end)) for kind, end in ends]
    usual = syntax.join_conditions(exp.And, inside)
    tiny = syntax.operation(exp.LTE, size, _numeric("1e-307"))
    double, valid = syntax.cast_to(source, DOUBLE), _is_valid(_cast(source, "TEXT"), Type.NUMBER)
    return syntax.case((usual, double), (valid, double.copy()), (tiny, syntax.double(0.0)))


def _text(stored: Stored, source: Sql) -> Sql:
    if stored.type in (Type.DATE, Type.TIMESTAMP):
        source = READERS[stored.type](stored, source)
    return plain(source)


def _date(stored: Stored, source: Sql) -> Sql:
    if stored.stored == "DATE":
        return syntax.case((in_the_calendar(source, DATE), source))
    if stored.type is Type.TEXT:
        return syntax.case((_is_day(source, Type.DATE), syntax.cast_to(plain(source), DATE)))
    return syntax.cast_to(_timestamp(stored, source), DATE)


def _timestamp(stored: Stored, source: Sql) -> Sql:
    if stored.type is Type.TEXT:
        at = _in_utc(_cast(plain(source), "TIMESTAMPTZ"))
        inside = syntax.case((in_the_calendar(at, TIMESTAMP), at.copy()))
        return syntax.case((_is_day(source, Type.TIMESTAMP), inside))
    if stored.stored == "DATE":
        return syntax.case((in_the_calendar(source, DATE), syntax.cast_to(source, TIMESTAMP)))
    at = _in_utc(source) if stored.stored == "TIMESTAMPTZ" else source
    return syntax.case((in_the_calendar(at, TIMESTAMP), at.copy()))


READERS: Mapping[Type, Reader] = {
    Type.BOOLEAN: _boolean,
    Type.INTEGER: _integer,
    Type.NUMBER: _number,
    Type.TEXT: _text,
    Type.DATE: _date,
    Type.TIMESTAMP: _timestamp,
}


def _in_utc(zoned: Sql) -> Sql:
    return exp.Paren(this=exp.AtTimeZone(this=zoned, zone=syntax.text("UTC")))


def _is_written(source: Sql, kind: Type) -> Sql:
    text, pattern = plain(source), syntax.text(f"^ *(?:{PATTERNS[kind]}) *$")
    matches = exp.Paren(this=exp.RegexpLike(this=text, expression=pattern))
    return syntax.join_conditions(exp.And, [reading.is_short(text.copy()), matches])


def _is_day(source: Sql, kind: Type) -> Sql:
    known = [_is_written(source, kind), _is_valid(plain(source), kind)]
    return syntax.join_conditions(exp.And, known)


def _is_valid(text: Sql, kind: Type) -> Sql:
    return syntax.call("PG_INPUT_IS_VALID", text, syntax.text(VALID[kind]))


def _numeric(digits: str) -> Sql:
    return _cast(syntax.text(digits), NUMERIC)


def _cast(of: Sql, kind: str) -> Sql:
    return syntax.cast_as(of, kind, "postgres")


LONG = _numeric(str(-(2**63))), _numeric(str(2**63))
