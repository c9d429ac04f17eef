"""Emits text that is made of text, of whole numbers and of dates; nothing raises.

Theorem.  Each piece is the text that `plans.expressions` says, NULL where something that it is made
of is missing, and no text that is put together is longer than a million letters.
  Proven:   texts are joined in the branch of a CASE that has counted their letters before, as
            64-bit integers. Parts of dates are of the years 1 to 9999 (duck_reading.py), so that
            10^4 and such a part have five digits.
  Tested:   tests/engines/test_expressions.py, conformance/test_expressions.py and
            tests/on_spark/test_expressions.py, against a slow evaluation in Python; test_texts.py
            in the same folders, long texts
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from string import ascii_lowercase, ascii_uppercase

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.dialect import join_texts
from letalone.engines.core.syntax import BIGINT, TEXT, Sql
from letalone.engines.core.terms import Levels, SqlTerm, big, deepest, plus
from letalone.engines.texts.matching import length, substring
from letalone.plans.expressions import MOST_LETTERS, Spelling
from letalone.plans.texts.date_patterns import DateField, Part, parts_in, pieces_of
from letalone.plans.types import Type

# The words of DuckDB for parts of dates, which PostgreSQL and Spark know, too, but for ISODOW.
PARTS: dict[Part, str] = {
    "year": "YEAR",
    "quarter": "QUARTER",
    "month": "MONTH",
    "day": "DAY",
    "yearday": "DOY",
    "week": "WEEK",
    "weekday": "ISODOW",
    "hour": "HOUR",
    "minute": "MINUTE",
    "second": "SECOND",
}
LETTERS: dict[Spelling, tuple[str, str]] = {
    "upper": (ascii_lowercase, ascii_uppercase),
    "lower": (ascii_uppercase, ascii_lowercase),
}
SIDES: dict[Spelling, str] = {"trim": "BOTH", "trim_start": "LEADING", "trim_end": "TRAILING"}


def extract_part(part: Part, of: SqlTerm) -> SqlTerm:
    """A part of a date as a 64-bit integer."""
    sql = exp.Extract(this=exp.var(PARTS[part]), expression=of.sql.copy())
    return SqlTerm(syntax.cast_to(sql, BIGINT), Type.INTEGER, depth=of.depth)


def respell(how: Spelling, of: SqlTerm) -> SqlTerm:
    """Text in one case, or without blanks at an end."""
    if how in LETTERS:
        sql = syntax.call("TRANSLATE", of.sql, *map(syntax.text, LETTERS[how]))
    else:
        sql = exp.Trim(this=of.sql, position=SIDES[how], expression=syntax.text(" "))
    return replace(of, sql=sql, simple=False)


def cut(of: SqlTerm, start: int, letters: int | None) -> SqlTerm:
    """Letters of a text, from a place on, or the last ones."""
    if start < 0:
        sql = syntax.call("RIGHT", of.sql, syntax.whole(-start))
    else:
        sql = substring(of.sql, start, None if letters is None else syntax.whole(letters))
    return replace(of, sql=sql, simple=False)


def count_letters(of: SqlTerm) -> SqlTerm:
    """How many code points a text has."""
    return SqlTerm(length(of.sql), Type.INTEGER, depth=of.depth)


def concatenate(parts: Sequence[SqlTerm], levels: Levels) -> SqlTerm:
    """Texts and whole numbers as one text, where it is not too long."""
    texts = [levels.name(_as_text(part)) for part in parts]
    lengths = [length(text.sql) for text in texts]
    letters = reduce(lambda left, right: syntax.operation(exp.Add, left, right), lengths)
    fits = syntax.operation(exp.LTE, letters, big(MOST_LETTERS))
    joined = syntax.case((fits, _join([text.sql.copy() for text in texts])))
    return SqlTerm(joined, Type.TEXT, depth=deepest(texts))


def write_date(pattern: str, of: SqlTerm, levels: Levels) -> SqlTerm:
    """A date as text."""
    date = levels.name(of)
    parts = {part: levels.name(extract_part(part, date)) for part in parts_in(pattern)}
    written = [
        syntax.text(piece) if isinstance(piece, str) else _write_part(piece, parts[piece.part].sql)
        for piece in pieces_of(pattern)
    ]
    return SqlTerm(_join(written), Type.TEXT, depth=deepest([*parts.values()]))


def _as_text(part: SqlTerm) -> SqlTerm:
    if part.type is Type.TEXT:
        return part
    return replace(part, sql=syntax.cast_to(part.sql, TEXT), type=Type.TEXT, simple=False)


def _write_part(field: DateField, number: Sql) -> Sql:
    """Its name, or the last digits of 10000 and the number."""
    if not field.names:
        digits = syntax.cast_to(plus(number.copy(), 10**4), TEXT)
        return substring(digits, 6 - field.digits)
    places = [syntax.whole(place) for place in range(1, len(field.names) + 1)]
    tests = [syntax.operation(exp.EQ, number.copy(), place) for place in places]
    return syntax.case(*zip(tests, map(syntax.text, field.names), strict=True))


def _join(texts: Sequence[Sql]) -> Sql:
    return exp.Paren(this=join_texts(texts))
