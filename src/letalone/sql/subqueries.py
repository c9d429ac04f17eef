"""WITH and queries within FROM, written as one SELECT: nothing but the tree of the text is changed.

    WITH old AS (SELECT ward, cost / 100 AS euros FROM visits WHERE age >= 65)
    SELECT ward, AVG(euros) FROM old GROUP BY ward

An inner query that chooses rows and columns is put into the outer one: its columns in place of
their names, its condition beside the outer one. Where the inner query is grouped, the outer one is
about its answer: it filters, sorts and computes, which is free. Outer aggregates of an answer are
windows over all of its rows. An inner query that is grouped by the unit stays: it is about units.

  Tested:   tests/session/test_sql_habits.py
"""

from typing import NamedTuple, cast

from sqlglot import exp

from letalone.plans.schema import Schema
from letalone.sql.aggregates import is_aggregate
from letalone.sql.from_clause import KnownTables
from letalone.sql.names import only
from letalone.sql.refusals import CLAUSES, SUBQUERY
from letalone.sql.rewriting.features import (
    features_in,
    is_unit,
    plain_feature,
    split_formulas,
    unit_names,
    with_listed_values,
)
from letalone.sql.rewriting.inner_columns import (
    both_of,
    called_of,
    columns_of,
    is_star,
    nodes_of,
    put_columns,
    replace_columns,
    with_table,
)
from letalone.sql.rewriting.joined_answers import one_answer
from letalone.sql.rewriting.named_queries import ONE, without_with
from letalone.sql.rewriting.over_answers import over_answer, without_names
from letalone.sql.rewriting.people import about_people
from letalone.sql.rewriting.totals import named_numbers
from letalone.sql.text import Unread, slip
from letalone.sql.unit_queries import CHECKED

AFTER = ("group", "having", "order", "limit", "offset", "qualify", "distinct")


class Unfolded(NamedTuple):
    """One SELECT, and the one in its FROM that is grouped by the unit, if there is such a one."""

    query: exp.Select
    of_units: exp.Select | None = None
    columns: tuple[exp.Expr, ...] = ()  # of inner queries, also those that nobody uses
    people: frozenset[str] = frozenset()  # what inner queries call the unit


def unfold(query: exp.Select, known: KnownTables) -> Unfolded:
    """The query as one SELECT; what cannot be written so is refused."""
    schema = known.schema
    query = _with_scalars(without_with(query), schema)
    query = one_answer(query, list(known.public), schema.unit)
    source = query.args.get("from_")
    inner = None if source is None else source.this
    if type(inner) is not exp.Subquery:
        return Unfolded(query)
    own_names = [schema.name, *known.whole_name[-1:]]
    below = about_people(_select_of(inner), schema.unit, own_names)
    select, of_units, columns, people = unfold(below, known)
    _check_inner(select)
    select = _distinct_units(select, schema.unit)
    if of_units is None and _is_by_unit(select, schema.unit):
        select = with_listed_values(select, schema)
        return _of_units(query, select, inner, columns, unit=cast("str", schema.unit))
    if is_grouped(select):
        select = without_names(select, known)
        return Unfolded(over_answer(query, select, inner), of_units, columns, people)
    own = {column.name.casefold() for column in schema.columns}
    shown = columns_of(select)
    for name, meant in shown.items():
        same = type(meant) is exp.Column and meant.name.casefold() == name.casefold()
        star = any(is_star(column) for column in select.expressions)
        if star and name.casefold() in own and not same and of_units is None:
            raise slip(f"{name!r} is a column of the table", "Use another name.", node=inner)
    merged = _over_rows(query, select, inner)
    if of_units is None:
        columns = (*columns, *shown.values())
    return Unfolded(merged, of_units, columns, people)


def _of_units(
    query: exp.Select,
    select: exp.Select,
    inner: exp.Expr,
    columns: tuple[exp.Expr, ...],
    *,
    unit: str,
) -> Unfolded:
    """The outer query about people, with the formulas of the inner one in place of their names."""
    people = frozenset(unit_names(select, unit))
    features, formulas = split_formulas(select, unit)
    result = _about_units(query, features, inner)
    if formulas:
        put_columns(result, formulas, inner.alias.casefold(), inner.alias or "people")
    features.meta[CHECKED] = columns
    return Unfolded(result, features, (), people)


def _check_inner(query: exp.Select) -> None:
    for name, refused in CLAUSES.items():
        if query.args.get(name) not in (None, False, []):
            raise refused.at(query)
    only(query, "expressions", "from_", "joins", "where", *AFTER)
    for column in query.expressions:
        if type(column) is exp.Star:
            only(column)


