"""Features of a unit, made of all its rows: `la.per_unit.sum("cost")`.

    visits.per_unit(total=la.per_unit.sum("cost"), icu=la.per_unit.any(la.col("ward") == "ICU"))

Each takes a column's name or an expression over the columns of one row. What each means where
values are missing is in `letalone.plans.aggregates.features`.

  Tested:   tests/plans/test_features.py
"""

from letalone.exact.typed import Number
from letalone.plans.aggregates import features
from letalone.plans.aggregates.facts import Of, read_ends, read_of

__all__ = ["all", "any", "count", "first", "last", "max", "mean", "min", "sum"]


def count() -> features.UnitCount:
    """How many rows the unit has: 1 or more."""
    return features.UnitCount()


def sum(of: Of, *, lower: Number | None = None, upper: Number | None = None) -> features.UnitTotal:  # noqa: A001
    """The total of the unit's values, each clamped to [lower, upper]; missing ones are skipped.

    A condition counts as 1 where it is true and 0 where it is false.
    """
    return features.UnitTotal(*read_ends(of, lower, upper))


def mean(of: Of, *, lower: Number | None = None, upper: Number | None = None) -> features.UnitMean:
    """The mean of the unit's values, each clamped to [lower, upper]; missing ones are skipped."""
    return features.UnitMean(*read_ends(of, lower, upper))


def max(of: Of) -> features.UnitExtreme:  # noqa: A001
    """The unit's largest value: a number, a date or a time."""
    return features.UnitExtreme(read_of(of), largest=True)


def min(of: Of) -> features.UnitExtreme:  # noqa: A001
    """The unit's smallest value: a number, a date or a time."""
    return features.UnitExtreme(read_of(of), largest=False)


def any(condition: Of) -> features.UnitCondition:  # noqa: A001
    """Whether the condition is true in some row of the unit."""
    return features.UnitCondition(read_of(condition), every=False)


def all(condition: Of) -> features.UnitCondition:  # noqa: A001
    """Whether the condition is true in every row of the unit."""
    return features.UnitCondition(read_of(condition), every=True)


def last(of: Of, *, by: Of) -> features.UnitValue:
    """The value in the row with the largest `by`: the smallest value, where several rows have it.

    Rows without `by` are looked at only where the unit has no others.
    """
    return features.UnitValue(read_of(of), read_of(by), last=True)


def first(of: Of, *, by: Of) -> features.UnitValue:
    """The value in the row with the smallest `by`; otherwise as `last`."""
    return features.UnitValue(read_of(of), read_of(by), last=False)
