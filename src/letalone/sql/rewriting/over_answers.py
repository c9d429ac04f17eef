"""A query over an answer: it filters, sorts and computes what the grouped query in its FROM gives.

    SELECT ward, n / SUM(n) OVER () FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)

Both are written as one SELECT. Aggregates of an answer are windows over all of its rows.

  Tested:   tests/session/test_sql_habits.py, test_sql_models.py
"""

from typing import cast

from sqlglot import exp

from letalone.sql.aggregates import is_aggregate
from letalone.sql.from_clause import KnownTables
from letalone.sql.names import only
from letalone.sql.rewriting.inner_columns import (
    both_of,
    columns_of,
    is_star,
    nodes_of,
    replace_columns,
)
from letalone.sql.rewriting.named_queries import ONE
from letalone.sql.text import Unread

LIFTED = "lifted"  # marks a query with aggregates of an answer
KEPT_KEYS = "kept keys"  # marks a query of whose groups only these are shown
SUMMARY = "summary"  # marks a query whose answer is one row about all groups


def over_answer(outer: exp.Select, inner: exp.Select, subquery: exp.Expr) -> exp.Select:
    """The inner query, filtered, sorted and computed as the outer one says."""
    outer = _by_windows(_without_stars(outer, inner))
    if any(outer.args.get(name) for name in ("group", "joins", "distinct", "having")):
        raise Unread("This SELECT over an answer is not read", ONE, node=subquery)
    inner = _without_places(inner)
    if inner.find(exp.Window) and _has_numbers_of_all(outer):
        _check_groups(inner)
        raise Unread("Windows over windows are not read", ONE, node=subquery)
    cut = inner.args.get("limit") or inner.args.get("offset")
    clauses = ("where", "qualify", "order", "limit", "offset")
    above = any(outer.args.get(name) for name in clauses)
    if cut and (above or any(column.find(exp.Window, exp.AggFunc) for column in outer.expressions)):
        raise Unread("LIMIT within FROM is not read here", ONE, node=subquery)
    columns, called = columns_of(inner), subquery.alias.casefold()
    result = outer.copy()
    clauses = ("expressions", "where", "order", "qualify", "having")
    for node in [node for name in clauses for node in nodes_of(result.args.get(name))]:
        if _lift_aggregates(node):  # which may put another node in its place
            result.meta[LIFTED] = True
    given = [column.alias for column in result.expressions if column.alias]
    by_name = {name: exp.column(name, quoted=True) for name in given}
    for name in clauses:
        known = {**columns, **by_name} if name == "order" else columns
        for node in list(nodes_of(result.args.get(name))):
            replace_columns(node, known, called, "", strict=True)
    return _merged(result, inner.copy())


def _without_stars(outer: exp.Select, inner: exp.Select) -> exp.Select:
    """SELECT *, RANK() OVER … of an answer: all of its columns by their names."""
    if len(outer.expressions) < 2 or not any(map(is_star, outer.expressions)):
        return outer
    outer, columns = outer.copy(), list[exp.Expr]()
    for column in outer.expressions:
        if not is_star(column):
            columns.append(column)
            continue
        only(column if type(column) is exp.Star else column.this)
        columns += [exp.column(name, quoted=True) for name in columns_of(inner)]
    outer.set("expressions", columns)
    return outer


def _by_windows(outer: exp.Select) -> exp.Select:
    """Groups of an answer: their numbers stand in each row, and one row of each is kept."""
    group = outer.args.get("group")
    keys = nodes_of(None if group is None else group.expressions)
    if group is None or not keys or not all(type(key) is exp.Column for key in keys):
        return outer
    if any(outer.args.get(name) for name in ("having", "qualify", "where", "distinct")):
        return outer
    by = [key.copy() for key in keys]
    for node in nodes_of(outer.args.get("expressions")) + nodes_of(outer.args.get("order")):
        for part in [p for p in node.find_all(exp.AggFunc) if type(p.parent) is not exp.Window]:
            part.replace(exp.Window(this=part.copy(), partition_by=by, over="OVER"))
    order = exp.Order(expressions=[exp.Ordered(this=key.copy()) for key in keys])
    first = exp.Window(this=exp.RowNumber(), partition_by=by, order=order, over="OVER")
    kept = exp.EQ(this=first, expression=exp.Literal.number(1))
    outer.set("group", None)
    outer.set("qualify", exp.Qualify(this=kept))
    outer.meta[KEPT_KEYS] = [key.name.casefold() for key in keys]
    return outer


def _has_aggregate(column: exp.Expr) -> bool:
    return any(is_aggregate(part) for part in column.walk())


def _check_groups(inner: exp.Select) -> None:
    """Refuses OVER (PARTITION BY patient) in a query of rows: its number stands in every row."""
    window = inner.find(exp.Window)
    by = [] if window is None else cast("list[exp.Expr]", window.args.get("partition_by") or [])
    if window is None or not by or inner.args.get("group"):
        return
    each, number = ", ".join(part.sql() for part in by), window.this.sql()
    raise Unread(
        "A number that OVER puts into every row is not read",
        f"For one number for each {each}, write (SELECT {each}, {number} AS x FROM … GROUP BY"
        f" {each}) in its place.",
        node=window,
    )


