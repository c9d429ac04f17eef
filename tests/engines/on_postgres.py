"""Rows on a PostgreSQL server, for tests."""

from collections.abc import Sequence
from itertools import count
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql

from letalone.engines.postgres import PostgresEngine, open_postgres
from letalone.engines.rows import unit_of
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from postgres import shared
from seeded import SeededBits

TYPES = {
    Type.BOOLEAN: "boolean",
    Type.INTEGER: "bigint",
    Type.NUMBER: "double precision",
    Type.TEXT: "text",
    Type.DATE: "date",
    Type.TIMESTAMP: "timestamptz",
}
NUMBERS = count()


def run(statement: Any, *values: Any) -> list[tuple]:
    with psycopg.connect(shared(), autocommit=True) as connection:
        cursor = connection.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


def address(table: str) -> str:
    """The address of a table of the server."""
    head, _, options = shared().partition("?")
    return f"{head}/{quote(table, safe='').replace('.', '%2E')}?{options}"


def stored(columns: dict[str, str], rows: Sequence[Sequence[object]]) -> str:
    """A new table with these columns and rows; its name."""
    name = f"rows {next(NUMBERS)}"
    made = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(one), sql.SQL(kind)) for one, kind in columns.items()
    )
    with psycopg.connect(shared(), autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        table = sql.Identifier("public", name)
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(table, made))
        with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
            for row in rows:
                copy.write_row(row)
    return name


def opened(rows: Sequence[dict], schema: Schema, *, seed: int = 7) -> PostgresEngine:
    """An engine over these rows, in this order."""
    columns = {column.name: TYPES[column.type] for column in schema.columns}
    name = stored(columns, [[row[one] for one in columns] for row in rows])
    return open_postgres(address(name), schema=schema, bits=SeededBits(seed))


def ranks(engine: PostgresEngine, schema: Schema) -> list[int | None]:
    """The rank of each row in the order in which they were put in; None without a unit."""
    from letalone.engines import syntax
    from letalone.engines.dialects.postgres import POSTGRES
    from letalone.engines.dialects.postgres_words import write_statement

    unit = unit_of(engine._relation, schema.column(schema.unit), "#source", POSTGRES)
    columns = [
        syntax.alias(syntax.column("rank", "#ranks"), "rank"),
        syntax.alias(syntax.column("ctid", "#source"), "place"),
    ]
    ranked = POSTGRES.ranked(columns, engine._relation.sql, engine._key_name, mark="#", unit=unit)
    text, names = write_statement(ranked)
    with engine._server.reading():
        rows = engine._server.run(text, [engine._secret[name] for name in names])
        found = {place: rank for rank, place in rows}
        plain = syntax.select([syntax.column("ctid")], engine._relation.sql)
        places = [place for (place,) in engine._server.run(POSTGRES.printed(plain))]
    return [found.get(place) for place in places]
