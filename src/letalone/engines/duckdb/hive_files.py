"""Reads files of a folder whose own folders hold values: data/year=2024/month=1/x.parquet.

Such a value is data, like a cell. It becomes a column only where one is declared that the files do
not have, and is text until it is read as its type. A file whose folders do not say it has missing
cells there.

  Tested:   tests/engines/test_hive_files.py
  Assumed:  the names before the equal signs are public, as names of columns are
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from letalone.engines.core import syntax
from letalone.engines.core.rows import TableRef
from letalone.engines.core.stored_types import Stored
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.engines.duckdb.parquet_files import describe_columns
from letalone.engines.frames.arrow import parquet_columns
from letalone.sources.files import Files, Parts

HIVE = "hive "  # before the kind of the files
KINDS = ("parquet", "csv", "ndjson", "arrow")
NOTHING = "__HIVE_DEFAULT_PARTITION__"  # how writers spell a missing value
Stream = Callable[[Files], Any]


def by_folders(files: Files, declared: Iterable[str]) -> Files:
    """The files, to be read with columns of their folders' values where such are declared."""
    wanted = names_in_folders(files).intersection(declared) if files.kind in KINDS else ()
    return replace(files, kind=HIVE + files.kind) if wanted else files


def names_in_folders(files: Files) -> set[str]:
    """The names before the equal signs."""
    return {name for parts in files.parts for name, _ in parts}


def is_hive(files: Files) -> bool:
    """Whether files are read with columns of their folders' values."""
    return files.kind.startswith(HIVE)


def without_folders(files: Files) -> Files:
    """The same files, as they are by themselves."""
    return replace(files, kind=files.kind.removeprefix(HIVE))


def relation_of_folders(
    duck: LockedDuck, files: Files, own: TableRef, declared: Sequence[str], *, into: str
) -> TableRef:
    """The relation of the files with the columns that are declared and that they do not have."""
    named = names_in_folders(files)
    more = {n: Stored(n, "VARCHAR") for n in declared if n in named and n not in own.columns}
    columns = own.columns
    if files.kind == f"{HIVE}parquet":
        columns = _as_read(duck, files, list(own.columns))
    return TableRef(syntax.table(into), {**columns, **more})


def rows_with_folders(files: Files, names: Sequence[str], stream: Stream) -> Any:
    """A stream of the rows of all files; `stream` is that of some files by themselves."""
    plain = without_folders(files)
    alone = [(replace(plain, paths=(path,)), parts) for path, parts in _each(files)]
    first = stream(alone[0][0]).schema
    more = [name for name in names if name not in first.names]
    fields = pa.schema([*first, *(pa.field(name, pa.large_string()) for name in more)])
    batches = (
        _with_values(batch, dict(parts), more, fields)
        for file, parts in alone
        for batch in stream(file)
    )
    return pa.RecordBatchReader.from_batches(fields, batches)


def parquet_rows(files: Files, names: Sequence[str]) -> Any:
    """A stream of Parquet files, all of the columns that they have."""
    from pyarrow.parquet import read_schema

    written = [name for name in read_schema(files.paths[0]).names if name in names]
    return parquet_columns(files.paths, written)


def _each(files: Files) -> Iterator[tuple[Path, Parts]]:
    return zip(files.paths, files.parts, strict=True)


def _with_values(batch: Any, values: dict[str, str], more: Sequence[str], fields: Any) -> Any:
    cells = [_repeat(values.get(name, NOTHING), batch.num_rows) for name in more]
    kept = [column.cast(field.type) for column, field in zip(batch.columns, fields, strict=False)]
    return pa.RecordBatch.from_arrays([*kept, *cells], schema=fields)


def _repeat(value: str, rows: int) -> Any:
    if value == NOTHING or any("\ud800" <= letter <= "\udfff" for letter in value):
        return pa.nulls(rows, pa.large_string())
    return pa.repeat(pa.scalar(value, pa.large_string()), rows)


def _as_read(duck: LockedDuck, files: Files, names: Sequence[str]) -> dict[str, Stored]:
    """The columns of Parquet files as Arrow hands them over, which DuckDB may store otherwise."""
    head = "letalone_head"
    duck.connection.register(head, parquet_rows(without_folders(files), names).schema.empty_table())
    try:
        stored = describe_columns(duck, syntax.table(head))
    finally:
        duck.connection.unregister(head)
    return {column.name: column for column in stored}
