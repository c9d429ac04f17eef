"""The text of a query: its limits, its one statement, its tree; and where in it something stands.

The checks of this module come before the parser's tree is looked at, and none of them depends on
data. sqlglot may log what it does not understand, words of the query among them: while it works
for us, its logger is shut for this thread.

  Tested:   tests/sql/test_question.py, test_refusals.py
  Assumed:  sqlglot reads SQL as it is meant
"""

import logging
import re
from bisect import bisect_right
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from typing import cast
from unicodedata import category

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from letalone.errors import LetaloneError, ParameterError, UnsupportedQuery
from letalone.sql.calls import CLOSING, OPENING, TRUNCATING, overfull, unquoted, week_from_sunday

DIALECTS = ("duckdb", "postgres", "spark", "bigquery")
LONGEST = 10_000
DEEPEST = 40  # brackets within brackets; plans allow 50 levels of anything
MOST_TOKENS = 2_500
WIDEST = 72  # letters of the line that is shown
BEGINNINGS = ("SELECT", "WITH", "(", "FROM")
EXPLAIN = re.compile(r"\s*explain\b", re.IGNORECASE)
HINT = re.compile(r"/\*\s*\+|--\s*\+")
SHAPE = (
    "A question is SELECT [columns,] COUNT(*), SUM(column), AVG(column), … FROM table"
    " [WHERE conditions] [GROUP BY columns] [HAVING …] [ORDER BY …] [LIMIT …]."
)


class Unread(Exception):  # noqa: N818  (it never leaves the package)
    """Something that is not read: what, the nearest thing that works, and its node.

    `final` where no other dialect could read it.
    """

    def __init__(
        self,
        what: str,
        instead: str = SHAPE,
        *,
        node: exp.Expr | None = None,
        word: str | None = None,
        kind: type[LetaloneError] = UnsupportedQuery,
        final: bool = False,
    ) -> None:
        super().__init__(what)
        self.what, self.instead, self.kind = what, instead, kind
        self.node, self.word, self.final = node, word, final


def slip(what: str, instead: str, *, node: exp.Expr | None = None, final: bool = False) -> Unread:
    """A mistake in what is allowed, such as a name that is not there."""
    return Unread(what, instead, node=node, kind=ParameterError, final=final)


