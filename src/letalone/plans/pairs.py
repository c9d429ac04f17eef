"""What can be asked about columns together: covariance, correlation, slopes, regressions.

    la.correlation("age", "cost")            la.linear_regression("cost", ["age", "stay"])

Only rows in which all of the columns are there count. Bounds are those that the schema declares,
or are given by name: bounds={"cost": (0, 1000)}.

  Tested:   tests/plans/test_pairs.py
"""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import cast

from letalone.errors import ParameterError
from letalone.exact.typed import read_flag, refusal
from letalone.plans.asked import (
    Asked,
    Bounds,
    Kind,
    Of,
    Range,
    as_number,
    name_of,
    read_bounds,
    read_of,
)
from letalone.plans.bounds import check_numeric, check_range, resolved_bounds
from letalone.plans.expressions import Expression, same
from letalone.plans.parts import Correlation, Covariance, Regression, Slope
from letalone.plans.typing import Columns
from letalone.plans.wording import in_words

Pair = Covariance | Correlation | Slope
MOST_FEATURES = 8


def covariance(x: Of, y: Of, *, bounds: Bounds | None = None, sample: bool = False) -> Asked:
    """The covariance of two columns; with sample=True divided by n − 1 instead of n."""
    asked = _about(Kind.COVARIANCE, x, (y,), bounds)
    return replace(asked, sample=read_flag("sample", sample))


def correlation(x: Of, y: Of, *, bounds: Bounds | None = None) -> Asked:
    """Pearson's correlation of two columns, from −1 to 1."""
    return _about(Kind.CORRELATION, x, (y,), bounds)


def regression_slope(y: Of, x: Of, *, bounds: Bounds | None = None) -> Asked:
    """How much y rises where x rises by 1, by least squares: SQL's REGR_SLOPE(y, x)."""
    return _about(Kind.REGRESSION_SLOPE, y, (x,), bounds)


def linear_regression(y: Of, xs: Iterable[Of], *, bounds: Bounds | None = None) -> Asked:
    """The intercept and the coefficient of each feature, by least squares; up to 8 features."""
    return _about(Kind.LINEAR_REGRESSION, y, _features(xs), bounds)


def resolved_pair(asked: Asked, columns: Columns) -> Pair | Regression:
    """The aggregate over the columns of a table, with its bounds filled in."""
    assert asked.of is not None
    given = dict(asked.bounds)
    _check_known(given, [asked.of, *asked.by])
    of, (lower, upper) = _bounded(asked.of, asked, given, columns)
    found = [_bounded(feature, asked, given, columns) for feature in asked.by]
    by, lowest, highest = (
        tuple(one for one, _ in found),
        tuple(low for _, (low, _) in found),
        tuple(high for _, (_, high) in found),
    )
    ends = (lower, upper, lowest[0], highest[0])
    match asked.kind:
        case Kind.COVARIANCE:
            return Covariance(of, by[0], *ends, sample=asked.sample)
        case Kind.CORRELATION:
            return Correlation(of, by[0], *ends)
        case Kind.REGRESSION_SLOPE:
            return Slope(of, by[0], *ends)
        case _:
            return Regression(of, by, lower, upper, lowest, highest)


def check_pair(aggregate: Pair | Regression, columns: Columns) -> None:
    """Refuses what these columns cannot answer, whoever made it."""
    if isinstance(aggregate, Regression):
        _check_features(aggregate)
        by = list(zip(aggregate.by, aggregate.by_lower, aggregate.by_upper, strict=True))
    else:
        by = [(aggregate.by, aggregate.by_lower, aggregate.by_upper)]
    if isinstance(aggregate, Covariance):
        read_flag("sample", aggregate.sample)
    for of, lower, upper in [(aggregate.of, aggregate.lower, aggregate.upper), *by]:
        check_numeric(of, columns, done="comparing columns")
        check_range(lower, upper, words=in_words(of))


def _about(kind: Kind, of: Of, by: tuple[Of, ...], bounds: object) -> Asked:
    read = tuple(read_of(one) for one in by)
    return Asked(kind, read_of(of), by=read, bounds=read_bounds(bounds))


def _features(xs: object) -> tuple[Of, ...]:
    if isinstance(xs, str | Expression) or not isinstance(xs, Iterable):
        raise refusal("features", xs, 'a list, such as ["age", "stay"]')
    listed = tuple(cast("Iterable[Of]", xs))
    _check_count(len(listed))
    return listed


def _bounded(
    of: Expression, asked: Asked, given: dict[str, Range], columns: Columns
) -> tuple[Expression, Range]:
    number = as_number(of, columns)
    check_numeric(number, columns, done=asked.kind.value)
    lower, upper = given.get(name_of(of), (None, None))
    return number, _resolved(number, columns, lower, upper)


def _resolved(
    of: Expression, columns: Columns, lower: Fraction | None, upper: Fraction | None
) -> Range:
    try:
        return resolved_bounds(of, columns, lower=lower, upper=upper)
    except ParameterError as error:
        said = str(error).replace(
            "Give lower=…, upper=…", f"Give bounds={{{name_of(of)!r}: (…, …)}}"
        )
        raise ParameterError(said) from None


def _check_known(given: dict[str, Range], columns: list[Expression]) -> None:
    names = [name_of(of) for of in columns]
    if unknown := [name for name in given if name not in names]:
        raise ParameterError(
            f"bounds are given for {unknown[0]!r}, but this is about: {', '.join(names)}."
        )


def _check_features(asked: Regression) -> None:
    count = len(asked.by)
    _check_count(count)
    if not len(asked.by_lower) == len(asked.by_upper) == count:
        raise ParameterError("Each feature of a regression needs two bounds.")
    columns = [asked.of, *asked.by]
    for place, one in enumerate(columns):
        if any(same(one, other) for other in columns[:place]):
            raise ParameterError(
                f"'{in_words(one)}' is in the regression twice, so its coefficients would not be"
                " determined. List each column once."
            )


def _check_count(features: int) -> None:
    if not 1 <= features <= MOST_FEATURES:
        raise ParameterError(
            f"A regression has {features} features, but needs from 1 to {MOST_FEATURES}. The fewer"
            " there are, the less noise each coefficient has."
        )
