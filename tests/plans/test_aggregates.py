"""Aggregates: bounds from the schema or by interval arithmetic, steps by the stated rule."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.errors import LetaloneError, ParameterError, UnsupportedQuery
from letalone.plans.aggregates import requests as ask
from letalone.plans.aggregates.facts import AggregateRequest, check_aggregate
from letalone.plans.aggregates.formulas import Aggregate
from letalone.plans.aggregates.of_columns import (
    Count,
    CountUnits,
    CountValues,
    Deviation,
    Extreme,
    Histogram,
    Mean,
    MostFrequent,
    PrivateBounds,
    Quantiles,
    Sum,
    Variance,
)
from letalone.plans.aggregates.requests import resolve_aggregate
from letalone.plans.bounds import MOST_CELLS, friendly_step
from letalone.plans.expressions import Bin, case, col
from letalone.plans.types import Type
from letalone.plans.typing import columns_of
from plans.samples import SCHEMA

COLUMNS = columns_of(SCHEMA)
HALF = (Fraction(1, 2),)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        (ask.count(), Count()),
        (ask.count_distinct(), CountUnits()),
        (ask.count_distinct("patient_id"), CountUnits()),
        (ask.count_distinct("ward"), CountValues(col("ward"))),
        (ask.sum("cost"), Sum(col("cost"), 0, 1000)),
        (ask.sum("cost", upper=10), Sum(col("cost"), 0, 10)),
        (ask.mean("score", lower=0.1, upper=1), Mean(col("score"), Fraction(1, 10), 1)),
        (ask.mean(col("cost") / 2 - 1), Mean(col("cost") / 2 - 1, -1, 499)),
        (ask.variance("age"), Variance(col("age"), 0, 120)),
        (ask.std("age"), Deviation(col("age"), 0, 120)),
        (ask.std("age", sample=True), Deviation(col("age"), 0, 120, sample=True)),
        (ask.median("age"), Quantiles(col("age"), 0, 120, HALF, 1)),
        (ask.quantile("cost", 0.5), Quantiles(col("cost"), 0, 1000, HALF, 1)),
        (
            ask.quantile("cost", [0.75, 0.25], step=0.5),
            Quantiles(col("cost"), 0, 1000, (Fraction(1, 4), Fraction(3, 4)), Fraction(1, 2)),
        ),
        (ask.min("age"), Extreme(col("age"), 0, 120, False, 1)),
        (ask.max("cost", upper=1), Extreme(col("cost"), 0, 1, True, Fraction(1, 1000))),
        (ask.histogram("score", range(0, 30, 10)), Histogram(col("score"), (0, 10, 20))),
        (ask.top_k("ward", 2), MostFrequent(col("ward"), 2, ("A", "B", "C"))),
        (ask.top_k("note", 1, candidates=["x", None]), MostFrequent(col("note"), 1, ("x", None))),
        (ask.private_bounds("score"), PrivateBounds(col("score"))),
    ],
)
def test_what_is_left_out_is_filled_in_from_what_is_declared(
    asked: AggregateRequest, meant: Aggregate
) -> None:
    found = resolve_aggregate(asked, COLUMNS)
    assert found == meant
    assert found != resolve_aggregate(ask.sum("age"), COLUMNS)
    check_aggregate(found, COLUMNS)
    assert resolve_aggregate(meant, COLUMNS) is meant


def test_a_condition_counts_as_one_or_zero_and_is_missing_where_it_is_missing() -> None:
    found = resolve_aggregate(ask.mean(col("age") >= 65), COLUMNS)
    assert isinstance(found, Mean)
    assert (found.lower, found.upper) == (0, 1)
    typed = COLUMNS.type_of(found.of)
    assert typed.nullable
    assert (typed.type, typed.lower, typed.upper) == (Type.INTEGER, 0, 1)
    assert isinstance(resolve_aggregate(ask.histogram("smokes", [0, 1, 2]), COLUMNS), Histogram)
    assert resolve_aggregate(ask.top_k("smokes", 1), COLUMNS) == MostFrequent(
        col("smokes"), 1, (False, True)
    )


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: ask.mean("score"), ParameterError, "lower and upper bound"),
        (lambda: ask.mean("score", lower=0), ParameterError, "no declared upper bound"),
        (lambda: ask.sum("loss"), ParameterError, "schema file"),
        (lambda: ask.sum(col("score") * 2), ParameterError, r"la\.private_bounds"),
        (lambda: ask.sum("cost", lower=1000), ParameterError, "lower must be below upper"),
        (lambda: ask.sum("cost", lower=5, upper=5), ParameterError, "below upper"),
        (lambda: ask.sum("cost", lower=float("nan")), ParameterError, "lower is nan"),
        (lambda: ask.sum("cost", upper=float("inf")), ParameterError, "upper is inf"),
        (lambda: ask.sum("cost", upper="9"), ParameterError, "upper is '9'"),
        (
            lambda: ask.sum("score", lower=10**15, upper=10**15 + 1),
            ParameterError,
            r"Shift the values first: la\.col",
        ),
        (lambda: ask.sum("score", lower=0, upper=Fraction(1, 10**101)), ParameterError, "close"),
        (lambda: ask.sum("agee"), ParameterError, "Did you mean 'age'"),
        (lambda: ask.sum("ward"), UnsupportedQuery, "'ward' is text, but sum needs numbers"),
        (lambda: ask.mean("ward"), UnsupportedQuery, r"types=.'ward': 'number'.*'boolean' if it"),
        (lambda: ask.mean("day"), UnsupportedQuery, "part"),
        (lambda: ask.private_bounds("ward"), UnsupportedQuery, "needs numbers"),
        (lambda: ask.histogram("ward", [0, 1]), UnsupportedQuery, "needs numbers"),
        (lambda: ask.sum(3), ParameterError, "column is 3"),
        (lambda: ask.count_distinct("scan"), UnsupportedQuery, "cannot be distinguished"),
        (lambda: ask.variance("age", sample=1), ParameterError, "sample is 1"),
        (lambda: ask.quantile("age", 0), ParameterError, r"la\.min"),
        (lambda: ask.quantile("age", 50), ParameterError, "below 1"),
        (lambda: ask.quantile("age", 1 / 3), ParameterError, r"0\.333333, or as Fraction\(1, 3\)"),
        (lambda: ask.quantile("age", 0.1234567), ParameterError, r"six digits, such as 0\.123457"),
        (lambda: ask.quantile("age", [0.5, 1e-17]), ParameterError, r"such as 0\.000001"),
        (lambda: ask.quantile("age", 1 - 1e-9), ParameterError, r"such as 0\.999999"),
        (lambda: ask.quantile("age", Fraction(1, 1_000_001)), ParameterError, "six digits"),
        (lambda: ask.quantile("age", []), ParameterError, "0 quantiles"),
        (lambda: ask.quantile("age", [0.5, 0.5]), ParameterError, "twice"),
        (lambda: ask.quantile("cost", 0.5, step=0), ParameterError, "step is 0"),
        (lambda: ask.quantile("cost", 0.5, step=-1), ParameterError, "step is -1"),
        (lambda: ask.quantile("cost", 0.5, step=0.001), ParameterError, "1,000,001 values"),
        (lambda: ask.quantile("cost", 0.5, step=2000), ParameterError, "width of the range"),
        (lambda: ask.histogram("age", [1]), ParameterError, "1 edges"),
        (lambda: ask.histogram("age", [0, 2, 1]), ParameterError, "must rise"),
        (lambda: ask.histogram("age", 3), ParameterError, "list of numbers"),
        (lambda: ask.histogram("age", [0, 1, 10**6]), ParameterError, "1,000,000 values"),
        (lambda: ask.histogram("age", [0, float("nan")]), ParameterError, "edge is nan"),
        (lambda: ask.top_k("note", 1), ParameterError, "has no candidates"),
        (lambda: ask.top_k("ward", 4), ParameterError, "number of candidates, 3"),
        (lambda: ask.top_k("ward", 0), ParameterError, "k is 0"),
        (lambda: ask.top_k("ward", 1, candidates="AB"), ParameterError, "a list"),
        (lambda: ask.top_k("ward", 1, candidates=["A", "A"]), ParameterError, "twice"),
        (lambda: ask.top_k("ward", 1, candidates=[1]), ParameterError, "must be text"),
        (lambda: ask.top_k("cost", 1, candidates=[1.5]), ParameterError, "a whole number"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_remedy(
    make, error: type[LetaloneError], words: str
) -> None:
    with pytest.raises(error, match=words):
        check_aggregate(resolve_aggregate(make(), COLUMNS), COLUMNS)


@given(st.fractions(-(10**6), 10**6), st.fractions(Fraction(1, 10**6), 10**6))
def test_the_usual_step_is_round_and_leaves_a_thousand_to_2501_candidates(lower, width) -> None:
    step = friendly_step(lower, lower + width, Type.NUMBER)
    found = Quantiles(col("cost"), lower, lower + width, HALF, step)
    assert 1001 <= found.cells <= 2501
    digits = str(step.numerator * step.denominator).rstrip("0")
    assert digits in {"1", "2", "5"}


def test_whole_numbers_step_by_one_until_there_are_too_many() -> None:
    assert friendly_step(Fraction(0), Fraction(MOST_CELLS - 1), Type.INTEGER) == 1
    wide = friendly_step(Fraction(0), Fraction(MOST_CELLS), Type.INTEGER)
    assert wide == 100


def test_a_histogram_is_made_of_equal_cells() -> None:
    found = Histogram(col("age"), (0, 18, 65, 0.5 + 120))
    assert (found.step, found.cells) == (Fraction(1, 2), 241)


def test_bounds_follow_from_ranges_and_cases() -> None:
    ranges = resolve_aggregate(ask.mean(Bin(col("score"), 0, 10, 5)), COLUMNS)
    assert (ranges.lower, ranges.upper) == (0, 4)
    cases = resolve_aggregate(ask.sum(case((col("smokes"), col("age")), otherwise=200)), COLUMNS)
    assert (cases.lower, cases.upper) == (0, 200)
