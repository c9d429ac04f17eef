"""FROM and JOIN: the private table, and tables joined to it: public ones on a unique key, or
another private one on the unit.

A row of the private table meets at most one row of a public one, so a join of a public table
changes nobody's share of an answer. Rows without a partner are left out, or kept by a LEFT JOIN. A
table whose schema has a unit is private; of it one row of each unit counts (`private_joins.py`). A
column of a public table that another table before it has, too, gets the table's name before it.

  Tested:   tests/sql/test_question.py, test_refusals.py
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, count
from typing import cast

from sqlglot import exp

from letalone.errors.codes import Code
from letalone.plans.schema import Schema
from letalone.sql.names import Ends, Joined, LookUp, Names, matching, only, quote_name
from letalone.sql.refusals import CLAUSES, SqlRefusal
from letalone.sql.text import Unread, slip

Schemas = Mapping[str, Schema]  # of tables by their names
Pairs = tuple[tuple[str, str], ...]  # of columns on which two tables are joined
QUALIFIERS = ("db", "catalog")
USUAL = ("public", "dbo", "main", "default")  # schemas that databases have unless another is named
UNIQUE = (
    "Join a public table on equal keys: JOIN cities USING (city), or ON visits.city = cities.city."
)
JOINS: dict[str, SqlRefusal] = {
    **{
        side: SqlRefusal(
            f"{side} JOIN",
            "Write JOIN: rows without a partner are left out.",
            f"SELECT COUNT(*) FROM visits {side} JOIN cities USING (city)",
        )
        for side in ("RIGHT", "FULL")
    },
    "CROSS": SqlRefusal("CROSS JOIN", UNIQUE, "SELECT COUNT(*) FROM visits CROSS JOIN cities"),
}


@dataclass(frozen=True, slots=True)
class KnownTables:
    """What a query may speak of: the private table, and public ones by their names.

    `whole_name` is what the private table is called where it is: catalogue, schema, table;
    `look_up` reads public tables; `ends` are bounds that are given beside the query, and
    `numbers` answers of queries within it, by their SQL.
    """

    schema: Schema
    public: Schemas
    whole_name: Sequence[str] = ()
    look_up: LookUp | None = None
    ends: Ends = field(default_factory=dict[str, tuple[Fraction, Fraction]])
    numbers: Mapping[str, Fraction] = field(default_factory=dict[str, Fraction])


def names_of(query: exp.Select, known: KnownTables) -> Names:
    """What the tables of a query are called, and what they are joined on."""
    source = query.args.get("from_")
    if source is None:
        raise slip("The SQL has no FROM", f"The table is called {quote_name(known.schema.name)}.")
    names = Names(known.schema, _private(source.this, known), {})
    beside = {"look_up": known.look_up, "public": known.public}
    names = replace(names, ends=known.ends, numbers=known.numbers, **beside)
    for holder in (query, source.this):
        for join in cast("list[exp.Join]", holder.args.get("joins") or []):
            names = _read_join(join, names, known.public)
    return names


def _private(table: exp.Expr, known: KnownTables) -> str:
    schema, name = known.schema, _name(table, known.schema, known.whole_name)
    if _is_qualified(table) and known.whole_name:
        return _alias(table, name.name)
    if matching(name, [schema.name]) is None:
        if matching(name, list(known.public)) is not None:
            instead = f"Write FROM {quote_name(schema.name)} JOIN {name.name} USING (…)."
            raise slip("A public table stands in FROM", instead, node=table)
        if matching(name, known.whole_name[-1:]) is not None:
            return _alias(table, name.name)
        raise _other_table(table, schema)
    return _alias(table, schema.name)


def _other_table(table: exp.Expr, schema: Schema) -> Unread:
    name = quote_name(schema.name)
    parts = cast("exp.Table", table).parts
    dotted = ".".join(part.name for part in parts)
    what = f"There is no table {dotted!r}: this one is called {name}"
    node = exp.Tuple(expressions=[part.copy() for part in parts])
    return slip(what, f"Write FROM {name}.", node=node, edit=name)


def _name(table: exp.Expr, schema: Schema, whole_name: Sequence[str] = ()) -> exp.Identifier:
    plain = type(table) is exp.Table and type(table.this) is exp.Identifier
    if type(table) is exp.Subquery:
        what = "Not answered: a query within a query"
        raise Unread(what, f"Write FROM {quote_name(schema.name)}.", node=table)
    if not plain:
        what = f"FROM must name the table {quote_name(schema.name)}"
        raise Unread(what, "Files and table functions are not read here.", node=table)
    identifier = cast("exp.Identifier", table.this)
    foreign = _is_qualified(table) and not _ends(whole_name, table)
    if foreign or set(identifier.name) & set("/\\"):  # a file is none
        raise _other_table(table, schema)
    for name, refused in CLAUSES.items():
        if table.args.get(name) not in (None, False, []):
            raise refused.at(table)
    only(table, "this", "alias", "joins", *QUALIFIERS)
    return identifier


def _is_qualified(table: exp.Expr) -> bool:
    return any(table.args.get(part) is not None for part in QUALIFIERS)


def _ends(whole_name: Sequence[str], table: exp.Expr) -> bool:
    """Whether what was typed, part by part, is the end of the table's whole name."""
    parts = cast("exp.Table", table).parts
    if not whole_name:  # a file, or a table in memory: it is in no schema
        return len(parts) == 2 and parts[0].name.casefold() in USUAL
    if len(parts) > len(whole_name) or any(type(part) is not exp.Identifier for part in parts):
        return False
    pairs = zip(parts, whole_name[-len(parts) :], strict=True)
    return all(matching(cast("exp.Identifier", part), [name]) is not None for part, name in pairs)


