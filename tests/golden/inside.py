"""The only place in which the golden tests name modules of letalone that are not public."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from letalone.cli.places import ledger_path
from letalone.curator.curator import Curator
from letalone.curator.http.app import make_app
from letalone.curator.http.problems import KINDS
from letalone.curator.storage.settings import Settings
from letalone.engines.catalogue import ENGINES
from letalone.engines.spark.spark_catalogue import look_up_address
from letalone.sources.places import is_schema_file
from letalone.sources.resolve import (
    data_of,
    in_words,
    is_address,
    own_name,
    read_source,
)
from letalone.sources.source import Source

PROBLEM_KINDS = tuple(KINDS)


def open_service(folder: Path) -> tuple[Curator, Any]:
    """A curator in a folder, and its ASGI app."""
    curator = Curator.open(Settings(folder=folder, password_memory_kib=8))
    return curator, make_app(curator)


def facts_of_source(source: Any, table: str | None, spark: Any) -> dict[str, Callable[[], Any]]:
    """What decides which budget a source spends, each by itself: nothing is connected to.

    spark: what stands for a session of Spark where an address names one of its tables.
    """

    def data() -> Any:
        found = data_of(source) if isinstance(source, str) else source
        spark_address = isinstance(found, str) and found.startswith("spark:")
        return look_up_address(found, spark) if spark_address else found

    def read() -> Source:
        return read_source(data(), table, look=ENGINES)

    found: dict[str, Callable[[], Any]] = {"identity": lambda: read().recorded_as}
    if not isinstance(source, str) or source.startswith("spark:"):
        found |= {
            "ledger": lambda: str(read().ledger_file or "none"),
            "schema": lambda: str(read().schema_file or "none"),
        }
    else:
        found |= {
            "ledger": lambda: str(ledger_path(source)),
            "schema": lambda: str(Path(source) if is_schema_file(source) else read().schema_file),
        }
    if isinstance(source, str) and is_address(source):
        found |= {"name": lambda: own_name(source), "words": lambda: in_words(source)}
    if is_schema_file(source):
        found |= {"source": lambda: data_of(source)}
    if not isinstance(source, str) or is_address(source):
        found |= {
            "address": lambda: None if read().ledger_file is None else read().recorded_as,
            "whole_name": lambda: list(read().whole_name),
        }
    return found
