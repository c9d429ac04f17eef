"""The only place in which the golden tests name modules of letalone that are not public."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from letalone.cli.places import ledger_path
from letalone.curator.curator import Curator
from letalone.curator.http.app import make_app
from letalone.curator.http.problems import KINDS
from letalone.curator.settings import Settings
from letalone.engines.addresses import (
    identity,
    in_words,
    is_address,
    own_name,
    stand_in,
    whole_name,
)
from letalone.engines.spark_address import look_up_address
from letalone.plans import schema
from letalone.plans.schema import schema_path
from letalone.session.beside import is_schema_file, schema_beside, source_of
from letalone.session.same_table import identity_of

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
        found = source_of(source) if is_schema_file(source) else source
        spark_address = isinstance(found, str) and found.startswith("spark:")
        return look_up_address(found, spark) if spark_address else found

    def beside(path: Callable[..., Path]) -> str:
        """Where a file of a table of Spark lies: its schema file, with its name, or its ledger."""
        found = stand_in(data())
        if found is None:
            return "none"
        return str(path(*found) if path is schema_path else path(found[0]))

    found: dict[str, Callable[[], Any]] = {"identity": lambda: identity_of(data(), table)}
    if not isinstance(source, str | PathLike) or str(source).startswith("spark:"):
        found |= {
            "ledger": lambda: beside(schema.ledger_path),
            "schema": lambda: beside(schema_path),
        }
    else:
        found |= {
            "ledger": lambda: str(ledger_path(str(source))),
            "schema": lambda: str(schema_beside(source, table)),
        }
    if isinstance(source, str) and is_address(source):
        found |= {"name": lambda: own_name(source), "words": lambda: in_words(source)}
    if is_schema_file(source):
        found |= {"source": lambda: str(source_of(source))}
    if not isinstance(source, str) or is_address(source):
        found |= {
            "address": lambda: identity(data(), table),
            "whole_name": lambda: list(whole_name(data(), table)),
        }
    return found
