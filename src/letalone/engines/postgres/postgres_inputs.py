"""Sends tables along with a statement as parameters: the listed keys, public tables.

A server that we may only read holds no table of ours. So each column is one array, and a CTE makes
rows of them again.

  Tested:   tests/engines/test_engine_laws.py, conformance/test_server.py
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.measures import RowScope
from letalone.engines.core.rows import PLAIN, TableRef
from letalone.engines.core.statements import NUMBER
from letalone.engines.core.stored_types import SQL_TYPES, Stored
from letalone.engines.core.syntax import Sql
from letalone.engines.frames import arrow
from letalone.engines.postgres.postgres_reading import plain
from letalone.engines.postgres.postgres_words import holds
from letalone.engines.public_tables import public_columns
from letalone.errors import ParameterError
from letalone.plans.plan import PublicJoin
from letalone.plans.types import Type


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
    columns = [(c.name, c.type, cells) for c, cells in public_columns(join, table)]
    for *_, cells in columns:
        if not all(holds(cell) for cell in cells if isinstance(cell, str)):
            raise ParameterError(
                f"The public table {join.name!r} has text with a NUL character in it, which"
                " PostgreSQL cannot hold. Take it out."
            )
    return _input(name, columns)


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
