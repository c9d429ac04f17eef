"""What can be asked of each group: counts, sums, means, quantiles, and their kin.

    la.count()                               la.mean("cost", lower=0, upper=1000)
    la.sum(la.col("cost") / 100)             la.quantile("age", [0.25, 0.5, 0.75])

Each takes a column's name or an expression. Bounds that are not given are those that the
schema declares, or that follow from them by interval arithmetic. A condition counts as 1
where it is true and 0 where it is false, so `la.mean(la.col("age") >= 65)` is a share.

What these functions return does not know its table yet; `resolve_aggregate` makes it an aggregate.

  Tested:   tests/plans/test_aggregates.py
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Protocol, cast

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, Number, read_flag, refusal
from letalone.plans.aggregates.facts import AggregateRequest, Of, read_ends, read_of
from letalone.plans.aggregates.formula_trees import Computable, FormulaRequest
from letalone.plans.aggregates.formulas import Aggregate, resolve_formula
from letalone.plans.aggregates.of_columns import read_edges, read_ranks
from letalone.plans.aggregates.of_pairs import correlation as correlation
from letalone.plans.aggregates.of_pairs import covariance as covariance
from letalone.plans.aggregates.of_pairs import linear_regression as linear_regression
from letalone.plans.aggregates.of_pairs import regression_slope as regression_slope
from letalone.plans.constants import as_bound, as_value
from letalone.plans.typing import ColumnTypes


class HasBounds(Protocol):
    """What bounds were released as: `session.private_bounds(…)` gives one."""

    @property
    def bounds(self) -> tuple[Number, Number]: ...


Ends = tuple[Number, Number] | HasBounds


def count(of: Of | None = None) -> AggregateRequest:
    """How many rows; of a column or an expression: those in which it is not missing."""
    return AggregateRequest("count", None if of is None else read_of(of))


def count_distinct(of: Of | None = None) -> AggregateRequest:
    """How many units (people, say) have at least one row; of a column: how many values it has.

    The values are counted among the rows that count; a missing one is none.
    """
    return AggregateRequest("count_distinct", None if of is None else read_of(of))


def sum(  # noqa: A001
    of: Of,
    *,
    lower: Number | None = None,
    upper: Number | None = None,
    bounds: Ends | None = None,
) -> AggregateRequest:
    """The total of values clamped to [lower, upper]; missing values are skipped.

    `bounds` is a pair in place of both, or what `session.private_bounds(…)` has released; so it is
    for all that take bounds.
    """
    return _make_request("sum", of, lower, upper, bounds=bounds)


def mean(
    of: Of,
    *,
    lower: Number | None = None,
    upper: Number | None = None,
    bounds: Ends | None = None,
) -> AggregateRequest:
    """The mean of values clamped to [lower, upper]; missing values are skipped."""
    return _make_request("mean", of, lower, upper, bounds=bounds)


def variance(
    of: Of,
    *,
    lower: Number | None = None,
    upper: Number | None = None,
    bounds: Ends | None = None,
    sample: bool = False,
) -> AggregateRequest:
    """The variance (mean squared deviation) of values clamped to [lower, upper].

    With sample=True its squares are divided by n − 1 instead of n.
    """
    return _make_request(
        "variance", of, lower, upper, bounds=bounds, sample=read_flag("sample", sample)
    )


def std(
    of: Of,
    *,
    lower: Number | None = None,
    upper: Number | None = None,
    bounds: Ends | None = None,
    sample: bool = False,
) -> AggregateRequest:
    """The standard deviation of values clamped to [lower, upper].

    With sample=True its squares are divided by n − 1 instead of n.
    """
    return _make_request("std", of, lower, upper, bounds=bounds, sample=read_flag("sample", sample))


def quantile(
    of: Of,
    at: Number | Iterable[Number],
    *,
    lower: Number | None = None,
    upper: Number | None = None,
    bounds: Ends | None = None,
    step: Number | None = None,
) -> AggregateRequest:
    """A quantile, or several in one release, among lower, lower + step, … up to upper.

    Quantiles have at most six digits, or are fractions such as Fraction(1, 3). Without a step: 1
    for whole numbers, else a round number near a thousandth of the range.
    """
    ranks = read_ranks(at)
    return _make_request("quantile", of, lower, upper, bounds=bounds, step=step, at=ranks)


def median(
    of: Of,
    *,
    lower: Number | None = None,
    upper: Number | None = None,
    bounds: Ends | None = None,
    step: Number | None = None,
) -> AggregateRequest:
    """The middle value: the quantile at 0.5."""
    return quantile(of, Fraction(1, 2), lower=lower, upper=upper, bounds=bounds, step=step)


def min(  # noqa: A001
    of: Of,
    *,
    lower: Number | None = None,
    upper: Number | None = None,
    bounds: Ends | None = None,
    step: Number | None = None,
) -> AggregateRequest:
    """A private extreme quantile that stands for the smallest value: the r-th smallest.

    r follows from epsilon, so that it lies within the data with 95 %, if there are r rows or more.
    """
    return _make_request("min", of, lower, upper, bounds=bounds, step=step)


def max(  # noqa: A001
    of: Of,
    *,
    lower: Number | None = None,
    upper: Number | None = None,
    bounds: Ends | None = None,
    step: Number | None = None,
) -> AggregateRequest:
    """A private extreme quantile that stands for the largest value: the r-th largest.

    r follows from epsilon, so that it lies within the data with 95 %, if there are r rows or more.
    """
    return _make_request("max", of, lower, upper, bounds=bounds, step=step)


def histogram(of: Of, edges: Iterable[Number], *more: object) -> AggregateRequest:
    """How many rows between neighbouring edges; values beyond the ends count at the ends."""
    if more:
        raise ParameterError("The edges are one list: la.histogram('age', range(0, 101, 10)).")
    return AggregateRequest("histogram", read_of(of), edges=read_edges(edges))


def top_k(of: Of, k: int, *, candidates: Iterable[object] | None = None) -> AggregateRequest:
    """The k most frequent of the candidates: a declared list, or the column's declared keys."""
    if isinstance(candidates, str):
        raise refusal("candidates", candidates, "a list, such as ['A', 'B', 'C']")
    listed = None if candidates is None else tuple(as_value(value) for value in candidates)
    return AggregateRequest("top_k", read_of(of), k=int(COUNT.typed("k", k)), candidates=listed)


