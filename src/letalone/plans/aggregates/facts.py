"""What an aggregate says of itself: one record beside its class, read by all who need it.

    @aggregate("Mean", words=("mean",), title=always("mean"), needs=Needs.BOUNDS, …)
    class Mean(Clamped): …

An aggregate has two forms. `AggregateRequest` is what people write (`la.mean("cost")`), before the
table is known; `facts.resolve` makes of it the class that stands in a plan. Everything else that
differs from one aggregate to another is a field of `AggregateFacts`, so that a new aggregate needs
no change where plans are described, stored, shown or priced. docs/contributing/add_an_aggregate.md
lists the places that it does need.

  Tested:   tests/laws/test_aggregates.py, over all of `FACTS`
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, TypeVar, cast

from letalone.errors import ParameterError
from letalone.exact.typed import Number, refusal
from letalone.plans.aggregates.formula_trees import Computable
from letalone.plans.bounds import check_numeric, check_range, resolve_bounds
from letalone.plans.constants import as_bound
from letalone.plans.expressions import Case, ColumnRef, Expression, Literal, Not, inline_columns
from letalone.plans.records import STORED_NAMES, StructuralEquality, stored_as
from letalone.plans.types import Type
from letalone.plans.typing import ColumnTypes
from letalone.plans.wording import in_words

Of = str | Expression
Bounds = Mapping[str, tuple[Number, Number]]
Range = tuple[Fraction, Fraction]
Words = Callable[[Any], str]
Class = TypeVar("Class")


class Needs(Enum):
    """What an aggregate needs of its columns."""

    NOTHING = "no column"
    VALUES = "any values"
    GROUPABLE = "values that can be keys"
    NUMBERS = "numbers"
    BOUNDS = "numbers that are clamped to public bounds"


class ErrorKind(Enum):
    """What the half-width of an interval depends on."""

    STEADY = "on nothing but the price"
    PER_ROW = "inversely on how many rows a group has"
    BY_ROWS = "on how many rows a group has"
    IN_ROWS = "on nothing but the price, and it is a number of rows"


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column of the answer: which number of the aggregate, or which winner, under which name."""

    place: int
    end: str  # what is added to the name of the aggregate
    label: str
    type: Type
    has_interval: bool = True
    is_winner: bool = False


ONE_NUMBER = (OutputColumn(0, "", "", Type.NUMBER),)
ONE_COUNT = (OutputColumn(0, "", "", Type.INTEGER),)


@dataclass(frozen=True, slots=True, eq=False)
class AggregateRequest(Computable, StructuralEquality):
    """An aggregate as it was asked for; `by` and `bounds` where it is about several columns."""

    word: str
    of: Expression | None = None
    lower: Fraction | None = None
    upper: Fraction | None = None
    step: Fraction | None = None
    at: tuple[Fraction, ...] = ()
    edges: tuple[Fraction, ...] = ()
    k: int = 1
    candidates: tuple[object, ...] | None = None
    by: tuple[Expression, ...] = ()
    bounds: tuple[tuple[str, Range], ...] = ()
    sample: bool = False

    @property
    def facts(self) -> "AggregateFacts":
        return REQUESTED[self.word]

    @property
    def counts(self) -> bool:
        """Whether it counts, so that no value is added up or searched."""
        return self.facts.needs is Needs.NOTHING


@dataclass(frozen=True, slots=True)
class AggregateFacts:
    """What differs from one aggregate to another; the functions take an instance of its class.

    Used as a decorator: `aggregate("Mean", …)` makes the class a frozen dataclass.
    """

    stored_name: str
    _: KW_ONLY
    words: tuple[str, ...] = ()  # la.mean; also the name in refusals
    describe: Words  # mean of cost clamped to [0, 1000]
    title: Words | None = None  # of its stored form, above a picture; None: its first word
    needs: Needs = Needs.BOUNDS
    resolve: Callable[[AggregateRequest, ColumnTypes], Any] | None = None
    check: Callable[[Any, ColumnTypes], object] = lambda asked, columns: None  # noqa: ARG005
    columns: Callable[[Any, ColumnTypes], Sequence[OutputColumn]] = lambda _, __: ONE_NUMBER
    # What is known of it beforehand, from its bounds; None: nothing.
    known_range: Callable[[float, float], tuple[float, float]] | None = None
    # The share of its range that a spread must be known to stay below, to be shown as 0.
    unknown_above: float | None = None
    error: ErrorKind = ErrorKind.BY_ROWS
    can_clip: bool = False  # a unit's share of it is a total that can be clipped
    is_single: Callable[[Any], bool] = lambda asked: True  # noqa: ARG005  # one number
    note: Words | None = None  # what every answer says of it
    sql_word: str = ""  # where SQL calls it otherwise

    def title_of(self, stored: Mapping[str, object]) -> str:
        """What stands above a picture of it."""
        return self.words[0] if self.title is None else self.title(stored)

    def __call__(self, aggregate: type[Class]) -> type[Class]:
        FACTS[self.stored_name] = self
        for word in self.words:
            assert word not in REQUESTED, f"two aggregates are called {word}"
            REQUESTED[word] = self
        return stored_as(self.stored_name)(aggregate)


