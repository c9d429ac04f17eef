"""Spark's dialect: a session in which nothing raises.

Sums are of words of 24 bits where they are over rows. Shifts keep the sign, so an integer is the
sum of its words, each times its power of two, and 2^39 rows (5 · 10^11) cannot make one overflow;
the decimals that put them together have less than 38 digits. Other sums are of DECIMAL(38, 0),
since a sum of BIGINT wraps around.
  Proven:   no sum reaches 10^38: its terms are below 2^86 (measures.py), and 2^40 rows of these
            stay below 2^126 < 10^38
  Tested:   tests/engines/conformance/test_golden.py

Text goes along as hexadecimal digits unless it is plain, so no sign in it can be an escape.

Arithmetic is the processor's, as in DuckDB, but x / 0 is NULL. FLOOR makes a BIGINT.

A column is read as a value of a plan's type, whatever it holds. The rules are those of
stored_types.py, and text stands for what text_grammar.py says. Text is compared byte by byte,
whatever collation its column has; what is no UTF-8 is missing; CHAR(n) is read without the blanks
at its end. Times are in UTC.

  Proven:   the session has ANSI off, so that no cast, sum or quotient raises, and casts are tried;
            numbers are asked first whether they fit, since a cast would take the nearest that does
  Tested:   tests/on_spark/test_reading.py, tests/on_spark/test_text_grammar.py
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from letalone.engines.core import rewriting, syntax
from letalone.engines.core import stored_types as reading
from letalone.engines.core.dialect import ComparingDialect
from letalone.engines.core.stored_types import FLOATS, Reader, Stored, in_the_calendar, read_by
from letalone.engines.core.syntax import BIGINT, DATE, DOUBLE, TEXT, TIMESTAMP, Sql
from letalone.engines.core.terms import SqlTerm, big
from letalone.engines.texts.text_grammar import PATTERNS
from letalone.errors import UnsupportedQuery
from letalone.errors.problem import without_context
from letalone.plans.schema import Column
from letalone.plans.types import Type

CHAR = "CHAR"
NO_SECONDS = "([ T][0-9]{1,2}:[0-9]{2})([-+Z])"  # Spark knows no offset right behind minutes
WIDE = "DECIMAL(38, 0)"
WORD_BITS = 24  # bits: 2^39 rows of a word add up to less than 2^63
PLAIN_TEXT = re.compile(r"[A-Za-z0-9 _.:+-]*")


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


@dataclass(frozen=True, slots=True)
class SparkDialect(ComparingDialect):
    """As DuckDB: arithmetic, but x / 0 is NULL, and guesses: NaN is the largest."""

    def total(self, of: Sql, most: int) -> Sql:
        """A sum for each word of 24 bits, put together: a sum of BIGINT wraps around."""
        places = range(0, max(1, most.bit_length()), WORD_BITS)
        words = [_word(of, place, most) for place in places]
        return reduce(lambda low, high: syntax.operation(exp.Add, low, high), words)

    def level(self, query: exp.Select, *, last: bool) -> exp.Select:  # noqa: ARG002
        """Every fourth level is kept apart, by pieces that Spark takes for not deterministic.

        It moves conditions below the levels that name their parts, and writes each part anew at
        each mention: a chain of guards would take for ever to plan.
        """
        name = query.args["from_"].this.alias
        if int(name.rpartition("level")[2]) % 4 == 3:
            for piece in query.expressions:
                if isinstance(piece, exp.Alias):
                    piece.set("this", _keep_apart(piece.this))
        return query

    def read(self, stored: Stored, source: Sql, column: Column) -> SqlTerm:
        """By tried casts, after a look at the spelling of text."""
        return read_by(READERS, stored, source, column)

    def unit(self, stored: Stored, value: Sql) -> Sql:
        return unit(stored, value)

    def text(self, stored: Stored, unit: Sql) -> Sql:  # noqa: ARG002
        return syntax.cast_to(unit, TEXT)

    def hashed(self, text: Sql) -> Sql:
        return syntax.call("SHA2", text, syntax.whole(256))

    def printed(self, query: Sql, *, pretty: bool = False) -> str:
        """Parameters are written :name."""
        return rewrite_for_spark(query).sql("spark", pretty=pretty, identify=True, copy=False)


SPARK = SparkDialect()


def _keep_apart(piece: Sql) -> Sql:
    """The same value, which Spark computes where it stands: a row's number is never negative."""
    number = syntax.call("MONOTONICALLY_INCREASING_ID")
    return syntax.case((syntax.operation(exp.GTE, number, syntax.whole(0)), piece))


def _word(of: Sql, place: int, most: int) -> Sql:
    """What the bits from a place on add to a sum: a decimal, unless they are all."""
    if most >> WORD_BITS == 0:
        return _sum(of)
    bits = syntax.call("SHIFTRIGHT", of.copy(), syntax.whole(place)) if place else of.copy()
    if most >> place >> WORD_BITS:  # the last word has the sign
        bits = exp.Paren(this=exp.BitwiseAnd(this=bits, expression=big((1 << WORD_BITS) - 1)))
    total, scale = _decimal(_sum(bits), 20), _decimal(syntax.text(str(1 << place)), 15)
    return syntax.operation(exp.Mul, total, scale) if place else total


def _sum(of: Sql) -> Sql:
    """A sum of BIGINT, which the rule for sums below leaves as it is."""
    return syntax.call("SUM", of)


def _decimal(of: Sql, digits: int) -> Sql:
    return syntax.cast_as(of, f"DECIMAL({digits}, 0)", "spark")


def rewrite_for_spark(query: Sql) -> Sql:
    """The tree in Spark's words, by a function for each kind of node; the given one stays."""
    return rewriting.rewrite_tree(query, RULES)


def _literal(node: Sql) -> Sql:
    if not node.args.get("is_string") or PLAIN_TEXT.fullmatch(node.name):
        return node
    return syntax.cast_to(exp.HexString(this=_encode(node.name).hex()), TEXT)


def _identifier(node: Sql) -> Sql:
    _encode(node.name)
    return node


def _encode(text: str) -> bytes:
    words = f"{text!r} has half a surrogate in it, which no text has. Leave it out."
    return without_context(text.encode, UnicodeEncodeError, error=UnsupportedQuery(words))


def _cast(node: Sql) -> Sql:
    kind = node.args["to"]
    if kind.this == exp.DType.INT128:
        node.set("to", exp.DataType.build(WIDE, dialect="spark"))
    if isinstance(node, exp.TryCast):
        node.set("safe", True)  # else sqlglot would print a plain cast
    return node


def _call(node: Sql) -> Sql:
    if node.name == "DATE_DIFF":
        _, start, end = node.expressions
        return syntax.call("DATEDIFF", end, start)
    return rewriting.rewrite_call(node)


def _extract(node: Sql) -> Sql:
    if node.this.name == "ISODOW":
        node.set("this", exp.var("DAYOFWEEK_ISO"))
    return node


RULES: rewriting.Rules = {
    exp.Literal: _literal,
    exp.Identifier: _identifier,
    exp.Anonymous: _call,
    exp.TryCast: _cast,
    exp.Cast: _cast,
    exp.Sum: lambda node: exp.Sum(this=syntax.cast_as(node.this, WIDE, "spark")),
    exp.Extract: _extract,
}
