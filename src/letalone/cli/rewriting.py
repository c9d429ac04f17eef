"""SQL that is near to what was typed and can be read: only ever shown to whoever typed it.

ORDER BY, LIMIT and HAVING are left out, SELECT * becomes a count, and LIKE a list to fill in.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import cast

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from letalone.sql.text import DIALECTS

LEFT_OUT = ("order", "limit", "offset", "having", "distinct")
NUMBER = re.compile(r"(?<![\d.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def rewritten(sql: str, *, dialect: str | None = None) -> str:
    """The same SELECT without what has no private answer; as it was where it is none."""
    query = _select(sql, dialect)
    if query is None:
        return sql
    for clause in LEFT_OUT:
        query.set(clause, None)
    _count_rows(query)
    return cast("exp.Select", query.transform(_listed)).sql(dialect=_spelling(dialect))


def with_clamps(sql: str, *, dialect: str | None = None) -> str:
    """The same SELECT with quotients that are added up clamped to bounds, to be filled in."""
    query = _select(sql, dialect)
    if query is None or not any(_is_open(node) for node in query.walk()):
        return sql
    return query.transform(_clamped).sql(dialect=_spelling(dialect))


def _spelling(dialect: str | None) -> str:
    return dialect if dialect in DIALECTS else DIALECTS[0]


def _select(sql: str, dialect: str | None) -> exp.Select | None:
    if not sql.lstrip().upper().startswith("SELECT"):
        return None  # sqlglot logs what other statements say
    try:
        query = parse_one(sql, read=_spelling(dialect))
    except (SqlglotError, RecursionError):
        return None
    return query if type(query) is exp.Select else None


def _clamped(node: exp.Expr) -> exp.Expr:
    """AVG(CLAMP(cost / los, 0, 1000)) for AVG(cost / los)."""
    if _is_open(node):
        ends = [exp.Literal.number(end) for end in (0, 1000)]
        node.set("this", exp.Anonymous(this="CLAMP", expressions=[node.this, *ends]))
    return node


def _is_open(node: exp.Expr) -> bool:
    """Whether a quotient is added up that is not within a CLAMP."""
    of = node.args.get("this")
    adds = isinstance(node, exp.AggFunc) and type(node) is not exp.Count
    divides = isinstance(of, exp.Expr) and type(of) is not exp.Anonymous and of.find(exp.Div)
    return adds and bool(divides)


def _count_rows(query: exp.Select) -> None:
    """SELECT *, where nothing else is asked beside it."""
    asked = [one for one in query.expressions if type(one) is not exp.Column]
    if len(asked) == 1 and type(asked[0]) is exp.Star:
        asked[0].replace(exp.Count(this=exp.Star()))


def _listed(node: exp.Expr) -> exp.Expr:
    """ward LIKE 'A%' as ward IN ('A', 'B'), and as ward = 'A' where it stands for one value."""
    if type(node) not in (exp.Like, exp.ILike):
        return node
    of, pattern = node.this, cast("exp.Like", node).expression
    if type(pattern) is exp.Literal and not set(str(pattern.this)) & set("%_"):
        return exp.EQ(this=of, expression=pattern)
    return exp.In(this=of, expressions=[exp.Literal.string(one) for one in "AB"])


def mended_bounds(words: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Bounds with the right column and the smaller end first; `names` are added up."""
    return tuple(_mended(word, names) for word in words)


def _mended(word: str, names: Sequence[str]) -> str:
    typed, _, ends = word.rpartition("=")
    by_lower = {name.lower(): name for name in names}
    near = get_close_matches(typed.lower(), by_lower, n=1)
    numbers = sorted({float(one): one for one in ("0", *NUMBER.findall(ends))[-2:]}.items())
    if len(numbers) != 2 or not (near or len(names) == 1):
        return word
    (_, lower), (_, upper) = numbers
    return f"{by_lower[near[0]] if near else names[0]}={lower}:{upper}"