aggregate = AggregateFacts
FACTS: dict[str, AggregateFacts] = {}  # by stored name
REQUESTED: dict[str, AggregateFacts] = {}  # by word


def facts_of(aggregate: object) -> AggregateFacts:
    """The facts of an aggregate's class."""
    return FACTS[STORED_NAMES[type(aggregate)]]


def check_aggregate(asked: object, columns: ColumnTypes) -> None:
    """Refuses an aggregate that these columns cannot answer, whoever made it."""
    facts_of(asked).check(asked, columns)


def always(words: str) -> Words:
    """The same words, whatever the aggregate."""
    return lambda _: words


def label_columns(labels: Iterable[str], kind: Type, **how: bool) -> Sequence[OutputColumn]:
    """A column of this type for each label."""
    return [OutputColumn(place, label, label, kind, **how) for place, label in enumerate(labels)]


def number_type(of: Expression, columns: ColumnTypes) -> Type:
    """Whole numbers stay whole."""
    return Type.INTEGER if columns.type_of(of).type is Type.INTEGER else Type.NUMBER


def clamp_request(
    request: AggregateRequest, columns: ColumnTypes
) -> tuple[Expression, Fraction, Fraction]:
    """What is asked about, as a number, within the bounds that are given or declared."""
    of = as_number(cast("Expression", request.of), columns)
    check_numeric(of, columns, done=request.word)
    return of, *resolve_bounds(of, columns, lower=request.lower, upper=request.upper)


def read_of(of: object) -> Expression:
    """A column's name or an expression, as an expression."""
    if isinstance(of, str):
        return ColumnRef(of)
    if isinstance(of, Expression):
        return of
    raise refusal("column", of, 'a column\'s name or an expression, such as la.col("cost") / 2')


def read_ends(
    of: object, lower: Number | None, upper: Number | None
) -> tuple[Expression, Fraction | None, Fraction | None]:
    """What is asked about, and the bounds that are given, in order where both are."""
    node = read_of(of)
    low = None if lower is None else as_bound("lower", lower)
    high = None if upper is None else as_bound("upper", upper)
    if low is not None and high is not None:
        check_range(low, high, words=in_words(inline_columns(node, {})))
    return node, low, high


def read_bounds(bounds: object) -> tuple[tuple[str, Range], ...]:
    """Bounds by the name of a column: {"cost": (0, 1000)}."""
    if bounds is None:
        return ()
    if not isinstance(bounds, Mapping):
        raise refusal("bounds", bounds, 'such as {"cost": (0, 1000)}')
    given = cast("Mapping[object, object]", bounds)
    return tuple((str(name), _read_range(str(name), ends)) for name, ends in given.items())


def as_number(of: Expression, columns: ColumnTypes) -> Expression:
    """A condition as 1 or 0, missing where it is missing; anything else as it is."""
    if columns.type_of(of).type is not Type.BOOLEAN:
        return of
    return Case(((of, Literal(1)), (Not(of), Literal(0))), Literal(None))


def name_of(of: Expression) -> str:
    """What an expression is called where bounds are given: its column, or its words."""
    return of.name if isinstance(of, ColumnRef) else in_words(of)


def _read_range(name: str, ends: object) -> Range:
    pair = list(cast("tuple[object, ...]", ends)) if isinstance(ends, tuple | list) else []
    if len(pair) != 2:
        raise ParameterError(
            f"The bounds of {name!r} must be two numbers, the lower one first:"
            f" bounds={{{name!r}: (0, 1000)}}."
        )
    low, high = as_bound("lower", pair[0]), as_bound("upper", pair[1])
    check_range(low, high, words=name)
    return low, high
