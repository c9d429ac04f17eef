"""Emits LIKE: for a text of n letters and a pattern of m in about n · m steps on every engine.

The engines' own LIKE tries every way to spread a text over the % of a pattern, which for several
of them takes the n-th power of time on some engines, and Spark makes a regular expression of it.
So one LIKE never has more than one segment here.

Theorem.  The condition is true where the text matches the pattern, false where it does not,
missing where the text is missing, and nothing raises.
  Proven:   a text matches `first % … % last` iff it begins with the first segment, ends with the
            last, is as long as both, and the segments in between stand in this order in what is
            left. If they do, they also do where each is taken at its earliest place behind the
            one before it. A LIKE with one segment has one place to try, or one for each letter.
            Where a segment is not found its place is 0, and the condition is false whatever the
            rest is. Lengths that are subtracted are not negative: PostgreSQL would raise.
  Tested:   tests/engines/test_expressions.py, conformance/test_expressions.py and
            tests/on_spark/test_expressions.py, against a slow evaluation in Python; test_texts.py
            in the same folders, long texts
  Assumed:  `_` of LIKE is one code point on every engine, a line break too
"""

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.syntax import BIGINT, Sql
from letalone.engines.core.terms import Levels, SqlTerm, big, deepest, plus
from letalone.plans.texts.like_patterns import ANY, ONE, Segment, segments_of
from letalone.plans.types import Type

ESCAPE = "+"  # the same letter in the literals of all engines
SPECIAL = (ANY, ONE, ESCAPE, "\\")


def match_pattern(of: SqlTerm, pattern: str, levels: Levels) -> SqlTerm:
    """Whether a text matches a pattern."""
    first, *rest = segments_of(pattern)
    if not rest:
        return _all_of([_like(of, first)])
    *middle, last = rest
    if not middle and not (first and last):
        return _all_of([_like(of, first, after=ANY) if first else _like(of, last, before=ANY)])
    text = levels.name(of)
    ends = [_like(text, first, after=ANY)] if first else []
    ends += [_like(text, last, before=ANY)] if last else []
    if first and last:
        both = syntax.operation(exp.GTE, length(text.sql), big(len(first) + len(last)))
        ends.append(SqlTerm(both, Type.BOOLEAN, depth=text.depth))
    return _all_of([*ends, *_search(_cut_ends(text, first, last), middle, levels)])


def length(text: Sql) -> Sql:
    """How many code points a text has, as a 64-bit integer: sums of lengths do not overflow."""
    return syntax.cast_to(syntax.call("LENGTH", text), BIGINT)


def substring(text: Sql, start: int, letters: Sql | None = None) -> Sql:
    """So many letters from a place on, which are not negative; or all."""
    return syntax.call("SUBSTR", text, syntax.whole(start), *([] if letters is None else [letters]))


def _search(text: SqlTerm, segments: list[Segment], levels: Levels) -> list[SqlTerm]:
    """Conditions that segments stand in a text in their order."""
    conditions: list[SqlTerm] = []
    for segment in segments[:-1]:
        text, letters = levels.name(text), "".join(letter or "" for letter in segment)
        position = exp.StrPosition(this=text.sql, substr=syntax.text(letters))
        place = levels.name(SqlTerm(position, Type.INTEGER, depth=text.depth))
        conditions.append(_condition(syntax.operation(exp.GT, place.sql, syntax.whole(0)), place))
        behind = syntax.call("SUBSTR", text.sql.copy(), plus(place.sql.copy(), len(letters)))
        text = SqlTerm(behind, Type.TEXT, depth=place.depth)
    if segments:
        conditions.append(_like(text, segments[-1], before=ANY, after=ANY))
    return conditions


def _cut_ends(text: SqlTerm, first: Segment, last: Segment) -> SqlTerm:
    """What is left of a text without its ends."""
    if not first and not last:
        return text
    letters = None
    if last:
        letters_between = plus(syntax.call("LENGTH", text.sql), -len(first) - len(last))
        letters = syntax.call("GREATEST", letters_between, syntax.whole(0))
    return SqlTerm(substring(text.sql, len(first) + 1, letters), Type.TEXT, depth=text.depth)


def _like(text: SqlTerm, segment: Segment, *, before: str = "", after: str = "") -> SqlTerm:
    """LIKE with one segment; its escape sign is named where there is one."""
    letters = [letter for letter in segment if letter is not None]
    if len(letters) == len(segment) and not before and not after:
        same = syntax.operation(exp.EQ, text.sql, syntax.text("".join(letters)))
        return _condition(same, text)
    escaped = any(letter in SPECIAL for letter in letters)
    pattern = syntax.text(before + "".join(map(_spell, segment)) + after)
    like: Sql = exp.Like(this=text.sql, expression=pattern)
    if escaped:
        like = exp.Escape(this=like, expression=syntax.text(ESCAPE))
    return _condition(exp.Paren(this=like), text)


def _spell(letter: str | None) -> str:
    if letter is None:
        return ONE
    return ESCAPE + letter if letter in (ANY, ONE, ESCAPE) else letter


def _condition(sql: Sql, made_of: SqlTerm) -> SqlTerm:
    return SqlTerm(sql, Type.BOOLEAN, depth=made_of.depth)


def _all_of(conditions: list[SqlTerm]) -> SqlTerm:
    sql = syntax.join_conditions(exp.And, [condition.sql for condition in conditions])
    return SqlTerm(sql, Type.BOOLEAN, depth=deepest(conditions))
