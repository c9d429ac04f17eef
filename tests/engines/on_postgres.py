"""Rows on a PostgreSQL server, for tests."""

from collections.abc import Sequence
from itertools import count
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql

from letalone.engines.postgres.postgres_engine import PostgresEngine, open_postgres
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from postgres import shared

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


def opened(rows: Sequence[dict], schema: Schema) -> PostgresEngine:
    """An engine over these rows, in this order."""
    columns = {column.name: TYPES[column.type] for column in schema.columns}
    name = stored(columns, [[row[one] for one in columns] for row in rows])
    return open_postgres(address(name), schema=schema)
