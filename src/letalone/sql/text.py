"""The text of a query: its limits, its one statement, its tree; and where in it something stands.

The checks of this module come before the parser's tree is looked at, and none of them depends on
data. sqlglot may log what it does not understand, words of the query among them: while it works
for us, its logger is shut for this thread.

Some calls are found in the words of a query, since sqlglot's tree does not show them as they were
typed. Of the quantile functions, and of some of dates, it drops what comes after the arguments that
it knows, and says nothing, so that QUANTILE_CONT(cost, 0.5, weight) would be answered as if no
weight had been asked for. And it takes DATE_TRUNC(day, month) for DATE_TRUNC('day', month), and the
weeks of TIMESTAMP_TRUNC(at, WEEK), which begin on Sunday, for those of DATE_TRUNC('week', at). Of
DATE_DIFF(day, at, month) it cannot tell which is the unit and which a column.

  Tested:   tests/sql/test_question.py, test_refusals.py; test_calls.py: of all functions that
            sqlglot knows, no other loses an argument
  Assumed:  sqlglot reads SQL as it is meant
"""

import logging
import re
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import pairwise
from threading import get_ident
from typing import cast
from unicodedata import category

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from letalone.errors import LetaloneError, ParameterError, UnsupportedQuery
from letalone.errors.codes import Code
from letalone.errors.problem import Fact, Problem, Remedy

DIALECTS = ("duckdb", "postgres", "spark", "bigquery", "tsql", "mysql", "sqlite")
MAX_SQL_LENGTH = 10_000
MAX_DEPTH = 40  # brackets within brackets; plans allow 50 levels of anything
MAX_TOKENS = 2_500
SHOWN_WIDTH = 72  # letters of the line that is shown
BEGINNINGS = ("SELECT", "WITH", "(", "FROM")
EXPLAIN = re.compile(r"\s*explain\b", re.IGNORECASE)
HINT = re.compile(r"/\*\s*\+|--\s*\+")
SHAPE = (
    "A question is SELECT [columns,] COUNT(*), SUM(column), AVG(column), … FROM table"
    " [WHERE conditions] [GROUP BY columns] [HAVING …] [ORDER BY …] [LIMIT …]."
)

OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)
OF_TWO = (
    "APPROX_PERCENTILE", "APPROX_QUANTILE", "PERCENTILE", "PERCENTILE_APPROX", "PERCENTILE_CONT",
    "PERCENTILE_DISC", "QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC",
)  # fmt: skip
TRUNCATING = ("DATE_TRUNC", "DATETRUNC", "TIMESTAMP_TRUNC", "DATETIME_TRUNC", "TRUNC")
PERIOD_FIRST = ("DATE_TRUNC", "DATETRUNC")  # but in BigQuery
KEPT = ("duckdb", "postgres", "tsql", "sqlite")  # in which a backslash between quotes stays one
DIFFERENCES = ("DATE_DIFF", "DATEDIFF")
DATE_TEXTS = (
    "STRFTIME", "TO_CHAR", "DATE_FORMAT", "FORMAT_DATE", "FORMAT_DATETIME", "FORMAT_TIMESTAMP",
)  # fmt: skip
TYPES = (
    "BIGINT", "BOOLEAN", "DOUBLE", "FLOAT", "INT", "SMALLINT", "STRING", "TIMESTAMP", "TINYINT",
)  # fmt: skip
OF_ONE_DATE = ("DATE", "DAYNAME", "MONTHNAME", "TO_DATE", "TO_DAYS", "TS_OR_DS_TO_DATE")
# Calls, how many arguments they have at most, which these are, and an example.
MOST_ARGUMENTS = (
    (OF_TWO, 2, "a column and a quantile", "QUANTILE_CONT(cost, 0.5)"),
    (TRUNCATING, 2, "a column and a period", "DATE_TRUNC('month', day)"),
    (DATE_TEXTS, 2, "a date and a pattern", "STRFTIME(day, '%Y-%m')"),
    (("LENGTH",), 1, "a text", "LENGTH(ward)"),
    (OF_ONE_DATE, 1, "a time", "DATE(at)"),
    (("ISNULL",), 2, "a value and another", "COALESCE(cost, 0)"),
    (TYPES, 1, "a value", "CAST(age AS DOUBLE)"),
    (DIFFERENCES, 3, "a unit and two dates", "DATE_DIFF('day', start, end)"),
)
UNITS = ("DAY", "MONTH", "QUARTER", "YEAR")  # of differences
FROM_SUNDAY = ("TIMESTAMP_TRUNC", "DATETIME_TRUNC")  # their weeks, in BigQuery, which has them


