"""Every engine that has to keep the laws: how to put rows into it.

Another engine joins by adding its maker to MAKERS.
"""

import csv
import gzip
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from engines import on_postgres
from letalone.engines.core.sql_engine import Engine
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.sqlite.sqlite_engine import open_sqlite
from letalone.plans.schema import Schema
from letalone.plans.types import Type

ARROW_TYPES = {
    Type.BOOLEAN: pa.bool_(),
    Type.INTEGER: pa.int64(),
    Type.NUMBER: pa.float64(),
    Type.TEXT: pa.string(),
    Type.DATE: pa.date32(),
    Type.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}
SQLITE_TYPES = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "INTEGER",
    Type.NUMBER: "REAL",
    Type.TEXT: "TEXT",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}


@dataclass
class Made:
    """An engine that holds the rows."""

    engine: Engine
    spelled: Callable[[object], str] | None = None  # how cells are written, where they are text


def arrow_table(rows: Sequence[dict], schema: Schema) -> pa.Table:
    arrays = [
        pa.array([row[column.name] for row in rows], ARROW_TYPES[column.type])
        for column in schema.columns
    ]
    return pa.table(arrays, names=[column.name for column in schema.columns])


def of_duck(source: object, schema: Schema, **options: object) -> Made:
    return Made(open_duck(source, schema=schema, threads=2, **options))


def from_arrow(rows, schema, folder):
    return of_duck(arrow_table(rows, schema), schema)


def from_parquet(rows, schema, folder):
    """Several files, several row groups in each."""
    table = arrow_table(rows, schema)
    half = len(rows) // 2
    for name, part in (("b", table.slice(half)), ("a", table.slice(0, half))):
        pq.write_table(
            part, folder / f"part {name}.parquet", row_group_size=max(3, len(rows) // 20)
        )
    return of_duck(str(folder / "*.parquet"), schema)


def from_pandas(rows, schema, folder):
    return of_duck(arrow_table(rows, schema).to_pandas(types_mapper=pd.ArrowDtype), schema)


def from_polars(rows, schema, folder):
    return of_duck(pl.from_arrow(arrow_table(rows, schema)), schema)


def from_duckdb(rows, schema, folder):
    connection = duckdb.connect(folder / "file.duckdb")
    connection.register("rows", arrow_table(rows, schema))
    connection.execute("CREATE TABLE kept AS FROM rows")
    connection.close()
    return of_duck(folder / "file.duckdb", schema, table="kept")


def from_csv(rows, schema, folder):
    path: Path = folder / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_MINIMAL)
        writer.writerow([column.name for column in schema.columns])
        writer.writerows([_cell(row[column.name]) for column in schema.columns] for row in rows)
    return replace(of_duck(path, schema), spelled=_cell)


def from_postgres(rows, schema, folder):
    return Made(on_postgres.opened(rows, schema))


def from_sqlite(rows, schema, folder):
    names = [column.name for column in schema.columns]
    columns = {column.name: SQLITE_TYPES[column.type] for column in schema.columns}
    cells = [[_sqlite_cell(row[name]) for name in names] for row in rows]
    write_sqlite(folder / "rows.sqlite", columns, cells)
    return Made(open_sqlite(folder / "rows.sqlite", schema=schema, table="kept"))


def write_sqlite(path, columns, rows, table="kept"):
    """A file with one table; rows as sqlite3 takes them."""
    with closing(sqlite3.connect(path)) as connection, connection:
        kinds = [f"{quote_name(name)} {kind}" for name, kind in columns.items()]
        connection.execute(f"CREATE TABLE {quote_name(table)} ({', '.join(kinds)})")
        marks = ", ".join("?" for _ in columns)
        connection.executemany(f"INSERT INTO {quote_name(table)} VALUES ({marks})", rows)


def quote_name(name):
    return '"' + name.replace('"', '""') + '"'


def _sqlite_cell(value):
    return value.isoformat() if isinstance(value, date) else value


def _cell(value: object) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def from_json_lines(rows, schema, folder):
    cells = [{name: _json_cell(value) for name, value in row.items()} for row in rows]
    lines = "".join(json.dumps(row, ensure_ascii=len(row) % 2 == 0) + "\n" for row in cells)
    (folder / "rows.ndjson").write_text(lines, "utf-8")
    return of_duck(folder / "rows.ndjson", schema)


def from_feather(rows, schema, folder):
    """Two batches, one in each of two files; texts as categories."""
    table, half = arrow_table(rows, schema), len(rows) // 2
    for place, field in enumerate(table.schema):
        if field.type == pa.string():
            table = table.set_column(place, field.name, table.column(place).dictionary_encode())
    for name, part in (("b", table.slice(half)), ("a", table.slice(0, half))):
        feather.write_feather(part, folder / f"part {name}.feather", compression="zstd")
    return of_duck(str(folder / "*.feather"), schema)


def from_packed_csv(rows, schema, folder):
    made = from_csv(rows, schema, folder)
    made.engine.close()
    path: Path = folder / "rows.csv"
    path.with_name("rows.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    return replace(of_duck(path.with_name("rows.csv.gz"), schema), spelled=_cell)


def _json_cell(value):
    return value.isoformat() if isinstance(value, date) else value


MAKERS = {
    "arrow": from_arrow,
    "parquet": from_parquet,
    "pandas": from_pandas,
    "polars": from_polars,
    "duckdb": from_duckdb,
    "csv": from_csv,
    "postgres": from_postgres,
    "sqlite": from_sqlite,
}
MORE_FILES = {
    "ndjson": from_json_lines,
    "feather": from_feather,
    "csv.gz": from_packed_csv,
}
# Empty text and missing text are the same in a CSV file, and so are blank lines and no lines.
KEEPS_EMPTY_TEXT = {name: name != "csv" for name in MAKERS}
