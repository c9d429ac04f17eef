"""Queries of one number about the same table, within SELECT, HAVING or FROM, as parts of one query.

    SELECT (SELECT COUNT(*) FROM t WHERE a) / (SELECT COUNT(*) FROM t)
    SELECT ward, COUNT(*) / (SELECT COUNT(*) FROM t) FROM t GROUP BY ward

Without groups, all numbers are asked together, each of its own rows: COUNT(*) FILTER (WHERE a).
Beside groups, a count, a sum or a mean of the same rows is that of all groups of the answer:
SUM(COUNT(*)) OVER (), which costs nothing. Others stay as they are, and are refused.

  Tested:   tests/session/test_sql_habits.py
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from sqlglot import exp

from letalone.sql.aggregates import is_aggregate
from letalone.sql.rewriting.one_number import (
    PLAIN,
    OneNumber,
    has_only,
    is_plain_query,
    is_plain_table,
    one_number,
)


def with_totals(query: exp.Select) -> exp.Select:
    """The query with its queries of one number put into it, where they can be."""
    if query.args.get("group"):
        return _beside_groups(query)
    source = query.args.get("from_")
    if source is None or type(source.this) is exp.Subquery:
        return _of_one_row_each(query)
    return _without_groups(query, source.this)


def _scalars(query: exp.Select, *clauses: str) -> list[exp.Expr]:
    """Queries in brackets within these clauses."""
    found: list[exp.Expr] = []
    for name in clauses:
        value = query.args.get(name)
        nodes = cast("list[exp.Expr | None]", value if isinstance(value, list) else [value])
        found += [
            inner for node in nodes if node is not None for inner in node.find_all(exp.Subquery)
        ]
    return found


def is_same_table(left: exp.Expr, right: exp.Expr) -> bool:
    """Whether both name the same table, and all of its rows."""
    if not is_plain_table(left) or not is_plain_table(right):
        return False
    names = [[part.name.casefold() for part in cast("exp.Table", t).parts] for t in (left, right)]
    return names[0] == names[1]


def _drop_table_names(node: exp.Expr) -> exp.Expr:
    """Without the table's name before columns: there is one table."""
    node = node.copy()
    for column in node.find_all(exp.Column):
        column.set("table", None)
    return node


def filter_number(node: exp.Expr, where: exp.Expr | None) -> exp.Expr:
    """A number, of these rows alone."""
    node = _drop_table_names(node)
    if where is None:
        return node
    holder = exp.Paren(this=node)
    for part in list(_outermost(holder)):
        part.replace(_with_condition(part, _drop_table_names(where)))
    return holder


