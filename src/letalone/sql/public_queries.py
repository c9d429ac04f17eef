"""Queries within a query that are about a public table: read now, since anyone may see it.

    WHERE ward_id IN (SELECT id FROM wards WHERE building = 'North')
    WHERE ward_id = (SELECT id FROM wards WHERE name = 'Ward A')
    WHERE EXISTS (SELECT 1 FROM wards w WHERE w.id = visits.ward_id AND w.beds > 20)

Their values stand in the question as constants. A column of a public table that follows from the
groups (the name of a ward, where the groups are its ids) is looked up beside each row of an answer.

  Tested:   tests/session/test_sql_public.py
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from sqlglot import exp

from letalone.answers.columns import Cell
from letalone.plans import expressions as nodes
from letalone.plans.constants import Value, as_value
from letalone.plans.expressions import ColumnRef, Expression, Literal
from letalone.sql.names import Joined, LookUp, Names, PublicSelect, Translating, matching, only
from letalone.sql.refusals import SUBQUERY
from letalone.sql.rewriting.one_number import one_number
from letalone.sql.text import Unread, slip

Make = Callable[[Names], Translating]
PLAIN = "A query about a public table chooses one column: SELECT id FROM wards WHERE beds > 20."


def _mean(values: Sequence[Value]) -> Value:
    numbers = cast("list[int]", values)
    return as_value(float(Fraction(sum(numbers)) / len(numbers))) if numbers else None


SUMMARIES: dict[type[exp.Expr], Callable[[Sequence[Value]], Value]] = {
    exp.Min: lambda values: min(cast("list[int]", values), default=None),
    exp.Max: lambda values: max(cast("list[int]", values), default=None),
    exp.Avg: _mean,
    exp.Sum: lambda values: sum(cast("list[int]", values)) if values else None,
    exp.Count: len,
}


def table_of(query: exp.Expr, names: Names) -> str | None:
    """The public table that a query within the query is about; None where it is another one."""
    source = query.args.get("from_")
    table = None if source is None else source.this
    if type(table) is not exp.Table or type(table.this) is not exp.Identifier:
        return None
    public = {name: schema for name, schema in names.public.items() if schema.unit is None}
    return matching(table.this, list(public))


def read_in(node: exp.Expr, translate: Translating, make: Make) -> Expression:
    """IN (SELECT …): the values are listed."""
    query = _select_of(node.args["query"])
    only(node, "this", "query")
    operand = translate(node.this)
    values = [row[0] for row in _rows(query, translate, make)]
    if None in values and type(node.parent) is exp.Not:
        instead = "Add WHERE … IS NOT NULL to the inner query."
        raise Unread("NOT IN a list with a missing value is never true", instead, node=node)
    return one_of(operand, [value for value in values if value is not None])


def read_unmatched(node: exp.Expr, translate: Translating) -> Expression | None:
    """w.id IS NULL, of the key of a LEFT JOIN: whether a row has no partner in the public table."""
    names = translate.names
    prefixed = type(node) is exp.Column and type(node.this) is exp.Identifier
    joined = names.joined.get(node.text("table").casefold()) if prefixed else None
    if joined is None or not joined.outer or len(joined.on) != 1 or names.look_up is None:
        return None
    ((left, right),) = joined.on
    if matching(cast("exp.Identifier", node.this), [right]) is None:
        return None
    keys = [row[0] for row in names.look_up(PublicSelect(joined.name, (ColumnRef(right),)))]
    known = one_of(ColumnRef(left), [key for key in keys if key is not None])
    return nodes.IsNull(ColumnRef(left)) | nodes.Not(known)


def one_of(of: Expression, values: Sequence[Value]) -> Expression:
    """Whether it is one of these; of none it is false, unless it is missing."""
    if not values:
        return nodes.Not(nodes.IsNull(of)) & nodes.IsNull(of)
    return nodes.OneOf(of, tuple(values))


def read_scalar(node: exp.Expr, translate: Translating, make: Make) -> Expression:
    """(SELECT …) as one value; of the private table it is asked before this question."""
    query = _select_of(node)
    if table_of(query, translate.names) is None:
        return _read_number(query, translate.names)
    summary = exp.Null() if not query.expressions else query.expressions[0].unalias().unnest()
    if type(summary) in SUMMARIES:
        return _read_summary(query, summary, translate, make)
    rows = _rows(query, translate, make)
    if len(rows) != 1:
        what = f"The inner query has {len(rows)} rows, and must have one"
        raise slip(what, "Write IN (SELECT …), or choose one row.", node=node)
    return Literal(rows[0][0])


def _read_summary(
    query: exp.Select, summary: exp.Expr, translate: Translating, make: Make
) -> Expression:
    """One number of all rows of a public table, as often as each is there."""
    only(summary, "this", "big_int")
    names, operand = _names_of(query, translate), summary.this
    if type(operand) is exp.Distinct or any(query.args.get(name) for name in ("distinct", "limit")):
        raise Unread("This query about a public table is not read", PLAIN, node=query)
    if type(operand) in (exp.Star, exp.Literal):  # of rows, whatever they hold
        operand = exp.true() if type(summary) is exp.Count else operand
    inner = query.copy()
    inner.set("expressions", [operand.copy()])
    inner.set("order", None)
    values = [row[0] for row in _rows(inner, translate, make, once=False)]
    known = [value for value in values if value is not None]
    numbers = type(summary) in (exp.Avg, exp.Sum)
    if numbers and not all(isinstance(value, int | Fraction) for value in known):
        raise slip(f"{operand.sql()} of {names.schema.name!r} is not a number", PLAIN, node=query)
    return Literal(SUMMARIES[type(summary)](known))


def _read_number(query: exp.Select, names: Names) -> Expression:
    """The answer of a query of one number about the private table."""
    number = one_number(query)
    table_names = [names.schema.name]
    if number is None or matching(cast("exp.Identifier", number.table.this), table_names) is None:
        raise SUBQUERY.at(query)
    sql = query.sql("duckdb")
    if sql not in names.numbers:
        refused = SUBQUERY.at(query)
        refused.first = sql
        raise refused
    return Literal(names.numbers[sql])


def read_exists(node: exp.Expr, translate: Translating, make: Make) -> Expression:
    """EXISTS (SELECT … WHERE public.key = own.key AND …): the own key is one of the public ones."""
    query = _select_of(node)
    inner = _names_of(query, translate)
    where = query.args.get("where")
    parts = [] if where is None else _parts(where.this)
    ties = [part for part in parts if not _is_inside(part, inner)]
    if len(ties) != 1 or type(ties[0]) is not exp.EQ:
        raise SUBQUERY.at(node)
    sides = ties[0].this, ties[0].expression
    theirs, ours = sides if _is_inside(sides[0], inner) else reversed(sides)
    rest = [part.copy() for part in parts if part is not ties[0]]
    chosen = exp.select(theirs.copy()).from_(query.args["from_"].this.copy())
    if rest:
        chosen.set("where", exp.Where(this=exp.and_(*rest, copy=False)))
    values = [row[0] for row in _rows(chosen, translate, make)]
    return one_of(translate(ours), [value for value in values if value is not None])


def _parts(node: exp.Expr) -> list[exp.Expr]:
    return list(node.flatten()) if type(node) is exp.And else [node]


def _is_inside(node: exp.Expr, inner: Names) -> bool:
    """Whether all columns are those of the inner table, by their prefix."""
    columns = list(node.find_all(exp.Column))
    return all(column.text("table").casefold() in ("", inner.called) for column in columns)


def _select_of(node: exp.Expr) -> exp.Select:
    query = node.this if type(node) in (exp.Subquery, exp.Exists) else node
    if type(query) is exp.Subquery:
        query = query.this
    if type(query) is not exp.Select:
        raise SUBQUERY.at(node)
    return query


def _names_of(query: exp.Select, translate: Translating) -> Names:
    name = table_of(query, translate.names)
    if name is None or translate.names.look_up is None:
        raise SUBQUERY.at(query)
    table = query.args["from_"].this
    only(table, "this", "alias")
    called = (table.alias or table.name).casefold()
    return replace(translate.names, schema=translate.names.public[name], called=called, joined={})


def _rows(
    query: exp.Select, translate: Translating, make: Make, *, once: bool = True
) -> Sequence[tuple[Value, ...]]:
    only(query, "expressions", "from_", "where", "distinct", "order", "limit")
    names = _names_of(query, translate)
    inner = make(names)
    if len(query.expressions) != 1 or type(query.expressions[0]) is exp.Star:
        raise Unread("This query about a public table is not read", PLAIN, node=query)
    column = inner(query.expressions[0].unalias())
    where, limit = query.args.get("where"), query.args.get("limit")
    condition = None if where is None else inner(where.this)
    look_up = cast("LookUp", names.look_up)
    if limit is not None:
        order, descending = _order(query)
        rows = look_up(PublicSelect(names.schema.name, (column, inner(order)), condition))
        return _first_rows(rows, _number_of_rows(limit), descending=descending)
    return look_up(PublicSelect(names.schema.name, (column,), condition, once))


def _order(query: exp.Select) -> tuple[exp.Expr, bool]:
    """What rows of a public table are sorted by: one column."""
    order = query.args.get("order")
    if order is None or len(order.expressions) != 1:
        instead = "Say in which order: ORDER BY beds DESC LIMIT 1."
        raise Unread("LIMIT without an order of one column is not read", instead, node=query)
    by = order.expressions[0]
    return by.this, bool(by.args.get("desc"))


def _number_of_rows(limit: exp.Expr) -> int:
    digits = str(limit.expression.name) if type(limit) is exp.Limit else ""
    if not digits.isdecimal():
        raise Unread("LIMIT takes a number of rows", "Write LIMIT 1.", node=limit)
    return int(digits)


def _first_rows(
    found: Sequence[tuple[Value, ...]], number: int, *, descending: bool
) -> Sequence[tuple[Value, ...]]:
    """The first rows in the order of their second column; missing ones are the last."""
    present = [row for row in found if row[1] is not None]
    present.sort(key=lambda row: cast("int", row[1]), reverse=descending)
    gone = [row for row in found if row[1] is None]
    return [row[:1] for row in [*present, *gone][:number]]


def follows_from(column: ColumnRef, keys: Sequence[Expression], names: Names) -> Joined | None:
    """The public table whose column this is, where rows are grouped by what it is joined on."""
    known = {key.name for key in keys if isinstance(key, ColumnRef)}
    for joined in names.joined.values():
        is_public = joined.schema.unit is None
        here = column.name in {added.name for added in joined.added}
        if is_public and here and {left for left, _ in joined.on} <= known:
            return joined
    return None


def looked_up(
    column: ColumnRef, joined: Joined, look_up: LookUp
) -> Mapping[tuple[Value, ...], Value]:
    """What the column is for each key of its table."""
    stored = next((old for old, new in joined.renamed.items() if new == column.name), column.name)
    keys = [ColumnRef(right) for _, right in joined.on]
    rows = look_up(PublicSelect(joined.name, (*keys, ColumnRef(stored))))
    return {row[:-1]: row[-1] for row in rows}


def as_cell(value: Value) -> Cell:
    """A value as answers show it."""
    return float(value) if isinstance(value, Fraction) else value
