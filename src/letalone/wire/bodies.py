"""What may be sent: the bodies of requests, each field checked before anything is done.

A field that is not known is refused, so that a slip in a name is not taken for a default. What a
service makes of a body is with its own records (`curator.storage.service_records`).

  Tested:   tests/curator/http/test_fuzz.py, test_description.py; tests/golden/test_service.py
"""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from letalone.errors import ParameterError
from letalone.plans.schema import Column
from letalone.plans.types import Type
from letalone.privacy.budget import Budget
from letalone.privacy.neighbours import Relation
from letalone.wire.json_values import read_key
from letalone.wire.records import Role, Scope

NO_CONTROLS = r"^[^\x00-\x1f\x7f]*$"
Name = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_CONTROLS)]
NO_NUL = r"^[^\x00]*$"  # which PostgreSQL cannot store
Words = Annotated[str, StringConstraints(max_length=2000, pattern=NO_NUL)]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=2000, pattern=NO_NUL)]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Names = Annotated[list[Name], Field(max_length=1000)]
Sql = Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
FileName = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=NO_NUL)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]
UnitId = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=NO_NUL)]
Text = Annotated[str, StringConstraints(pattern=NO_NUL)]
Cell = bool | int | float | Text | None
UNSIGNED = r"([0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?|[0-9]{1,40}/[1-9][0-9]{0,39})"
Float = Annotated[float, Field(strict=True, allow_inf_nan=False)]  # true is no number
Typed = Float | Annotated[str, StringConstraints(pattern=f"^{UNSIGNED}$")]
Signed = Float | Annotated[str, StringConstraints(pattern=f"^-?{UNSIGNED}$")]


class Body(BaseModel):
    """A body; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    def arguments(self) -> dict[str, Any]:
        """All fields, for what of the curator takes them by the same names."""
        return {name: _as_argument(value) for name, value in self}


class SentBudget(Body):
    """An epsilon and a delta, as numbers (0.5) or as digits ("0.5", "1/3")."""

    epsilon: Typed
    delta: Typed = 0.0

    def read(self) -> Budget:
        return Budget(exact(self.epsilon), exact(self.delta))


class TokenTerms(Body):
    """What a token may be used for, what it is called, and how long it holds."""

    scopes: list[Scope] | None = None
    label: Words = ""
    days: Annotated[int, Field(ge=1, le=3660)] | None = None


class Login(TokenTerms):
    """Who wants a token, and what it may be used for."""

    name: Name
    password: Secret


class NewToken(TokenTerms):
    """A further token for who asks; its scopes are among those of the asking token.

    The password again: whoever finds a token cannot make others that outlive it.
    """

    password: Secret


class Elevation(Body):
    """The password again."""

    password: Secret


class NewPassword(Body):
    """Whose password, the one until now, and the one from now on."""

    name: Name
    password: Secret
    new: Secret


class NewPerson(Body):
    """Somebody who may log in from now on."""

    name: Name
    roles: Annotated[list[Role], Field(min_length=1, max_length=4)]


class ChangedPerson(Body):
    """New roles, or whether they may log in."""

    roles: Annotated[list[Role], Field(min_length=1, max_length=4)] | None = None
    active: bool | None = None


class SentColumn(Body):
    """A column: its type, and bounds or keys where they are known in public."""

    type: Type
    lower: Signed | None = None
    upper: Signed | None = None
    keys: Annotated[list[Cell], Field(max_length=100_000)] | None = None

    def read(self, name: str) -> Column:
        keys = None if self.keys is None else tuple(_key(value, self.type) for value in self.keys)
        lower, upper = (None if end is None else exact(end) for end in (self.lower, self.upper))
        return Column(name, self.type, lower=lower, upper=upper, keys=keys)


class SentPurpose(Body):
    """What a data set may be used for, and how much may be spent on it."""

    name: Name
    budget: SentBudget
    expires: AwareDatetime | None = None
    description: Words = ""


class NewDataSet(Body):
    """A data set: only the columns that are needed; the others never leave the source.

    `upload` is the id that an upload was given; `file` is a name in the folder of imports;
    `address` is that of a table on a server, postgresql://user@host/database/table, without a
    password, or on Spark, spark:catalog.schema.table: it stays there, and the operator must have
    allowed its host or its schema.
    `unit` names the column that identifies a person; without it each row is protected.
    """

    name: Name
    columns: Annotated[dict[Name, SentColumn], Field(min_length=1, max_length=1000)]
    unit: Name | None = None
    neighbours: Relation = Relation.ADD_REMOVE
    budget: SentBudget
    purposes: Annotated[list[SentPurpose], Field(min_length=1, max_length=100)]
    description: Words = ""
    retention: date | None = None
    upload: Name | None = None
    file: FileName | None = None
    address: FileName | None = None
    external: bool = False

    def source(self) -> dict[str, Any]:
        """Where the rows are, as `register` takes it; an upload is looked for by its id first."""
        return self.model_dump(include={"file", "address", "external"})


class NewRows(Body):
    """Newer rows of a data set, from an upload or from a file in the folder of imports."""

    upload: Name | None = None
    file: FileName | None = None


class NewRequest(Body):
    """An analyst's request: for a purpose, of some columns, up to a budget, with a reason."""

    data_set: Name
    purpose: Name
    columns: Annotated[list[Name], Field(min_length=1, max_length=1000)]
    budget: SentBudget
    why: Reason
    expires: AwareDatetime | None = None