def _is_by_unit(query: exp.Select, unit: str | None) -> bool:
    group = query.args.get("group")
    keys = nodes_of(None if group is None else group.expressions)
    if len(keys) != 1 or unit is None:
        return False
    key = keys[0]
    if type(key) is exp.Literal and str(key.this).isdecimal():
        place = int(key.this) - 1
        key = nodes_of(query.expressions)[place] if place < len(query.expressions) else key
    return is_unit(key, unit, called_of(query))


def _distinct_units(query: exp.Select, unit: str | None) -> exp.Select:
    """SELECT DISTINCT patient_id is GROUP BY patient_id."""
    only = query.expressions[0] if len(query.expressions) == 1 else None
    if only is None or unit is None or query.args.get("group") or not query.args.get("distinct"):
        return query
    if not is_unit(only, unit, called_of(query)):
        return query
    query = query.copy()
    query.set("distinct", None)
    query.set("group", exp.Group(expressions=[only.copy()]))
    return query


def _about_units(outer: exp.Select, inner: exp.Select, subquery: exp.Expr) -> exp.Select:
    """The outer query, FROM a table of the subquery's name; HAVING is a condition on units."""
    result = outer.copy()
    having = inner.args.get("having")
    if having is not None:
        names = {column.this.sql(): column.alias for column in inner.expressions if column.alias}
        condition = having.copy()
        for part in list(features_in(condition)):
            if part.sql() not in names:  # HAVING asks for what is not selected
                names[part.sql()] = f"having_{len(names) + 1}"
                added = exp.alias_(plain_feature(part.copy()), names[part.sql()], quoted=True)
                inner.append("expressions", added)
            part.replace(exp.column(names[part.sql()], quoted=True))
        result.set("where", both_of(condition, result.args.get("where"), exp.Where))
        inner.set("having", None)
    table = exp.table_("people")
    table.set("this", exp.to_identifier(subquery.alias or "people", quoted=True))
    result.set("from_", exp.From(this=table))
    return result


def is_grouped(query: exp.Select) -> bool:
    """Whether a query has a row for each group, and not for each row of the table."""
    clauses = [query.args.get(name) for name in ("group", "having", "distinct")]
    return any(clauses) or any(is_aggregate(node) for node in _parts(query))


def _parts(query: exp.Select) -> list[exp.Expr]:
    return [part for column in query.expressions for part in column.walk()]


def _select_of(node: exp.Expr) -> exp.Select:
    if type(node.this) is not exp.Select:
        raise SUBQUERY.at(node)
    alias = node.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise Unread("This name is not read", "Name columns in the inner query.", node=node)
    only(node, "this", "alias")
    return node.this.copy()


def _over_rows(outer: exp.Select, inner: exp.Select, subquery: exp.Expr) -> exp.Select:
    """The outer query about the rows that the inner one chooses."""
    for name in AFTER:
        if name != "order" and inner.args.get(name):
            raise Unread(f"{name.upper()} within FROM would choose rows", ONE, node=subquery)
    result = outer.copy()
    called = subquery.alias.casefold()
    columns, star = columns_of(inner), any(is_star(c) for c in inner.expressions)
    joins, own = nodes_of(result.args.get("joins")), called_of(inner)
    strict = not star and not joins
    put_columns(result, columns, called, own, strict=strict)
    for join in joins:
        if join.args.get("on") is not None:
            replace_columns(join.args["on"], with_table(columns, own), called, own, strict=False)
    result.set("from_", inner.args["from_"].copy())
    result.set("joins", [*nodes_of(inner.args.get("joins")), *nodes_of(result.args.get("joins"))])
    result.set("where", both_of(inner.args.get("where"), result.args.get("where"), exp.Where))
    return result


def _with_scalars(query: exp.Select, schema: Schema) -> exp.Select:
    """CROSS JOIN (SELECT COUNT(*) AS total FROM visits) s: its number in place of s.total."""
    if not query.args.get("joins"):
        return query
    query, own = query.copy(), {column.name.casefold() for column in schema.columns}
    kept: list[exp.Expr] = []
    for join in nodes_of(query.args["joins"]):
        keyed = join.args.get("on") or join.args.get("using") or join.args.get("method")
        numbers = None if keyed else named_numbers(join.this)
        if numbers is None:
            kept.append(join)
            continue
        called = str(join.this.alias_or_name).casefold()
        for name in ("expressions", "where", "having", "order", "qualify"):
            for column in [
                c for n in nodes_of(query.args.get(name)) for c in n.find_all(exp.Column)
            ]:
                prefix, number = column.text("table").casefold(), column.name.casefold()
                meant = prefix == called or (not prefix and number not in own)
                if meant and number in numbers:
                    column.replace(exp.Subquery(this=numbers[number].copy()))
    query.set("joins", kept or None)
    return query
