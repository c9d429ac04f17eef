"""Edits that turn SQL that is refused into SQL that is read, as remedies of the refusal.

A name that is nearly one is put right, SELECT * becomes a count, a GROUP BY that is missing is
added, and an ORDER BY, HAVING or LIMIT that is not read is left out. An edit is offered only where
the SQL is read afterwards, by the same reader. All of it is a function of the text and the schemas.

  Tested:   tests/sql/test_edits.py
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import cast

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from letalone.errors.problem import Problem
from letalone.errors.remedies import ClampExpression, EditSql
from letalone.sql.aggregates import is_aggregate
from letalone.sql.refusals import is_now
from letalone.sql.text import CLOSING, MAX_SQL_LENGTH, OPENING, Text, Unread, read_text

MAX_EDITS = 8
# The clauses that can be left out, and the word that each begins with.
STARTS: dict[type[exp.Expr], TokenType] = {
    exp.Order: TokenType.ORDER_BY,
    exp.Having: TokenType.HAVING,
    exp.Limit: TokenType.LIMIT,
    exp.Offset: TokenType.OFFSET,
}
WEEKDAYS = ("DAYOFWEEK", "WEEKDAY", "DW")
SUBTOTALS = (exp.Rollup, exp.Cube, exp.GroupingSets)
SUBTOTAL_WORDS = ("ROLLUP", "CUBE", "GROUPING")
NOW_WORDS = ("NOW", "GETDATE", "TODAY", "CURRENT_DATE", "CURRENT_TIMESTAMP", "CURDATE", "SYSDATE")
# CAST(day AS DATE), DATE '2024-01-31', EXTRACT(EPOCH FROM …)
CASTS = ("CAST", "TRY_CAST", "DATE", "TIMESTAMP", "EXTRACT")
BRACKETS = [TokenType.L_PAREN, TokenType.R_PAREN]
ENDING = (*STARTS.values(), TokenType.SEMICOLON)
Span = tuple[int, int]
Read = Callable[[Text], object]


def mend(text: Text, unread: Unread, dialect: str, read: Read) -> EditSql | None:
    """One edit of the text after which `read` reads it; None where there is none.

    `read` returns an `Unread` for what it does not read.
    """
    sql, result = text.written, cast("object", unread)
    for _ in range(MAX_EDITS):
        edit = _edit_for(result, read_text(sql), dialect) if isinstance(result, Unread) else None
        if edit is None:
            return None
        sql = apply_edit(sql, edit)
        if len(sql) > MAX_SQL_LENGTH:
            return None
        result = read(read_text(sql))
        if not isinstance(result, Exception):
            return difference(text.written, sql)
    return None


def difference(before: str, after: str) -> EditSql:
    """The one edit that makes one text of the other."""
    start = _alike(before, after)
    same = _alike(before[start:][::-1], after[start:][::-1])
    return EditSql((start, len(before) - same), after[start : len(after) - same])


def _alike(left: str, right: str) -> int:
    """How many letters both begin with."""
    pairs = zip(left, right, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def apply_edit(sql: str, edit: EditSql) -> str:
    """The SQL with the edit made."""
    start, end = edit.span
    return sql[:start] + edit.text + sql[end:]


def clamp_expressions(problem: Problem, places: Mapping[str, Span], sql: str) -> Problem:
    """The problem with edits of the SQL that clamp its expressions, where these stand in it."""

    def locate(one: Problem) -> Problem:
        edits = [
            EditSql(span, f"CLAMP({sql[slice(*span)]}, 0, 1000)")
            for remedy in one.remedies
            if isinstance(remedy, ClampExpression)
            and (span := places.get(remedy.expression)) is not None
        ]
        return replace(one, remedies=(*edits, *one.remedies))

    return replace(locate(problem), others=tuple(map(locate, problem.others)))


def span_of(node: exp.Expr, tokens: Sequence[Token]) -> Span | None:
    """Where a node stands: all its parts, with the brackets that belong to them."""
    places = [part.meta for part in node.walk() if "start" in part.meta]
    if not places:
        return _span_of_text(node, tokens)
    first = min(int(place["start"]) for place in places)
    last = max(int(place["end"]) for place in places)
    inside = [n for n, token in enumerate(tokens) if first <= token.start and token.end <= last]
    if not inside:
        return None
    left, right = inside[0], inside[-1]
    while (missing := _count_missing_brackets(tokens[left : right + 1])) != (0, 0):
        opening, closing = missing
        left, right = left - bool(opening), right + bool(closing)
        if left < 0 or right >= len(tokens):
            return None
    left, right = _with_casts(node, tokens, left, right)
    return tokens[left].start, tokens[right].end + 1


def _with_casts(node: exp.Expr, tokens: Sequence[Token], left: int, right: int) -> tuple[int, int]:
    """The span with the words of casts at its ends, which the tree has no places of: day::DATE."""
    if left > 0 and tokens[left - 1].text.upper() in CASTS:
        left -= 1
    while isinstance(node, exp.Binary | exp.Unary | exp.Cast):
        by_colons = right + 2 < len(tokens) and tokens[right + 1].token_type is TokenType.DCOLON
        if isinstance(node, exp.Cast) and by_colons:
            right += 2
            while _count_missing_brackets(tokens[left : right + 2])[1] and right + 2 < len(tokens):
                right += 1  # DECIMAL(10, 2)
        node = node.expression if isinstance(node, exp.Binary) else node.this
    return left, right


def _count_missing_brackets(tokens: Sequence[Token]) -> tuple[int, int]:
    """How many brackets are missing: opening ones before, closing ones after."""
    opening = depth = 0
    for token in tokens:
        depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
        opening = max(opening, -depth)
    return opening, depth + opening


def read_tokens(text: Text, dialect: str) -> Sequence[Token]:
    """The words of the text; none where it has no words in this dialect."""
    try:
        return Dialect.get_or_raise(dialect).tokenize(text.statement)
    except SqlglotError:
        return ()


def _edit_for(unread: Unread, text: Text, dialect: str) -> EditSql | None:
    node, tokens = unread.node, read_tokens(text, dialect)
    if node is None:
        return None
    if unread.edit is not None:
        span = _span_of_now(tokens) if is_now(node) else span_of(node, tokens)
        if type(node) in SUBTOTALS:
            span = _span_of_subtotals(tokens)
        elif type(node) is exp.Var:
            span = _span_of_weekday(tokens)
        return None if span is None else EditSql(span, unread.edit)
    if unread.ungrouped:
        return _add_group_by(node, text, tokens)
    return _leave_out(node, text, tokens)


def _add_group_by(node: exp.Expr, text: Text, tokens: Sequence[Token]) -> EditSql | None:
    """GROUP BY of all columns that stand beside aggregates, in a query that has none."""
    query = node.find_ancestor(exp.Select)
    selects = [token for token in tokens if token.token_type is TokenType.SELECT]
    if query is None or query.args.get("group") is not None or len(selects) != 1:
        return None
    columns = [expression.unalias() for expression in query.expressions]
    keys = [column for column in columns if not any(map(is_aggregate, column.walk()))]
    spans = [span for key in keys if (span := span_of(key, tokens)) is not None]
    if len(spans) < len(keys) or len(keys) == len(columns):
        return None
    ends = [token.start for token in tokens if token.token_type in ENDING]
    end = len(text.written[: min(ends, default=len(text.written))].rstrip())
    names = ", ".join(text.written[slice(*span)] for span in spans)
    return EditSql((end, end), f" GROUP BY {names}")


def _span_of_text(node: exp.Expr, tokens: Sequence[Token]) -> Span | None:
    """Where a text in quotes stands that has no place in the tree."""
    texts = [t for t in tokens if t.token_type is TokenType.STRING and t.text == node.name]
    if type(node) is not exp.Literal or len(texts) != 1:
        return None
    return texts[0].start, texts[0].end + 1


def _span_of_now(tokens: Sequence[Token]) -> Span | None:
    """Where NOW() or CURRENT_DATE stands, which has no place in the tree."""
    for place, token in enumerate(tokens):
        if token.text.upper() in NOW_WORDS:
            called = [token.token_type for token in tokens[place + 1 : place + 3]] == BRACKETS
            return token.start, tokens[place + 2 * called].end + 1
    return None


def _span_of_weekday(tokens: Sequence[Token]) -> Span | None:
    """Where EXTRACT(DAYOFWEEK FROM day) and DATEPART(weekday, day) name their part."""
    for before, token in pairwise(tokens):
        if before.token_type is TokenType.L_PAREN and token.text.upper() in WEEKDAYS:
            return token.start, token.end + 1
    return None


def _span_of_subtotals(tokens: Sequence[Token]) -> Span | None:
    """Where ROLLUP (…) stands, or WITH ROLLUP."""
    words = [token.text.upper() for token in tokens]
    first = next((n for n, word in enumerate(words) if word.startswith(SUBTOTAL_WORDS)), None)
    if first is None:
        return None
    last = first
    while last + 1 < len(tokens) and (
        words[last + 1] == "SETS" or tokens[last + 1].token_type is TokenType.L_PAREN
    ):
        last += 1
        if tokens[last].token_type is TokenType.L_PAREN:
            while last + 1 < len(tokens) and _count_missing_brackets(tokens[first : last + 1])[1]:
                last += 1
            break
    start = first - (first > 0 and words[first - 1] == "WITH")
    return tokens[start].start, tokens[last].end + 1


def _leave_out(node: exp.Expr, text: Text, tokens: Sequence[Token]) -> EditSql | None:
    """The clause that a node stands in, where the question can do without it."""
    clause: exp.Expr | None = node
    while clause is not None and type(clause) not in STARTS:
        clause = clause.parent
    if clause is None:
        return None
    begins = [token for token in tokens if token.token_type is STARTS[type(clause)]]
    if not begins:
        return None
    start = begins[-1].start
    ends = [token.start for token in tokens if token.token_type in ENDING and token.start > start]
    end = min(ends, default=len(text.written))
    before = len(text.written[:start].rstrip())
    return EditSql((before, end), " " if end < len(text.written) else "")