class Decision(Body):
    """What a steward decides, and why."""

    granted: bool
    reason: Reason


class Withdrawal(Body):
    """A grant that ends now, and why."""

    data_set: Name
    purpose: Name
    analyst: Name
    why: Reason


class NewProposal(Body):
    """A larger budget; another person must second it. Without a δ the present one stays."""

    data_set: Name
    purpose: Name | None = None
    analyst: Name | None = None
    budget: SentBudget
    why: Reason


class SentQuestion(Body):
    """A question: a SELECT, or a plan as letalone stores it; with `left` also what is left.

    `show_sql` belongs to explanations.
    """

    data_set: Name
    purpose: Name
    sql: Sql | None = None
    plan: dict[str, Any] | None = None
    keys: Any = None
    bounds: dict[Name, tuple[Signed, Signed]] | None = None
    dialect: Annotated[str, StringConstraints(max_length=20)] | None = None
    max_rows: Annotated[int, Field(ge=1, le=10**9)] | Literal["auto"] | None = None
    max_groups: Annotated[int, Field(ge=1, le=10**9)] | None = None
    tables: Annotated[dict[Name, dict[Name, list[Cell]]], Field(max_length=20)] = Field(
        default_factory=dict
    )
    others: Names = Field(default_factory=list)
    epsilon: Typed | None = None
    error: Typed | dict[Name, Typed] | None = None
    delta: Typed = 0.0
    confidence: Typed = 0.95
    rows: Annotated[int, Field(ge=1, le=10**15)] | None = None
    left: bool = False
    show_sql: bool = False
    confirm: bool = False


class Why(Body):
    """A reason that stands in the ledger."""

    why: Reason


class Seconding(Body):
    """Whether a proposal is seconded, or else declined; and the reason."""

    seconded: bool
    reason: Reason | None = None


class Verification(Body):
    """What was kept elsewhere to compare the ledger with: a head, checkpoints."""

    head: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")] | None = None
    checkpoints: Annotated[list[dict[str, Any]], Field(max_length=1000)] = Field(
        default_factory=list[dict[str, Any]]
    )


class Controller(Body):
    """Who answers for the data, and how they are reached."""

    controller: Reason | None = None
    contact: Reason | None = None


class AboutSubject(Body):
    """A person in the data, by the value of the unit column as text; and why it is looked up."""

    subject: UnitId
    why: Reason

    def arguments(self) -> dict[str, Any]:
        """All fields; the curator calls the person's id what it is."""
        named = super().arguments()
        return {"unit_id": named.pop("subject"), **named}


class InDataSet(AboutSubject):
    """The same in one data set."""

    data_set: Name


class Correction(InDataSet):
    """New values for one of the person's rows, by its place from 0."""

    row: Annotated[int, Field(ge=0, le=10**9)]
    changes: Annotated[dict[Name, Cell], Field(min_length=1, max_length=1000)]


class Outcome(Body):
    """What came of a statement for the owner of an external source."""

    act: Id
    done: bool
    words: Reason


def _as_argument(value: Any) -> Any:
    """A field as the curator takes it: a budget as one, and a time in UTC, to the second."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(microsecond=0)
    return value.read() if isinstance(value, SentBudget) else value


def _key(value: Cell, kind: Type) -> Any:
    try:
        return read_key(value, kind)
    except ValueError:
        raise ParameterError("A key of a date column is not a date. Write 2024-01-31.") from None


def exact(typed: float | str) -> Fraction:
    """The rational that was sent: a float means its shortest decimal, and text its digits."""
    if isinstance(typed, str):
        return Fraction(typed) if "/" in typed else Fraction(Decimal(typed))
    return Fraction(repr(typed))


class AskedOfPeople(Body):
    """A question of a survey: yes_no, one_of with options, number with a lower and an upper end."""

    text: Words
    kind: Literal["yes_no", "one_of", "number"]
    options: Annotated[list[Words], Field(max_length=64)] = []
    lower: Float | None = None
    upper: Float | None = None
    measure: Words = ""


class NewSurvey(Body):
    """A survey: its ε is for all answers of one person together, or for the one that is drawn."""

    name: Name
    title: Words
    purpose: Words
    epsilon: Typed
    ends: date
    how: Literal["split", "sample"] = "split"
    two_counters: bool = False
    questions: Annotated[list[AskedOfPeople], Field(min_length=1, max_length=20)]


class NewInvitations(Body):
    """How many people are invited."""

    number: Annotated[int, Field(ge=1, le=100_000)]


class SentReports(Body):
    """The random answers of one person, as hexadecimal digits, one for each question.

    Where each person answers one question, those of all others are empty.
    """

    token: Secret
    reports: Annotated[
        list[Annotated[str, StringConstraints(max_length=64, pattern=r"^[0-9a-f]*$")]],
        Field(max_length=20),
    ]


HexText = Annotated[str, StringConstraints(max_length=100_000, pattern=r"^[0-9a-f]*$")]
HexTexts = Annotated[list[HexText], Field(max_length=20)]


class SentHalf(Body):
    """One half of a report that two counters add up: neither half says anything."""

    nonce: HexText
    public: HexTexts
    shares: HexTexts


class SentFirstHalf(SentHalf):
    """The half of the survey's own service, with the invitation."""

    token: Secret


class SentCheck(Body):
    """What the first counter tells the second about a report."""

    nonce: HexText
    told: HexTexts


class SentNonces(Body):
    """The reports that the first counter has counted."""

    nonces: Annotated[list[HexText], Field(max_length=200_000)]
