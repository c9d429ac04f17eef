"""What can be asked of each group: counts, sums, means, quantiles, and their kin.

    la.count()                               la.mean("cost", lower=0, upper=1000)
    la.sum(la.col("cost") / 100)             la.quantile("age", [0.25, 0.5, 0.75])

Each takes a column's name or an expression. Bounds that are not given are those that the
schema declares, or that follow from them by interval arithmetic. A condition counts as 1
where it is true and 0 where it is false, so `la.mean(la.col("age") >= 65)` is a share.

What these functions return does not know its table yet; `resolved` makes it an aggregate.

  Tested:   tests/plans/test_aggregates.py
"""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import cast

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.typed import COUNT, Constraint, Number, read_flag, refusal
from letalone.plans.asked import Asked, Kind, Of, as_number, read_of
from letalone.plans.bounds import (
    check_cells,
    check_numeric,
    check_range,
    friendly_step,
    read_step,
    resolved_bounds,
)
from letalone.plans.constants import as_bound, as_value
from letalone.plans.domains import closed_domain
from letalone.plans.expressions import ColumnRef, Expression, inlined
from letalone.plans.formulas import check_formula, resolved_formula
from letalone.plans.keys import check_groupable, read_column_keys
from letalone.plans.pairs import (
    check_pair,
    correlation,
    covariance,
    linear_regression,
    regression_slope,
    resolved_pair,
)
from letalone.plans.parts import (
    Aggregate,
    Correlation,
    Count,
    CountPresent,
    CountUnits,
    CountValues,
    Covariance,
    Deviation,
    Extreme,
    Formula,
    Histogram,
    Mean,
    PrivateBounds,
    Quantiles,
    Regression,
    Slope,
    Sum,
    TopK,
    Variance,
)
from letalone.plans.trees import AskedFormula, Computable
from letalone.plans.types import Type
from letalone.plans.typing import Columns
from letalone.plans.wording import in_words

__all__ = [
    "Asked",
    "Kind",
    "check_aggregate",
    "correlation",
    "count",
    "count_distinct",
    "covariance",
    "histogram",
    "linear_regression",
    "max",
    "mean",
    "median",
    "min",
    "private_bounds",
    "quantile",
    "regression_slope",
    "resolved",
    "std",
    "sum",
    "top_k",
    "variance",
]

MOST_QUANTILES = 100
MOST_EDGES = 10_001
FINEST = 10**6  # the largest denominator of a quantile: ranks are counted in such parts of a row
RANK = Constraint(
    "above 0 and below 1",
    lambda x: 0 < x < 1,
    "0.5 is the median; la.min and la.max stand for the ends.",
    (0, 1, -0.5, 50),
)


def count(of: Of | None = None) -> Asked:
    """How many rows; of a column or an expression: those in which it is not missing."""
    return Asked(Kind.COUNT, None if of is None else read_of(of))


def count_distinct(of: Of | None = None) -> Asked:
    """How many units (people, say) have at least one row; of a column: how many values it has.

    The values are counted among the rows that count; a missing one is none.
    """
    return Asked(Kind.COUNT_DISTINCT, None if of is None else read_of(of))


def sum(of: Of, *, lower: Number | None = None, upper: Number | None = None) -> Asked:  # noqa: A001
    """The total of values clamped to [lower, upper]; missing values are skipped."""
    return _bounded(Kind.SUM, of, lower, upper)


def mean(of: Of, *, lower: Number | None = None, upper: Number | None = None) -> Asked:
    """The mean of values clamped to [lower, upper]; missing values are skipped."""
    return _bounded(Kind.MEAN, of, lower, upper)


def variance(
    of: Of, *, lower: Number | None = None, upper: Number | None = None, sample: bool = False
) -> Asked:
    """The variance (mean squared deviation) of values clamped to [lower, upper].

    With sample=True its squares are divided by n − 1 instead of n.
    """
    asked = _bounded(Kind.VARIANCE, of, lower, upper)
    return replace(asked, sample=read_flag("sample", sample))


def std(
    of: Of, *, lower: Number | None = None, upper: Number | None = None, sample: bool = False
) -> Asked:
    """The standard deviation of values clamped to [lower, upper].

    With sample=True its squares are divided by n − 1 instead of n.
    """
    asked = _bounded(Kind.STD, of, lower, upper)
    return replace(asked, sample=read_flag("sample", sample))


def quantile(
    of: Of,
    at: Number | Iterable[Number],
    *,
    lower: Number | None = None,
    upper: Number | None = None,
    step: Number | None = None,
) -> Asked:
    """A quantile, or several in one release, among lower, lower + step, … up to upper.

    Quantiles have at most six digits, or are fractions such as Fraction(1, 3). Without a step: 1
    for whole numbers, else a round number near a thousandth of the range.
    """
    return _bounded(Kind.QUANTILE, of, lower, upper, step=_step(step), at=_ranks(at))


