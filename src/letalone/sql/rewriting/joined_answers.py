"""Answers that are joined: to a public table, or to another answer about the same groups.

    FROM (SELECT product, COUNT(*) AS n FROM sales GROUP BY product) s JOIN products p ON …
    FROM (SELECT ward, … WHERE year = 2023 GROUP BY ward) a JOIN (… 2024 …) b USING (ward)

In the first, the public table is joined before rows are counted, on the same keys, which changes
no count. The second is one query whose numbers are each about their own rows.

  Tested:   tests/session/test_sql_models.py
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple, cast

from sqlglot import exp

from letalone.sql.aggregates import is_aggregate
from letalone.sql.names import matching
from letalone.sql.rewriting.one_number import has_only, is_plain_table
from letalone.sql.rewriting.totals import filter_number, is_same_table
from letalone.sql.text import Unread

GROUPED = ("expressions", "from_", "joins", "where", "group", "order")
SIDES = ("", "LEFT", "RIGHT", "FULL")
KINDS = ("", "INNER", "OUTER")
OF_PEOPLE = "Write one query: COUNT(*) FILTER (WHERE …) AS n, … FROM visits GROUP BY patient_id."
OF_GROUPS = "Write FULL JOIN, where a group without rows has a count of 0 and noise, or FILTER."
Meant = dict[tuple[str, str], exp.Expr]  # what a column of a table in FROM is, by both names


class JoinedAnswer(NamedTuple):
    """A table of FROM: what it is called, and the query that it is."""

    called: str
    of: exp.Expr


def one_answer(query: exp.Select, public: Collection[str], unit: str | None = None) -> exp.Select:
    """The query FROM one grouped query, where several are joined; else as it is.

    Refused where the answers are of other rows, and the join chooses among their groups: which
    groups have rows nobody may see.
    """
    source, joins = query.args.get("from_"), cast("list[exp.Join]", query.args.get("joins") or [])
    if source is None or not joins:
        return query
    parts = [
        JoinedAnswer(_called(t), _public_table(t, public)) for t in (source.this, *_tables(joins))
    ]
    grouped = [part for part in parts if _is_grouped(part.of)]
    others = [part for part in parts if part not in grouped]
    if not grouped or not all(_is_public(part.of, public) for part in others):
        return query
    if not all(map(_is_read, joins)):
        return query
    keys = [_key(join, parts[: place + 1], parts[place + 1]) for place, join in enumerate(joins)]
    if None in keys:
        return query
    ties = cast("list[Tie]", keys)
    _check_groups(query, grouped, ties, unit)
    return _joined(query, grouped, others, ties) or query


def _is_read(join: exp.Join) -> bool:
    side, kind = (str(join.args.get(name) or "").upper() for name in ("side", "kind"))
    parts = ("this", "side", "kind", "on", "using")
    return side in SIDES and kind in KINDS and has_only(join, *parts)


class Tie(NamedTuple):
    """Columns of two tables that are equal, and the word before their JOIN."""

    left: tuple[str, str]
    right: tuple[str, str]
    side: str


def _tables(joins: list[exp.Join]) -> list[exp.Expr]:
    return [join.this for join in joins]


def _called(table: exp.Expr) -> str:
    return str(table.alias_or_name).casefold()


def _public_table(table: exp.Expr, public: Collection[str]) -> exp.Expr:
    """(SELECT country, name FROM countries) is the table itself, where nothing is renamed."""
    select = table.this if type(table) is exp.Subquery else None
    if type(select) is not exp.Select or not _only(select, "expressions", "from_"):
        return table
    below = select.args["from_"].this
    plain = all(type(column) in (exp.Column, exp.Star) for column in select.expressions)
    if not plain or not _is_public(below, public):
        return table
    named = below.copy()
    named.set("alias", exp.TableAlias(this=exp.to_identifier(table.alias_or_name, quoted=True)))
    return named


def _only(select: exp.Select, *names: str) -> bool:
    return {name for name, value in select.args.items() if value} <= {*names}


def _is_public(table: exp.Expr, public: Collection[str]) -> bool:
    return is_plain_table(table) and matching(table.this, public) is not None


def _is_grouped(table: exp.Expr) -> bool:
    select = table.this if type(table) is exp.Subquery else None
    if type(select) is not exp.Select or not _only(select, *GROUPED):
        return False
    below = select.args.get("from_")
    named = all(type(c) is exp.Column or c.alias for c in select.expressions)
    plain = below is not None and is_plain_table(below.this)
    return plain and named and bool(select.args.get("group"))


def _key(join: exp.Join, before: list[JoinedAnswer], part: JoinedAnswer) -> Tie | None:
    """The one column of each side on which two tables are joined."""
    using = cast("list[exp.Expr]", join.args.get("using") or [])
    side = str(join.args.get("side") or "").upper()
    if len(using) == 1 and not join.args.get("on"):
        name = using[0].name.casefold()
        return Tie((before[0].called, name), (part.called, name), side)
    on = exp.Null() if join.args.get("on") is None else cast("exp.Expr", join.args["on"]).unnest()
    sides = [on.this, on.expression] if type(on) is exp.EQ else []
    if len(sides) != 2 or not all(type(side) is exp.Column for side in sides):
        return None
    ends = [(side.text("table").casefold(), side.name.casefold()) for side in sides]
    known = {one.called for one in before}
    left, right = ends if ends[1][0] == part.called else (ends[1], ends[0])
    return Tie(left, right, side) if left[0] in known and right[0] == part.called else None


def _check_groups(
    query: exp.Select, grouped: list[JoinedAnswer], ties: list[Tie], unit: str | None
) -> None:
    """Refuses answers of other rows, unless the join keeps every group that has rows in any."""
    wheres = [part.of.this.args.get("where") for part in grouped]
    if all(where == wheres[0] for where in wheres):
        return
    selects = [cast("exp.Select", part.of.this) for part in grouped]
    keys = [key for select in selects for key in _group(select)]
    if unit is not None and any(_is_unit(key, unit) for key in keys):
        what = "Two queries of the rows of each person, with another WHERE each, are not joined"
        raise Unread(what, OF_PEOPLE, node=grouped[1].of)
    names = {part.called for part in grouped}
    within = [tie.side for tie in ties if {tie.left[0], tie.right[0]} <= names]
    of_all = wheres[0] is None and set(within) == {"LEFT"}
    if not of_all and set(within) != {"FULL"}:
        what = "Answers of other rows each are joined here by the groups that have rows in both"
        raise Unread(what, OF_GROUPS, node=grouped[1].of)
    missing = [n for n in query.find_all(exp.Is) if n.find_ancestor(exp.Subquery) is None]
    if missing:
        what = "Which groups have no rows in a joined answer is not told"
        raise Unread(what, OF_GROUPS, node=missing[0])


def _is_unit(node: exp.Expr, unit: str) -> bool:
    named = type(node) is exp.Column and type(node.this) is exp.Identifier
    return named and matching(cast("exp.Identifier", node.this), [unit]) is not None


def _joined(
    query: exp.Select, grouped: list[JoinedAnswer], others: list[JoinedAnswer], ties: list[Tie]
) -> exp.Select | None:
    meant: Meant = {}
    inner = _one_of_all(grouped, ties, meant)
    if inner is None:
        return None
    for part in others:
        if not _add_public(inner, part, ties, meant):
            return None
    result = query.copy()
    result.set("joins", None)
    result.set("from_", None)
    if not _put(result, inner, others, meant):
        return None
    result.set("from_", exp.From(this=inner.subquery("answer")))
    return result


def _columns(select: exp.Select) -> dict[str, exp.Expr]:
    return {column.alias_or_name.casefold(): column.unalias() for column in select.expressions}


def _one_of_all(grouped: list[JoinedAnswer], ties: list[Tie], meant: Meant) -> exp.Select | None:
    """One query with the numbers of all, each of its own rows."""
    selects = [cast("exp.Select", part.of.this) for part in grouped]
    first, keys = selects[0], _keys(selects[0])
    if keys is None or any(_keys(select) != keys for select in selects):
        return None
    tables = [select.args["from_"].this for select in selects]
    if len(grouped) > 1 and any(select.args.get("joins") for select in selects):
        return None
    if not all(is_same_table(table, tables[0]) for table in tables):
        return None
    if len(grouped) > 1 and not _tied(grouped, ties, selects, keys):
        return None
    wheres = [select.args.get("where") for select in selects]
    alike = all(where == wheres[0] for where in wheres)
    inner, columns = first.copy(), list[exp.Expr]()
    inner.set("order", None)
    for part, select, where in zip(grouped, selects, wheres, strict=True):
        for name, of in _columns(select).items():
            is_key = of.sql() in keys
            known = next((c.alias for c in columns if is_key and c.unalias() == of), None)
            shown = known or _free(name, part.called, columns)
            meant[part.called, name] = exp.column(shown, quoted=True)
            if known is None:
                own = None if alike or is_key or where is None else where.this
                columns.append(exp.alias_(_of_rows(of, own), shown, quoted=True))
    inner.set("expressions", columns)
    inner.set("group", exp.Group(expressions=_group(first)))
    if not alike:
        every = None if None in wheres else [cast("exp.Expr", w).this.copy() for w in wheres]
        inner.set("where", None if every is None else exp.Where(this=exp.or_(*every)))
    return inner


def _of_rows(of: exp.Expr, where: exp.Expr | None) -> exp.Expr:
    return of.copy() if where is None else filter_number(of, where)


def _group(select: exp.Select) -> list[exp.Expr]:
    """The keys themselves, in place of their places and names in SELECT."""
    columns, plain = select.expressions, _columns(select)
    group, keys = select.args["group"], list[exp.Expr]()
    if group.args.get("all"):
        return [c.copy() for c in plain.values() if not any(map(is_aggregate, c.walk()))]
    for key in group.expressions:
        if type(key) is exp.Literal and str(key.this).isdecimal():
            place = int(key.this) - 1
            key = columns[place].unalias() if place < len(columns) else key
        elif type(key) is exp.Column and not key.text("table"):
            key = plain.get(key.name.casefold(), key)
        keys.append(key.copy())
    return keys


def _keys(select: exp.Select) -> list[str] | None:
    group = select.args["group"]
    if any(group.args.get(name) for name in ("cube", "rollup", "grouping_sets", "totals")):
        return None
    return [key.sql() for key in _group(select)]


def _tied(
    grouped: list[JoinedAnswer], ties: list[Tie], selects: list[exp.Select], keys: list[str]
) -> bool:
    """Whether each answer is joined to another on all of its keys."""
    known = {part.called: _columns(select) for part, select in zip(grouped, selects, strict=True)}
    within = [tie for tie in ties if tie.left[0] in known and tie.right[0] in known]
    for tie in within:
        sides = [known[called].get(name) for called, name in (tie.left, tie.right)]
        if None in sides or sides[0] != sides[1]:
            return False
        if cast("exp.Expr", sides[0]).sql() not in keys:
            return False
    return len(keys) == 1 and len(within) == len(grouped) - 1


def _free(name: str, called: str, columns: list[exp.Expr]) -> str:
    taken = {column.alias.casefold() for column in columns}
    names = [name, f"{called}_{name}", *(f"{called}_{name}_{n}" for n in range(2, 100))]
    return next(one for one in names if one not in taken)


def _add_public(inner: exp.Select, part: JoinedAnswer, ties: list[Tie], meant: Meant) -> bool:
    """Joins a public table within the grouped query, on the column that the key is there."""
    tie = next((tie for tie in ties if part.called in (tie.left[0], tie.right[0])), None)
    if tie is None:
        return False
    theirs, own = (tie.left, tie.right) if tie.left[0] == part.called else (tie.right, tie.left)
    if tie.side == "FULL":
        return False
    named = meant.get(own)
    of = None if named is None else _columns(inner).get(named.name.casefold())
    if named is None or type(of) is not exp.Column:
        return False
    if not inner.args.get("joins"):
        _name_own(inner)
        of = cast("exp.Column", _columns(inner)[named.name.casefold()])
    right = exp.column(theirs[1], table=part.called, quoted=False)
    on = exp.EQ(this=of.copy(), expression=right)
    table = part.of.copy()
    table.set("joins", None)
    kept = tie.side == ("LEFT" if theirs == tie.right else "RIGHT")  # groups without a partner
    if tie.side and not kept:
        what = f"This keeps rows of {part.called!r} that are in no group"
        raise Unread(what, "Write JOIN, or the grouped query before LEFT JOIN.", node=part.of)
    inner.append("joins", exp.Join(this=table, on=on, side="LEFT" if kept else None))
    meant[theirs] = named
    return True


def _name_own(inner: exp.Select) -> None:
    """The table before each of its columns, since the public table may have such a column, too."""
    called = _called(inner.args["from_"].this)
    nodes = [*inner.expressions, inner.args["group"], inner.args.get("where")]
    for node in cast("list[exp.Expr]", [node for node in nodes if node is not None]):
        for column in node.find_all(exp.Column):
            column.set("table", exp.to_identifier(called, quoted=True))


def _put(query: exp.Select, inner: exp.Select, others: list[JoinedAnswer], meant: Meant) -> bool:
    """Names of the one inner query in place of those of the tables."""
    names = {part.called for part in others}
    for column in list(query.find_all(exp.Column)):
        if column.find_ancestor(exp.Subquery) is not None:
            continue  # a number of its own
        if type(column.this) is not exp.Identifier:
            return False
        place = column.text("table").casefold(), column.name.casefold()
        new = meant.get(place) if place[0] else _anywhere(place[1], meant)
        if new is None and place[0] in names:
            new = _add_column(inner, column, meant)
        if new is not None:
            _replace(column, new)
        elif place[0] or not _is_shown(query, column):
            return False
    return True


def _anywhere(name: str, meant: Mapping[tuple[str, str], exp.Expr]) -> exp.Expr | None:
    columns = {of.name: of for (_, known), of in meant.items() if known == name}
    return next(iter(columns.values())) if len(columns) == 1 else None


def _is_shown(query: exp.Select, column: exp.Column) -> bool:
    return column.name.casefold() in {c.alias.casefold() for c in query.expressions if c.alias}


def _add_column(inner: exp.Select, column: exp.Column, meant: Meant) -> exp.Expr:
    """A column of a public table beside the keys, which decide it."""
    shown = _free(column.name, column.text("table").casefold(), inner.expressions)
    inner.append("expressions", exp.alias_(column.copy(), shown, quoted=True))
    inner.args["group"].append("expressions", column.copy())
    new = exp.column(shown, quoted=True)
    meant[column.text("table").casefold(), column.name.casefold()] = new
    return new


def _replace(column: exp.Column, new: exp.Expr) -> None:
    selected = type(column.parent) is exp.Select and column.arg_key == "expressions"
    if selected and column.name != new.name:
        column.replace(exp.alias_(new.copy(), column.name, quoted=True))
    else:
        column.replace(new.copy())
