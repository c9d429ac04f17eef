"""A source: which table was meant, and what belongs to it, however it was written.

Whether two are one table is decided here and nowhere else: of two sources, and of a source and
what a ledger remembers.

  Tested:   tests/sources/test_one_budget.py, tests/sources/test_recorded.py
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from os import sep
from pathlib import Path


class SourceKind(Enum):
    """What has the rows: of a file, by its ending, of SQLite's by its first bytes."""

    PARQUET = "parquet"
    CSV = "csv"
    JSON_LINES = "ndjson"
    ARROW = "arrow"
    EXCEL = "excel"
    DUCKDB = "duckdb"
    SQLITE = "sqlite"
    OTHER_FILE = "other"
    POSTGRES = "postgresql"
    SPARK = "spark"
    FRAME = "frame"


ELSEWHERE = (SourceKind.POSTGRES.value, SourceKind.SPARK.value)
NO_IDENTITY = ("frame",)  # the identity of a frame, which has no place


@dataclass(frozen=True, slots=True)
class Source:
    """A table, and what belongs to it.

    identity: the same for all ways to write one table; of another table another one.
    name: what the data set is called unless its owner says otherwise; empty if no table is named.
    recorded_as: which table it is, as a ledger remembers it.
    words: what the data are, in words that show no password and no folder.
    schema_file, ledger_file: where they lie, or would lie; None for what has no place.
    handle: what is opened.
    needs_name: no name follows from what was given, so that the owner gives one.
    """

    kind: SourceKind
    identity: tuple[str, ...]
    name: str
    recorded_as: str
    words: str
    schema_file: Path | None = None
    ledger_file: Path | None = None
    handle: object = field(default=None, compare=False, repr=False)
    needs_name: bool = False

    @property
    def whole_name(self) -> tuple[str, ...]:
        """Catalogue or database, schema and table, by which SQL may call it; else nothing."""
        elsewhere, *names = self.identity
        is_table = elsewhere in ELSEWHERE and len(names) == 4
        return tuple(names[1:]) if is_table else ()


def same_table(one: Source, other: Source) -> bool:
    """Whether two sources are surely one table. Nothing tells of two frames."""
    is_told = one.identity != NO_IDENTITY or one.handle is other.handle
    return one.identity == other.identity and is_told


def same_as_recorded(source: Source, known: Mapping[str, str], folder: Path | None) -> bool:
    """Whether a ledger in `folder` that remembers `known` means this table."""
    return not set(known.values()).isdisjoint(write_places(source, folder).values())


def write_places(source: Source, folder: Path | None) -> dict[str, str]:
    """A path below the folder of the ledger as seen from there, and whole; all else as it is."""
    recorded = source.recorded_as
    seen = recorded if folder is None else recorded.removeprefix(f"{folder}{sep}")
    return {"table": recorded} if seen == recorded else {"table": seen, "at": recorded}
