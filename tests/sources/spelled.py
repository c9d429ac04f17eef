"""What `read_source` says of a source, one fact at a time."""

from pathlib import Path
from typing import Any

from letalone.engines.catalogue import ENGINES
from letalone.engines.spark.spark_catalogue import SessionNames
from letalone.sources.resolve import read_source
from letalone.sources.source import Source
from letalone.sources.spark_names import Place, find_place, read_name


def read(source: Any, table: str | None = None) -> Source:
    return read_source(source, table, look=ENGINES)


def schema_beside(source: Any, table: str | None = None) -> Path:
    found = read(source, table).schema_file
    assert found is not None
    return found


def ledger_beside(source: Any, table: str | None = None) -> Path:
    found = read(source, table).ledger_file
    assert found is not None
    return found


def identity_of(source: Any, table: str | None = None) -> str:
    return read(source, table).recorded_as


def place_of(table: tuple[Any, str]) -> Place | None:
    """Of a session of Spark, or what stands for one, and a name."""
    return find_place(read_name(table[1]), SessionNames(table[0]))
