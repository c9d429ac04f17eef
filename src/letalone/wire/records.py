"""What a service answers with: frozen records, which `json_values` writes and `read_answer` reads.

`ImportEffects`, `Holding` and `SubjectActResult` hold exact numbers: for owners and stewards.

  Tested:   tests/wire/test_records.py
"""

from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum, StrEnum
from functools import lru_cache
from types import GenericAlias
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter

from letalone.privacy.budget import brief
from letalone.wire.json_values import BudgetField, Json, SchemaField

Record = TypeVar("Record")
# What a newer service adds is ignored; errors hold nothing of what was sent.
CONFIG = ConfigDict(extra="ignore", hide_input_in_errors=True)


class Role(Enum):
    """What a person is here for; a person may have several."""

    OWNER = "owner"
    STEWARD = "steward"
    ANALYST = "analyst"
    AUDITOR = "auditor"


class Scope(Enum):
    """What a token may be used for, within the roles of its person."""

    ASK = "ask"
    STEWARD = "steward"
    AUDIT = "audit"
    ADMINISTER = "administer"


class State(StrEnum):
    """How a request or a proposal stands; in Python a word like any other."""

    OPEN = "open"
    GRANTED = "granted"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"

    __repr__ = str.__repr__


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may log in; `must_change` until a one-time password was replaced.

    `handed` is when somebody else last added the account, gave it a password or roles, or let it
    in again, and `handed_by` who that was.
    """

    name: str
    roles: frozenset[Role]
    active: bool
    must_change: bool
    handed: datetime
    handed_by: str | None = None


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What is known of a token; its secret is shown once and not kept."""

    id: str
    person: str
    scopes: frozenset[Scope]
    label: str
    created: datetime
    expires: datetime
    revoked: bool
    elevated: bool
    last_used: date | None


@dataclass(frozen=True, slots=True)
class ColumnEffects:
    """Counts the values of a column that the rules changed: exact, for owner and steward."""

    name: str
    unreadable: int
    clamped: int
    other_keys: int
    missing: int


@dataclass(frozen=True, slots=True)
class ImportEffects:
    """Counts what an import changed: exact, for owner and steward only."""

    rows_read: int
    rows_kept: int
    rows_without_unit: int
    columns: tuple[ColumnEffects, ...]
    rows_uneven: int = 0
    lines_not_utf8: int = 0
    version: int | None = None


@dataclass(frozen=True, slots=True)
class DeclaredPurpose:
    """What a data set may be used for, how much of its budget for it, and until when."""

    name: str
    budget: BudgetField
    expires: datetime | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class DataSetRecord:
    """What is public about a data set; `removal`: from when on the rows go, where announced."""

    name: str
    description: str
    schema: SchemaField
    purposes: tuple[DeclaredPurpose, ...]
    external: bool
    retention: date | None
    retired: bool
    removal: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSetStanding(DataSetRecord):
    """What is public about a data set, and how its whole budget stands."""

    version: int
    frozen: bool
    budget: BudgetField
    spent: BudgetField
    remaining: BudgetField


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """A request for a grant, and how it was decided: open, granted, refused or withdrawn."""

    id: str
    data_set: str
    purpose: str
    analyst: str
    columns: tuple[str, ...]
    budget: BudgetField
    why: str
    expires: datetime | None
    state: State
    made: datetime
    decided_by: str | None = None
    decided: datetime | None = None
    reason: str | None = None

    def __str__(self) -> str:
        reason = "" if self.reason is None else f" ({self.reason})"
        words = f"{', '.join(self.columns)}, up to ({self.budget})"
        return f"{self.data_set} for {self.purpose!r}: {words}: {self.state}{reason}"


@dataclass(frozen=True, slots=True)
class Grant:
    """What an analyst may ask of a data set: for a purpose, of some columns, up to a budget."""

    data_set: str
    purpose: str
    analyst: str
    columns: tuple[str, ...]
    budget: BudgetField
    spent: BudgetField
    remaining: BudgetField
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
class Proposal:
    """A larger budget that one person proposes and another one seconds."""

    id: str
    data_set: str
    purpose: str | None
    analyst: str | None
    budget: BudgetField
    why: str
    state: State
    proposed_by: str
    proposed: datetime
    decided_by: str | None = None
    decided: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PastReleaseRecord:
    """One of an analyst's own answers."""

    id: str
    data_set: str
    purpose: str
    time: datetime
    question: str
    release: Json


@dataclass(frozen=True, slots=True)
class Holding:
    """Whether a data set holds a person, as a steward is told; None where it cannot be read now."""

    data_set: str
    held: bool | None
    external: bool
    since: datetime


@dataclass(frozen=True, slots=True)
class ReleaseMade:
    """A release that was made while a person's rows were in: entry, time and question."""

    entry: int
    time: str
    data_set: str
    version: int
    question: str


@dataclass(frozen=True, slots=True)
class SubjectActResult:
    """What was done about a person's rows, in words that can be sent on.

    `statement` is what the owner of an external file is to do; None where it is done.
    """

    data_set: str
    rows: int
    version: int
    words: str
    statement: str | None = None
    act: str | None = None


@dataclass(frozen=True, slots=True)
class OpenOwnerTask:
    """What the owner of an external source was asked for, until its outcome is recorded."""

    act: str
    data_set: str
    what: str
    asked: datetime


def read_answer(kind: type[Record], said: object) -> Record:
    """The record that JSON says, or pydantic's ValidationError."""
    (record,) = _adapter(kind).validate_python((said,))
    return record


@lru_cache
def _adapter(kind: type[object]) -> TypeAdapter[tuple[Any]]:
    model: Any = GenericAlias(tuple, (kind,))  # a dataclass by itself takes no config
    return TypeAdapter(model, config=CONFIG)
