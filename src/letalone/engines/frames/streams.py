"""Takes what other libraries hand over: wrapped frames, streams of Arrow, data sets of files.

A frame of narwhals is the frame that it wraps. A data set of Arrow is its files. A table of Delta
or Iceberg is the rows of the version that it stands for, read into memory as they are stored.
Anything else that hands over a stream (`__arrow_c_stream__`: a relation of DuckDB, a table of ibis)
is read once, into memory; how its rows were made cannot be seen, so its owner vouches for them.
A frame of Spark can be read so, too, and is not: its rows stay on the cluster.

  Tested:   tests/session/test_streams.py, tests/sources/test_several_files.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from letalone.engines.core.provenance import hides_its_making
from letalone.engines.frames.to_arrow import is_frame
from letalone.errors import ParameterError
from letalone.errors.problem import Result, without_context
from letalone.sources.spark_names import is_spark

LAKES: Mapping[tuple[str, str], Callable[[Any], Any]] = {
    ("deltalake", "DeltaTable"): lambda table: table.to_pyarrow_table(),
    ("pyiceberg", "Table"): lambda table: table.scan().to_arrow(),
}
FORMATS = ("ParquetFileFormat", "IpcFileFormat")


def unwrap_source(source: object, *, vouched: bool) -> object:
    """What is opened in place of a wrapped frame, a stream or a data set; all else as it is."""
    library = type(source).__module__.split(".")[0]
    if library == "narwhals" and hasattr(source, "to_native"):
        source = cast("Any", source).to_native()
    lake = LAKES.get((library, type(source).__name__))
    if lake is not None:
        return _hide_words(lambda: lake(source), f"this {library} table")
    if _is_data_set(source):
        return _files_of(cast("Any", source))
    if is_frame(source) or is_spark(source) or not hasattr(source, "__arrow_c_stream__"):
        return source
    words = f"this {type(source).__module__.split('.')[0]} {type(source).__name__}"
    if not vouched:
        raise hides_its_making(words, "a stream, which may be made of anything")
    return _hide_words(lambda: _read(source), words)


def _hide_words(run: Callable[[], Result], words: str) -> Result:
    failed = ParameterError(
        f"The rows of {words} cannot be read. Read them yourself, which says what is wrong."
    )
    return without_context(run, Exception, error=failed)


def _read(source: object) -> Any:
    return pa.RecordBatchReader.from_stream(cast("Any", source)).read_all()


def _is_data_set(source: object) -> bool:
    """Whether this is a data set of Arrow; its module is not loaded for the question."""
    return type(source).__module__ == "pyarrow._dataset" and hasattr(source, "get_fragments")


def _is_local(data_set: Any) -> bool:
    return type(getattr(data_set, "filesystem", None)).__name__ == "LocalFileSystem"


def _files_of(data_set: Any) -> list[Path]:
    """The files of a data set: of kinds whose columns are metadata, and all of their rows."""
    kind = type(getattr(data_set, "format", None)).__name__
    if kind not in FORMATS or not _is_local(data_set):
        raise ParameterError(
            "This data set is not one of Parquet or Feather files on this machine. Of other files,"
            " cells decide the types. Give the files themselves: la.open([path, …], name='visits')."
        )
    if data_set._scan_options:
        raise ParameterError(
            "This data set has a filter. Open the data set without it, and filter in the question:"
            " .where(…)."
        )
    return [Path(file) for file in data_set.files]
