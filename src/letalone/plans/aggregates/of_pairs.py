"""What can be asked about columns together: covariance, correlation, slopes, regressions.

    la.correlation("age", "cost")            la.linear_regression("cost", ["age", "stay"])

Only rows in which all of the columns are there count. Bounds are those that the schema declares,
or are given by name: bounds={"cost": (0, 1000)}. Each class has its facts (`facts`).

  Tested:   tests/plans/test_pairs.py, tests/laws/test_aggregates.py
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import cast

from letalone.errors import ParameterError
from letalone.exact.typed import read_flag, refusal
from letalone.plans.aggregates import facts
from letalone.plans.aggregates.facts import AggregateRequest, Bounds, Of, aggregate, always
from letalone.plans.bounds import check_numeric, check_range, resolve_all, resolve_bounds
from letalone.plans.expressions import Expression, same
from letalone.plans.records import StructuralEquality
from letalone.plans.types import Type
from letalone.plans.typing import ColumnTypes
from letalone.plans.wording import and_words, clamped_in_words, in_words

MAX_FEATURES = 8
UNKNOWN = "where the noise leaves too little to tell, there is no value"
BOTH = always(f"is about the rows in which both columns are there; {UNKNOWN}")
ALL = always(f"is about the rows in which all columns are there; {UNKNOWN}")


def covariance(
    x: Of, y: Of, *, bounds: Bounds | None = None, sample: bool = False
) -> AggregateRequest:
    """The covariance of two columns; with sample=True divided by n − 1 instead of n."""
    request = _request("covariance", x, (y,), bounds)
    return replace(request, sample=read_flag("sample", sample))


def correlation(x: Of, y: Of, *, bounds: Bounds | None = None) -> AggregateRequest:
    """Pearson's correlation of two columns, from −1 to 1."""
    return _request("correlation", x, (y,), bounds)


def regression_slope(y: Of, x: Of, *, bounds: Bounds | None = None) -> AggregateRequest:
    """How much y rises where x rises by 1, by least squares: SQL's REGR_SLOPE(y, x)."""
    return _request("regression_slope", y, (x,), bounds)


def linear_regression(y: Of, xs: Iterable[Of], *, bounds: Bounds | None = None) -> AggregateRequest:
    """The intercept and the coefficient of each feature, by least squares; up to 8 features."""
    return _request("linear_regression", y, _read_features(xs), bounds)


@dataclass(frozen=True, slots=True, eq=False)
class TwoClamped(StructuralEquality):
    """What is asked of two columns, each clamped, over the rows that have both."""

    of: Expression
    by: Expression
    lower: Fraction
    upper: Fraction
    by_lower: Fraction
    by_upper: Fraction


def _resolve_two(
    request: AggregateRequest, columns: ColumnTypes
) -> tuple[Expression, Expression, Fraction, Fraction, Fraction, Fraction]:
    (of, lower, upper), (by, by_lower, by_upper) = _clamp_columns(request, columns)
    return of, by, lower, upper, by_lower, by_upper


def _check_two(asked: TwoClamped, columns: ColumnTypes) -> None:
    read_flag("sample", getattr(asked, "sample", False))
    _check_clamped(asked.of, asked.lower, asked.upper, columns)
    _check_clamped(asked.by, asked.by_lower, asked.by_upper, columns)


def _two_in_words(asked: TwoClamped, between: str) -> str:
    of = clamped_in_words(asked.of, asked.lower, asked.upper)
    return f"{of} {between} {clamped_in_words(asked.by, asked.by_lower, asked.by_upper)}"


def _resolve_covariance(request: AggregateRequest, columns: ColumnTypes) -> "Covariance":
    return Covariance(*_resolve_two(request, columns), sample=request.sample)


@aggregate(
    "Covariance",
    words=("covariance",),
    describe=lambda asked: f"{'sample ' * asked.sample}covariance of {_two_in_words(asked, 'and')}",
    resolve=_resolve_covariance,
    check=_check_two,
    note=BOTH,
    sql_word="covar_pop",
)
class Covariance(TwoClamped):
    """The covariance of two columns, each clamped, over the rows that have both."""

    sample: bool = False


@aggregate(
    "Correlation",
    words=("correlation",),
    describe=lambda asked: f"correlation of {_two_in_words(asked, 'and')}",
    resolve=lambda request, columns: Correlation(*_resolve_two(request, columns)),
    check=_check_two,
    known_range=lambda _lower, _upper: (-1.0, 1.0),
    note=BOTH,
    sql_word="corr",
)
class Correlation(TwoClamped):
    """Pearson's correlation of two columns, each clamped, over the rows that have both."""


