"""Finds and counts one unit's rows on PostgreSQL, and writes what would change them.

Everything here is private: for whoever handles a person's request. Nothing is written: what is to
be changed is a statement for the owner to run. It names a row by where it lies and by the
transaction that wrote it (`tableoid`, `ctid`, `xmin`), so it changes that row or none. Rows of a
view lie elsewhere: they are put in order by their values, and of two equal ones either is meant.

  Tested:   tests/curator/test_sources_on_servers.py
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.dialects.postgres import POSTGRES
from letalone.engines.dialects.postgres_words import holds, write_statement
from letalone.engines.failure import hide_engine_errors
from letalone.engines.postgres_address import read_address
from letalone.engines.postgres_server import Server, check_unchanged, relation_of
from letalone.engines.reading import Stored
from letalone.engines.rows import TableRef, unit_of, value_of
from letalone.engines.syntax import Sql
from letalone.plans.schema import Schema

SOURCE, ID = "source", "id"
NUMERIC = "NUMERIC"
KINDS = {  # what an id is read as, where it is not text
    "SMALLINT": "bigint",
    "INTEGER": "bigint",
    "BIGINT": "bigint",
    "FLOAT": "real",
    "DOUBLE": "double precision",
    NUMERIC: "numeric",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPTZ": "timestamp with time zone",
    "UUID": "uuid",
}
WHERE = ("tableoid", "ctid", "xmin")


@dataclass(frozen=True, slots=True)
class ServerRow:
    """A row by where it lies, if it does here, and its declared columns by the declared rules."""

    place: tuple[str, ...]
    values: Mapping[str, object]


def rows_of_one(address: str, schema: Schema, unit_id: str) -> list[ServerRow]:
    """The rows of one unit, in the order in which they lie. Only declared columns are read."""
    with _open_table(address) as (server, relation):
        where = WHERE if _lie_here(server, relation) else ()
        place = [_as_text(syntax.column(name, SOURCE)) for name in where]
        values = [value_of(relation, column, SOURCE, POSTGRES) for column in schema.columns]
        query = syntax.select([*place, *values], _source(relation), where=[_is(relation, schema)])
        order = [exp.Ordered(this=syntax.column(name, SOURCE)) for name in where[:2]]
        rows = _run(server, query.order_by(*order) if order else query, unit_id)
    if not where:
        rows = sorted(rows, key=lambda row: [(value is None, str(value)) for value in row])
    names, known = [column.name for column in schema.columns], len(where)
    return [
        ServerRow(cast("tuple[str, ...]", row[:known]), dict(zip(names, row[known:], strict=True)))
        for row in rows
    ]


def lie_here(address: str) -> bool:
    """Whether rows have places there by which one can be changed: not those of a view."""
    with _open_table(address) as (server, relation):
        return _lie_here(server, relation)


def number_of_one(address: str, schema: Schema, unit_id: str) -> int:
    """How many rows a unit has."""
    with _open_table(address) as (server, relation):
        number = exp.Count(this=exp.Star())
        query = syntax.select([number], _source(relation), where=[_is(relation, schema)])
        rows = _run(server, query, unit_id)
    return cast("int", rows[0][0]) if rows else 0


def units_at(address: str, schema: Schema) -> list[str]:
    """The ids of all units, as text."""
    with _open_table(address) as (server, relation):
        unit = _unit(relation, schema)
        query = syntax.select([unit], _source(relation), where=[syntax.is_present(unit.copy())])
        text, _ = write_statement(query.distinct())
        rows = hide_engine_errors(lambda: server.run(text, []))
    return [cast("str", row[0]) for row in rows]


def spelled_at(address: str, schema: Schema, typed: str) -> str | None:
    """A typed id as the server spells the unit: 007 is 7; None where it can be no unit there."""
    if not holds(typed):
        return None
    with _open_table(address) as (server, relation):
        stored = relation.columns[schema.unit or ""]
        kind = KINDS.get(stored.stored)
        if kind is None:
            return typed  # text, byte by byte
        text = _as_text(exp.Placeholder(this=ID))
        valid = syntax.call("PG_INPUT_IS_VALID", text, syntax.text(kind))
        if _run(server, exp.select(syntax.alias(valid, ID)), typed) != [(True,)]:
            return None  # asked by itself: a cast of a constant is done before any CASE
        value = syntax.cast_as(text.copy(), kind, "postgres")
        spelled = _spell(stored, POSTGRES.unit(stored, value))
        rows = _run(server, exp.select(syntax.alias(spelled, ID)), typed)
    return cast("str | None", rows[0][0])


def write_delete(address: str, schema: Schema, unit_id: str) -> str:
    """The statement that removes all rows of a unit, found as they are here."""
    with _open_table(address) as (_, relation):
        same = _is(relation, schema, exp.Var(this=_as_literal(unit_id)))
        return f"DELETE FROM {POSTGRES.printed(_source(relation))} WHERE {POSTGRES.printed(same)};"


def write_update(address: str, row: ServerRow, changes: Mapping[str, object]) -> str:
    """The statement that gives one row other values; it changes one row, or none that it meant."""
    schema, name = read_address(address).table or ("", "")
    table = POSTGRES.printed(syntax.table(name, schema=schema))
    names = [POSTGRES.printed(exp.to_identifier(name, quoted=True)) for name in changes]
    given = zip(names, changes.values(), strict=True)
    values = ", ".join(f"{name} = {_as_literal(new)}" for name, new in given)
    kinds = zip(WHERE, ("oid", "tid", "xid"), row.place, strict=True)
    same = " AND ".join(f"{name} = {_as_literal(value)}::{kind}" for name, kind, value in kinds)
    return f"UPDATE {table} SET {values} WHERE {same};"


@contextmanager
def _open_table(address: str) -> Generator[tuple[Server, TableRef]]:
    server = Server(read_address(address))
    with closing(server), server.reading():
        yield server, hide_engine_errors(lambda: relation_of(server))


def _lie_here(server: Server, relation: TableRef) -> bool:
    return hide_engine_errors(lambda: check_unchanged(server, relation, server.address)) != "v"


def _run(server: Server, query: exp.Select, unit_id: str) -> Sequence[tuple[object, ...]]:
    if not holds(unit_id):
        return []  # no text there has such signs
    text, names = write_statement(query)
    return hide_engine_errors(lambda: server.run(text, [unit_id for _ in names]))


def _is(relation: TableRef, schema: Schema, unit_id: Sql | None = None) -> Sql:
    """Whether a row is the unit's, as questions tell units apart."""
    wanted = unit_id or _as_text(exp.Placeholder(this=ID))
    return syntax.operation(exp.EQ, _unit(relation, schema), wanted)


def _unit(relation: TableRef, schema: Schema) -> Sql:
    column = schema.column(schema.unit or "")
    return _spell(relation.columns[column.name], unit_of(relation, column, SOURCE, POSTGRES))


def _spell(stored: Stored, unit: Sql) -> Sql:
    """One spelling of each value: equal numerics may have more or fewer zeros at their end."""
    return _as_text(syntax.call("TRIM_SCALE", unit) if stored.stored == NUMERIC else unit)


def _source(relation: TableRef) -> Sql:
    return syntax.rename(relation.sql, SOURCE)


def _as_text(of: Sql) -> Sql:
    return syntax.cast_as(of, "TEXT", "postgres")


def _as_literal(value: object) -> str:
    """A value for a column of any type; a backslash means itself, however the server is set."""
    if value is None:
        return "NULL"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    escaped = text.replace("'", "''").replace("\\", "\\\\")
    return f"E'{escaped}'" if "\\" in text else f"'{escaped}'"