def _has_numbers_of_all(outer: exp.Select) -> bool:
    return any(column.find(exp.Window, exp.AggFunc) for column in outer.expressions)


def _without_places(query: exp.Select) -> exp.Select:
    """With columns in place of their places in SELECT: that of the outer query is another one."""
    if query.args.get("distinct"):
        raise Unread("DISTINCT within FROM is not read", "Write GROUP BY.", node=query)
    query = query.copy()
    plain = [c.this if type(c) is exp.Alias else c for c in nodes_of(query.expressions)]
    group, order = query.args.get("group"), query.args.get("order")
    if group is not None and group.args.get("all"):
        keys = [c.copy() for c in plain if not c.find(exp.Window) and not _has_aggregate(c)]
        group = exp.Group(expressions=keys)
        query.set("group", group)
    listed = list(nodes_of(None if group is None else group.expressions))
    listed += [one.this for one in nodes_of(None if order is None else order.expressions)]
    for node in listed:
        if type(node) is exp.Literal and str(node.this).isdecimal():
            place = int(node.this) - 1
            if not 0 <= place < len(plain):
                raise Unread("There is no such column", "Name the column.", node=query)
            node.replace(plain[place].copy())
    return query


def without_names(query: exp.Select, known: KnownTables) -> exp.Select:
    """With columns in place of the names that SELECT gives them: the outer query may not select
    them. Columns of a table go before such names, but in ORDER BY."""
    named = {c.alias.casefold(): c.this for c in query.expressions if type(c) is exp.Alias}
    schemas = (known.schema, *known.public.values())
    taken = {column.name.casefold() for schema in schemas for column in schema.columns}
    query = query.copy()
    for name in ("group", "having", "qualify", "order"):
        clause = query.args.get(name)
        columns = [] if clause is None else list(clause.find_all(exp.Column))
        for column in columns:
            called = column.name.casefold()
            meant = None if column.text("table") else named.get(called)
            if meant is not None and (name == "order" or called not in taken):
                plain = type(meant) is exp.Column
                column.replace(meant.copy() if plain else exp.Paren(this=meant.copy()))
    return query


def _lift_aggregates(node: exp.Expr) -> bool:
    """AVG(n) of an answer is AVG(n) OVER () in each of its rows; whether there was one."""
    parts = [p for p in node.find_all(exp.AggFunc) if type(p.parent) is not exp.Window]
    parts = [part for part in parts if part.find_ancestor(exp.Subquery) is None]
    for part in parts:
        part.replace(exp.Window(this=part.copy(), over="OVER"))
    return bool(parts)


def _merged(above: exp.Select, inner: exp.Select) -> exp.Select:
    """The inner query with the outer one's columns and clauses."""
    selected = list(above.expressions)
    stars = len(selected) == 1 and is_star(selected[0])
    _add_conditions(above, inner)
    if KEPT_KEYS in above.meta:
        inner.meta[KEPT_KEYS] = above.meta[KEPT_KEYS]
    for name in ("order", "limit", "offset"):
        if above.args.get(name):
            inner.set(name, above.args[name])
    if not stars:
        inner.set("expressions", selected)
        lifted = [c for c in selected if c.find(exp.Window) and not _is_summary(c)]
        mixed = [c for c in selected if not c.find(exp.Window)]
        if above.meta.get(LIFTED) and (lifted or mixed):
            raise Unread("This mixes groups and all of them", ONE, node=above)
        if all(_is_summary(column) for column in selected):
            _make_summary(inner)
    return inner


def _add_conditions(above: exp.Select, inner: exp.Select) -> None:
    """WHERE of the outer query is HAVING, or QUALIFY where windows are computed before it."""
    where, qualify = above.args.get("where"), above.args.get("qualify")
    parts = [inner, *(part for part in (where, qualify) if part is not None)]
    clause: tuple[str, type[exp.Expr]] = ("having", exp.Having)
    if any(part.find(exp.Window) for part in parts):
        clause = ("qualify", exp.Qualify)
    name, kind = clause
    inner.set(name, both_of(inner.args.get(name), where, kind))
    inner.set("qualify", both_of(inner.args.get("qualify"), qualify, exp.Qualify))


def _make_summary(query: exp.Select) -> None:
    """One row is shown, without its keys; rows that QUALIFY leaves out would be in it."""
    if query.args.get("qualify") or query.args.get("limit") or query.args.get("offset"):
        raise Unread("This summary of an answer is not read", ONE, node=query)
    query.set("order", None)
    query.set("limit", exp.Limit(expression=exp.Literal.number(1)))
    query.meta[SUMMARY] = True


def _is_summary(column: exp.Expr) -> bool:
    """Whether a column has the same number in each row: windows over all of them, and constants."""
    node = column.this if type(column) is exp.Alias else column
    windows = list(node.find_all(exp.Window))
    inside = {id(part) for window in windows for part in window.walk()}
    rest = [part for part in node.walk() if id(part) not in inside]
    alone = not any(type(part) is exp.Column or is_aggregate(part) for part in rest)
    whole = [w for w in windows if not w.args.get("partition_by") and not w.args.get("order")]
    return bool(windows) and alone and len(whole) == len(windows)
