"""Reads addresses of tables that are no files: on a PostgreSQL server, or on Spark.

What they share: how they are told from paths, what they are called, and where in the working folder
their schema files and their ledger lie.

  Tested:   tests/session/test_on_postgres.py, tests/on_spark/test_addresses.py
"""

from pathlib import Path

from letalone.engines import postgres_address, spark_address
from letalone.errors import ParameterError


def is_address(source: object) -> bool:
    """Whether this is the address of a table on a server or on Spark."""
    return postgres_address.is_address(source) or spark_address.is_spark_address(source)


def check_address(source: str, table: str | None = None) -> None:
    """Refuses an address that cannot be one; nothing is connected to."""
    if not spark_address.is_spark_address(source):
        postgres_address.read_address(source, table)
        return
    spark_address.read_spark_address(source)
    if table is not None:
        raise ParameterError(postgres_address.two_tables_named())


def in_words(source: str) -> str:
    """What the table at an address is called, for people."""
    if spark_address.is_spark_address(source):
        return spark_address.written_name(spark_address.read_spark_address(source))
    return postgres_address.read_address(source).words


def own_name(source: str) -> str:
    """The name of the table alone; empty where the address names none."""
    if spark_address.is_spark_address(source):
        return spark_address.read_spark_address(source)[-1]
    table = postgres_address.read_address(source).table
    return "" if table is None else table[1]


def whole_name(source: object, table: str | None = None) -> tuple[str, ...]:
    """Catalogue or database, schema and table, where a table has these; else nothing."""
    if isinstance(source, str) and postgres_address.is_address(source):
        address = postgres_address.read_address(source, table)
        return () if address.table is None else (address.database, *address.table)
    return _place_on_spark(source) or ()


def identity(source: object, table: str | None = None) -> str | None:
    """Which table this is, in one spelling of its place; None for what has no place of its own."""
    if isinstance(source, str) and postgres_address.is_address(source):
        return postgres_address.identity(postgres_address.read_address(source, table))
    place = _place_on_spark(source)
    return None if place is None else spark_address.written_name(place)


def stand_in(source: object, table: str | None = None) -> tuple[Path, str | None] | None:
    """A path in the working folder beside which the schema file and the ledger lie, and what the
    table is called in the name of its schema file; None for what has no place of its own.
    """
    if isinstance(source, str) and postgres_address.is_address(source):
        names = postgres_address.read_address(source, table).table
        called = None if names is None else postgres_address.table_name(*names)
        return postgres_address.stand_in(source), called
    place = _place_on_spark(source)
    return None if place is None else (spark_address.stand_in_of(place), place[2])


def _place_on_spark(source: object) -> spark_address.Place | None:
    is_on_spark = spark_address.is_spark_address(source) or spark_address.is_spark(source)
    return spark_address.place_of(source) if is_on_spark else None
