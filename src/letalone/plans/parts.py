"""What a question is made of: group columns, bounding, public tables, aggregates.

Tested:   tests/plans/test_query.py
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise
from math import gcd, lcm
from typing import cast

from letalone.exact.typed import Constraint, read_flag
from letalone.plans.constants import as_bound
from letalone.plans.expressions import Bin, Expression
from letalone.plans.schema import Column
from letalone.plans.trees import Tree
from letalone.plans.types import Key, Type

NUMBERS = ("lower", "upper", "by_lower", "by_upper", "step", "at", "edges")


class Compared:
    """Equal where all parts are: the `==` of expressions builds a comparison instead."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Numbers as typed, so that equal questions are spelled alike."""
        for part in fields(cast("Sum", self)):
            if part.name in NUMBERS:
                read = _as_typed(part.name, getattr(self, part.name))
                object.__setattr__(self, part.name, read)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


@dataclass(frozen=True, slots=True, eq=False)
class GroupColumn(Compared):
    """One column of the answer's keys: a name, what it is in each row, its type."""

    name: str
    of: Expression
    type: Type

    def shown(self, key: Key) -> Key:
        """The key as the answer shows it: a range such as '[0, 10)' for its number."""
        return self.of.label(key) if isinstance(self.of, Bin) and isinstance(key, int) else key


MOST = Constraint(
    "a whole number from 1 to 2^31",
    lambda x: x.denominator == 1 and 1 <= x <= 1 << 31,
    "It is how much one unit may count for; 10 is usual.",
    (0, -1, 1.5, 1 << 32, float("nan"), float("inf")),
)


@dataclass(frozen=True, slots=True)
class Bounding:
    """How much one unit may count for.

    max_rows alone: with at most so many rows in all. max_groups: in at most so many groups,
    and there with at most max_rows rows, or with its own total clipped to one row's range
    and counted as one row (clip). All None: the unit is the row, or only units are counted.
    """

    max_rows: int | None = None
    max_groups: int | None = None
    clip: bool = False

    def __post_init__(self) -> None:
        for name in ("max_rows", "max_groups"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, int(MOST.typed(name, value)))
        read_flag("clip", self.clip)


@dataclass(frozen=True, slots=True)
class PublicJoin:
    """A public table joined to each row on equal keys; a row without a partner is dropped.

    `on` pairs a column of the private table with one of the public table, which is unique on
    them; `columns` are what it adds.
    """

    name: str
    on: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    table_digest: str


@dataclass(frozen=True, slots=True)
class PrivateJoin:
    """Another private table of the same units: of each unit one row, joined to all of its rows.

    `name` is its data set, which is charged, too; `on` pairs the two unit columns; `columns` are
    what it adds. A row whose unit it does not have is dropped.
    """

    name: str
    on: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    version: int


Join = PublicJoin | PrivateJoin


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows."""


@dataclass(frozen=True, slots=True)
class CountUnits:
    """How many units have a row."""


@dataclass(frozen=True, slots=True, eq=False)
class CountPresent(Compared):
    """How many rows in which the value is not missing."""

    of: Expression


@dataclass(frozen=True, slots=True, eq=False)
class CountValues(Compared):
    """How many different values there are; a missing one is none."""

    of: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Clamped(Compared):
    """What is asked of one column whose values are clamped to [lower, upper]."""

    of: Expression
    lower: Fraction
    upper: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class TwoClamped(Compared):
    """What is asked of two columns, each clamped, over the rows that have both."""

    of: Expression
    by: Expression
    lower: Fraction
    upper: Fraction
    by_lower: Fraction
    by_upper: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Clamped):
    """The total of values clamped to [lower, upper]."""


@dataclass(frozen=True, slots=True, eq=False)
class Mean(Clamped):
    """The mean of values clamped to [lower, upper]."""


@dataclass(frozen=True, slots=True, eq=False)
class Variance(Clamped):
    """The variance of values clamped to [lower, upper]; sample: n/(n − 1) times it."""

    sample: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Deviation(Clamped):
    """The standard deviation of values clamped to [lower, upper]; sample: from n/(n − 1)."""

    sample: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Covariance(TwoClamped):
    """The covariance of two columns, each clamped, over the rows that have both."""

    sample: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Correlation(TwoClamped):
    """Pearson's correlation of two columns, each clamped, over the rows that have both."""


@dataclass(frozen=True, slots=True, eq=False)
class Slope(TwoClamped):
    """How much `of` rises where `by` rises by 1: least squares over the rows that have both."""


