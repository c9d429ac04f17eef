"""Columns of inner queries in place of their names.

  SELECT AVG(euros) FROM (SELECT cost / 100 AS euros FROM visits)  is  AVG(cost / 100)

Tested:   tests/session/test_sql_habits.py, test_sql_models.py
"""

from collections.abc import Mapping
from typing import cast

from sqlglot import exp

from letalone.sql.names import matching, quote_name
from letalone.sql.rewriting.one_number import one_number
from letalone.sql.text import Unread, slip

Columns = Mapping[str, exp.Expr]


def with_table(columns: Columns, own: str) -> dict[str, exp.Expr]:
    """Columns with their table's name before them, as joins want them."""
    named = {name: of.copy() for name, of in columns.items()}
    for of in named.values():
        if type(of) is exp.Column and not of.text("table"):
            of.set("table", exp.to_identifier(own))
    return named


def put_columns(
    query: exp.Select, columns: Columns, called: str, own: str, *, strict: bool = False
) -> None:
    """Puts what columns of an inner query are in place of their names in all clauses."""
    given = [column.alias for column in query.expressions if column.alias]
    clauses = ("expressions", "where", "group", "having", "order", "qualify")
    for name in clauses:
        by_name = given if name in ("group", "having", "order", "qualify") else []
        known = {**{new: exp.column(new, quoted=True) for new in by_name}, **columns}
        if name == "order":  # names of SELECT go before columns there
            known |= {new: exp.column(new, quoted=True) for new in by_name}
        for node in list(nodes_of(query.args.get(name))):
            replace_columns(node, known, called, own, strict=strict)


def is_star(column: exp.Expr) -> bool:
    """* and visits.*: all columns."""
    return type(column) is exp.Star or (
        type(column) is exp.Column and type(column.this) is exp.Star
    )


def nodes_of(value: object) -> list[exp.Expr]:
    """What a clause of a query holds, as a list."""
    if isinstance(value, list):
        return cast("list[exp.Expr]", value)
    return [] if value is None else [cast("exp.Expr", value)]


def columns_of(query: exp.Select) -> dict[str, exp.Expr]:
    """What the columns of an inner query are, by name."""
    columns: dict[str, exp.Expr] = {}
    for column in query.expressions:
        if is_star(column):
            _check_star(column, called_of(query))
            continue
        name = column.alias_or_name
        if not name:
            raise Unread("A column of the inner query has no name", "Name it: … AS n.", node=column)
        if name.casefold() in {known.casefold() for known in columns}:
            raise slip(f"Two columns are called {name!r}", "Name one otherwise.", node=column)
        columns[name] = column.this if type(column) is exp.Alias else column
    return columns


def _check_star(column: exp.Expr, called: str) -> None:
    """Refuses all columns of a public table: some may be called like those of the table."""
    if column.text("table").casefold() not in ("", called.casefold()):
        what = f"{column.sql()} is not read within FROM"
        raise Unread(what, "Name its columns: SELECT v.*, w.name FROM …", node=column)


def called_of(query: exp.Select) -> str:
    """What a query calls the table in its FROM."""
    source = query.args.get("from_")
    return "" if source is None else source.this.alias_or_name


def replace_columns(
    node: exp.Expr, columns: Columns, called: str, own: str, *, strict: bool
) -> None:
    """Puts what columns of the inner query are in place of their names."""
    for column in list(node.find_all(exp.Column)):
        prefix = column.text("table").casefold()
        if prefix not in ("", called) or type(column.this) is not exp.Identifier:
            continue
        if _is_of_another(column, node):
            continue
        name = matching(column.this, columns)
        if name is not None:
            _put_column(column, columns[name], name)
        elif strict:
            known = ", ".join(map(quote_name, columns))
            what = f"Column {column.name!r} is not in the inner query"
            raise slip(what, f"Its columns are: {known}.", node=column)
        elif prefix:
            column.set("table", exp.to_identifier(own))


def _is_of_another(column: exp.Expr, within: exp.Expr) -> bool:
    """Whether it stands in a query of one number, which has columns of its own."""
    node = column
    while node is not within and node.parent is not None:
        node = node.parent
        if type(node) is exp.Subquery and one_number(node.this) is not None:
            return True
    return False


def _put_column(column: exp.Expr, meant: exp.Expr, name: str) -> None:
    plain = type(meant) is exp.Column
    new = meant.copy() if plain else exp.Paren(this=meant.copy())
    selected = type(column.parent) is exp.Select and column.arg_key == "expressions"
    if selected and not (plain and meant.name == name):
        new = exp.Alias(this=new, alias=exp.to_identifier(name, quoted=True))
    column.replace(new)


def both_of(
    first: exp.Expr | None, second: exp.Expr | None, kind: type[exp.Expr]
) -> exp.Expr | None:
    """Two clauses as one: both conditions have to be met."""
    conditions = [exp.Paren(this=part.this.copy()) for part in (first, second) if part is not None]
    if not conditions:
        return None
    if len(conditions) == 1:
        return kind(this=conditions[0].this)
    return kind(this=exp.And(this=conditions[0], expression=conditions[1]))
