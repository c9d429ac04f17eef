"""Features of a unit, made of all its rows: `la.per_unit.sum("cost")`.

    visits.per_unit(total=la.per_unit.sum("cost"), icu=la.per_unit.any(la.col("ward") == "ICU"))

Each takes a column's name or an expression over the columns of one row. What each means where
values are missing is in `letalone.plans.features`.

  Tested:   tests/plans/test_features.py
"""

from fractions import Fraction

from letalone.exact.typed import Number, refusal
from letalone.plans.bounds import check_range
from letalone.plans.constants import as_bound
from letalone.plans.expressions import ColumnRef, Expression, inline_columns
from letalone.plans.features import (
    UnitCondition,
    UnitCount,
    UnitExtreme,
    UnitMean,
    UnitTotal,
    UnitValue,
)
from letalone.plans.wording import in_words

__all__ = ["all", "any", "count", "first", "last", "max", "mean", "min", "sum"]

Of = str | Expression


def count() -> UnitCount:
    """How many rows the unit has: 1 or more."""
    return UnitCount()


def sum(of: Of, *, lower: Number | None = None, upper: Number | None = None) -> UnitTotal:  # noqa: A001
    """The total of the unit's values, each clamped to [lower, upper]; missing ones are skipped.

    A condition counts as 1 where it is true and 0 where it is false.
    """
    node = _of(of)
    return UnitTotal(node, *_bounds(node, lower, upper))


def mean(of: Of, *, lower: Number | None = None, upper: Number | None = None) -> UnitMean:
    """The mean of the unit's values, each clamped to [lower, upper]; missing ones are skipped."""
    node = _of(of)
    return UnitMean(node, *_bounds(node, lower, upper))


def max(of: Of) -> UnitExtreme:  # noqa: A001
    """The unit's largest value: a number, a date or a time."""
    return UnitExtreme(_of(of), largest=True)


def min(of: Of) -> UnitExtreme:  # noqa: A001
    """The unit's smallest value: a number, a date or a time."""
    return UnitExtreme(_of(of), largest=False)


def any(condition: Of) -> UnitCondition:  # noqa: A001
    """Whether the condition is true in some row of the unit."""
    return UnitCondition(_of(condition), every=False)


def all(condition: Of) -> UnitCondition:  # noqa: A001
    """Whether the condition is true in every row of the unit."""
    return UnitCondition(_of(condition), every=True)


def last(of: Of, *, by: Of) -> UnitValue:
    """The value in the row with the largest `by`: the smallest value, where several rows have it.

    Rows without `by` are looked at only where the unit has no others.
    """
    return UnitValue(_of(of), _of(by), last=True)


def first(of: Of, *, by: Of) -> UnitValue:
    """The value in the row with the smallest `by`; otherwise as `last`."""
    return UnitValue(_of(of), _of(by), last=False)


def _of(of: object) -> Expression:
    if isinstance(of, str):
        return ColumnRef(of)
    if isinstance(of, Expression):
        return of
    raise refusal("column", of, 'a column\'s name or an expression, such as la.col("cost") / 2')


def _bounds(
    of: Expression, lower: Number | None, upper: Number | None
) -> tuple[Fraction | None, Fraction | None]:
    low = None if lower is None else as_bound("lower", lower)
    high = None if upper is None else as_bound("upper", upper)
    if low is not None and high is not None:
        check_range(low, high, words=in_words(inline_columns(of, {})))
    return low, high
