"""Records that the parts of the service return: frozen, all of them plain data.

`Affected` and `Subject…` records hold exact numbers and rows: they are for owners and stewards.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum

from letalone.curator.stored_values import to_utc
from letalone.engines.frames import is_frame
from letalone.errors import ParameterError
from letalone.exact.typed import Number
from letalone.ledger.data_sets import read_name
from letalone.plans.schema import Schema
from letalone.privacy import Budget
from letalone.privacy.curve import Json
from letalone.session.row_limit import MaxRows


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


OVERSEEING = (Scope.STEWARD, Scope.AUDIT, Scope.ADMINISTER)


class State(Enum):
    """How a request or a proposal stands."""

    OPEN = "open"
    GRANTED = "granted"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"


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
class Recognised:
    """A person whose password was right, and the hash that it was checked against.

    Whoever acts on it checks, where they write, that the hash is still this one; and that the
    account at a provider (its issuer and subject), which somebody came by, is still theirs.
    """

    person: Person
    kept: str = field(repr=False)
    account: tuple[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Bearer:
    """Who a secret belongs to, and what may be done with it now."""

    person: Person
    scopes: frozenset[Scope]
    elevated: bool
    token: str

    @property
    def name(self) -> str:
        return self.person.name

    @property
    def oversees(self) -> bool:
        """Whether the token, and not only its person, may see what is others'."""
        return bool(self.scopes & set(OVERSEEING))


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a data set may be used for, how much of its budget for it, and until when."""

    name: str
    budget: Budget
    expires: datetime | None = None
    description: str = ""

    def __post_init__(self) -> None:
        read_name(self.name, of="purpose")
        object.__setattr__(self, "expires", to_utc("expires", self.expires))


@dataclass(frozen=True, slots=True)
class Registration:
    """What an owner declares of a data set: the columns it needs, and no others."""

    schema: Schema
    budget: Budget
    purposes: tuple[Purpose, ...]
    description: str = ""
    retention: date | None = None

    def __post_init__(self) -> None:
        read_name(self.schema.name)
        names = [purpose.name for purpose in self.purposes]
        if not names:
            raise ParameterError(
                "A data set needs at least one purpose: say what it may be used for, and how much"
                " of its budget may be spent on that."
            )
        if len({name.casefold() for name in names}) < len(names):
            raise ParameterError("Two purposes have the same name. Rename one.")
        for purpose in self.purposes:
            if not purpose.budget <= self.budget:
                raise ParameterError(
                    f"The purpose {purpose.name!r} may spend ({purpose.budget}), more than the"
                    f" whole data set, ({self.budget}). Lower it."
                )


@dataclass(frozen=True, slots=True)
class DataSetRecord:
    """What is public about a data set; `removal`: from when on the rows go, where announced."""

    name: str
    description: str
    schema: Schema
    purposes: tuple[Purpose, ...]
    external: bool
    retention: date | None
    retired: bool
    removal: datetime | None = None


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
class RequestRecord:
    """An analyst's request, and how it was decided."""

    id: str
    data_set: str
    purpose: str
    analyst: str
    columns: tuple[str, ...]
    budget: Budget
    why: str
    expires: datetime | None
    state: State
    made: datetime
    decided_by: str | None = None
    decided: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class GrantRecord:
    """What an analyst may ask of a data set: for a purpose, of some columns, up to a budget."""

    data_set: str
    purpose: str
    analyst: str
    columns: tuple[str, ...]
    budget: Budget
    spent: Budget
    remaining: Budget
    expires: datetime | None
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class Proposal:
    """A larger budget that one person proposes and another one seconds."""

    id: str
    data_set: str
    purpose: str | None
    analyst: str | None
    budget: Budget
    why: str
    state: State
    proposed_by: str
    proposed: datetime
    decided_by: str | None = None
    decided: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSetQuestion:
    """What is asked of a data set, for a purpose: a SELECT, or a plan as `plan.to_json()` says.

    `keys`, `bounds`, `dialect`, `max_rows` and `max_groups` belong to SQL. `tables` are public
    tables by name (frames); `others` are further data sets that are joined on their units.
    """

    data_set: str
    purpose: str
    sql: str | None = None
    plan: Json | None = None
    keys: object = None
    bounds: object = None
    dialect: str | None = None
    max_rows: MaxRows | None = None
    max_groups: int | None = None
    tables: Mapping[str, object] = field(default_factory=dict[str, object])
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The data sets that are asked about, and pay."""
        return self.data_set, *self.others

    def __post_init__(self) -> None:
        if not self.purpose:  # an odd one is refused later, where that is written down
            read_name(self.purpose, of="purpose")
        if (self.sql is None) == (self.plan is None):
            raise ParameterError("A question is either sql or a plan: give one of them.")
        for name, table in self.tables.items():
            if not is_frame(table):  # a path would be read from the curator's own disk
                raise ParameterError(f"The public table {name!r} must be sent as a table.")
        for_sql = (self.keys, self.bounds, self.dialect, self.max_rows, self.max_groups)
        if self.plan is not None and any(given is not None for given in for_sql):
            raise ParameterError(
                "keys, bounds, dialect, max_rows and max_groups belong to sql; a plan has its own."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPrice:
    """What is paid for an answer: an epsilon, or an error to keep."""

    epsilon: Number | None = None
    error: Number | Mapping[str, Number] | None = None
    delta: Number = 0
    confidence: Number = 0.95
    rows: int | None = None


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
