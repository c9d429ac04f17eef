"""Questions about people that are written with rows: as a query that is grouped by the unit.

    WHERE patient_id IN (SELECT patient_id FROM visits WHERE ward = 'A')
    FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day) AS rn …) WHERE rn = 1
    FROM (SELECT DISTINCT patient_id, ward FROM visits)

The first counts people (COUNT(DISTINCT patient_id)), or their rows, as rows of a feature that is
clamped. The second has one row for each person, the first or the last one. The third is the number
of people in each ward, added up.

  Tested:   tests/session/test_sql_habits.py
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

from sqlglot import exp

from letalone.sql.names import matching
from letalone.sql.rewriting.first_rows import with_places
from letalone.sql.rewriting.one_number import (
    PLAIN,
    has_only,
    is_of_table,
    is_plain_query,
    is_plain_table,
)
from letalone.sql.text import Unread

PEOPLE, ROWS = "people", "rows"


class Owner(NamedTuple):
    """The column that identifies people, and what their table is called."""

    unit: str
    tables: Sequence[str]


def about_people(query: exp.Select, unit: str | None, tables: Sequence[str]) -> exp.Select:
    """The query about people, where it is written with rows; else as it is."""
    if unit is None:
        return query
    owner = Owner(unit, tables)
    query = with_places(query)
    for rewrite in (_of_some_people, _one_row_each, _of_pairs):
        found = rewrite(query, owner)
        if found is not None:
            return found
    return query


def _is_unit(node: exp.Expr | None, owner: Owner) -> bool:
    if type(node) is not exp.Column or type(node.this) is not exp.Identifier:
        return False
    return matching(node.this, [owner.unit]) is not None


def _is_own(query: exp.Select, owner: Owner) -> bool:
    source = query.args.get("from_")
    table = None if source is None else source.this
    if not is_plain_table(table):
        return False
    return matching(cast("exp.Table", table).this, owner.tables) is not None


def _parts(where: exp.Expr | None) -> list[exp.Expr]:
    if where is None:
        return []
    return list(where.this.flatten()) if type(where.this) is exp.And else [where.this]


def _drop_table_names(node: exp.Expr) -> exp.Expr:
    node = node.copy()
    for column in node.find_all(exp.Column):
        column.set("table", None)
    return node


def _of_some_people(query: exp.Select, owner: Owner) -> exp.Select | None:
    parts = _parts(query.args.get("where"))
    chosen = [part for part in parts if _people_in(part, owner) is not None]
    if not chosen or not has_only(query, *PLAIN) or not _is_own(query, owner):
        return None
    outside = [*query.expressions, *(p.this.this if type(p) is exp.Not else p.this for p in chosen)]
    outside += [part for part in parts if part not in chosen]
    if not all(is_of_table(part, query.args["from_"].this) for part in outside):
        return None
    columns = [_count_people(column, owner) for column in query.expressions]
    if not all(columns):
        return None
    features: list[exp.Expr] = [exp.column(owner.unit, quoted=True)]
    rest = [_drop_table_names(part) for part in parts if part not in chosen]
    conditions = [_feature(exp.and_(*rest, copy=False), features)] if rest else []
    for part in chosen:
        met = _meets(cast("exp.Select", _people_in(part, owner)), features)
        if met is None:
            return None
        conditions.append(_is_false(met) if type(part) is exp.Not else met)
    own = exp.and_(*rest) if rest else None
    features.append(_rows_feature(own))
    inner = exp.select(*features).from_(query.args["from_"].this.copy())
    inner = inner.group_by(exp.column(owner.unit, quoted=True))
    outer = exp.select(*cast("list[exp.Expr]", columns)).from_(inner.subquery(PEOPLE))
    return outer.where(exp.and_(*conditions, copy=False))


def _is_false(met: exp.Expr) -> exp.Expr:
    """Whether a person is not among those who meet it: also where it is unknown."""
    return exp.Not(this=exp.Coalesce(this=met, expressions=[exp.false()]))


def _people_in(node: exp.Expr, owner: Owner) -> exp.Select | None:
    """The query of people that the unit is compared with."""
    inside = node.this if type(node) is exp.Not else node
    query = inside.args.get("query") if type(inside) is exp.In else None
    select = None if query is None else query.this if type(query) is exp.Subquery else query
    if type(select) is not exp.Select or not _is_unit(inside.this, owner):
        return None
    alone = len(select.expressions) == 1 and _is_unit(select.expressions[0].unalias(), owner)
    plain = is_plain_query(select, "group", "having", "distinct") and _is_own(select, owner)
    group, distinct = select.args.get("group"), select.args.get("distinct")
    if not plain or not alone or (distinct is not None and distinct.args.get("on")):
        return None
    if group is None:
        return None if select.args.get("having") else select
    return select if _is_by_person(group, owner) else None


def _is_by_person(group: exp.Expr, owner: Owner) -> bool:
    """GROUP BY patient_id, or its place, and nothing else."""
    keys = cast("list[exp.Expr]", group.expressions)
    return (
        has_only(group, "expressions")
        and len(keys) == 1
        and (_is_unit(keys[0], owner) or keys[0].sql() == "1")
    )


def _meets(query: exp.Select, features: list[exp.Expr]) -> exp.Expr | None:
    """The condition on a person that the query of people makes; its parts are features."""
    where, having = query.args.get("where"), query.args.get("having")
    if having is None:
        condition = exp.true() if where is None else _drop_table_names(where.this)
        return _feature(condition, features)
    if where is not None:
        return None
    condition = _drop_table_names(having.this)
    holder = exp.Paren(this=condition)
    for part in list(holder.find_all(exp.AggFunc)):
        name = f"feature_{len(features)}"
        features.append(exp.alias_(part.copy(), name, quoted=True))
        part.replace(exp.column(name, quoted=True))
    return holder


def _feature(condition: exp.Expr, features: list[exp.Expr]) -> exp.Expr:
    """Whether it is true in some row of a person."""
    name = f"feature_{len(features)}"
    features.append(exp.alias_(exp.LogicalOr(this=condition), name, quoted=True))
    return exp.column(name, quoted=True)


def _rows_feature(condition: exp.Expr | None) -> exp.Expr:
    counted: exp.Expr = exp.Count(this=exp.Star())
    if condition is not None:
        counted = exp.CountIf(this=condition)
    return exp.alias_(counted, ROWS, quoted=True)


def _count_people(column: exp.Expr, owner: Owner) -> exp.Expr | None:
    """People, or their rows, under the same name."""
    count = column.unalias()
    if type(count) is not exp.Count:
        return None
    distinct = type(count.this) is exp.Distinct
    if distinct and not (
        len(count.this.expressions) == 1 and _is_unit(count.this.expressions[0], owner)
    ):
        return None
    if not distinct and type(count.this) is not exp.Star and not _is_unit(count.this, owner):
        return None
    rows = exp.Sum(this=exp.column(ROWS, quoted=True))
    new = exp.Count(this=exp.Star()) if distinct else rows
    return exp.alias_(new, column.alias or "count", quoted=True)


def _one_row_each(query: exp.Select, owner: Owner) -> exp.Select | None:
    source = query.args.get("from_")
    inner = None if source is None else source.this
    select = inner.this if type(inner) is exp.Subquery else None
    if type(select) is not exp.Select or query.args.get("joins"):
        return None
    if not _is_of_rows(select) or not _is_own(select, owner):
        return None
    numbered = [c for c in select.expressions if type(c.unalias()) is exp.Window]
    if len(numbered) != 1 or not numbered[0].alias:
        return None
    name, window = numbered[0].alias, numbered[0].unalias()
    order = window.args.get("order")
    by = cast("list[exp.Expr]", window.args.get("partition_by") or [])
    if type(window.this) is not exp.RowNumber or len(by) != 1 or not _is_unit(by[0], owner):
        return None
    if not has_only(window, "this", "partition_by", "order", "over"):
        return None
    parts = _parts(query.args.get("where"))
    first = [part for part in parts if _is_first(part, name)]
    if len(first) != 1 or order is None or len(order.expressions) != 1:
        return None
    check_missing_last(order.expressions[0])
    return _of_first_rows(
        query, select, order.expressions[0], [p for p in parts if p not in first], owner
    )


def _is_of_rows(select: exp.Select) -> bool:
    """Whether a query has all rows that its WHERE chooses, each with one number of a window."""
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        return False
    windows = [w for column in select.expressions for w in column.find_all(exp.Window)]
    return is_plain_query(select, "distinct", "order") and len(windows) == 1


def check_missing_last(order: exp.Expr) -> None:
    """Refuses an order in which rows with a missing value are first: they are never here."""
    if order.args.get("nulls_first"):
        what = "Rows with a missing value come first in this order"
        raise Unread(what, "Write NULLS LAST after it.", node=order)


def _is_first(node: exp.Expr, name: str) -> bool:
    sides = [node.this, node.expression] if type(node) is exp.EQ else []
    return (
        len(sides) == 2
        and type(sides[0]) is exp.Column
        and sides[0].name.casefold() == name.casefold()
        and sides[1].sql() == "1"
    )


def _of_first_rows(
    query: exp.Select, select: exp.Select, order: exp.Expr, rest: list[exp.Expr], owner: Owner
) -> exp.Select | None:
    """One row for each person: the columns that are used, as they are in the row that is first."""
    result = query.copy()
    result.set("from_", None)
    result.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    kind = exp.ArgMax if order.args.get("desc") else exp.ArgMin
    used = {column.name: column for column in result.find_all(exp.Column) if column.name}
    used = {name: c for name, c in used.items() if type(c.this) is exp.Identifier}
    used = {name: column for name, column in used.items() if not _is_unit(column, owner)}
    features: list[exp.Expr] = [exp.column(owner.unit, quoted=True)]
    given = {c.alias.casefold(): c.unalias() for c in select.expressions if c.alias}
    if any(type(given.get(name.casefold())) is exp.Window for name in used):
        return None
    person = given.get(owner.unit.casefold())
    if person is not None and not _is_unit(person, owner):
        return None  # another column is called like that of people
    for name in used:
        of = given.get(name.casefold(), exp.column(name, quoted=used[name].this.quoted))
        value = kind(this=_drop_table_names(of), expression=_drop_table_names(order.this))
        features.append(exp.alias_(value, name, quoted=True))
    inner = exp.select(*features).from_(select.args["from_"].this.copy())
    if select.args.get("where") is not None:
        inner.set("where", select.args["where"].copy())
    inner = inner.group_by(exp.column(owner.unit, quoted=True))
    called = query.args["from_"].this.alias or PEOPLE
    result.set("from_", exp.From(this=inner.subquery(called)))
    return result


def _of_pairs(query: exp.Select, owner: Owner) -> exp.Select | None:
    """COUNT(*) FROM (SELECT DISTINCT patient_id, ward …): people in each ward, added up."""
    source = query.args.get("from_")
    inner = None if source is None else source.this
    select = inner.this if type(inner) is exp.Subquery else None
    plain = is_plain_query(select, "distinct") and has_only(query, "expressions", "from_")
    if not plain or len(query.expressions) != 1:
        return None
    count, select = query.expressions[0].unalias(), cast("exp.Select", select)
    keys = [c.unalias() for c in select.expressions if not _is_unit(c.unalias(), owner)]
    distinct = select.args.get("distinct")
    if distinct is None or distinct.args.get("on") or not _is_own(select, owner):
        return None
    if type(count) is not exp.Count or type(count.this) is not exp.Star or not keys:
        return None
    if len(keys) != len(select.expressions) - 1:
        return None
    people = exp.Count(this=exp.Distinct(expressions=[exp.column(owner.unit, quoted=True)]))
    grouped = select.copy()
    grouped.set("distinct", None)
    named = exp.alias_(people, PEOPLE, quoted=True)
    grouped.set("expressions", [*(key.copy() for key in keys), named])
    grouped.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    total = exp.alias_(
        exp.Sum(this=exp.column(PEOPLE, quoted=True)),
        query.expressions[0].alias or "count",
        quoted=True,
    )
    return exp.select(total).from_(grouped.subquery("pairs"))