def private_bounds(of: Of, *, epsilon: object = None) -> AggregateRequest:
    """Bounds between which nearly all values lie, bought privately: 0 or powers of two.

    `visits.private_bounds("cost", epsilon=0.5)` buys them at once.
    """
    if epsilon is not None:
        raise ParameterError(
            "la.private_bounds has no separate ε. Find bounds with"
            " visits.private_bounds('cost', epsilon=0.5), or ask"
            " visits.agg(b=la.private_bounds('cost')).release(epsilon=0.5)."
        )
    return AggregateRequest("private_bounds", read_of(of))


def resolve_aggregate(asked: Computable | Aggregate, columns: ColumnTypes) -> Aggregate:
    """The aggregate over the columns of a table: bounds, steps and candidates filled in."""
    if isinstance(asked, FormulaRequest):
        return resolve_formula(asked, columns, lambda part: resolve_aggregate(part, columns))
    if not isinstance(asked, AggregateRequest):
        return cast("Aggregate", asked)
    assert asked.facts.resolve is not None
    return asked.facts.resolve(asked, columns)


def _make_request(
    word: str,
    of: Of,
    lower: Number | None,
    upper: Number | None,
    *,
    bounds: Ends | None = None,
    step: Number | None = None,
    at: tuple[Fraction, ...] = (),
    sample: bool = False,
) -> AggregateRequest:
    width = None if step is None else as_bound("step", step)
    if bounds is not None:
        lower, upper = _read_bounds(bounds, lower, upper)
    return AggregateRequest(word, *read_ends(of, lower, upper), width, at, sample=sample)


def _read_bounds(bounds: object, lower: object, upper: object) -> tuple[Number, Number]:
    """Both ends, from a pair or from bounds that were released."""
    if lower is not None or upper is not None:
        raise ParameterError(
            "bounds= is given with lower= or upper=. Leave out bounds=, or the others."
        )
    pair = getattr(bounds, "bounds", bounds)
    if not isinstance(pair, tuple | list) or len(cast("tuple[object, ...]", pair)) != 2:
        raise refusal(
            "bounds", bounds, "a pair, such as (0, 1000), or what private_bounds has released"
        )
    low, high = cast("tuple[Number, Number]", pair)
    return low, high
