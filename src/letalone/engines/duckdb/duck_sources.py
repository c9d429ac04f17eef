"""Reads what files and frames have for columns. Names and types come from metadata.

Theorem (rule 2 of docs/explanation/soundness.md).  Nothing here looks at a value to decide a name
or a type.
  Proven:   Parquet: the footer's schema. DuckDB: the catalogue. Frames: their dtypes. CSV: the
            first line is the header, everything is text unless a type is declared.
  Tested:   tests/engines/test_sources.py
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.failure import hide_engine_errors
from letalone.engines.core.rows import TableRef
from letalone.engines.core.stored_types import Stored
from letalone.engines.duckdb.csv_files import csv_dialect
from letalone.engines.duckdb.hive_files import (
    is_hive,
    names_in_folders,
    relation_of_folders,
    without_folders,
)
from letalone.engines.duckdb.loaded_files import (
    LOADED,
    relation_of_arrow,
    relation_of_excel,
    relation_of_json_lines,
)
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.engines.duckdb.parquet_files import (
    describe_columns,
    open_or_refuse,
    relation_of_parquet,
)
from letalone.engines.frames import arrow
from letalone.errors import ParameterError
from letalone.sources.files import UTF8, Files, TablePlace, table_name, tables_named, which_table

IN_USE = "it may be open for writing, here or in another program (close it there); or it is damaged"


def relation_of_files(
    duck: LockedDuck, files: Files, *, table: str | None = None, declared: Sequence[str] = ()
) -> TableRef:
    """The relation that reads the files; locks the connection to them.

    declared: the names of columns, where only those say which there are.
    """
    if files.kind == "sqlite":
        raise ParameterError(
            f"{files.paths[0].name} is an SQLite file, of which questions can be asked (la.open,"
            " letalone query), and nothing else. Copy its table into a Parquet or CSV file."
        )
    if table is not None and files.kind not in ("duckdb", "excel"):
        raise ParameterError(
            f"table is {table!r}, but only DuckDB, SQLite and Excel files hold several tables."
        )
    if is_hive(files):
        others = [name for name in declared if name not in names_in_folders(files)]
        inside = relation_of_files(duck, without_folders(files), declared=others)
        return relation_of_folders(duck, files, inside, declared, into=LOADED)
    match files.kind:
        case "parquet":
            duck.lock(files.paths)
            return relation_of_parquet(duck, files.paths)
        case "csv":
            duck.lock([])
            return relation_of_csv(files.paths, files.encoding)
        case "ndjson":
            duck.lock([])
            return relation_of_json_lines(files, declared)
        case "excel":
            duck.lock([])
            return relation_of_excel(files, table)
        case "arrow":
            duck.lock([])
            return relation_of_arrow(duck, files)
        case _:
            return _duckdb(duck, table, files)


def relation_of_view(duck: LockedDuck, name: str) -> TableRef:
    """The relation that reads a registered frame."""
    sql = syntax.table(name)
    return TableRef(sql, {column.name: column for column in describe_columns(duck, sql)})


def batch_sizes(files: Files) -> list[int]:
    """How many rows the batches have in which files are scanned, where that is known."""
    if files.kind != "parquet":
        return []
    return [size for path in files.paths for size in arrow.row_groups(path)]


def relation_of_csv(paths: Sequence[Path], encoding: str = UTF8) -> TableRef:
    """The relation that CSV files have once they are copied into the table LOADED."""
    names, delimiter = csv_dialect(paths[0], encoding)
    for path in paths[1:]:
        if csv_dialect(path, encoding) != (names, delimiter):
            raise ParameterError(
                f"{paths[0].name} and {path.name} have different columns. Open files together"
                " only if their first lines are the same."
            )
    return TableRef(syntax.table(LOADED), {name: Stored(name, "VARCHAR") for name in names})


def list_tables(files: Files) -> list[TablePlace]:
    """The schemas and names of the tables of a DuckDB file."""
    duck = LockedDuck()
    try:
        return hide_engine_errors(lambda: _attach(duck, files))
    finally:
        duck.close()


def _attach(duck: LockedDuck, files: Files) -> list[TablePlace]:
    open_or_refuse(lambda: duck.attach(files.paths[0]), files.paths[0].name, why=IN_USE)
    duck.lock([])
    query = syntax.select(
        [syntax.column("schema_name"), syntax.column("table_name")],
        syntax.rename(syntax.call("duckdb_tables"), "tables"),
        where=[syntax.operation(exp.EQ, syntax.column("database_name"), syntax.text("file"))],
    )
    return sorted((str(schema), str(name)) for schema, name in duck.run(query))


def _duckdb(duck: LockedDuck, table: str | None, files: Files) -> TableRef:
    file, tables = files.paths[0].name, _attach(duck, files)
    wanted = tables_named(tables, table)
    if table is not None and wanted:
        _check_one_name(wanted[0], tables, file)
    if len(wanted) != 1:
        raise which_table(file, [table_name(s, n) for s, n in tables], table)
    schema, name = wanted[0]
    sql = syntax.table(name, schema=schema, catalog="file")
    stored = describe_columns(duck, sql)
    columns = {c.name: replace(c, collated=c.stored == "VARCHAR") for c in stored}
    return TableRef(sql, columns, table_name(schema, name))


def _check_one_name(wanted: TablePlace, tables: Sequence[TablePlace], file: str) -> None:
    """Refuses a name that two tables have, such as s.t: t of schema s, and "s.t" of main."""
    name = table_name(*wanted)
    places = [repr(schema) for schema, table in tables if table_name(schema, table) == name]
    if len(places) > 1:
        raise ParameterError(
            f"{file} holds several tables that are called {name!r}, in the schemas"
            f" {' and '.join(places)}, and a budget belongs to a name. Rename one of them, to a"
            " name without a dot."
        )