def _outermost(node: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregates that stand in no other."""
    if is_aggregate(node):
        yield node
        return
    for part in node.iter_expressions():
        yield from _outermost(part)


def _with_condition(part: exp.Expr, where: exp.Expr) -> exp.Expr:
    if type(part) is exp.Filter:
        both = exp.and_(part.expression.this.copy(), where.copy(), copy=False)
        return exp.Filter(this=part.this.copy(), expression=exp.Where(this=both))
    return exp.Filter(this=part.copy(), expression=exp.Where(this=where.copy()))


def _without_groups(query: exp.Select, table: exp.Expr) -> exp.Select:
    scalars = [(node, one_number(node.this)) for node in _scalars(query, "expressions")]
    known = [found for _, found in scalars if found is not None]
    if not scalars or len(known) < len(scalars) or not has_only(query, *PLAIN):
        return query
    inside = {id(part) for node, _ in scalars for part in node.walk()}
    own = [p for column in query.expressions for p in column.walk() if id(p) not in inside]
    if not any(map(is_aggregate, own)) or not all(is_same_table(one.table, table) for one in known):
        return query  # without an aggregate of its own it would have a row for each row
    where = query.args.get("where")
    result = query.copy()
    columns = [
        _replace(column, None if where is None else where.this) for column in query.expressions
    ]
    result.set("expressions", columns)
    result.set("where", None)
    return result


def _replace(column: exp.Expr, where: exp.Expr | None) -> exp.Expr:
    """A column with its own aggregates filtered, and queries of one number in their place."""
    holder = exp.Paren(this=column.copy())
    inner = list(holder.find_all(exp.Subquery))
    marked = {id(part) for node in inner for part in node.walk()}
    if where is not None:
        for part in [p for p in _outermost(holder) if id(p) not in marked]:
            part.replace(_with_condition(_drop_table_names(part), _drop_table_names(where)))
    for node in inner:
        found = cast("OneNumber", one_number(node.this))
        node.replace(filter_number(found.of, found.where))
    return holder.this


def _of_one_row_each(query: exp.Select) -> exp.Select:
    """SELECT a.n - b.n FROM (SELECT COUNT(*) AS n …) a, (SELECT …) b; or queries without FROM."""
    source, joins = query.args.get("from_"), cast("list[exp.Join]", query.args.get("joins") or [])
    tables = [] if source is None else [source.this, *(join.this for join in joins)]
    crossed = all(_is_crossed(join) for join in joins)
    others = not crossed or not has_only(query, "expressions", "from_", "joins")
    rows = [_numbers(cast("exp.Expr", table)) for table in tables]
    if len(tables) == 1 or others or None in rows:
        return query
    result = query.copy()
    holder = exp.Tuple(expressions=result.expressions)
    inner = list(holder.find_all(exp.Subquery))
    scalars = [one_number(node.this) for node in inner]
    if not _is_of_numbers(holder, inner, tables, rows):
        return query
    found = [one for row in rows if row is not None for one in row.values()]
    found += [one for one in scalars if one is not None]
    if (
        not found
        or None in scalars
        or not all(is_same_table(one.table, found[0].table) for one in found)
    ):
        return query
    for node, one in zip(inner, scalars, strict=True):
        number = cast("OneNumber", one)
        node.replace(filter_number(number.of, number.where))
    _put_numbers(holder, _by_name(tables, rows))
    result.set("expressions", holder.expressions)
    result.set("from_", exp.From(this=found[0].table.copy()))
    result.set("joins", None)
    return result


def _by_name(
    tables: Sequence[exp.Expr], rows: Sequence[Mapping[str, OneNumber] | None]
) -> dict[tuple[str, str], OneNumber]:
    return {
        (str(table.alias).casefold(), name.casefold()): one
        for table, row in zip(tables, rows, strict=True)
        for name, one in (row or {}).items()
    }


def _is_crossed(join: exp.Join) -> bool:
    """Whether it is a comma or CROSS JOIN: each row beside each."""
    return has_only(join, "this", "kind") and str(join.args.get("kind") or "") in ("", "CROSS")


def _is_of_numbers(
    holder: exp.Expr,
    inner: Sequence[exp.Expr],
    tables: Sequence[exp.Expr],
    rows: Sequence[Mapping[str, OneNumber] | None],
) -> bool:
    """Whether columns of one row are made of the named numbers: an aggregate would be of that row,
    and another name another column."""
    known, inside = _by_name(tables, rows), {id(part) for node in inner for part in node.walk()}
    own = [part for part in holder.walk() if id(part) not in inside]
    columns = [part for part in own if type(part) is exp.Column]
    places = [(column.text("table").casefold(), column.name.casefold()) for column in columns]
    return not any(map(is_aggregate, own)) and all(place in known for place in places)


def _put_numbers(node: exp.Expr, named: Mapping[tuple[str, str], OneNumber]) -> None:
    """Puts what the columns of queries in FROM are in place of their names."""
    for column in list(node.find_all(exp.Column)):
        one = named.get((column.text("table").casefold(), column.name.casefold()))
        if one is not None:
            column.replace(filter_number(one.of, one.where))


def _numbers(table: exp.Expr) -> dict[str, OneNumber] | None:
    """The named numbers of a query in FROM that has one row."""
    select = table.this if type(table) is exp.Subquery else None
    if type(select) is not exp.Select or not is_plain_query(select):
        return None
    numbers: dict[str, OneNumber] = {}
    for column in select.expressions:
        alone = select.copy()
        alone.set("expressions", [column.copy()])
        found = one_number(alone)
        if found is None or not column.alias:
            return None
        numbers[column.alias] = found
    return numbers


def named_numbers(table: exp.Expr) -> dict[str, exp.Select] | None:
    """The queries of the numbers of a query in FROM that has one row, each by itself."""
    known = _numbers(table)
    if known is None:
        return None
    alone: dict[str, exp.Select] = {}
    for column in table.this.expressions:
        alone[column.alias.casefold()] = table.this.copy()
        alone[column.alias.casefold()].set("expressions", [column.copy()])
    return alone


def _beside_groups(query: exp.Select) -> exp.Select:
    result = query.copy()
    source = result.args.get("from_")
    table = None if source is None else source.this
    if result.args.get("joins") or not is_plain_table(table):
        return query  # a row without a partner is in no group
    had_windows = any(map(_has_window, result.args.values()))
    where = result.args.get("where")
    condition = "" if where is None else _drop_table_names(where.this).sql()
    for node in _scalars(result, "expressions", "having", "order"):
        found = one_number(node.this)
        if found is None or not is_same_table(found.table, cast("exp.Expr", table)):
            continue
        own = "" if found.where is None else _drop_table_names(found.where).sql()
        total = _total(_drop_table_names(found.of)) if own == condition else None
        if total is not None:
            node.replace(total)
    having = result.args.get("having")
    if having is not None and any(map(_has_window, result.args.values())):
        if had_windows:
            return query  # its own are of the groups that HAVING leaves, and the total is not
        qualify = result.args.get("qualify")
        both = having.this if qualify is None else exp.and_(having.this, qualify.this)
        result.set("qualify", exp.Qualify(this=both))
        result.set("having", None)
    return result


def _has_window(value: object) -> bool:
    nodes = cast("list[object]", value if isinstance(value, list) else [value])
    return any(isinstance(node, exp.Expr) and node.find(exp.Window) is not None for node in nodes)


def _total(of: exp.Expr) -> exp.Expr | None:
    """The number of all groups together, by those of each."""
    match of:
        case exp.Count() | exp.Sum() if type(of.this) is not exp.Distinct:
            return _over_all(of)
        case exp.Avg():
            counts = exp.Count(this=of.this.copy())
            sums = exp.Sum(this=of.this.copy())
            return exp.Paren(this=exp.Div(this=_over_all(sums), expression=_over_all(counts)))
        case _:
            return None


def _over_all(of: exp.Expr) -> exp.Expr:
    return exp.Window(this=exp.Sum(this=of.copy()), over="OVER")
