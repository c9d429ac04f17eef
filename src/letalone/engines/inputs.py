"""Sends tables along with a statement as parameters: the listed keys, public tables.

A server that we may only read holds no table of ours. So each column is one array, and a CTE makes
rows of them again.

  Tested:   tests/engines/test_engine_laws.py, conformance/test_server.py
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from sqlglot import exp

from letalone.engines import arrow, syntax
from letalone.engines.dialects.postgres_reading import plain
from letalone.engines.dialects.postgres_words import holds
from letalone.engines.failure import hide_engine_errors
from letalone.engines.lockdown import LockedDuck
from letalone.engines.measures import RowScope
from letalone.engines.public import check_public, copy_of_public
from letalone.engines.reading import SQL_TYPES, Stored, read
from letalone.engines.rows import PLAIN, TableRef
from letalone.engines.statements import NUMBER
from letalone.engines.syntax import Sql
from letalone.errors import ParameterError
from letalone.plans.plan import PublicJoin
from letalone.plans.schema import Column
from letalone.plans.types import Type

MAX_PUBLIC_ROWS = 1_000_000  # of a table that goes along with every statement that joins it


@dataclass(frozen=True, slots=True)
class Input:
    """A table by its name: the query that makes it of its parameters, and these."""

    name: str
    query: exp.Select
    parameters: Mapping[str, object]
    relation: TableRef


def key_input(scope: RowScope, name: str, *, mark: str) -> Input:
    """The listed keys, numbered. A text that no column can hold is left out: nothing equals it."""
    names = [f"{mark}key{number}" for number in range(len(scope.groups))]
    kinds = [group.type.of_keys for group in scope.groups]
    keys = scope.keys or ()
    arrow.key_table(keys, kinds, names=names, number=NUMBER)  # refuses keys of other types
    kept = [n for n, key in enumerate(keys) if all(holds(k) for k in key if isinstance(k, str))]
    columns: list[tuple[str, Type, list[object]]] = [(NUMBER, Type.INTEGER, [*kept])]
    for place, (column, kind) in enumerate(zip(names, kinds, strict=True)):
        columns.append((column, kind, [keys[number][place] for number in kept]))
    return _input(name, columns)


def public_input(join: PublicJoin, table: object, *, name: str) -> Input:
    """A public table, read and checked as on this machine: unique on the key of the join."""
    with closing(LockedDuck()) as duck:
        duck.lock([])
        relation = hide_engine_errors(lambda: copy_of_public(duck, join, table, name="public"))
        check_public(duck, relation, join)
        known = [column for column in relation.columns.values() if column.type is not Type.OTHER]
        sql = [read(c, syntax.column(c.name), Column(c.name, c.type)).sql for c in known]
        values = [syntax.alias(column, str(n)) for n, column in enumerate(sql)]
        rows = duck.run(syntax.select(values, relation.sql)) if known else []
    if len(rows) > MAX_PUBLIC_ROWS:
        raise ParameterError(
            f"The public table {join.name!r} has {len(rows)} rows, and at most {MAX_PUBLIC_ROWS}"
            " can go along to a server. Keep those that are needed."
        )
    cells = [[row[n] for row in rows] for n in range(len(known))]
    for column in cells:
        if not all(holds(cell) for cell in column if isinstance(cell, str)):
            raise ParameterError(
                f"The public table {join.name!r} has text with a NUL character in it, which"
                " PostgreSQL cannot hold. Take it out."
            )
    return _input(name, [(o.name, o.type, c) for o, c in zip(known, cells, strict=True)])


def with_inputs(query: exp.Query, inputs: Mapping[str, exp.Select]) -> exp.Query:
    """The query, with those inputs before it that it reads, and that these read."""
    query, added = query.copy(), dict[str, exp.Select]()
    waiting: list[Sql] = [query]
    while waiting:
        named = {table.name for table in waiting.pop().find_all(exp.Table)}
        for name in sorted(named & (inputs.keys() - added.keys())):
            added[name] = inputs[name].copy()
            waiting.append(added[name])
    if not added:
        return query
    tables = [syntax.cte(table, name) for name, table in reversed(added.items())]
    known = query.args.get("with_")
    query.set("with_", exp.With(expressions=[*tables, *(known.expressions if known else ())]))
    return query


def _input(name: str, columns: Sequence[tuple[str, Type, list[object]]]) -> Input:
    labels = [f"{name}_{number}" for number in range(len(columns))]
    arrays = [_array(label, kind) for label, (_, kind, _) in zip(labels, columns, strict=True)]
    names = [exp.to_identifier(f"c{number}", quoted=True) for number in range(len(columns))]
    source = exp.Table(
        this=syntax.call("UNNEST", *arrays),
        alias=exp.TableAlias(this=exp.to_identifier("given", quoted=True), columns=names),
    )
    shown: list[Sql] = []
    for number, (called, kind, _) in enumerate(columns):
        column = syntax.column(f"c{number}", "given")
        shown.append(syntax.alias(plain(column) if kind is Type.TEXT else column, called))
    stored = {called: Stored(called, PLAIN[kind]) for called, kind, _ in columns}
    values = {label: cells for label, (_, _, cells) in zip(labels, columns, strict=True)}
    relation = TableRef(syntax.table(name), stored)
    return Input(name, syntax.select(shown, source), values, relation)


def _array(label: str, kind: Type) -> Sql:
    words = {Type.NUMBER: "DOUBLE PRECISION", Type.TEXT: "TEXT"}
    element = words.get(kind, str(SQL_TYPES[kind].value))
    array_type = exp.DataType.build(f"{element}[]", dialect="postgres")
    return exp.Cast(this=exp.Placeholder(this=label), to=array_type)
