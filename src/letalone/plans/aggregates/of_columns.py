"""The aggregates of rows and of one column, each with its facts (`plans.aggregates.facts`).

Those of several columns are in `of_pairs.py`, formulas over aggregates in `formulas.py`.

  Tested:   tests/plans/test_aggregates.py, tests/laws/test_aggregates.py
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial, reduce
from itertools import pairwise
from math import gcd, inf, lcm
from typing import Any, cast

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.typed import COUNT, Constraint, read_flag, refusal
from letalone.plans.aggregates import facts
from letalone.plans.aggregates.facts import (
    AggregateRequest,
    ErrorKind,
    Needs,
    OutputColumn,
    aggregate,
    always,
)
from letalone.plans.bounds import check_cells, check_numeric, check_range, friendly_step, read_step
from letalone.plans.constants import as_bound, format_constant
from letalone.plans.domains import closed_domain
from letalone.plans.expressions import Case, ColumnRef, Expression, Literal
from letalone.plans.keys import check_groupable, read_column_keys
from letalone.plans.records import StructuralEquality
from letalone.plans.types import Key, Type
from letalone.plans.typing import ColumnTypes
from letalone.plans.wording import and_words, clamped_in_words, in_words

MAX_QUANTILES = 100
MAX_EDGES = 10_001
FINEST = 10**6  # the largest denominator of a quantile: ranks are counted in such parts of a row
RANK = Constraint(
    "above 0 and below 1",
    lambda x: 0 < x < 1,
    "0.5 is the median; la.min and la.max stand for the ends.",
    (0, 1, -0.5, 50),
)

counting = partial(aggregate, columns=lambda _, __: facts.ONE_COUNT, error=ErrorKind.STEADY)


def _resolve_count(request: AggregateRequest, columns: ColumnTypes) -> "Count | CountPresent":
    of = request.of
    return Count() if of is None or not columns.type_of(of).nullable else CountPresent(of)


@counting(
    "Count",
    words=("count",),
    needs=Needs.NOTHING,
    describe=always("count"),
    resolve=_resolve_count,
    can_clip=True,
)
class Count(StructuralEquality):
    """How many rows."""


def _resolve_distinct(
    request: AggregateRequest, columns: ColumnTypes
) -> "CountUnits | CountValues":
    of = request.of
    if of is None or (isinstance(of, ColumnRef) and of.name == columns.unit):
        return CountUnits()
    _check_values(of, columns)
    return CountValues(of)


@counting(
    "CountUnits",
    words=("count_distinct",),
    title=always("number of units"),
    needs=Needs.NOTHING,
    describe=always("number of units"),
    resolve=_resolve_distinct,
    can_clip=True,
)
class CountUnits(StructuralEquality):
    """How many units have a row."""


def _describe_present(counted: "CountPresent") -> str:
    match counted.of:
        case Case(((condition, Literal(1)),), Literal(None)):
            return f"count of rows with {in_words(condition)}"
        case of:
            return f"count of rows that have {in_words(of)}"


@counting(
    "CountPresent",
    title=always("count"),
    needs=Needs.VALUES,
    describe=_describe_present,
    check=lambda counted, columns: columns.type_of(counted.of),
    can_clip=True,
)
class CountPresent(StructuralEquality):
    """How many rows in which the value is not missing."""

    of: Expression


def _check_values(of: Expression, columns: ColumnTypes) -> None:
    if columns.type_of(of).type is Type.OTHER:
        raise UnsupportedQuery(
            f"'{in_words(of)}' has a type whose values cannot be distinguished, so different ones"
            " are not counted. Choose a column of text, numbers, dates or truth values."
        )


@counting(
    "CountValues",
    title=always("number of values"),
    needs=Needs.VALUES,
    describe=lambda counted: f"number of different values of {in_words(counted.of)}",
    check=lambda counted, columns: _check_values(counted.of, columns),
    note=lambda counted: (
        f"is how many different {in_words(counted.of)} there are among the rows that are counted"
    ),
)
class CountValues(StructuralEquality):
    """How many different values there are; a missing one is none."""

    of: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Clamped(StructuralEquality):
    """What is asked of one column whose values are clamped to [lower, upper]."""

    of: Expression
    lower: Fraction
    upper: Fraction


def describe_clamped(word: str) -> Callable[[Any], str]:
    """Words such as: sample variance of cost clamped to [0, 1000]."""

    def describe(asked: Any) -> str:
        sample = "sample " if getattr(asked, "sample", False) else ""
        return f"{sample}{word} of {clamped_in_words(asked.of, asked.lower, asked.upper)}"

    return describe


def check_clamped(asked: Any, columns: ColumnTypes) -> None:
    """Numbers, bounds in order, and a flag where there is one."""
    check_numeric(asked.of, columns, done="adding up")
    check_range(asked.lower, asked.upper, words=in_words(asked.of))
    read_flag("sample", getattr(asked, "sample", False))


@aggregate(
    "Sum",
    words=("sum",),
    describe=describe_clamped("sum"),
    resolve=lambda request, columns: Sum(*facts.clamp_request(request, columns)),
    check=check_clamped,
    known_range=lambda lower, upper: (0.0 if lower >= 0 else -inf, 0.0 if upper <= 0 else inf),
    error=ErrorKind.STEADY,
    can_clip=True,
)
class Sum(Clamped):
    """The total of values clamped to [lower, upper]."""


@aggregate(
    "Mean",
    words=("mean",),
    describe=describe_clamped("mean"),
    resolve=lambda request, columns: Mean(*facts.clamp_request(request, columns)),
    check=check_clamped,
    known_range=lambda lower, upper: (lower, upper),
    error=ErrorKind.PER_ROW,
    can_clip=True,
    sql_word="avg",
)
class Mean(Clamped):
    """The mean of values clamped to [lower, upper]."""


@dataclass(frozen=True, slots=True, eq=False)
class Spread(Clamped):
    """How far values are apart; sample: by n − 1 instead of n."""

    sample: bool = False


@aggregate(
    "Variance",
    words=("variance",),
    describe=describe_clamped("variance"),
    resolve=lambda request, columns: Variance(
        *facts.clamp_request(request, columns), request.sample
    ),
    check=check_clamped,
    known_range=lambda lower, upper: (0.0, ((upper - lower) / 2) ** 2),
    unknown_above=0.01,
    error=ErrorKind.PER_ROW,
    sql_word="var_pop",
)
class Variance(Spread):
    """The variance of values clamped to [lower, upper]; sample: n/(n − 1) times it."""


@aggregate(
    "Deviation",
    words=("std",),
    title=always("standard deviation"),
    describe=describe_clamped("standard deviation"),
    resolve=lambda request, columns: Deviation(
        *facts.clamp_request(request, columns), request.sample
    ),
    check=check_clamped,
    known_range=lambda lower, upper: (0.0, (upper - lower) / 2),
    unknown_above=0.1,
    sql_word="stddev_pop",
)
class Deviation(Spread):
    """The standard deviation of values clamped to [lower, upper]; sample: from n/(n − 1)."""


def _resolve_steps(
    request: AggregateRequest, columns: ColumnTypes
) -> tuple[Expression, Fraction, Fraction, Fraction]:
    of, lower, upper = facts.clamp_request(request, columns)
    if request.step is None:
        return of, lower, upper, friendly_step(lower, upper, columns.type_of(of).type)
    return of, lower, upper, read_step(request.step, lower, upper)


def _resolve_quantiles(request: AggregateRequest, columns: ColumnTypes) -> "Quantiles":
    of, lower, upper, step = _resolve_steps(request, columns)
    return Quantiles(of, lower, upper, request.at, step)


def _resolve_extreme(request: AggregateRequest, columns: ColumnTypes) -> "Extreme":
    of, lower, upper, step = _resolve_steps(request, columns)
    return Extreme(of, lower, upper, request.word == "max", step)


def _check_steps(asked: "Quantiles | Extreme", columns: ColumnTypes) -> None:
    check_numeric(asked.of, columns, done="a quantile")
    check_range(asked.lower, asked.upper, words=in_words(asked.of))
    read_step(asked.step, asked.lower, asked.upper)
    if isinstance(asked, Quantiles):
        read_ranks(asked.at)


def steps_in_words(asked: "Quantiles | Extreme") -> str:
    """The values that can come out, in words."""
    values = clamped_in_words(asked.of, asked.lower, asked.upper)
    step = cast("Fraction | None", asked.step)  # None while bounds are still to be found
    return values if step is None else f"{values} in steps of {format_constant(step)}"


def _describe_quantiles(asked: "Quantiles") -> str:
    ranks = and_words([format_constant(rank) for rank in asked.at])
    return f"quantile{'s' * (len(asked.at) > 1)} {ranks} of {steps_in_words(asked)}"


def _step_type(asked: "Quantiles | Extreme", columns: ColumnTypes) -> Type:
    ends = (asked.lower, asked.upper, asked.step)
    is_whole = all(end.denominator == 1 for end in ends)
    return facts.number_type(asked.of, columns) if is_whole else Type.NUMBER


def _labels(labels: list[str]) -> list[str]:
    """One alone needs none."""
    return labels if len(labels) > 1 else [""]


def _quantile_columns(asked: "Quantiles", columns: ColumnTypes) -> Sequence[OutputColumn]:
    labels = _labels([format_constant(share) for share in asked.at])
    return facts.label_columns(labels, _step_type(asked, columns))


@aggregate(
    "Quantiles",
    words=("quantile",),
    title=always("quantiles"),
    describe=_describe_quantiles,
    resolve=_resolve_quantiles,
    check=_check_steps,
    columns=_quantile_columns,
    known_range=lambda lower, upper: (lower, upper),
    error=ErrorKind.IN_ROWS,
    is_single=lambda asked: len(asked.at) == 1,
    note=always("is chosen from the steps of a grid; its range is for the true quantile"),
)
class Quantiles(Clamped):
    """Quantiles of values clamped to [lower, upper], among lower, lower + step, … up to upper."""

    at: tuple[Fraction, ...]
    step: Fraction

    @property
    def cells(self) -> int:
        return (self.upper - self.lower) // self.step + 1


def _note_of_extreme(asked: "Extreme") -> str:
    end = "largest" if asked.largest else "smallest"
    return (
        f"is a quantile near the {end} value; its range is for that quantile, not for the"
        f" {end} value"
    )


@aggregate(
    "Extreme",
    words=("min", "max"),
    title=lambda stored: "largest" if stored.get("largest") else "smallest",
    describe=lambda asked: (
        f"private {'maximum' if asked.largest else 'minimum'} of {steps_in_words(asked)}"
    ),
    resolve=_resolve_extreme,
    check=_check_steps,
    columns=lambda asked, columns: [OutputColumn(0, "", "", _step_type(asked, columns))],
    known_range=lambda lower, upper: (lower, upper),
    error=ErrorKind.IN_ROWS,
    note=_note_of_extreme,
)
class Extreme(Clamped):
    """A private extreme quantile, standing for the largest or the smallest value."""

    largest: bool
    step: Fraction

    @property
    def cells(self) -> int:
        return (self.upper - self.lower) // self.step + 1


def _number_of(request: AggregateRequest, columns: ColumnTypes, *, done: str) -> Expression:
    of = facts.as_number(cast("Expression", request.of), columns)
    check_numeric(of, columns, done=done)
    return of


def _resolve_histogram(request: AggregateRequest, columns: ColumnTypes) -> "Histogram":
    return Histogram(_number_of(request, columns, done="a histogram"), request.edges)


def _describe_histogram(asked: "Histogram") -> str:
    ends = f"from {format_constant(asked.edges[0])} to {format_constant(asked.edges[-1])}"
    return f"histogram of {in_words(asked.of)} in {len(asked.edges) - 1} ranges {ends}"


def _check_histogram(asked: "Histogram", columns: ColumnTypes) -> None:
    check_numeric(asked.of, columns, done="a histogram")
    read_edges(asked.edges)
    check_cells(asked.cells)


def _ranges(asked: "Histogram", _: ColumnTypes) -> Sequence[OutputColumn]:
    pairs = [
        f"[{format_constant(start)}, {format_constant(end)}" for start, end in pairwise(asked.edges)
    ]
    labels = [*(f"{pair})" for pair in pairs[:-1]), f"{pairs[-1]}]"]
    return facts.label_columns(labels, Type.INTEGER)


@aggregate(
    "Histogram",
    words=("histogram",),
    describe=_describe_histogram,
    resolve=_resolve_histogram,
    check=_check_histogram,
    columns=_ranges,
    error=ErrorKind.STEADY,
    note=always("counts values outside its edges in the first and the last range"),
    is_single=lambda _: False,
)
class Histogram(StructuralEquality):
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
        return int((self.edges[-1] - self.edges[0]) / self.step)


def _resolve_most_frequent(request: AggregateRequest, columns: ColumnTypes) -> "MostFrequent":
    of = cast("Expression", request.of)
    kind = columns.type_of(of).type
    check_groupable(kind, in_words(of))
    listed = closed_domain(of, columns) if request.candidates is None else request.candidates
    if listed is None:
        raise ParameterError(
            f"top_k of '{in_words(of)}' has no candidates, and none are read from the data. Give"
            " candidates=[…] or declare the column's keys in the schema file."
        )
    return MostFrequent(of, request.k, read_column_keys(listed, kind))


def _check_most_frequent(asked: "MostFrequent", columns: ColumnTypes) -> None:
    kind = columns.type_of(asked.of).type
    check_groupable(kind, in_words(asked.of))
    keys = read_column_keys(asked.candidates, kind)
    if not 1 <= COUNT.typed("k", asked.k) <= len(keys):
        raise refusal("k", asked.k, f"at most the number of candidates, {len(keys)}")


def _winners(asked: "MostFrequent", columns: ColumnTypes) -> Sequence[OutputColumn]:
    kind = columns.type_of(asked.of).type.of_keys
    outputs: list[OutputColumn] = []
    for place, label in enumerate(_labels([str(rank + 1) for rank in range(asked.k)])):
        count = f"{label}_count" if label else "count"
        outputs.append(OutputColumn(place, label, label, kind, has_interval=False, is_winner=True))
        outputs.append(OutputColumn(place, count, label, Type.INTEGER))
    return outputs


@aggregate(
    "TopK",
    words=("top_k",),
    title=always("most frequent"),
    needs=Needs.GROUPABLE,
    describe=lambda asked: (
        f"{asked.k} most frequent of {len(asked.candidates)} candidates for {in_words(asked.of)}"
    ),
    resolve=_resolve_most_frequent,
    check=_check_most_frequent,
    columns=_winners,
    error=ErrorKind.IN_ROWS,
    is_single=lambda _: False,
    note=always("are chosen privately; the ranges are those of their counts"),
)
class MostFrequent(StructuralEquality):
    """The k most frequent of the declared candidates."""

    of: Expression
    k: int
    candidates: tuple[Key, ...]


def _resolve_bounds(request: AggregateRequest, columns: ColumnTypes) -> "PrivateBounds":
    return PrivateBounds(_number_of(request, columns, done="finding bounds"))


def _sides(asked: "PrivateBounds", columns: ColumnTypes) -> Sequence[OutputColumn]:
    return facts.label_columns(
        ("lower", "upper"), facts.number_type(asked.of, columns), has_interval=False
    )


@aggregate(
    "PrivateBounds",
    words=("private_bounds",),
    title=always("bounds"),
    needs=Needs.NUMBERS,
    describe=lambda asked: f"private bounds of {in_words(asked.of)}",
    resolve=_resolve_bounds,
    check=lambda asked, columns: check_numeric(asked.of, columns, done="finding bounds"),
    columns=_sides,
    error=ErrorKind.IN_ROWS,
    is_single=lambda _: False,
    note=always("are chosen from 0 and powers of two, and have no range"),
)
class PrivateBounds(StructuralEquality):
    """Bounds of a column, found privately."""

    of: Expression


ColumnAggregate = (
    Count
    | CountUnits
    | CountPresent
    | CountValues
    | Sum
    | Mean
    | Variance
    | Deviation
    | Quantiles
    | Extreme
    | Histogram
    | MostFrequent
    | PrivateBounds
)


def read_edges(edges: object) -> tuple[Fraction, ...]:
    """The edges of a histogram: numbers that rise."""
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise refusal("edges", edges, "a list of numbers, such as [0, 10, 20]")
    read = tuple(as_bound("edge", edge) for edge in cast("Iterable[object]", edges))
    if not 2 <= len(read) <= MAX_EDGES:
        raise ParameterError(
            f"A histogram got {len(read):,} edges, but needs from 2 to {MAX_EDGES:,}."
        )
    if any(start >= end for start, end in pairwise(read)):
        raise ParameterError("The edges of a histogram must rise, each above the one before it.")
    return read


def read_ranks(at: object) -> tuple[Fraction, ...]:
    """The ranks of quantiles, sorted: one, or several."""
    listed = list(cast("Iterable[object]", at)) if isinstance(at, Iterable) else [at]
    ranks = sorted(_read_rank(rank) for rank in listed)
    if not 1 <= len(ranks) <= MAX_QUANTILES:
        raise ParameterError(f"There are {len(ranks)} quantiles, but may be 1 to {MAX_QUANTILES}.")
    if len(set(ranks)) < len(ranks):
        raise ParameterError("A quantile is listed twice. List each once.")
    return tuple(ranks)


def _read_rank(at: object) -> Fraction:
    rank = RANK.typed("quantile", at)
    if rank.denominator <= FINEST:
        return rank
    digits = sorted((1, round(rank * FINEST), FINEST - 1))[1]
    allowed = f"given with at most six digits, such as {Decimal(digits) / FINEST:f}"
    near = rank.limit_denominator(1000)
    if isinstance(at, float) and RANK.holds(near) and abs(rank - near) * FINEST**2 < 1:
        allowed += f", or as Fraction{near.as_integer_ratio()}"
    raise refusal("quantile", at, allowed)


@lru_cache(maxsize=64)
def _common_step(edges: tuple[Fraction, ...]) -> Fraction:
    return reduce(_common, (end - start for start, end in pairwise(edges)))


def _common(left: Fraction, right: Fraction) -> Fraction:
    """The largest step of which both are multiples."""
    bottom = lcm(left.denominator, right.denominator)
    return Fraction(gcd(int(left * bottom), int(right * bottom)), bottom)
