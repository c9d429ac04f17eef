"""Where questions are asked: a table that is open in this process, or one at a service.

A `Query` is made and planned from a backend's public schema, and asks the backend for its price;
what comes back shows itself and answers. `OpenTable` computes both here, `client.RemoteTable` sends
each as a request. So nothing above knows where the rows are, and nothing of a ledger, an engine or
a lock is pretended where there is none.

  Tested:   tests/client/test_sessions.py: the same questions here and there
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

from letalone.answers.arranged import AS_IT_IS, Arrangement
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem
from letalone.errors.remedies import NameBudget, OpenAgain
from letalone.exact.typed import Number
from letalone.plans.plan import Plan, PublicJoin
from letalone.plans.schema import Schema
from letalone.privacy import Budget
from letalone.session.release import Release
from letalone.session.steps.row_limit import KeptLimit, RowLimit

if TYPE_CHECKING:
    from letalone.answers.preview import Preview
    from letalone.ledger import Ledger
    from letalone.session.open_table import OpenTable
    from letalone.session.pricing import Priced
    from letalone.session.time_steps import Asker

Error = Number | Mapping[str, Number]  # of all aggregates, or of each by its name
RelativeError = str  # "1 %" of the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedQuestion(ABC):
    """A question at a price; nothing is spent until `release`."""

    is_here: ClassVar[bool] = False  # whether it was made in this process, as a `Priced`

    arrangement: Arrangement = AS_IT_IS
    only_explained: bool = False
    remark: str | None = None
    limit: RowLimit | None = None  # in its plan, if it was found privately
    row_note: Spelled | None = None  # what is said of it where nobody gave a number
    confirmed: bool = False  # whether a price that protects hardly anybody is meant

    @property
    def shown(self) -> Self:
        """What is shown of it; `PricedInSteps` shows the answer with ten rows."""
        return self

    @abstractmethod
    def preview(self, rows: int | None = None) -> "Preview":
        """The price, its split and the errors to expect; `rows` as in `Query.preview`."""

    @abstractmethod
    def explain(self, *, sql: bool = False) -> str:
        """The question, its price and its split in words, and the SQL."""

    @abstractmethod
    def how_many_more(self) -> int | float:
        """About how many more such questions fit, if nothing else is asked."""

    @abstractmethod
    def release(self) -> Release:
        """The answer, charged before data is touched; the same question again is free."""

    def here(self) -> "Priced":
        """The price with all that it is made of; refused where a service made it."""
        raise UnsupportedQuery(
            "This is done where the rows are, and they are at a service. Ask with .release,"
            " .preview or .sql."
        )


class BudgetStanding(Protocol):
    """What may be spent, and about what was and is left."""

    @property
    def budget(self) -> Budget: ...

    @property
    def spent(self) -> Budget: ...

    @property
    def remaining(self) -> Budget: ...


class Backend(ABC):
    """A table as questions know it: what is public about it, and who prices and answers."""

    __slots__ = ("_closed", "_partners", "from_text", "name", "schema", "source", "whole_name")

    def __init__(
        self,
        schema: Schema,
        *,
        source: str,
        whole_name: Sequence[str] = (),
        from_text: frozenset[str] = frozenset(),
    ) -> None:
        self.name, self.schema, self.source = schema.name, schema, source
        self.whole_name = tuple(whole_name)  # what SQL may call it, too
        self.from_text = from_text  # columns that are stored as text and declared otherwise
        self._closed, self._partners = Event(), dict[str, Self]()

    @abstractmethod
    def price(
        self, plan: Plan, *, epsilon: Number, delta: Number, confidence: Number
    ) -> PricedQuestion:
        """The question at a price; no data is touched, and nothing is spent."""

    @abstractmethod
    def epsilon_for(
        self, plan: Plan, *, error: Error, delta: Number, confidence: Number, rows: int | None
    ) -> float:
        """The smallest ε of three digits with errors of at most these; no data is touched."""

    @abstractmethod
    def standing(self) -> BudgetStanding:
        """How the budget of whoever asks stands now."""

    @property
    def finds_limits(self) -> bool:
        """Whether a row limit is found for counts and sums that name none."""
        return False

    @abstractmethod
    def kept_limit(self) -> KeptLimit | None:
        """The row limit that was found privately for the data as they are declared now."""

    def announce_limit(self, priced: PricedQuestion) -> None:  # noqa: B027
        """Before a row limit is looked for: by which question, where there is a ledger for it."""

    def learn_limit(self, limit: RowLimit) -> None:  # noqa: B027
        """After one was found, where no ledger tells it."""

    @abstractmethod
    def describe(self) -> list[str]:
        """What a picture of a session shows: the table, whom it protects, how the budget stands."""

    @property
    @abstractmethod
    def ledger(self) -> "Ledger":
        """The ledger that answers are charged to, or a refusal."""

    @abstractmethod
    def asked_by(self, asker: "Asker") -> "Backend":
        """The same table for one who asks, or a refusal."""

    @abstractmethod
    def trainable(self) -> "OpenTable":
        """The table whose rows a model is trained on, or a refusal."""

    @abstractmethod
    def place(self) -> str:
        """Where statements run: private tables are joined in one place."""

    @abstractmethod
    def unit_kind(self, unit: str) -> str:
        """How units are stored, which are compared as they are."""

    @abstractmethod
    def as_joined(self, frame: object, *, name: str) -> object:
        """A public table as questions join it."""

    @abstractmethod
    def know(self, join: PublicJoin, frame: object) -> None:
        """Takes a public table that questions join."""

    @abstractmethod
    def forget_public(self) -> None:
        """Lets go of the public tables that this one has brought and nobody else uses now."""

    @abstractmethod
    def close(self) -> None:
        """Nothing more is asked through it."""

    @property
    def is_open(self) -> bool:
        return not self._closed.is_set()

    def check_open(self) -> None:
        """Before anything is charged: a closed engine would fail, and freeze the data set."""
        if not self.is_open:
            raise ParameterError(problem(Code.CLOSED, OpenAgain(), name=self.name))

    def is_same_table(self, other: "Backend") -> bool:
        """Whether both are surely one: by their names, and where rows are read by what they are."""
        return self is other or self.name.casefold() == other.name.casefold()

    def meet(self, other: Self) -> None:
        """Remembers another private table that questions join."""
        known = self._partners.setdefault(other.name, other)
        if known is not other and known.is_open:
            raise ParameterError(
                f"Another open table called {other.name!r} is joined to {self.name!r} already."
                " Close it, or open one of them under another name."
            )
        self._partners[other.name] = other

    def partner(self, name: str) -> Self:
        return self._partners[name]


def check_asked(*, only_explained: bool) -> None:
    """Refuses an answer to SQL that only wants to be explained."""
    if only_explained:
        words = (
            "The SQL begins with EXPLAIN, so the question is explained and not asked. Leave"
            " the word out to ask it; .preview(epsilon=0.5) shows its price."
        )
        raise ParameterError(problem(Code.ONLY_EXPLAINED, words=words))


def no_budget(name: str) -> ParameterError:
    """What is told where a question is to be answered, and nobody has named a budget."""
    return ParameterError(problem(Code.MISSING_BUDGET, NameBudget(1), name=name))