def _alias(table: exp.Expr, name: str) -> str:
    alias = table.args.get("alias")
    if alias is None:
        return name.casefold()
    only(alias, "this", words={"columns": "An alias with columns"})
    given = alias.this
    if type(given) is not exp.Identifier or not (given.quoted or given.name.isidentifier()):
        raise Unread("This name of a table is not read", "Write FROM visits AS v.", node=table)
    return str(alias.name).casefold()


def _read_join(join: exp.Join, names: Names, tables: Schemas) -> Names:
    _check_kind(join)
    identifier = _name(join.this, names.schema)
    name = matching(identifier, list(tables))
    if name is None:
        raise _no_public(identifier, names, tables, join)
    called = _alias(join.this, name)
    if called == names.called or called in names.joined:
        raise slip(f"Two tables are called {called!r}", "Give one an alias.", node=join)
    on = (
        _natural(join, names, tables[name])
        or _using(join, names, tables[name])
        or _on(join, called, names, tables[name])
    )
    shared = _shared_names(on, names.schema, tables[name])
    is_outer = str(join.args.get("side") or "").upper() == "LEFT"
    if is_outer and tables[name].unit is not None:
        instead = "Write JOIN: rows without a partner are left out."
        raise Unread("Not answered: LEFT JOIN of a private table", instead, node=join)
    joined = Joined(name, on, tables[name], shared, outer=is_outer)
    renamed = _find_new_names(joined, called, names)
    joined = replace(joined, renamed=renamed)
    return replace(names, joined={**names.joined, called: joined})


