"""Files that are copied into a table when they are first asked: text, JSON lines, files of Arrow.

Which columns they have is public (a first line, the head of a file) or declared; what is copied of
a row depends on that row alone.

  Tested:   tests/engines/test_csv_files.py, tests/engines/test_loaded_files.py
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from letalone.engines.core import syntax
from letalone.engines.core.rows import TableRef
from letalone.engines.core.stored_types import Stored, check_columns
from letalone.engines.duckdb import excel_files, json_lines
from letalone.engines.duckdb.csv_files import check_odd_lines, csv_stream, load_stream, odd_lines_of
from letalone.engines.duckdb.hive_files import (
    is_hive,
    names_in_folders,
    parquet_rows,
    rows_with_folders,
    without_folders,
)
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.engines.duckdb.parquet_files import describe_columns
from letalone.engines.frames import ipc_files
from letalone.errors import ParameterError
from letalone.sources.files import Files
from letalone.sources.source import SourceKind

LOADED = "letalone_loaded"
HEAD = "letalone_head"
CSV, JSON_LINES, ARROW = (
    k.value for k in (SourceKind.CSV, SourceKind.JSON_LINES, SourceKind.ARROW)
)
EXCEL = SourceKind.EXCEL.value
Streams = Mapping[str, Callable[[Files, Sequence[str]], Any]]
STREAMS: Streams = {
    CSV: lambda files, _: csv_stream(files.paths, encoding=files.encoding),
    JSON_LINES: lambda files, names: json_lines.json_rows(
        files.paths, names, encoding=files.encoding
    ),
    ARROW: lambda files, _: ipc_files.ipc_rows(files.paths),
}

HIVE_STREAMS: Streams = {
    **STREAMS,
    "parquet": parquet_rows,
    JSON_LINES: lambda files, names: STREAMS[JSON_LINES](
        files, [name for name in names if name not in names_in_folders(files)]
    ),
}


def load_files(duck: LockedDuck, files: Files, relation: TableRef) -> None:
    """Copies the rows of files into the table LOADED, by the relation that they have there."""
    load_stream(duck, _stream(files, relation), LOADED)


def _stream(files: Files, relation: TableRef) -> Any:
    names = list(relation.columns)
    if is_hive(files):
        kind = without_folders(files).kind
        return rows_with_folders(files, names, lambda one: HIVE_STREAMS[kind](one, names))
    if files.kind == EXCEL:
        return excel_files.excel_rows(files.paths[0], relation.name or "")
    return STREAMS[files.kind](files, names)


def is_loaded(files: Files) -> bool:
    """Whether files are copied before they are asked; DuckDB reads others itself."""
    return files.kind in (*STREAMS, EXCEL) or is_hive(files)


def relation_of_json_lines(files: Files, declared: Sequence[str]) -> TableRef:
    """The relation of JSON lines, which have the columns that are declared, and no others."""
    if not declared:
        raise json_lines.undeclared_columns(files.paths[0].name)
    return TableRef(syntax.table(LOADED), {name: Stored(name, "VARCHAR") for name in declared})


def relation_of_excel(files: Files, table: str | None) -> TableRef:
    """The relation of a sheet, by its first row."""
    sheet = excel_files.find_sheet(files.paths[0], table)
    names = excel_files.excel_names(files.paths[0], sheet)
    return TableRef(syntax.table(LOADED), {n: Stored(n, "VARCHAR") for n in names}, sheet)


def relation_of_arrow(duck: LockedDuck, files: Files) -> TableRef:
    """The relation of files of Arrow, by their heads."""
    fields = ipc_files.ipc_fields(files.paths)
    check_columns(fields.names, files.paths[0].name)
    duck.connection.register(HEAD, ipc_files.no_rows(fields))
    try:
        stored = describe_columns(duck, syntax.table(HEAD))
    finally:
        duck.connection.unregister(HEAD)
    return TableRef(syntax.table(LOADED), {column.name: column for column in stored})


def check_every_record(files: Files) -> None:
    """Refuses files with lines that are dropped. It tells about rows: for the owner alone."""
    files = without_folders(files)
    for path in files.paths:
        if files.kind == CSV:
            check_odd_lines(path.name, odd_lines_of(path, files.encoding), files.encoding)
        elif files.kind == JSON_LINES and json_lines.odd_json_lines(path, files.encoding).dropped:
            raise ParameterError(
                f"Some lines of {path.name} could not be read: they are not JSON objects."
                " Correct them, or leave them out."
            )
