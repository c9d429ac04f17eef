"""What the service makes of what is sent: declarations and questions, checked; and who sends it.

What it answers with are `wire.records`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from fractions import Fraction
from typing import Any, Self

from letalone.curator.storage.stored_values import to_utc
from letalone.engines.frames.arrow import array_of, table_of
from letalone.engines.frames.to_arrow import is_frame
from letalone.errors import ParameterError
from letalone.exact.typed import Number
from letalone.ledger.data_sets import read_name
from letalone.plans.schema import Schema
from letalone.privacy import ADD_REMOVE, REPLACE, Budget
from letalone.privacy.curve import Json
from letalone.privacy.neighbours import Relation
from letalone.session.steps.row_limit import MaxRows
from letalone.wire.bodies import Cell, NewDataSet, SentQuestion, exact
from letalone.wire.records import DeclaredPurpose, Person, Scope

OVERSEEING = (Scope.STEWARD, Scope.AUDIT, Scope.ADMINISTER)


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
class Purpose(DeclaredPurpose):
    """A purpose, checked."""

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

    @classmethod
    def of_body(cls, body: NewDataSet) -> Self:
        """The registration, checked by the schema's own rules."""
        label = ADD_REMOVE if body.neighbours is Relation.ADD_REMOVE else REPLACE
        columns = tuple(column.read(name) for name, column in body.columns.items())
        return cls(
            schema=Schema(body.name, columns, unit=body.unit, neighbours=label),
            budget=body.budget.read(),
            purposes=tuple(Purpose(**sent.arguments()) for sent in body.purposes),
            description=body.description,
            retention=body.retention,
        )


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

    @classmethod
    def of_body(cls, body: SentQuestion) -> Self:
        bounds = body.bounds and {
            name: (exact(lower), exact(upper)) for name, (lower, upper) in body.bounds.items()
        }
        tables = {name: _frame(name, columns) for name, columns in body.tables.items()}
        taken: dict[str, Any] = {part.name: getattr(body, part.name) for part in fields(cls)}
        taken |= {"bounds": bounds, "tables": tables, "others": tuple(body.others)}
        return cls(**taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPrice:
    """What is paid for an answer: an epsilon, or an error to keep."""

    epsilon: Number | None = None
    error: Number | Mapping[str, Number] | None = None
    delta: Number = 0
    confidence: Number = 0.95
    rows: int | None = None
    confirm: bool = False

    @classmethod
    def of_body(cls, body: SentQuestion) -> Self:
        return cls(
            epsilon=None if body.epsilon is None else exact(body.epsilon),
            error=None if body.error is None else _errors(body.error),
            delta=exact(body.delta),
            confidence=exact(body.confidence),
            rows=body.rows,
            confirm=body.confirm,
        )


def read_sent(body: SentQuestion) -> tuple[DataSetQuestion, QuestionPrice]:
    """What is asked, and what is paid for it."""
    return DataSetQuestion.of_body(body), QuestionPrice.of_body(body)


def _errors(error: float | str | dict[str, float | str]) -> Fraction | dict[str, Fraction]:
    if isinstance(error, dict):
        return {name: exact(amount) for name, amount in error.items()}
    return exact(error)


def _frame(name: str, columns: dict[str, list[Cell]]) -> object:
    """A public table; its columns are equally long and each of one type."""
    if len({len(values) for values in columns.values()}) != 1:
        raise ParameterError(f"The columns of the table {name!r} must be equally long.")
    arrays = [(column, array_of(values)) for column, values in columns.items()]
    for column, array in arrays:
        if array is None:
            raise ParameterError(f"Column {column!r} of {name!r} mixes types. Use one.")
    return table_of(arrays)
