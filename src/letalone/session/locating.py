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
from letalone.engines.core.provenance import read_rows
from letalone.engines.duckdb.text_files import name_of_encoding
from letalone.engines.frames.streams import unwrap_source
from letalone.engines.frames.to_arrow import is_frame
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem, without_context
from letalone.exact.typed import refusal
from letalone.ledger import Ledger
from letalone.ledger.storage.store import is_postgres
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from letalone.privacy import Budget, Neighbours, Shares
from letalone.session.open_table import Progress
from letalone.sources.files import find_files
from letalone.sources.places import encoding_for, is_schema_file, other_ledger
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
    encoding: str | None = None
    copy: bool = False
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
    """A call, with the ledger beside the file and the encoding that its schema file names; which
    table it means; what is declared of it.
    """

    call: OpeningCall
    source: Source
    declared: Schema | None
    beside: Path | None

    @property
    def is_frame(self) -> bool:
        """Whether the rows are those of a frame in memory."""
        return is_frame(self.source.handle)


def locate(call: OpeningCall) -> LocatedSource:
    """Reads schema files, and nothing of the data but a stream, which is read once."""
    call = replace(call, source=unwrap_source(call.source, vouched=read_rows(call.rows)))
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
    if _is_beside(call.ledger, source):
        _check_other_ledger(source)
    encoding = _read_encoding(call, source)
    call = replace(call, ledger=call.ledger if beside is None else beside, encoding=encoding)
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


def _read_encoding(call: OpeningCall, source: Source) -> str | None:
    """The encoding that the call or the schema file names; a file has one."""
    file = call.schema if isinstance(call.schema, str | PathLike) else None
    file = source.schema_file if call.schema is None else file
    declared = encoding_for(source, None if file is None else Path(file))
    if call.encoding is None or declared is None:
        return call.encoding or declared
    if name_of_encoding(call.encoding) != name_of_encoding(declared):
        raise ParameterError(
            f"encoding is {call.encoding!r}, but the schema file says {declared!r}. Leave it out,"
            " or change the schema file."
        )
    return declared


def _check_named(source: Source) -> None:
    """Refuses several files, and a path on Spark, where nobody has named the data set."""
    if source.needs_name:
        words = "A budget belongs to a name, and several files have none: give the data set one"
        spelled = Spelled(
            f"{words}, la.open(…, name='visits'), and the same one each time.",
            f"{words}, --name visits, and the same one each time; or letalone init writes it down.",
        )
        raise ParameterError(problem(Code.OTHER, words=spelled))
    if is_path_on_spark(source.handle):
        raise ParameterError(
            "Give this data set a name: la.open(…, name='visits'). The budget is stored under the"
            " name, and each spelling of a path would get a new budget."
        )


def _is_beside(ledger: object, source: Source) -> bool:
    """Whether the ledger is the one beside the data, which nobody need name."""
    if ledger is None or not isinstance(ledger, str | PathLike):
        return ledger is None
    return Path(cast("Place", ledger)).absolute() == source.ledger_file


def _check_other_ledger(source: Source) -> None:
    """Refuses a folder whose files have a budget as a pattern, and a pattern of such a folder."""
    other = other_ledger(source)
    if other is not None and not cast("Path", source.ledger_file).is_file():
        raise ParameterError(
            f"{other.name} may keep the budget of these files under another spelling: a folder and"
            " a pattern of its files are one table. Open them as before, or name the ledger:"
            f" ledger={str(other)!r} (--ledger in the terminal)."
        )


def contain_engine(words: str, run: Callable[[], Result]) -> Result:
    """What `run` returns; an engine that gives up is a source that cannot be opened."""
    error = f"{words} cannot be opened: it is damaged, in use, or not what its name says."
    return without_context(run, EngineFailed, error=ParameterError(error))
