"""WITH and queries within FROM, written as one SELECT: nothing but the tree of the text is changed.

    WITH old AS (SELECT ward, cost / 100 AS euros FROM visits WHERE age >= 65)
    SELECT ward, AVG(euros) FROM old GROUP BY ward

An inner query that chooses rows and columns is put into the outer one: its columns in place of
their names, its condition beside the outer one. Where the inner query is grouped, the outer one is
about its answer: it filters, sorts and computes, which is free. Outer aggregates of an answer are
windows over all of its rows. An inner query that is grouped by the unit stays: it is about units.

  Tested:   tests/session/test_sql_habits.py
"""

from collections.abc import Mapping
from typing import NamedTuple, cast

from sqlglot import exp

from letalone.plans.schema import Schema
from letalone.sql.aggregates import is_aggregate
from letalone.sql.from_clause import KnownTables
from letalone.sql.names import matching, only, quote_name
from letalone.sql.refusals import CLAUSES, SUBQUERY
from letalone.sql.rewriting.features import (
    features_in,
    plain_feature,
    split_formulas,
    unit_names,
    with_listed_values,
)
from letalone.sql.rewriting.joined_answers import one_answer
from letalone.sql.rewriting.named_queries import ONE, without_with
from letalone.sql.rewriting.one_number import one_number
from letalone.sql.rewriting.people import about_people
from letalone.sql.rewriting.totals import named_numbers
from letalone.sql.text import Unread, slip
from letalone.sql.unit_queries import CHECKED

AFTER = ("group", "having", "order", "limit", "offset", "qualify", "distinct")
LIFTED = "lifted"  # marks a query with aggregates of an answer
KEPT_KEYS = "kept keys"  # marks a query of whose groups only these are shown
SUMMARY = "summary"  # marks a query whose answer is one row about all groups
Columns = Mapping[str, exp.Expr]


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
    query = one_answer(query, list(known.public))
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
        select = _without_names(select, known)
        return Unfolded(_over_answer(query, select, inner), of_units, columns, people)
    own = {column.name.casefold() for column in schema.columns}
    shown = _columns(select)
    for name, meant in shown.items():
        same = type(meant) is exp.Column and meant.name.casefold() == name.casefold()
        star = any(_is_star(column) for column in select.expressions)
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
        _put_columns(result, formulas, inner.alias.casefold(), inner.alias or "people")
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
    keys = _nodes(None if group is None else group.expressions)
    if len(keys) != 1 or unit is None:
        return False
    key = keys[0]
    if type(key) is exp.Literal and str(key.this).isdecimal():
        place = int(key.this) - 1
        key = _nodes(query.expressions)[place] if place < len(query.expressions) else key
    if type(key) is not exp.Column or type(key.this) is not exp.Identifier:
        return False
    return matching(key.this, [unit]) is not None


def _distinct_units(query: exp.Select, unit: str | None) -> exp.Select:
    """SELECT DISTINCT patient_id is GROUP BY patient_id."""
    only = query.expressions[0] if len(query.expressions) == 1 else None
    named = type(only) is exp.Column and type(only.this) is exp.Identifier
    if not named or unit is None or query.args.get("group") or not query.args.get("distinct"):
        return query
    column = cast("exp.Column", only)
    if matching(cast("exp.Identifier", column.this), [unit]) is None:
        return query
    query = query.copy()
    query.set("distinct", None)
    query.set("group", exp.Group(expressions=[column.copy()]))
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
        result.set("where", _both(condition, result.args.get("where"), exp.Where))
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
    columns, star = _columns(inner), any(_is_star(c) for c in inner.expressions)
    joins, own = _nodes(result.args.get("joins")), _called(inner)
    strict = not star and not joins
    _put_columns(result, columns, called, own, strict=strict)
    for join in joins:
        if join.args.get("on") is not None:
            _replace_columns(join.args["on"], _with_table(columns, own), called, own, strict=False)
    result.set("from_", inner.args["from_"].copy())
    result.set("joins", [*_nodes(inner.args.get("joins")), *_nodes(result.args.get("joins"))])
    result.set("where", _both(inner.args.get("where"), result.args.get("where"), exp.Where))
    return result


def _with_table(columns: Columns, own: str) -> dict[str, exp.Expr]:
    """Columns with their table's name before them, as joins want them."""
    named = {name: of.copy() for name, of in columns.items()}
    for of in named.values():
        if type(of) is exp.Column and not of.text("table"):
            of.set("table", exp.to_identifier(own))
    return named


