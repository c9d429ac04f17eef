"""Where all that belongs to a call of `la.open` lies: data, schema file, ledger beside them.

Tested:   tests/session/test_opening.py, test_beside.py
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from os import PathLike, fspath
from pathlib import Path
from typing import TypeVar, cast

from letalone.engines.addresses import check_address, in_words, is_address, stand_in, whole_name
from letalone.engines.failure import EngineFailed
from letalone.engines.frames import is_frame
from letalone.engines.spark_address import is_spark, is_spark_address, look_up_address, words_of
from letalone.errors import ParameterError
from letalone.errors.problem import without_context
from letalone.exact.typed import expand_home, refusal
from letalone.ledger import Ledger
from letalone.ledger.store import is_postgres
from letalone.plans.schema import Schema, ledger_path, schema_path
from letalone.plans.types import Type
from letalone.privacy import Budget, Neighbours, Shares
from letalone.session.beside import is_schema_file, schema_beside, source_of
from letalone.session.open_table import Progress
from letalone.session.same_table import check_named

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
    """Where all that belongs to a call is: the data, what is declared of them, the ledger.

    call: with the source that a schema file names, and with the ledger beside the file.
    """

    call: OpeningCall
    source: object
    declared: Schema | None
    beside: Path | None
    whole_name: tuple[str, ...]


def locate(call: OpeningCall) -> LocatedSource:
    """Reads schema files, and nothing of the data."""
    source, schema, table = call.source, call.schema, call.table
    file = source if is_schema_file(source) else None
    if file is not None and schema is None:
        source, schema = source_of(cast("Place", file)), expand_home(cast("Place", file))
    written, source = source, _find_on_spark(source, table)
    beside = _beside(source if file is None else file) if call.ledger is None else None
    whole_name_parts = contain_engine(source, lambda: whole_name(source, table))
    declared = _read_schema(source, schema, table)
    if call.name is None and declared is None:
        check_named(source)
    call = replace(call, source=written, ledger=call.ledger if beside is None else beside)
    return LocatedSource(call, source, declared, beside, whole_name_parts)


def _read_schema(source: object, schema: object, table: str | None) -> Schema | None:
    """The schema that was given, or that lies beside the file."""
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, str | PathLike):
        return Schema.read(Path(cast("Place", schema)))
    if schema is not None:
        raise refusal("schema", schema, "a la.Schema or the path of a schema file")
    beside = _schema_file(source, table)
    return None if beside is None else Schema.read(beside)


def _schema_file(source: object, table: str | None) -> Path | None:
    """The schema file beside the data, where there is one."""
    if is_spark(source):
        elsewhere = contain_engine(source, lambda: stand_in(source))
        beside = None if elsewhere is None else schema_path(*elsewhere)
    else:
        path = isinstance(source, str | PathLike)
        beside = schema_beside(cast("Place", source), table) if path else None
    return beside if beside is not None and beside.is_file() else None


def _find_on_spark(source: object, table: str | None) -> object:
    """An address of Spark as a session and a whole name; all else as it is."""
    if not isinstance(source, str) or not is_spark_address(source):
        return source
    check_address(source, table)
    return contain_engine(source, lambda: look_up_address(source))


def contain_engine(source: object, run: Callable[[], Result]) -> Result:
    """What `run` returns; an engine that gives up is a source that cannot be opened."""
    words = (
        f"{source_words(source)} cannot be opened: it is damaged, in use, or not what its name"
        " says."
    )
    return without_context(run, EngineFailed, error=ParameterError(words))


def schema_words(call: OpeningCall, source: object) -> str:
    """Which file the schema is from, where the call does not name one."""
    if call.schema is not None:
        return ""
    schema_file = cast("Place", call.source) if is_schema_file(call.source) else None
    file = schema_file or _schema_file(source, call.table)
    return "" if file is None else f" ({Path(file).name})"


def _beside(source: object) -> Path | None:
    """The ledger that the command line keeps beside a file, where there is one."""
    if is_address(source) or is_spark(source):
        elsewhere = contain_engine(source, lambda: stand_in(source))
        path = None if elsewhere is None else elsewhere[0]
    else:
        is_path = isinstance(source, str | PathLike)
        path = expand_home(cast("Place", source)) if is_path else None
    if path is None:
        return None
    ledger_file = ledger_path(path)
    return ledger_file if ledger_file.is_file() else None


def source_words(source: object) -> str:
    """What the data are, in words that show no password and no folder."""
    if is_spark(source):
        return words_of(source)
    if is_frame(source):
        return f"a {type(source).__module__.split('.')[0]} frame"
    if isinstance(source, str) and is_address(source):
        return in_words(source)
    if isinstance(source, str | PathLike):
        return Path(cast("Place", source)).name
    return type(source).__name__