@aggregate(
    "Slope",
    words=("regression_slope",),
    title=always("slope"),
    describe=lambda asked: f"slope of {_two_in_words(asked, 'along')}",
    resolve=lambda request, columns: Slope(*_resolve_two(request, columns)),
    check=_check_two,
    note=BOTH,
    sql_word="regr_slope",
)
class Slope(TwoClamped):
    """How much `of` rises where `by` rises by 1: least squares over the rows that have both."""


def _resolve_regression(request: AggregateRequest, columns: ColumnTypes) -> "Regression":
    (of, lower, upper), *features = _clamp_columns(request, columns)
    by, by_lower, by_upper = zip(*features, strict=True)
    return Regression(of, by, lower, upper, by_lower, by_upper)


def _check_regression(asked: "Regression", columns: ColumnTypes) -> None:
    count = len(asked.by)
    _check_count(count)
    if not len(asked.by_lower) == len(asked.by_upper) == count:
        raise ParameterError("Each feature of a regression needs two bounds.")
    together = [asked.of, *asked.by]
    for place, of in enumerate(together):
        if any(same(of, other) for other in together[:place]):
            raise ParameterError(
                f"'{in_words(of)}' is in the regression twice, so its coefficients would not be"
                " determined. List each column once."
            )
    lower, upper = (asked.lower, *asked.by_lower), (asked.upper, *asked.by_upper)
    for of, low, high in zip(together, lower, upper, strict=True):
        _check_clamped(of, low, high, columns)


def _describe_regression(asked: "Regression") -> str:
    features = map(clamped_in_words, asked.by, asked.by_lower, asked.by_upper)
    of = clamped_in_words(asked.of, asked.lower, asked.upper)
    return f"linear regression of {of} on {and_words(list(features))}"


@aggregate(
    "Regression",
    words=("linear_regression",),
    title=always("regression"),
    describe=_describe_regression,
    resolve=_resolve_regression,
    check=_check_regression,
    columns=lambda asked, _: facts.label_columns(
        ["intercept", *map(facts.name_of, asked.by)], Type.NUMBER
    ),
    is_single=lambda _: False,
    note=ALL,
)
class Regression(StructuralEquality):
    """Least squares of `of` on an intercept and `by`, all clamped, over the rows that have all."""

    of: Expression
    by: tuple[Expression, ...]
    lower: Fraction
    upper: Fraction
    by_lower: tuple[Fraction, ...]
    by_upper: tuple[Fraction, ...]


PairAggregate = Covariance | Correlation | Slope | Regression


def _request(word: str, of: Of, by: tuple[Of, ...], bounds: object) -> AggregateRequest:
    read = tuple(facts.read_of(column) for column in by)
    return AggregateRequest(word, facts.read_of(of), by=read, bounds=facts.read_bounds(bounds))


def _read_features(xs: object) -> tuple[Of, ...]:
    if isinstance(xs, str | Expression) or not isinstance(xs, Iterable):
        raise refusal("features", xs, 'a list, such as ["age", "stay"]')
    listed = tuple(cast("Iterable[Of]", xs))
    _check_count(len(listed))
    return listed


def _clamp_columns(
    request: AggregateRequest, columns: ColumnTypes
) -> list[tuple[Expression, Fraction, Fraction]]:
    """Each column as a number, within the bounds that are given or declared."""
    together = [cast("Expression", request.of), *request.by]
    _check_known(dict(request.bounds), together)
    return resolve_all(*(partial(_clamp_column, of, request, columns) for of in together))


def _clamp_column(
    of: Expression, request: AggregateRequest, columns: ColumnTypes
) -> tuple[Expression, Fraction, Fraction]:
    number = facts.as_number(of, columns)
    check_numeric(number, columns, done=request.word)
    lower, upper = dict(request.bounds).get(facts.name_of(of), (None, None))
    return number, *resolve_bounds(number, columns, lower=lower, upper=upper, by_name=True)


def _check_known(given: dict[str, facts.Range], columns: list[Expression]) -> None:
    names = [facts.name_of(of) for of in columns]
    if unknown := [name for name in given if name not in names]:
        raise ParameterError(
            f"bounds are given for {unknown[0]!r}, but this is about: {', '.join(names)}."
        )


def _check_clamped(of: Expression, lower: Fraction, upper: Fraction, columns: ColumnTypes) -> None:
    check_numeric(of, columns, done="comparing columns")
    check_range(lower, upper, words=in_words(of))


def _check_count(features: int) -> None:
    if not 1 <= features <= MAX_FEATURES:
        raise ParameterError(
            f"A regression has {features} features, but needs from 1 to {MAX_FEATURES}. The fewer"
            " there are, the less noise each coefficient has."
        )