def _put_columns(
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
        for node in list(_nodes(query.args.get(name))):
            _replace_columns(node, known, called, own, strict=strict)


def _is_star(column: exp.Expr) -> bool:
    """* and visits.*: all columns."""
    return type(column) is exp.Star or (
        type(column) is exp.Column and type(column.this) is exp.Star
    )


def _nodes(value: object) -> list[exp.Expr]:
    if isinstance(value, list):
        return cast("list[exp.Expr]", value)
    return [] if value is None else [cast("exp.Expr", value)]


def _columns(query: exp.Select) -> dict[str, exp.Expr]:
    """What the columns of an inner query are, by name."""
    columns: dict[str, exp.Expr] = {}
    for column in query.expressions:
        if _is_star(column):
            continue
        name = column.alias_or_name
        if not name:
            raise Unread("A column of the inner query has no name", "Name it: … AS n.", node=column)
        if name.casefold() in {known.casefold() for known in columns}:
            raise slip(f"Two columns are called {name!r}", "Name one otherwise.", node=column)
        columns[name] = column.this if type(column) is exp.Alias else column
    return columns


def _called(query: exp.Select) -> str:
    table = query.args["from_"].this
    return table.alias_or_name


def _replace_columns(
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


def _both(first: exp.Expr | None, second: exp.Expr | None, kind: type[exp.Expr]) -> exp.Expr | None:
    conditions = [exp.Paren(this=part.this.copy()) for part in (first, second) if part is not None]
    if not conditions:
        return None
    if len(conditions) == 1:
        return kind(this=conditions[0].this)
    return kind(this=exp.And(this=conditions[0], expression=conditions[1]))


def _over_answer(outer: exp.Select, inner: exp.Select, subquery: exp.Expr) -> exp.Select:
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
    columns, called = _columns(inner), subquery.alias.casefold()
    result = outer.copy()
    clauses = ("expressions", "where", "order", "qualify", "having")
    for node in [node for name in clauses for node in _nodes(result.args.get(name))]:
        if _lift_aggregates(node):  # which may put another node in its place
            result.meta[LIFTED] = True
    given = [column.alias for column in result.expressions if column.alias]
    by_name = {name: exp.column(name, quoted=True) for name in given}
    for name in clauses:
        known = {**columns, **by_name} if name == "order" else columns
        for node in list(_nodes(result.args.get(name))):
            _replace_columns(node, known, called, "", strict=True)
    return _merged(result, inner.copy())


def _without_stars(outer: exp.Select, inner: exp.Select) -> exp.Select:
    """SELECT *, RANK() OVER … of an answer: all of its columns by their names."""
    if len(outer.expressions) < 2 or not any(map(_is_star, outer.expressions)):
        return outer
    outer, columns = outer.copy(), list[exp.Expr]()
    for column in outer.expressions:
        if not _is_star(column):
            columns.append(column)
            continue
        only(column if type(column) is exp.Star else column.this)
        columns += [exp.column(name, quoted=True) for name in _columns(inner)]
    outer.set("expressions", columns)
    return outer


def _with_scalars(query: exp.Select, schema: Schema) -> exp.Select:
    """CROSS JOIN (SELECT COUNT(*) AS total FROM visits) s: its number in place of s.total."""
    if not query.args.get("joins"):
        return query
    query, own = query.copy(), {column.name.casefold() for column in schema.columns}
    kept: list[exp.Expr] = []
    for join in _nodes(query.args["joins"]):
        keyed = join.args.get("on") or join.args.get("using") or join.args.get("method")
        numbers = None if keyed else named_numbers(join.this)
        if numbers is None:
            kept.append(join)
            continue
        called = str(join.this.alias_or_name).casefold()
        for name in ("expressions", "where", "having", "order", "qualify"):
            for column in [c for n in _nodes(query.args.get(name)) for c in n.find_all(exp.Column)]:
                prefix, number = column.text("table").casefold(), column.name.casefold()
                meant = prefix == called or (not prefix and number not in own)
                if meant and number in numbers:
                    column.replace(exp.Subquery(this=numbers[number].copy()))
    query.set("joins", kept or None)
    return query


def _by_windows(outer: exp.Select) -> exp.Select:
    """Groups of an answer: their numbers stand in each row, and one row of each is kept."""
    group = outer.args.get("group")
    keys = _nodes(None if group is None else group.expressions)
    if group is None or not keys or not all(type(key) is exp.Column for key in keys):
        return outer
    if any(outer.args.get(name) for name in ("having", "qualify", "where", "distinct")):
        return outer
    by = [key.copy() for key in keys]
    for node in _nodes(outer.args.get("expressions")) + _nodes(outer.args.get("order")):
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
    plain = [c.this if type(c) is exp.Alias else c for c in _nodes(query.expressions)]
    group, order = query.args.get("group"), query.args.get("order")
    if group is not None and group.args.get("all"):
        keys = [c.copy() for c in plain if not c.find(exp.Window) and not _has_aggregate(c)]
        group = exp.Group(expressions=keys)
        query.set("group", group)
    listed = list(_nodes(None if group is None else group.expressions))
    listed += [one.this for one in _nodes(None if order is None else order.expressions)]
    for node in listed:
        if type(node) is exp.Literal and str(node.this).isdecimal():
            place = int(node.this) - 1
            if not 0 <= place < len(plain):
                raise Unread("There is no such column", "Name the column.", node=query)
            node.replace(plain[place].copy())
    return query


def _without_names(query: exp.Select, known: KnownTables) -> exp.Select:
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
    stars = len(selected) == 1 and _is_star(selected[0])
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
    inner.set(name, _both(inner.args.get(name), where, kind))
    inner.set("qualify", _both(inner.args.get("qualify"), qualify, exp.Qualify))


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
