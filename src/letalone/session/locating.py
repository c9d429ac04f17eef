"""What belongs to a call of `la.open`: which table it means, what is declared, the ledger.

Tested:   tests/session/test_opening.py, tests/sources/test_places.py
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from os import PathLike, fspath
from pathlib import Path
from typing import TypeVar, cast

from letalone.engines.catalogue import ENGINES
from letalone.engines.core.failure import EngineFailed
from letalone.engines.frames.to_arrow import is_frame
from letalone.errors import ParameterError
from letalone.errors.problem import without_context
from letalone.exact.typed import refusal
from letalone.ledger import Ledger
from letalone.ledger.storage.store import is_postgres
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from letalone.privacy import Budget, Neighbours, Shares
from letalone.session.open_table import Progress
from letalone.sources.files import find_files
from letalone.sources.places import is_schema_file
from letalone.sources.resolve import read_source
from letalone.sources.source import Source
from letalone.sources.spark_names import is_path_on_spark

Place = str | PathLike[str]
Result = TypeVar("Result")


class Unit(Enum):
    """Whose privacy is protected, where it is not a column that says so.

    Each row is another person's: `la.open("answers.csv", unit=la.ROW)`.
    """

    ROW = "row"

    def __repr__(self) -> str:
        return "la.ROW"


ROW = Unit.ROW


@dataclass(frozen=True, slots=True)
class OpeningCall:
    """A call of `la.open` as it was made; a command line makes one of its options."""

    source: object
    unit: str | Unit | None = None
    neighbours: Neighbours | str | None = None
    budget: Budget | None = None
    ledger: Place | Ledger | None = None
    name: str | None = None
    schema: Schema | Place | None = None
    types: Mapping[str, str | Type] | None = None
    table: str | None = None
    side_table: str | None = None
    rows: str | None = None
    timeout_seconds: float | None = None
    shares: Shares | None = None
    progress: Progress | None = None
    registered: bool = False

    def corrected(self, unit: str | Unit | None) -> str:
        """The call with what was missing."""
        path = isinstance(self.source, str | PathLike)
        given = [repr(fspath(cast("Place", self.source))) if path else "frame"]
        if unit is not None:
            given.append(f"unit={unit!r}")
        budget = self.budget if isinstance(self.budget, Budget) else Budget(epsilon=1)
        given.append(f"budget=la.{budget!r}")
        if isinstance(self.ledger, str | PathLike):
            place = fspath(self.ledger)  # an address may hold a password
            given.append("ledger=…" if is_postgres(place) else f"ledger={place!r}")
        if isinstance(self.name, str):
            given.append(f"name={self.name!r}")
        return f"la.open({', '.join(given)})"


@dataclass(frozen=True, slots=True)
class LocatedSource:
    """A call, with the ledger beside the file; which table it means; what is declared of it."""

    call: OpeningCall
    source: Source
    declared: Schema | None
    beside: Path | None

    @property
    def is_frame(self) -> bool:
        """Whether the rows are those of a frame in memory."""
        return is_frame(self.source.handle)


def locate(call: OpeningCall) -> LocatedSource:
    """Reads schema files, and nothing of the data."""
    if call.schema is not None and is_schema_file(call.source):
        find_files(cast("Place", call.source))  # refuses it: a schema is given, and this is no data
    source = contain_engine(
        "The table on Spark", lambda: read_source(call.source, call.table, look=ENGINES)
    )
    file = None if call.ledger is not None else source.ledger_file
    beside = file if file is not None and file.is_file() else None
    declared = _read_schema(call.schema, source)
    if call.name is None and declared is None:
        _check_named(source)
    call = replace(call, ledger=call.ledger if beside is None else beside)
    return LocatedSource(call, source, declared, beside)


def _read_schema(schema: object, source: Source) -> Schema | None:
    """The schema that was given, or that lies beside the file."""
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, str | PathLike):
        return Schema.read(Path(cast("Place", schema)))
    if schema is not None:
        raise refusal("schema", schema, "a la.Schema or the path of a schema file")
    beside = source.schema_file
    return Schema.read(beside) if beside is not None and beside.is_file() else None


def _check_named(source: Source) -> None:
    """Refuses a path on Spark, where nobody has named the data set."""
    if is_path_on_spark(source.handle):
        raise ParameterError(
            "This is a path, which can be written in many ways, and its budget would begin anew"
            " with each. Give the data set a name: la.open(…, name='visits')."
        )


def contain_engine(words: str, run: Callable[[], Result]) -> Result:
    """What `run` returns; an engine that gives up is a source that cannot be opened."""
    error = f"{words} cannot be opened: it is damaged, in use, or not what its name says."
    return without_context(run, EngineFailed, error=ParameterError(error))
