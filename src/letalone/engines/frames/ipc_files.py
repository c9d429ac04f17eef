"""Reads Feather and other files of Arrow: names and types from their head, rows batch by batch.

No cell stops the reading, and none decides a type (arrow_cells.py).

  Tested:   tests/engines/test_loaded_files.py
  Assumed:  batches and dictionaries are what a writer of Arrow makes; a file that is damaged
            cannot be read, as a Parquet file
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from letalone.engines.frames.arrow_cells import make_readable
from letalone.errors import ParameterError


def ipc_fields(paths: Sequence[Path]) -> Any:
    """The columns of files of Arrow, which are the same in all, as they are read."""
    first = _schema(paths[0])
    for path in paths[1:]:
        if _schema(path) != first:
            raise ParameterError(
                f"{paths[0].name} and {path.name} have different columns. Open files together"
                " only if their columns have the same names and types in the same order."
            )
    kinds = [make_readable(pa.nulls(0, field.type)).type for field in first]
    return pa.schema([pa.field(n, kind) for n, kind in zip(first.names, kinds, strict=True)])


def ipc_rows(paths: Sequence[Path]) -> Any:
    """A stream of the rows of files of Arrow."""
    fields = ipc_fields(paths)
    return pa.RecordBatchReader.from_batches(fields, _batches(paths, fields))


def no_rows(fields: Any) -> Any:
    """A table of these columns without rows."""
    return fields.empty_table()


def _batches(paths: Sequence[Path], fields: Any) -> Iterator[Any]:
    for path in paths:
        with _open_reader(path) as reader:
            for batch in _each_batch(reader):
                columns = [make_readable(column) for column in batch.columns]
                yield pa.RecordBatch.from_arrays(columns, schema=fields)


def _each_batch(reader: Any) -> Iterator[Any]:
    if isinstance(reader, pa.RecordBatchFileReader):
        yield from (reader.get_batch(at) for at in range(reader.num_record_batches))
    else:
        yield from reader


def _schema(path: Path) -> Any:
    try:
        with _open_reader(path) as reader:
            return reader.schema.remove_metadata()
    except (OSError, ValueError):  # of Arrow, in its words
        pass
    raise ParameterError(f"{path.name} cannot be read: it is damaged, or no file of its kind.")


@contextmanager
def _open_reader(path: Path) -> Generator[Any]:
    """The reader of a file, or of a stream that was written into one."""
    with pa.OSFile(str(path)) as file:
        try:
            reader = pa.ipc.open_file(file)
        except pa.ArrowInvalid:
            file.seek(0)
            reader = pa.ipc.open_stream(file)
        with reader:
            yield reader
