"""Rewrites DuckDB's words as PostgreSQL's, by a function for each kind of node, to print a tree.

  Tested:   tests/engines/conformance/test_golden.py, test_width.py, and by the laws of the engine

A name of more than 63 bytes, which PostgreSQL would cut off, is replaced by its digest. NULL-safe
equality is written as the equality of arrays of one element, which tables can be hashed by, unless
there is another column to hash them by. Text
with a NUL character or half a surrogate, which PostgreSQL cannot hold, is refused: before anything
is charged, since the statement is printed then. So is a question whose statement is too wide:
PostgreSQL computes at most 1664 values of a row at once.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, cast

from sqlglot import exp

from letalone.engines.core import rewriting, syntax
from letalone.engines.core.syntax import DOUBLE, Sql
from letalone.errors import UnsupportedQuery

MAX_NAME_LENGTH = 63  # bytes
MAX_WIDTH = 1600  # values of a row; 1664, less what the server adds itself, to group and to sort by
NUMERIC = "NUMERIC"


def rewrite_for_postgres(query: Sql) -> Sql:
    """The tree in PostgreSQL's words; the given one stays as it is."""
    return rewriting.rewrite_tree(query, RULES)


def write_statement(query: Sql) -> tuple[str, list[str]]:
    """The text of a statement with $1, $2, … for its parameters, and their names in that order."""
    tree, names = rewrite_for_postgres(query), list[str]()
    for node in tree.find_all(exp.Placeholder):
        if node.name not in names:
            names.append(node.name)
        node.replace(exp.Parameter(this=exp.Literal.number(names.index(node.name) + 1)))
    return tree.sql("postgres", identify=True, copy=False), names


def holds(text: str) -> bool:
    """Whether PostgreSQL can hold such text."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def check_width(queries: Iterable[Sql], *, columns: int) -> None:
    """Refuses statements that the server cannot run; `columns`: how many the tables have."""
    widest = 0
    for query in queries:
        tables = {table.alias: table.this for table in query.find_all(exp.CTE)}
        parts = query.find_all(exp.Select)
        widest = max(widest, *(_width(part, columns, tables) for part in parts))
    if widest > MAX_WIDTH:
        raise UnsupportedQuery(
            f"The question needs {widest} sums and columns at once, and PostgreSQL computes at most"
            f" {MAX_WIDTH}. Ask for less at once: fewer aggregates in each question."
            " Nothing was charged."
        )


def _width(query: Sql, columns: int, tables: Mapping[str, Sql]) -> int:
    """How many values the rows of a query have; a star has all those of what is read."""
    if isinstance(query, exp.SetOperation | exp.Subquery):
        return _width(query.this, columns, tables)
    if isinstance(query, exp.Table):
        known = tables.get(query.name)
        return columns if known is None else _width(known, columns, tables)
    stars = sum(part.is_star for part in query.expressions)
    inner = sum(_width(part, columns, tables) for part in _read_by(query)) if stars else 0
    return len(query.expressions) - stars + stars * inner


def _read_by(query: Sql) -> list[Sql]:
    clauses: list[Any] = [query.args.get("from_"), *query.args.get("joins", ())]
    return [cast("Sql", clause.this) for clause in clauses if clause is not None]


def _literal(node: Sql) -> Sql:
    """A literal with an exponent is a numeric there, and must be a double."""
    if node.args.get("is_string"):
        _check_text(node.name)
        return node
    if "e" not in node.name:
        return node
    return syntax.cast_to(syntax.text(node.name), DOUBLE)


def _identifier(node: Sql) -> Sql:
    _check_text(node.name)
    if len(node.name.encode()) <= MAX_NAME_LENGTH:
        return node
    return exp.to_identifier(f"#{sha256(node.name.encode()).hexdigest()[:40]}", quoted=True)


def _check_text(text: str) -> None:
    if not holds(text):
        raise UnsupportedQuery(
            f"{text!r} has a NUL character or half a surrogate in it, which no text in PostgreSQL"
            " has. Leave it out."
        )


def _cast(node: Sql) -> Sql:
    """What is tried outside of reading fits, as units.py proves; 128 bits are a numeric."""
    kind = node.args["to"]
    if kind.this in (exp.DType.INT128, exp.DType.DECIMAL):
        kind = exp.DataType.build(NUMERIC, dialect="postgres")
    return exp.Cast(this=node.this, to=kind)


def _call(node: Sql) -> Sql:
    if node.name == "DATE_DIFF":  # a date less another is their number of days
        _, start, end = node.expressions
        return syntax.operation(exp.Sub, end, start)
    return rewriting.rewrite_call(node)


def _division(node: Sql) -> Sql:
    """As it stands: sqlglot would cast its left side."""
    node.set("typed", True)
    return node


def _same(node: Sql) -> Sql:
    top = node
    while isinstance(top.parent, exp.And | exp.Paren):
        top = top.parent
    if any(not isinstance(equality.this, exp.Array) for equality in top.find_all(exp.EQ)):
        return node
    sides = [exp.Array(expressions=[side]) for side in (node.this, node.expression)]
    return exp.EQ(this=sides[0], expression=sides[1])


def _select(node: Sql) -> Sql:
    """SEMI JOIN as EXISTS."""
    for join in node.args.get("joins") or ():
        if join.args.get("kind") == "SEMI":
            inner = syntax.select([syntax.whole(1)], join.this, where=[join.args["on"]])
            node.set("joins", None)
            node.set("where", exp.Where(this=exp.Exists(this=inner)))
    return node


def _extract(node: Sql) -> Sql:
    """Seconds with their fraction would be rounded up to 60."""
    return exp.Floor(this=node) if node.this.name == "SECOND" else node


RULES: rewriting.Rules = {
    exp.Literal: _literal,
    exp.Identifier: _identifier,
    exp.Anonymous: _call,
    exp.TryCast: _cast,
    exp.Cast: _cast,
    exp.Div: _division,
    exp.Extract: _extract,
    exp.NullSafeEQ: _same,
    exp.Select: _select,
}
