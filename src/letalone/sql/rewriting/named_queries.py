"""Named queries where their names stand, and queries that only pass another one on.

    WITH paid AS (SELECT …), final AS (SELECT * FROM paid WHERE day > …) SELECT … FROM final

is SELECT … FROM (SELECT … WHERE day > …) AS paid. Each name is replaced wherever it is a table; the
query may become so large only as plans allow.

  Tested:   tests/session/test_sql_habits.py, test_sql_models.py
"""

from collections.abc import Mapping
from typing import TypeVar, cast

from sqlglot import exp

from letalone.sql.text import Unread, too_deep

MOST_NODES = 20_000
ONE = "Write one SELECT, or one over the other with WHERE, ORDER BY or an aggregate."
Query = exp.Select | exp.Union
Any = TypeVar("Any", exp.Select, Query)


def without_with(query: Any) -> Any:
    """The query with its named queries in the places of their names."""
    query = _with_inner_names(query)
    query = _with_names(query) if query.args.get("with_") else query
    return cast("Any", _passed_on(query))


def _with_inner_names(query: Any) -> Any:
    """The query without WITH in its inner queries, the innermost first: they hide outer names."""
    nodes = [node for node in query.walk() if node is not query and node.args.get("with_")]
    if not nodes:
        return query
    query = query.copy()
    nodes = [node for node in query.walk() if node is not query and node.args.get("with_")]
    for node in reversed(nodes):
        if not isinstance(node, exp.Select | exp.Union):
            raise Unread("This WITH is not read", ONE, node=node)
        node.replace(_with_names(node))
    return query


def _with_names(query: Any) -> Any:
    query = query.copy()
    named = query.args["with_"]
    query.set("with_", None)
    if named.args.get("recursive"):
        raise Unread("Not answered: WITH RECURSIVE", ONE, node=named)
    known: dict[str, Query] = {}
    for part in named.expressions:
        alias, inner = part.args["alias"], part.this
        if alias.args.get("columns") or not isinstance(inner, exp.Select | exp.Union):
            raise Unread("This WITH is not read", "Write WITH t AS (SELECT …).", node=part)
        known[alias.this.name.casefold()] = _put(without_with(inner.copy()), known)
    return _put(query, known)


def _put(query: Any, known: Mapping[str, Query]) -> Any:
    """Puts the queries where tables have their names."""
    for table in list(query.find_all(exp.Table)):
        inner = known.get(table.name.casefold()) if not table.args.get("db") else None
        if inner is None:
            continue
        alias = table.args.get("alias") or exp.TableAlias(this=table.this.copy())
        joins = table.args.get("joins")
        itself = _table_itself(inner, joined=type(table.parent) is exp.Join)
        put = exp.Subquery(this=inner.copy()) if itself is None else itself
        put.set("alias", alias.copy())
        if joins:
            put.set("joins", joins)
        table.replace(put)
    if sum(1 for _ in query.walk()) > MOST_NODES:
        raise too_deep()
    return query


def _table_itself(inner: Query, *, joined: bool) -> exp.Expr | None:
    """SELECT * FROM visits is the table; where it is joined, so are columns of it as they are."""
    if not isinstance(inner, exp.Select):
        return None
    if not {name for name, value in inner.args.items() if value} <= {"expressions", "from_"}:
        return None
    columns = cast("list[exp.Expr]", inner.expressions)
    below, kinds = inner.args.get("from_"), {type(column) for column in columns}
    plain = kinds == {exp.Star} or (joined and kinds == {exp.Column})
    if below is None or type(below.this) is not exp.Table or not plain:
        return None
    return None if below.this.args.get("joins") else below.this.copy()


def _passed_on(query: Query) -> Query:
    """SELECT * FROM (… UNION ALL …): the inner query, sorted and cut as the outer one says."""
    if isinstance(query, exp.Union):
        query = query.copy()
        for side in ("this", "expression"):
            part = query.args[side]
            if isinstance(part, exp.Select | exp.Union):
                query.set(side, _alone(part))
        return query
    source = query.args.get("from_")
    inner = None if source is None else source.this
    is_union = type(inner) is exp.Subquery and isinstance(inner.this, exp.Union)
    return _alone(query) if is_union else query


def _alone(query: Query) -> Query:
    """What a query passes on as it is, in its order."""
    if isinstance(query, exp.Union):
        return _passed_on(query)
    source = query.args.get("from_")
    inner = None if source is None else source.this
    plain = {name for name, value in query.args.items() if value} <= {
        "expressions", "from_", "order", "limit",
    }  # fmt: skip
    if type(inner) is not exp.Subquery or not plain or not _has_all(query, inner.this):
        return query
    below = _alone(inner.this.copy())
    if any(below.args.get(name) for name in ("order", "limit")):
        return query
    for name in ("order", "limit"):
        if query.args.get(name):
            below.set(name, query.args[name].copy())
    return below


def _has_all(query: exp.Select, inner: exp.Expr) -> bool:
    """Whether a query has just the columns of the inner one."""
    if [type(column) for column in query.expressions] == [exp.Star]:
        return isinstance(inner, exp.Select | exp.Union)
    first = inner
    while isinstance(first, exp.Union):
        first = cast("exp.Expr", first.this)
    names = [column.name for column in query.expressions if type(column) is exp.Column]
    if len(names) < len(query.expressions) or type(first) is not exp.Select:
        return False
    return names == [column.alias_or_name for column in first.expressions]