def median(
    of: Of,
    *,
    lower: Number | None = None,
    upper: Number | None = None,
    step: Number | None = None,
) -> Asked:
    """The middle value: the quantile at 0.5."""
    return quantile(of, Fraction(1, 2), lower=lower, upper=upper, step=step)


def min(  # noqa: A001
    of: Of,
    *,
    lower: Number | None = None,
    upper: Number | None = None,
    step: Number | None = None,
) -> Asked:
    """A private extreme quantile that stands for the smallest value: the r-th smallest.

    r follows from epsilon, so that it lies within the data with 95 %, if there are r rows or more.
    """
    return _bounded(Kind.MIN, of, lower, upper, step=_step(step))


def max(  # noqa: A001
    of: Of,
    *,
    lower: Number | None = None,
    upper: Number | None = None,
    step: Number | None = None,
) -> Asked:
    """A private extreme quantile that stands for the largest value: the r-th largest.

    r follows from epsilon, so that it lies within the data with 95 %, if there are r rows or more.
    """
    return _bounded(Kind.MAX, of, lower, upper, step=_step(step))


def histogram(of: Of, edges: Iterable[Number], *more: object) -> Asked:
    """How many rows between neighbouring edges; values beyond the ends count at the ends."""
    if more:
        raise ParameterError("The edges are one list: la.histogram('age', range(0, 101, 10)).")
    if isinstance(edges, str) or not isinstance(edges, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise refusal("edges", edges, "a list of numbers, such as [0, 10, 20]")
    read = tuple(as_bound("edge", edge) for edge in edges)
    if not 2 <= len(read) <= MOST_EDGES:
        raise ParameterError(
            f"A histogram got {len(read):,} edges, but needs from 2 to {MOST_EDGES:,}."
        )
    if any(start >= end for start, end in pairwise(read)):
        raise ParameterError("The edges of a histogram must rise, each above the one before it.")
    return Asked(Kind.HISTOGRAM, read_of(of), edges=read)


def top_k(of: Of, k: int, *, candidates: Iterable[object] | None = None) -> Asked:
    """The k most frequent of the candidates: a declared list, or the column's declared keys."""
    if isinstance(candidates, str):
        raise refusal("candidates", candidates, "a list, such as ['A', 'B', 'C']")
    listed = None if candidates is None else tuple(as_value(value) for value in candidates)
    return Asked(Kind.TOP_K, read_of(of), k=int(COUNT.typed("k", k)), candidates=listed)


def private_bounds(of: Of, *, epsilon: object = None) -> Asked:
    """Bounds between which nearly all values lie, bought privately: 0 or powers of two.

    `visits.private_bounds("cost", epsilon=0.5)` buys them at once.
    """
    if epsilon is not None:
        raise ParameterError(
            "la.private_bounds has no price of its own. Buy bounds with"
            " visits.private_bounds('cost', epsilon=0.5), or ask"
            " visits.agg(b=la.private_bounds('cost')).release(epsilon=0.5)."
        )
    return Asked(Kind.PRIVATE_BOUNDS, read_of(of))


def resolved(asked: Computable | Aggregate, columns: Columns) -> Aggregate:
    """The aggregate over the columns of a table: bounds, steps and candidates filled in."""
    if isinstance(asked, AskedFormula):
        return resolved_formula(asked, columns, lambda part: resolved(part, columns))
    if not isinstance(asked, Asked):
        return cast("Aggregate", asked)
    if asked.of is None or asked.kind in (Kind.COUNT, Kind.COUNT_DISTINCT):
        return _counted(asked, columns)
    if asked.by:
        return resolved_pair(asked, columns)
    of = as_number(asked.of, columns) if asked.kind is not Kind.TOP_K else asked.of
    match asked.kind:
        case Kind.TOP_K:
            return _top_k(of, asked, columns)
        case Kind.HISTOGRAM:
            check_numeric(of, columns, done="a histogram")
            return Histogram(of, asked.edges)
        case Kind.PRIVATE_BOUNDS:
            check_numeric(of, columns, done="finding bounds")
            return PrivateBounds(of)
        case _:
            return _clamped(of, asked, columns)


def check_aggregate(aggregate: Aggregate, columns: Columns) -> None:
    """Refuses an aggregate that these columns cannot answer, whoever made it."""
    match aggregate:
        case Count() | CountUnits():
            return
        case TopK(of, k, candidates):
            _check_top_k(of, k, candidates, columns)
        case Histogram(of, edges):
            check_numeric(of, columns, done="a histogram")
            histogram(of, edges)
            check_cells(aggregate.cells)
        case PrivateBounds(of):
            check_numeric(of, columns, done="finding bounds")
        case Quantiles() | Extreme():
            check_numeric(aggregate.of, columns, done="a quantile")
            check_range(aggregate.lower, aggregate.upper, words=in_words(aggregate.of))
            read_step(aggregate.step, aggregate.lower, aggregate.upper)
            if isinstance(aggregate, Quantiles):
                _ranks(aggregate.at)
        case Sum(of, lower, upper) | Mean(of, lower, upper):
            check_numeric(of, columns, done="adding up")
            check_range(lower, upper, words=in_words(of))
        case Variance(of, lower, upper) | Deviation(of, lower, upper):
            check_numeric(of, columns, done="adding up")
            check_range(lower, upper, words=in_words(of))
            read_flag("sample", aggregate.sample)
        case CountPresent(of):
            columns.type_of(of)
        case Formula():
            check_formula(aggregate, lambda part: check_aggregate(part, columns))
        case CountValues(of):
            _check_values(of, columns)
        case Covariance() | Correlation() | Slope() | Regression():
            check_pair(aggregate, columns)


def _counted(asked: Asked, columns: Columns) -> Aggregate:
    of = asked.of
    if asked.kind is Kind.COUNT:
        return Count() if of is None or not columns.type_of(of).nullable else CountPresent(of)
    if of is None or (isinstance(of, ColumnRef) and of.name == columns.unit):
        return CountUnits()
    _check_values(of, columns)
    return CountValues(of)


def _check_values(of: Expression, columns: Columns) -> None:
    if columns.type_of(of).type is Type.OTHER:
        raise UnsupportedQuery(
            f"'{in_words(of)}' has a type whose values cannot be told apart, so different ones are"
            " not counted. Choose a column of text, numbers, dates or truth values."
        )


def _clamped(of: Expression, asked: Asked, columns: Columns) -> Aggregate:
    typed = check_numeric(of, columns, done=f"{asked.kind.value}")
    lower, upper = resolved_bounds(of, columns, lower=asked.lower, upper=asked.upper)
    match asked.kind:
        case Kind.SUM:
            return Sum(of, lower, upper)
        case Kind.MEAN:
            return Mean(of, lower, upper)
        case Kind.VARIANCE:
            return Variance(of, lower, upper, asked.sample)
        case Kind.STD:
            return Deviation(of, lower, upper, asked.sample)
        case Kind.QUANTILE:
            step = _step_for(asked, lower, upper, typed.type)
            return Quantiles(of, lower, upper, asked.at, step)
        case _:
            step = _step_for(asked, lower, upper, typed.type)
            return Extreme(of, lower, upper, asked.kind is Kind.MAX, step)


def _step_for(asked: Asked, lower: Fraction, upper: Fraction, kind: Type) -> Fraction:
    if asked.step is None:
        return friendly_step(lower, upper, kind)
    return read_step(asked.step, lower, upper)


def _top_k(of: Expression, asked: Asked, columns: Columns) -> TopK:
    kind = columns.type_of(of).type
    check_groupable(kind, in_words(of))
    listed = closed_domain(of, columns) if asked.candidates is None else asked.candidates
    if listed is None:
        raise ParameterError(
            f"top_k of '{in_words(of)}' has no candidates, and none are read from the data. Give"
            " candidates=[…] or declare the column's keys in the schema file."
        )
    return TopK(of, asked.k, read_column_keys(listed, kind))


def _check_top_k(of: Expression, k: int, candidates: object, columns: Columns) -> None:
    kind = columns.type_of(of).type
    check_groupable(kind, in_words(of))
    keys = read_column_keys(candidates, kind)
    if not 1 <= COUNT.typed("k", k) <= len(keys):
        raise refusal("k", k, f"at most the number of candidates, {len(keys)}")


def _bounded(
    kind: Kind,
    of: Of,
    lower: Number | None,
    upper: Number | None,
    *,
    step: Fraction | None = None,
    at: tuple[Fraction, ...] = (),
) -> Asked:
    low = None if lower is None else as_bound("lower", lower)
    high = None if upper is None else as_bound("upper", upper)
    node = read_of(of)
    if low is not None and high is not None:
        check_range(low, high, words=in_words(inlined(node, {})))
    return Asked(kind, node, low, high, step, at)


def _step(step: Number | None) -> Fraction | None:
    return None if step is None else as_bound("step", step)


def _ranks(at: object) -> tuple[Fraction, ...]:
    listed = list(cast("Iterable[object]", at)) if isinstance(at, Iterable) else [at]
    ranks = sorted(_rank(rank) for rank in listed)
    if not 1 <= len(ranks) <= MOST_QUANTILES:
        raise ParameterError(f"There are {len(ranks)} quantiles, but may be 1 to {MOST_QUANTILES}.")
    if len(set(ranks)) < len(ranks):
        raise ParameterError("A quantile is listed twice. List each once.")
    return tuple(ranks)


def _rank(at: object) -> Fraction:
    rank = RANK.typed("quantile", at)
    if rank.denominator <= FINEST:
        return rank
    digits = sorted((1, round(rank * FINEST), FINEST - 1))[1]
    allowed = f"given with at most six digits, such as {Decimal(digits) / FINEST:f}"
    near = rank.limit_denominator(1000)
    if isinstance(at, float) and RANK.holds(near) and abs(rank - near) * FINEST**2 < 1:
        allowed += f", or as Fraction{near.as_integer_ratio()}"
    raise refusal("quantile", at, allowed)
