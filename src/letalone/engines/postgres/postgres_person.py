"""Finds and counts one unit's rows on PostgreSQL, and writes what would change them.

Everything here is private: for whoever handles a person's request. Nothing is written: what is to
be changed is a statement for the owner to run. It names a row by where it lies and by the
transaction that wrote it (`tableoid`, `ctid`, `xmin`), so it changes that row or none. Rows of a
view lie elsewhere: they are put in order by their values, and of two equal ones either is meant.

  Tested:   tests/curator/test_sources_on_servers.py
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import cast

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.failure import hide_engine_errors
from letalone.engines.core.person_rows import ID, SOURCE, PersonQueries, PersonRow
from letalone.engines.core.rows import TableRef
from letalone.engines.postgres.postgres_connection import Server, check_unchanged, relation_of
from letalone.engines.postgres.postgres_dialect import POSTGRES
from letalone.engines.postgres.postgres_words import holds, write_statement
from letalone.plans.schema import Schema
from letalone.sources.postgres_address import read_address

KINDS = {  # what an id is read as, where it is not text
    "SMALLINT": "bigint",
    "INTEGER": "bigint",
    "BIGINT": "bigint",
    "FLOAT": "real",
    "DOUBLE": "double precision",
    "NUMERIC": "numeric",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPTZ": "timestamp with time zone",
    "UUID": "uuid",
}
WHERE = ("tableoid", "ctid", "xmin")


def rows_of_one(address: str, schema: Schema, unit_id: str) -> list[PersonRow]:
    """The rows of one unit, in the order in which they lie. Only declared columns are read."""
    with _open_table(address) as (server, relation):
        queries = PersonQueries(relation, schema, POSTGRES)
        where = WHERE if _lie_here(server, relation) else ()
        order = [exp.Ordered(this=syntax.column(name, SOURCE)) for name in where[:2]]
        query = queries.rows(where)
        rows = _run(server, query.order_by(*order) if order else query, unit_id)
    return queries.person_rows(rows, len(where))


def lie_here(address: str) -> bool:
    """Whether rows have places there by which one can be changed: not those of a view."""
    with _open_table(address) as (server, relation):
        return _lie_here(server, relation)


def number_of_one(address: str, schema: Schema, unit_id: str) -> int:
    """How many rows a unit has."""
    with _open_table(address) as (server, relation):
        rows = _run(server, PersonQueries(relation, schema, POSTGRES).number(), unit_id)
    return cast("int", rows[0][0]) if rows else 0


def units_at(address: str, schema: Schema) -> list[str]:
    """The ids of all units, as text."""
    with _open_table(address) as (server, relation):
        text, _ = write_statement(PersonQueries(relation, schema, POSTGRES).ids())
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
        text = syntax.cast_to(exp.Placeholder(this=ID), syntax.TEXT)
        valid = syntax.call("PG_INPUT_IS_VALID", text, syntax.text(kind))
        if _run(server, exp.select(syntax.alias(valid, ID)), typed) != [(True,)]:
            return None  # asked by itself: a cast of a constant is done before any CASE
        value = syntax.cast_as(text.copy(), kind, "postgres")
        spelled = POSTGRES.text(stored, POSTGRES.unit(stored, value))
        rows = _run(server, exp.select(syntax.alias(spelled, ID)), typed)
    return cast("str | None", rows[0][0])


def write_delete(address: str, schema: Schema, unit_id: str) -> str:
    """The statement that removes all rows of a unit, found as they are here."""
    with _open_table(address) as (_, relation):
        queries = PersonQueries(relation, schema, POSTGRES)
        same = queries.is_theirs(exp.Var(this=_as_literal(unit_id)))
        return f"DELETE FROM {POSTGRES.printed(queries.source)} WHERE {POSTGRES.printed(same)};"


def write_update(address: str, row: PersonRow, changes: Mapping[str, object]) -> str:
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


def _as_literal(value: object) -> str:
    """A value for a column of any type; a backslash means itself, however the server is set."""
    if value is None:
        return "NULL"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    escaped = text.replace("'", "''").replace("\\", "\\\\")
    return f"E'{escaped}'" if "\\" in text else f"'{escaped}'"
