"""What a service says of data sets, grants, requests and past answers, as plain records.

Tested:   tests/client/test_client.py
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from typing import Any, TypeVar, cast

from letalone.answers import views
from letalone.client.problems import amount, printable
from letalone.errors import FormatError, LetaloneError
from letalone.errors.problem import without_context
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Key, Type
from letalone.privacy import Budget
from letalone.privacy.filters import brief
from letalone.privacy.neighbours import Neighbours, Relation
from letalone.session.release import Release

Json = dict[str, Any]
DAMAGE = (LetaloneError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError)
Record = TypeVar("Record")


class Listing(list[Record]):
    """A list that shows each of its records on a line."""

    def __repr__(self) -> str:
        return "\n".join(printable(str(item)) for item in self) or "nothing"

    def _repr_html_(self) -> str:
        return views.lines_as_html(repr(self))


@dataclass(frozen=True, slots=True)
class RemoteDataSet:
    """What is public about a data set, and how its whole budget stands."""

    name: str
    description: str
    schema: Schema
    purposes: tuple[str, ...]
    version: int
    frozen: bool
    retired: bool
    budget: Budget
    spent: Budget
    remaining: Budget

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", replace(self.schema, version=self.version))

    def __str__(self) -> str:
        gone = "; retired" if self.retired else "; frozen" if self.frozen else ""
        columns = ", ".join(column.name for column in self.schema.columns)
        return (
            f"{self.name}, version {self.version}{gone}: {self.description or 'not described'}\n"
            f"  columns {columns}; protects {self.schema.unit or 'row'}; for the purposes"
            f" {', '.join(self.purposes)}; ({brief(self.spent)}) of ({self.budget}) spent"
        )


@dataclass(frozen=True, slots=True)
class Grant:
    """What one may ask of a data set: for a purpose, of some columns, up to a budget."""

    data_set: str
    purpose: str
    columns: tuple[str, ...]
    budget: Budget
    spent: Budget
    remaining: Budget
    expires: datetime | None
    withdrawn: bool

    def __str__(self) -> str:
        until = "" if self.expires is None else f", until {self.expires:%Y-%m-%d %H:%M} UTC"
        gone = "; withdrawn" if self.withdrawn else ""
        return (
            f"{self.data_set} for {self.purpose!r}: {', '.join(self.columns)};"
            f" ({brief(self.spent)}) of ({self.budget}) used{until}{gone}"
        )


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """A request for a grant, and how it was decided: open, granted, refused or withdrawn."""

    id: str
    data_set: str
    purpose: str
    columns: tuple[str, ...]
    budget: Budget
    why: str
    state: str
    reason: str | None

    def __str__(self) -> str:
        reason = "" if self.reason is None else f" ({self.reason})"
        words = f"{', '.join(self.columns)}, up to ({self.budget})"
        return f"{self.data_set} for {self.purpose!r}: {words}: {self.state}{reason}"


@dataclass(frozen=True, slots=True)
class PastRelease:
    """One of the own answers; `client.receipt(past)` has its signed receipt."""

    id: str
    data_set: str
    purpose: str
    time: datetime
    question: str
    release: Release

    def __str__(self) -> str:
        price = Budget(self.release.asked.epsilon, self.release.asked.delta)
        return f"{self.time:%Y-%m-%d %H:%M} {self.data_set}: {self.question} ({price})"


Found = TypeVar("Found", RemoteDataSet, Grant, AccessRequest, PastRelease)


def read_one(kind: type[Found], said: object) -> Found:
    """A record, or an error that says that service and client do not fit."""
    sent = cast("Json", said)
    return without_context(
        lambda: kind(**{part.name: READERS[part.type](sent[part.name]) for part in fields(kind)}),
        *DAMAGE,
        error=FormatError(
            "The service answers in a form that this letalone does not know. Update the older of"
            " both."
        ),
    )


def read_all(kind: type[Found], said: object) -> Listing[Found]:
    """All records of a list."""
    if not isinstance(said, Sequence):
        raise FormatError("The service answers in a form that this letalone does not know.")
    return Listing(read_one(kind, item) for item in cast("Sequence[object]", said))


def _read_schema(said: Mapping[str, Any]) -> Schema:
    return Schema(
        said["name"],
        tuple(_column(name, column) for name, column in said["columns"].items()),
        unit=said["unit"],
        neighbours=Neighbours(Relation(said["neighbours"])),
    )


def _column(name: str, said: Mapping[str, Any]) -> Column:
    kind, keys = Type(said["type"]), said.get("keys")
    bounds = {side: amount(said[side]) for side in ("lower", "upper") if side in said}
    read = None if keys is None else tuple(_key(key, kind) for key in keys)
    return Column(name, kind, keys=read, **bounds)


def _key(said: Any, kind: Type) -> Key:
    return date.fromisoformat(said) if kind is Type.DATE and isinstance(said, str) else said


def _read_names(said: list[str | Json]) -> tuple[str, ...]:
    """Names, or the names of what has more to it."""
    return tuple(str(item["name"] if isinstance(item, dict) else item) for item in said)


def _or_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda said: None if said is None else read(said)


# How a field is read, by its type.
READERS: dict[Any, Callable[[Any], Any]] = {
    str: str,
    str | None: _or_none(str),
    bool: bool,
    int: lambda said: said,
    tuple[str, ...]: _read_names,
    Budget: lambda said: Budget(amount(said["epsilon"]), amount(said["delta"])),
    Schema: _read_schema,
    Release: lambda said: said,
    datetime: datetime.fromisoformat,
    datetime | None: _or_none(datetime.fromisoformat),
}