@dataclass(frozen=True, slots=True)
class Text:
    """A query as it was typed; `statement` is the same without EXPLAIN, place by place."""

    written: str
    statement: str
    explain: bool

    def error(self, found: Unread) -> LetaloneError:
        """The refusal in words, with the line and a mark below the place."""
        place = self._place(found)
        if place is None:
            return found.kind(f"{found.what}. {found.instead}")
        line, column, shown = self._shown(*place)
        at = f"at line {line}, column {column}"
        return found.kind(f"{found.what}, {at}:\n{shown}\n{found.instead}")

    def _place(self, found: Unread) -> tuple[int, int] | None:
        if found.word:
            edges = found.word[0].isalnum()
            word = rf"(?<!\w){re.escape(found.word)}(?!\w)" if edges else re.escape(found.word)
            match = re.search(word, self.statement, re.IGNORECASE)
            if match is not None:
                return match.span()
        return None if found.node is None else _place_of(found.node)

    def _shown(self, start: int, end: int) -> tuple[int, int, str]:
        first = self.written.rfind("\n", 0, start) + 1
        last = self.written.find("\n", start)
        line = self.written[first : last if last >= 0 else None].replace("\t", " ")
        left = max(0, min(start - first - WIDEST // 2, len(line) - WIDEST))
        marks = min(max(end - start, 1), WIDEST - (start - first - left))
        mark = " " * (start - first - left) + "^" * marks
        number = self.written.count("\n", 0, start) + 1
        return number, start - first + 1, f"  {line[left : left + WIDEST]}\n  {mark}"


def read_text(sql: object) -> Text:
    """The text, or a refusal of what no dialect could make good."""
    if not isinstance(sql, str):
        raise ParameterError(f"The SQL is {type(sql).__name__}, but must be text. {SHAPE}")
    if len(sql) > LONGEST:
        raise ParameterError(f"The SQL has more than {LONGEST:,} characters. Shorten it.")
    found = EXPLAIN.match(sql)
    statement = sql if found is None else " " * found.end() + sql[found.end() :]
    text = Text(sql, statement, explain=found is not None)
    _check_letters(text)
    return text


def parsed(text: Text, dialect: str) -> exp.Select:
    """The one SELECT of the text, in a dialect; raises `Unread`."""
    problem: Unread | None = None
    with _unlogged():
        try:
            reader = Dialect.get_or_raise(dialect)
            tokens = reader.tokenize(text.statement)
            _check_tokens(tokens)
            _check_hints(tokens, text.statement)
            if dialect != "bigquery":
                _check_periods(tokens)
            query = reader.parser().parse(tokens, text.statement)[0]
        except SqlglotError as error:
            query, problem = None, _near(error)
        except RecursionError:
            query, problem = None, too_deep()
    if problem is not None:
        raise problem
    if type(query) is not exp.Select:
        raise Unread("This SQL is not a plain SELECT", SHAPE, node=query)
    return query


def too_deep() -> Unread:
    """For what has more levels than anyone writes by hand."""
    return slip("The SQL is nested too deeply", "Write a shorter condition.", final=True)


def _check_letters(text: Text) -> None:
    for place, letter in enumerate(text.written):
        if category(letter) in ("Cf", "Cc", "Cs", "Co") and letter not in "\n\r\t":
            found = slip(
                f"The SQL has a letter that nobody can see, U+{ord(letter):04X}",
                "Remove it: type the line again instead of pasting it.",
            )
            found.node = _between(place, place)
            raise text.error(found)


def _check_tokens(tokens: Sequence[Token]) -> None:
    """By the kinds of words, since what stands in quotes is a value and no statement."""
    if not tokens:
        raise slip("The SQL is empty", SHAPE, final=True)
    for token in tokens[:-1]:
        if token.token_type is TokenType.SEMICOLON:
            what = "The SQL has several statements"
            raise Unread(what, "Ask one question at a time.", node=_at(token))
    first = tokens[0].text.upper()
    if first not in BEGINNINGS:
        raise Unread(f"The SQL begins with {first[:20]!r}", SHAPE, word=first, final=True)
    if len(tokens) > MOST_TOKENS or _depth(tokens) > DEEPEST:
        raise too_deep()
    if (name := overfull(tokens)) is not None:
        period = name.text.upper() in TRUNCATING
        what = f"a {'period' if period else 'quantile'}, and no more"
        instead = "DATE_TRUNC('month', day)" if period else "QUANTILE_CONT(cost, 0.5)"
        what = f"{name.text.upper()} takes a column and {what}"
        raise slip(what, f"Write {instead}.", node=_at(name), final=True)


def _check_periods(tokens: Sequence[Token]) -> None:
    if (name := unquoted(tokens)) is not None:
        what = f"{name.text.upper()} takes a period in quotes first"
        raise slip(what, "Write DATE_TRUNC('month', day).", node=_at(name))
    if (name := week_from_sunday(tokens)) is not None:
        what = f"The weeks of {name.text.upper()} begin on Sunday"
        raise slip(what, "Write DATE_TRUNC('week', at): they begin on Monday.", node=_at(name))


def _check_hints(tokens: Sequence[Token], statement: str) -> None:
    """A hint is one wherever it is no value, whether this dialect has hints or not."""
    starts = [token.start for token in tokens]
    for hint in HINT.finditer(statement):
        before = tokens[max(bisect_right(starts, hint.start()) - 1, 0)]
        within = before.start <= hint.start() <= before.end
        if not within or before.token_type is TokenType.HINT:
            node = _between(hint.start(), hint.end() - 1)
            raise Unread("A comment with a hint", "Leave it out: /*+ … */.", node=node)


def _at(token: Token) -> exp.Expr:
    """A node that stands where a token does."""
    return _between(token.start, token.end)


def _between(start: int, end: int) -> exp.Expr:
    found = exp.Placeholder()
    found.meta.update(start=start, end=end)
    return found


def _depth(tokens: Sequence[Token]) -> int:
    deepest = now = 0
    for token in tokens:
        kind = token.token_type
        now += (kind in (*OPENING, TokenType.CASE)) - (kind in (*CLOSING, TokenType.END))
        deepest = max(deepest, now)
    return deepest


def not_understood() -> Unread:
    """For what breaks the parser, or the translation, in a way that tells nothing."""
    what = "The SQL is not understood: look for a function without its arguments"
    return slip(what, SHAPE)


def _near(error: SqlglotError) -> Unread:
    found = cast("list[dict[str, str]]", getattr(error, "errors", None) or [{}])
    words = found[0].get("highlight")
    place = f" near {words[:40]!r}" if words else ""
    return slip(f"The SQL is not understood{place}: look for a bracket, a quote or a comma", SHAPE)


def _place_of(node: exp.Expr) -> tuple[int, int] | None:
    """Where a node stands: its own place, or from the first to the last of its parts."""
    found = [one.meta for one in node.walk() if "start" in one.meta]
    own = node.meta if "start" in node.meta else min(found, key=_start, default=None)
    return None if own is None else (_start(own), int(own["end"]) + 1)


def _start(meta: dict[str, object]) -> int:
    return cast("int", meta["start"])


class _Shut(logging.Filter):
    """Lets nothing through that this thread logs."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether another thread logs this."""
        return record.thread != self.thread


@contextmanager
def _unlogged() -> Generator[None]:
    logger, shut = logging.getLogger("sqlglot"), _Shut()
    logger.addFilter(shut)
    try:
        yield
    finally:
        logger.removeFilter(shut)
