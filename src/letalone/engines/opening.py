"""Opens a source with its engine: PostgreSQL and Spark by their addresses, SQLite files by their
first bytes, all else with DuckDB.
"""

from collections.abc import Callable, Mapping
from functools import partial

from letalone.engines.core.sql_engine import Engine
from letalone.engines.duckdb.duck_engine import DuckEngine, open_duck
from letalone.engines.duckdb.text_files import read_encoding
from letalone.engines.frames.to_arrow import is_frame
from letalone.engines.spark.spark_catalogue import look_up_address
from letalone.errors import ParameterError
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from letalone.sources.files import UTF8, is_sqlite
from letalone.sources.postgres_address import is_address
from letalone.sources.remote_address import is_remote
from letalone.sources.resolve import check_address
from letalone.sources.resolve import is_address as is_elsewhere
from letalone.sources.spark_names import is_spark, is_spark_address


def open_engine(
    source: object,
    *,
    schema: Schema | None = None,
    types: Mapping[str, Type] | None = None,
    table: str | None = None,
    unit: str | None = None,
    vouched: bool = False,
    timeout_seconds: float | None = None,
    encoding: str | None = None,
    copy: bool = False,
) -> Engine:
    """Opens a file, a pattern of files, a frame, or a table elsewhere; only metadata is read.

    unit: the column that identifies a person, for frames in which values could become one.
    vouched: the owner vouches for how the rows were made (see provenance.py).
    timeout_seconds: how long a statement may run elsewhere (see time_limit.py).
    encoding: that of a file of text (see text_files.py); else UTF-8.
    copy: a file elsewhere may be copied to this machine (see remote_copy.py).
    """
    written = UTF8 if encoding is None else read_encoding(encoding)
    if written != UTF8 and (is_elsewhere(source) or is_frame(source) or is_sqlite(source)):
        raise ParameterError(
            f"encoding is {encoding!r}, but only files of text have one. Leave it out."
        )
    if isinstance(source, str) and is_spark_address(source):
        check_address(source, table)
        source = look_up_address(source)
    if isinstance(source, str) and is_address(source):
        from letalone.engines.postgres.postgres_engine import open_postgres

        return open_postgres(
            source,
            schema=schema,
            types=types,
            table=table,
            vouched=vouched,
            timeout_seconds=timeout_seconds,
        )
    if is_spark(source):
        from letalone.engines.spark.spark_engine import open_spark

        return open_spark(
            source,
            schema=schema,
            types=types,
            vouched=vouched,
            timeout_seconds=timeout_seconds,
        )
    if is_sqlite(source):
        from letalone.engines.sqlite.sqlite_engine import open_sqlite

        return open_sqlite(
            source, schema=schema, types=types, table=table, timeout_seconds=timeout_seconds
        )
    if timeout_seconds is not None:
        raise ParameterError(
            f"timeout_seconds is {timeout_seconds!r}, but only a server, Spark or SQLite stops a"
            " statement after a time. Leave it out."
        )
    make = partial(
        open_duck,
        schema=schema,
        types=types,
        table=table,
        unit=unit,
        vouched=vouched,
        encoding=written,
    )
    return _open_copy(source, make, allowed=copy) if is_remote(source) else make(source)


def _open_copy(address: str, make: Callable[[object], DuckEngine], *, allowed: bool) -> Engine:
    """The engine of a file elsewhere, on a copy that is removed with it."""
    from letalone.engines.remote_copy import copy_here

    path, remove = copy_here(address, allowed=allowed)
    try:
        engine = make(path)
    except BaseException:
        remove()
        raise
    engine.close_with(remove)
    return engine
