"""Opens a source with its engine: PostgreSQL and Spark by their addresses, all else with DuckDB."""

from collections.abc import Mapping

from letalone.engines.addresses import check_address
from letalone.engines.duck import open_duck
from letalone.engines.postgres_address import is_address
from letalone.engines.spark_address import is_spark, is_spark_address, look_up_address
from letalone.engines.sql_engine import Engine
from letalone.errors import ParameterError
from letalone.plans.schema import Schema
from letalone.plans.types import Type


def open_engine(
    source: object,
    *,
    schema: Schema | None = None,
    types: Mapping[str, Type] | None = None,
    table: str | None = None,
    unit: str | None = None,
    vouched: bool = False,
    timeout_seconds: float | None = None,
) -> Engine:
    """Opens a file, a pattern of files, a frame, or a table elsewhere; only metadata is read.

    unit: the column that tells people apart, for frames in which values could become one.
    vouched: the owner vouches for how the rows were made (see provenance.py).
    timeout_seconds: how long a statement may run elsewhere (see time_limit.py).
    """
    if isinstance(source, str) and is_spark_address(source):
        check_address(source, table)
        source = look_up_address(source)
    if isinstance(source, str) and is_address(source):
        from letalone.engines.postgres import open_postgres

        return open_postgres(
            source,
            schema=schema,
            types=types,
            table=table,
            vouched=vouched,
            timeout_seconds=timeout_seconds,
        )
    if is_spark(source):
        from letalone.engines.spark import open_spark

        return open_spark(
            source,
            schema=schema,
            types=types,
            vouched=vouched,
            timeout_seconds=timeout_seconds,
        )
    if timeout_seconds is not None:
        raise ParameterError(
            f"timeout_seconds is {timeout_seconds!r}, but only a server or Spark stops a statement"
            " after a time. Leave it out."
        )
    return open_duck(source, schema=schema, types=types, table=table, unit=unit, vouched=vouched)
