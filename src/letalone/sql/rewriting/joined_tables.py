"""Tables of a query in the order in which they are joined: the private one first.

    FROM wards w JOIN visits v ON w.id = v.ward AND w.open        FROM visits v, wards w WHERE …

Inner joins may be written in any order, with the keys in WHERE, and with conditions beside the keys
in ON. All of it is one question: the private table, each other table joined on its keys, and the
rest in WHERE. An outer join keeps its place and its ON.

  Tested:   tests/session/test_sql_public.py
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from sqlglot import exp

from letalone.sql.names import matching


class JoinedTables(NamedTuple):
    """The tables of a query with their joins, and all conditions that join them."""

    tables: list[exp.Expr]
    conditions: list[exp.Expr]


def private_first(query: exp.Select, private: Sequence[str]) -> exp.Select:
    """The query FROM its private table; `private` are the last parts of its names."""
    source = query.args.get("from_")
    if source is None:
        return query
    joins = _joins(query, source.this)
    if not joins or not all(_is_inner(join) for join in joins):
        return query
    first = _is_private(source.this, private)
    if first and all(_is_plain(join) for join in joins):
        return query
    query = query.copy()
    source = query.args["from_"]
    sources = _collect(query, source.this)
    start = next((table for table in sources.tables if _is_private(table, private)), None)
    if start is None:
        return query
    _write(query, start, sources)
    return query


def _joins(query: exp.Select, table: exp.Expr) -> list[exp.Join]:
    holders = query.args.get("joins"), table.args.get("joins")
    return [join for joins in holders for join in cast("list[exp.Join]", joins or [])]


def _is_inner(join: exp.Join) -> bool:
    words = [str(join.args.get(part) or "").upper() for part in ("side", "kind", "method")]
    return all(word in ("", "INNER", "CROSS") for word in words)


def _is_plain(join: exp.Join) -> bool:
    """Whether it has keys, and nothing else: read as it is."""
    on = join.args.get("on")
    if on is None:
        return bool(join.args.get("using"))
    return all(_is_key(part) for part in on.flatten()) if type(on) is exp.And else _is_key(on)


def _is_key(node: exp.Expr) -> bool:
    node = node.unnest()
    sides = [node.this, node.expression] if type(node) is exp.EQ else []
    prefixes = {side.text("table").casefold() for side in sides if type(side) is exp.Column}
    return len(prefixes) == 2 and "" not in prefixes


def _is_private(table: exp.Expr, private: Sequence[str]) -> bool:
    named = type(table) is exp.Table and type(table.this) is exp.Identifier
    return named and matching(cast("exp.Identifier", table.this), private) is not None


def _collect(query: exp.Select, source: exp.Expr) -> JoinedTables:
    tables, conditions = [source], list[exp.Expr]()
    for join in _joins(query, source):
        on, using = join.args.get("on"), cast("list[exp.Expr]", join.args.get("using") or [])
        tables.append(join.this)
        if on is not None:
            conditions += on.flatten() if type(on) is exp.And else [on]
        conditions += _of_using(using, tables)
    where = query.args.get("where")
    if where is not None:
        parts = where.this.flatten() if type(where.this) is exp.And else [where.this]
        conditions += list(parts)
    return JoinedTables(tables, [condition.copy() for condition in conditions])


def _of_using(using: Sequence[exp.Expr], tables: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    for column in using:
        name = column if type(column) is exp.Identifier else column.this
        left, right = (
            exp.Column(this=name.copy(), table=exp.to_identifier(table.alias_or_name))
            for table in (tables[-2], tables[-1])
        )
        yield exp.EQ(this=left, expression=right)


def _write(query: exp.Select, start: exp.Expr, found: JoinedTables) -> None:
    """Puts the tables into FROM and JOIN, each as soon as keys tie it to those before it."""
    for table in found.tables:
        table.set("joins", None)
    known, waiting = [start], [table for table in found.tables if table is not start]
    conditions, joins = list(found.conditions), list[exp.Join]()
    while waiting:
        table, keys = _next(waiting, conditions, known)
        waiting.remove(table)
        conditions = [condition for condition in conditions if condition not in keys]
        on = keys[0] if len(keys) == 1 else exp.and_(*keys, copy=False) if keys else None
        joins.append(exp.Join(this=table.copy(), on=on))
        known.append(table)
    query.set("from_", exp.From(this=start.copy()))
    query.set("joins", joins)
    rest = exp.and_(*conditions, copy=False) if conditions else None
    query.set("where", None if rest is None else exp.Where(this=rest))


def _next(
    waiting: Sequence[exp.Expr], conditions: Sequence[exp.Expr], known: Sequence[exp.Expr]
) -> tuple[exp.Expr, list[exp.Expr]]:
    names = {table.alias_or_name.casefold() for table in known}
    for table in waiting:
        wanted = {table.alias_or_name.casefold()}
        keys = [c for c in conditions if _is_key(c) and _ties(c, wanted, names)]
        if keys:
            return table, keys
    return waiting[0], []


def _ties(condition: exp.Expr, table: set[str], known: set[str]) -> bool:
    node = condition.unnest()
    prefixes = {side.text("table").casefold() for side in (node.this, node.expression)}
    return bool(prefixes & table) and bool(prefixes - table) and prefixes - table <= known