@dataclass(eq=False)
class Unread(Exception):  # noqa: N818  (it never leaves the package)
    """Something that is not read: what, the nearest thing that works, and its node.

    `edit` is what to write in its place, `first` SQL whose answer stands there. `ungrouped` where
    GROUP BY lacks it. `final` where no other dialect could read it, `puzzling` where the parser
    made nothing of it.
    """

    what: str
    instead: str = SHAPE
    _: KW_ONLY
    node: exp.Expr | None = None
    word: str | None = None
    kind: type[LetaloneError] = UnsupportedQuery
    code: Code = Code.SQL_NOT_SUPPORTED
    final: bool = False
    puzzling: bool = False
    edit: str | None = None
    first: str | None = None
    ungrouped: bool = False


# A mistake in what is allowed, such as a name that is not there.
slip = partial(Unread, kind=ParameterError, code=Code.SQL_NOT_READ)


@dataclass(frozen=True, slots=True)
class Text:
    """A query as it was typed; `statement` is the same without EXPLAIN, place by place."""

    written: str
    statement: str
    explain: bool

    def error(self, unread: Unread, *remedies: Remedy) -> LetaloneError:
        """The refusal in words, with the line and a mark below the place."""
        span = self._place(unread)
        words = f"{unread.what}. {unread.instead}"
        facts: dict[str, Fact] = {"construct": unread.what}
        if span is not None:
            line, column, shown = self._shown(*span)
            words = f"{unread.what}, at line {line}, column {column}:\n{shown}\n{unread.instead}"
            facts["span"] = span
        return unread.kind(Problem(unread.code, facts, remedies, words=words, advised=True))

    def _place(self, unread: Unread) -> tuple[int, int] | None:
        if unread.word:
            edges = unread.word[0].isalnum()
            word = rf"(?<!\w){re.escape(unread.word)}(?!\w)" if edges else re.escape(unread.word)
            match = re.search(word, self.statement, re.IGNORECASE)
            if match is not None:
                return match.span()
        return None if unread.node is None else _place_of(unread.node)

    def _shown(self, start: int, end: int) -> tuple[int, int, str]:
        first = self.written.rfind("\n", 0, start) + 1
        last = self.written.find("\n", start)
        line = self.written[first : last if last >= 0 else None].replace("\t", " ")
        cut = max(0, min(start - first - SHOWN_WIDTH // 2, len(line) - SHOWN_WIDTH))
        marks = min(max(end - start, 1), SHOWN_WIDTH - (start - first - cut))
        mark = " " * (start - first - cut) + "^" * marks
        number = self.written.count("\n", 0, start) + 1
        return number, start - first + 1, f"  {line[cut : cut + SHOWN_WIDTH]}\n  {mark}"


def read_text(sql: object) -> Text:
    """The text, or a refusal of what no dialect could make good."""
    if not isinstance(sql, str):
        raise ParameterError(f"The SQL is {type(sql).__name__}, but must be text. {SHAPE}")
    if len(sql) > MAX_SQL_LENGTH:
        raise ParameterError(f"The SQL has more than {MAX_SQL_LENGTH:,} characters. Shorten it.")
    explain = EXPLAIN.match(sql)
    statement = sql if explain is None else " " * explain.end() + sql[explain.end() :]
    text = Text(sql, statement, explain=explain is not None)
    _check_letters(text)
    return text


def parse_select(text: Text, dialect: str) -> exp.Select | exp.Union:
    """The one SELECT of the text, in a dialect, or one UNION of some; raises `Unread`."""
    problem: Unread | None = None
    with _silence_sqlglot():
        try:
            reader = Dialect.get_or_raise(dialect)
            tokens = reader.tokenize(text.statement)
            _check_tokens(tokens)
            _check_hints(tokens, text.statement)
            _check_backslashes(tokens, text.statement, dialect)
            _check_isnull(tokens, dialect)
            if dialect != "bigquery":
                _check_periods(tokens)
                _check_units(tokens)
            query = reader.parser().parse(tokens, text.statement)[0]
        except SqlglotError as error:
            query, problem = None, _near(error)
        except RecursionError:
            query, problem = None, too_deep()
    if problem is not None:
        raise problem
    if not isinstance(query, exp.Select | exp.Union):
        raise Unread("This SQL is not a plain SELECT", SHAPE, node=query)
    return query


def too_deep() -> Unread:
    """For what has more levels than anyone writes by hand."""
    return slip("The SQL is nested too deeply", "Write a shorter condition.", final=True)


def _check_letters(text: Text) -> None:
    for place, letter in enumerate(text.written):
        if category(letter) in ("Cf", "Cc", "Cs", "Co") and letter not in "\n\r\t":
            what = f"The SQL has a letter that nobody can see, U+{ord(letter):04X}"
            instead = "Remove it: type the line again instead of pasting it."
            raise text.error(slip(what, instead, node=_node_at(place, place)))


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
    if len(tokens) > MAX_TOKENS or _depth(tokens) > MAX_DEPTH:
        raise too_deep()
    for names, most, takes, instead in MOST_ARGUMENTS:
        name = _find_call(tokens, names, lambda rest, most=most: _commas(rest) >= most)
        if name is not None:
            what = f"{name.text.upper()} takes {takes}, and no more"
            raise slip(what, f"Write {instead}.", node=_at(name), final=True)


def _check_periods(tokens: Sequence[Token]) -> None:
    name = _find_call(tokens, PERIOD_FIRST, lambda rest: not _begins_with_text(rest))
    if name is not None:
        what = f"{name.text.upper()} takes a period in quotes first"
        raise slip(what, "Write DATE_TRUNC('month', day).", node=_at(name))
    name = _find_call(
        tokens, FROM_SUNDAY, lambda rest: "WEEK" in (token.text.upper() for token in _inside(rest))
    )
    if name is not None:
        what = f"The weeks of {name.text.upper()} begin on Sunday"
        raise slip(what, "Write DATE_TRUNC('week', at): they begin on Monday.", node=_at(name))


def _check_isnull(tokens: Sequence[Token], dialect: str) -> None:
    """MySQL's has one argument, and its parser drops the second."""
    name = _find_call(tokens, ("ISNULL",), lambda rest: _commas(rest) > 0)
    if name is not None and dialect == "mysql":
        raise slip("ISNULL takes one value", "Write COALESCE(cost, 0).", node=_at(name))


def _check_units(tokens: Sequence[Token]) -> None:
    """DATE_DIFF('day', a, b) and DATEDIFF(day, a, b); a unit that comes last is BigQuery's."""
    for is_wrong, final in ((_both_are_units, True), (_unit_is_last, False)):
        name = _find_call(tokens, DIFFERENCES, is_wrong)
        if name is not None:
            what = f"{name.text.upper()} takes a unit in quotes first"
            instead = "Write DATE_DIFF('day', start, end)."
            raise slip(what, instead, node=_at(name), final=final)


def _check_backslashes(tokens: Sequence[Token], statement: str, dialect: str) -> None:
    """As typed: some tokenizers take a backslash off before anybody knows of a pattern."""
    for word, pattern, after in zip(tokens, tokens[1:], [*tokens[2:], None], strict=False):
        if word.token_type not in (TokenType.LIKE, TokenType.ILIKE):
            continue
        named = after is not None and after.token_type is TokenType.ESCAPE
        if "\\" in statement[pattern.start : pattern.end + 1] and not (named and dialect in KEPT):
            what = "A backslash in a pattern is an escape sign in some dialects and none in others"
            instead = "Write the sign that you mean: LIKE '50!%' ESCAPE '!'."
            raise slip(what, instead, node=_at(pattern), final=True)


def _both_are_units(rest: Sequence[Token]) -> bool:
    """Whether the first and the last of three arguments are words for a unit."""
    inside = list(_inside(rest))
    words = {token.text.upper() for token in (*inside[:1], *inside[-1:])}
    if [token.token_type for token in inside[2:3]] == [TokenType.NUMBER]:
        return False  # DATEDIFF(month, 0, day), since day 0 of SQL Server
    return _commas(rest) > 1 and not _begins_with_text(rest) and words <= {*UNITS}


def _unit_is_last(rest: Sequence[Token]) -> bool:
    first = "".join(token.text.upper() for token in rest[:1])
    return _commas(rest) > 1 and not _begins_with_text(rest) and first not in UNITS


def _begins_with_text(rest: Sequence[Token]) -> bool:
    return [token.token_type for token in rest[:1]] == [TokenType.STRING]


def _check_hints(tokens: Sequence[Token], statement: str) -> None:
    """A hint is one wherever it is no value, whether this dialect has hints or not."""
    starts = [token.start for token in tokens]
    for hint in HINT.finditer(statement):
        before = tokens[max(bisect_right(starts, hint.start()) - 1, 0)]
        within = before.start <= hint.start() <= before.end
        if not within or before.token_type is TokenType.HINT:
            node = _node_at(hint.start(), hint.end() - 1)
            raise Unread("A comment with a hint", "Leave it out: /*+ … */.", node=node)


def _find_call(
    tokens: Sequence[Token], names: Sequence[str], is_wrong: Callable[[Sequence[Token]], bool]
) -> Token | None:
    """The name of the first call of these that is wrong, by all that comes after its bracket."""
    for place, (name, bracket) in enumerate(pairwise(tokens)):
        is_call = name.text.upper() in names and bracket.token_type is TokenType.L_PAREN
        if is_call and is_wrong(tokens[place + 2 :]):
            return name
    return None


def _commas(tokens: Sequence[Token]) -> int:
    """How many separate the arguments of a call whose bracket has just been opened."""
    depth = commas = 0
    for token in _inside(tokens):
        depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
        commas += depth == 0 and token.token_type is TokenType.COMMA
    return commas


def _inside(tokens: Sequence[Token]) -> Iterator[Token]:
    """Those before the bracket that closes the call."""
    depth = 0
    for token in tokens:
        depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
        if depth < 0:
            return
        yield token


def _at(token: Token) -> exp.Expr:
    """A node that stands where a token does."""
    return _node_at(token.start, token.end)


def _node_at(start: int, end: int) -> exp.Expr:
    node = exp.Placeholder()
    node.meta.update(start=start, end=end)
    return node


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
    return slip(what, SHAPE, puzzling=True)


def _near(error: SqlglotError) -> Unread:
    errors = cast("list[dict[str, str]]", getattr(error, "errors", None) or [{}])
    words = errors[0].get("highlight")
    place = f" near {words[:40]!r}" if words else ""
    what = f"The SQL is not understood{place}: look for a bracket, a quote or a comma"
    return slip(what, SHAPE, puzzling=True)


def _place_of(node: exp.Expr) -> tuple[int, int] | None:
    """Where a node stands: its own place, or from the first to the last of its parts."""
    places = [part.meta for part in node.walk() if "start" in part.meta]
    place = node.meta if "start" in node.meta else min(places, key=_start, default=None)
    return None if place is None else (_start(place), int(place["end"]) + 1)


def _start(meta: dict[str, object]) -> int:
    return cast("int", meta["start"])


@contextmanager
def _silence_sqlglot() -> Generator[None]:
    logger, thread = logging.getLogger("sqlglot"), get_ident()

    def shut(record: logging.LogRecord) -> bool:
        return record.thread != thread

    logger.addFilter(shut)
    try:
        yield
    finally:
        logger.removeFilter(shut)