@dataclass(frozen=True, slots=True, eq=False)
class Regression(Compared):
    """Least squares of `of` on an intercept and `by`, all clamped, over the rows that have all."""

    of: Expression
    by: tuple[Expression, ...]
    lower: Fraction
    upper: Fraction
    by_lower: tuple[Fraction, ...]
    by_upper: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Quantiles(Compared):
    """Quantiles of values clamped to [lower, upper], among lower, lower + step, … up to upper."""

    of: Expression
    lower: Fraction
    upper: Fraction
    at: tuple[Fraction, ...]
    step: Fraction

    @property
    def cells(self) -> int:
        """How many candidates there are."""
        return (self.upper - self.lower) // self.step + 1


@dataclass(frozen=True, slots=True, eq=False)
class Extreme(Compared):
    """A private extreme quantile, standing for the largest or the smallest value."""

    of: Expression
    lower: Fraction
    upper: Fraction
    largest: bool
    step: Fraction

    @property
    def cells(self) -> int:
        """How many candidates there are."""
        return (self.upper - self.lower) // self.step + 1


@dataclass(frozen=True, slots=True, eq=False)
class Histogram(Compared):
    """How many rows in each range between neighbouring edges.

    Values are clamped to the outer edges, so the first range also counts what lies below it
    and the last one what lies above. Range i is [edge i, edge i + 1); the last has its end, too.
    """

    of: Expression
    edges: tuple[Fraction, ...]

    @property
    def step(self) -> Fraction:
        """The width of equal cells of which every range is made."""
        return _common_step(self.edges)

    @property
    def cells(self) -> int:
        """How many cells of that width there are."""
        return int((self.edges[-1] - self.edges[0]) / self.step)


@dataclass(frozen=True, slots=True, eq=False)
class TopK(Compared):
    """The k most frequent of the declared candidates."""

    of: Expression
    k: int
    candidates: tuple[Key, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PrivateBounds(Compared):
    """Bounds of a column, bought privately."""

    of: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Formula(Compared):
    """A formula over aggregates with one number each, computed on their noisy answers."""

    parts: "tuple[Aggregate, ...]"
    tree: Tree


Aggregate = (
    Count
    | CountUnits
    | CountPresent
    | CountValues
    | Sum
    | Mean
    | Variance
    | Deviation
    | Covariance
    | Correlation
    | Slope
    | Regression
    | Quantiles
    | Extreme
    | Histogram
    | TopK
    | PrivateBounds
    | Formula
)


def flattened(aggregates: Iterable[tuple[str, Aggregate]]) -> list[tuple[str, Aggregate]]:
    """The aggregates with the parts of formulas in place of these, under `inner_name`."""
    found: list[tuple[str, Aggregate]] = []
    for name, aggregate in aggregates:
        if isinstance(aggregate, Formula):
            found += [(inner_name(name, n), part) for n, part in enumerate(aggregate.parts)]
        else:
            found.append((name, aggregate))
    return found


def inner_name(name: str, number: int) -> str:
    """The name of a part of a formula, which nobody can give to an aggregate."""
    return f"{name}\0{number}"


def shown_name(name: str) -> str:
    """The name of an aggregate, or of the formula that a part belongs to."""
    return name.partition("\0")[0]


def expressions_of(aggregate: Aggregate) -> tuple[Expression, ...]:
    """What an aggregate looks at in each row."""
    match aggregate:
        case Count() | CountUnits():
            return ()
        case Covariance(of, by) | Correlation(of, by) | Slope(of, by):
            return (of, by)
        case Regression(of, by):
            return (of, *by)
        case Formula(parts):
            return tuple(of for part in parts for of in expressions_of(part))
        case _:
            return (aggregate.of,)


def _as_typed(name: str, value: object) -> Fraction | tuple[Fraction, ...] | None:
    if isinstance(value, tuple):
        return tuple(as_bound(name, number) for number in cast("tuple[object, ...]", value))
    return None if value is None else as_bound(name, value)


@lru_cache(maxsize=64)
def _common_step(edges: tuple[Fraction, ...]) -> Fraction:
    return reduce(_common, (end - start for start, end in pairwise(edges)))


def _common(left: Fraction, right: Fraction) -> Fraction:
    """The largest step of which both are multiples."""
    bottom = lcm(left.denominator, right.denominator)
    return Fraction(gcd(int(left * bottom), int(right * bottom)), bottom)