def _find_new_names(joined: Joined, called: str, names: Names) -> dict[str, str]:
    """New names for columns of a public table that others have before it."""
    if joined.schema.unit is not None:
        return {}
    taken = {name.casefold() for name in names.all_names}
    taken |= {column.name.casefold() for column in joined.added}
    clashing = {name.casefold() for name in names.all_names}
    renamed: dict[str, str] = {}
    for column in joined.added:
        if column.name.casefold() in clashing:
            renamed[column.name] = free_name(f"{called}_{column.name}", taken)
            taken.add(renamed[column.name].casefold())
    return renamed


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with a number where it is taken in any case."""
    numbered = (f"{name}_{number}" for number in count(2))
    return next(word for word in chain([name], numbered) if word.casefold() not in taken)


def _shared_names(on: Pairs, own: Schema, other: Schema) -> frozenset[str]:
    """Names that both private tables have, in any case, beside those that they are joined on."""
    if other.unit is None:
        return frozenset()
    names = {column.name for column in other.columns} - {right for _, right in on}
    known = {column.name.casefold() for column in own.columns}
    return frozenset(name for name in names if name.casefold() in known)


def _no_public(identifier: exp.Identifier, names: Names, tables: Schemas, join: exp.Join) -> Unread:
    if matching(identifier, [names.schema.name]) is not None:
        instead = "Join a public table; in Python, .per_unit(…) makes one row of each person."
        return Unread("Not answered: a table joined to itself", instead, node=join)
    known = f"Public tables are: {', '.join(tables)}." if tables else "No public table is given."
    name, other = names.schema.name, identifier.name
    how = (
        "A table that anyone may see is given with tables={'cities': frame}, or --public"
        f" cities=cities.csv. If {other!r} is private, too, it is joined in Python, on the unit:"
        f" {name if name.isidentifier() else 'table'}.sql(…, tables={{{other!r}: its session}})."
    )
    what = f"There is no public table {other!r}"
    return slip(what, f"{known} {how}", node=identifier)


def _check_kind(join: exp.Join) -> None:
    for part in ("side", "kind", "method"):
        word = str(join.args.get(part) or "").upper()
        if word in JOINS:
            raise JOINS[word].at(join)
        if word not in ("", "INNER", "LEFT", "OUTER", "NATURAL"):
            raise Unread(f"Not answered: {word} JOIN", UNIQUE, node=join)
    only(join, "this", "using", "on", "kind", "side", "method")
    if not any(join.args.get(part) for part in ("using", "on", "method")):
        raise Unread("Not answered: a second table without a key", UNIQUE, node=join)


def _natural(join: exp.Join, names: Names, public: Schema) -> Pairs:
    """NATURAL JOIN: on all columns that both have; as they are declared, so it is public."""
    if not join.args.get("method"):
        return ()
    known = {name.casefold(): name for name in names.all_names}
    both = [column.name for column in public.columns if column.name.casefold() in known]
    if not both or public.unit is not None:
        raise Unread("This NATURAL JOIN is not read", UNIQUE, node=join)
    return tuple((known[name.casefold()], name) for name in both)


def _using(join: exp.Join, names: Names, public: Schema) -> Pairs:
    pairs: list[tuple[str, str]] = []
    for named in cast("list[exp.Expr]", join.args.get("using") or []):
        identifier = cast("exp.Identifier", named if type(named) is exp.Identifier else named.this)
        left = matching(identifier, names.all_names)
        right = matching(identifier, [column.name for column in public.columns])
        if left is None or right is None:
            table = public.name if left else names.schema.name
            what = f"Column {identifier.name!r} is not in table {table!r}"
            instead = "Both tables must have it: or write ON a.x = b.y."
            raise slip(what, instead, node=identifier, code=Code.UNKNOWN_COLUMN)
        pairs.append((left, right))
    return tuple(pairs)


def _on(join: exp.Join, called: str, names: Names, public: Schema) -> Pairs:
    here = names
    other = Names(public, called, {})
    condition = cast("exp.Expr", join.args["on"])
    parts = condition.flatten() if type(condition) is exp.And else [condition]
    return tuple(_pair(part, here, other) for part in parts)


def _pair(node: exp.Expr, own: Names, other: Names) -> tuple[str, str]:
    node = node.unnest()
    sides = [node.this, node.expression] if type(node) is exp.EQ else []
    if len(sides) != 2 or any(type(side) is not exp.Column for side in sides):
        raise Unread("This condition of a join is not read", UNIQUE, node=node)
    prefixes = [side.text("table").casefold() for side in sides]
    before = [prefix for prefix in prefixes if prefix in (own.called, *own.joined)]
    if len(before) != 1 or other.called not in prefixes:
        raise Unread("A join needs a column of each table, with its prefix", UNIQUE, node=node)
    left, right = sides if prefixes[0] == before[0] else reversed(sides)
    return own.column(left).name, other.column(right).name
