"""Aggregates of several columns: bounds by name or from the schema, refusals, words, storage."""

import json
from fractions import Fraction
from typing import Any

import pytest

from letalone.errors import LetaloneError, ParameterError, UnsupportedQuery
from letalone.plans.aggregates import requests as ask
from letalone.plans.aggregates.facts import AggregateRequest, check_aggregate
from letalone.plans.aggregates.formulas import Aggregate, expressions_of
from letalone.plans.aggregates.of_columns import Variance
from letalone.plans.aggregates.of_pairs import Correlation, Covariance, Regression, Slope
from letalone.plans.aggregates.requests import resolve_aggregate
from letalone.plans.described import describe_plan
from letalone.plans.expressions import col
from letalone.plans.plan import make_plan
from letalone.plans.stored_plans import plan_from_json
from letalone.plans.typing import columns_of
from plans.samples import SCHEMA

COLUMNS = columns_of(SCHEMA)
AGE, COST, SCORE = col("age"), col("cost"), col("score")
OF = {"score": (-1, 0.5)}
NINE = [AGE + n for n in range(9)]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        (ask.covariance("age", "cost"), Covariance(AGE, COST, 0, 120, 0, 1000)),
        (
            ask.covariance("age", "cost", sample=True),
            Covariance(AGE, COST, 0, 120, 0, 1000, sample=True),
        ),
        (ask.correlation("cost", "age"), Correlation(COST, AGE, 0, 1000, 0, 120)),
        (
            ask.correlation("cost", "age", bounds={"age": (18, 65)}),
            Correlation(COST, AGE, 0, 1000, 18, 65),
        ),
        (
            ask.regression_slope("score", "age", bounds=OF),
            Slope(SCORE, AGE, -1, Fraction(1, 2), 0, 120),
        ),
        (
            ask.linear_regression("score", ["age", COST / 2], bounds=OF),
            Regression(SCORE, (AGE, COST / 2), -1, Fraction(1, 2), (0, 0), (120, 500)),
        ),
    ],
)
def test_bounds_are_given_by_name_or_declared(asked: AggregateRequest, meant: Aggregate) -> None:
    found = resolve_aggregate(asked, COLUMNS)
    assert found == meant
    check_aggregate(found, COLUMNS)


def test_conditions_are_features_of_one_and_zero() -> None:
    found = resolve_aggregate(ask.linear_regression("cost", ["smokes", AGE >= 65]), COLUMNS)
    assert isinstance(found, Regression)
    assert (found.by_lower, found.by_upper) == ((0, 0), (1, 1))
    assert len(expressions_of(found)) == 3


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: ask.covariance("age", "score"), ParameterError, r"bounds=\{'score': \(…, …\)\}"),
        (lambda: ask.correlation("ward", "age"), UnsupportedQuery, "'ward' is text"),
        (lambda: ask.correlation("age", "day"), UnsupportedQuery, "part"),
        (lambda: ask.correlation("age", "agee"), ParameterError, "Did you mean 'age'"),
        (lambda: ask.correlation("age", "cost", bounds=OF), ParameterError, "about: age, cost"),
        (lambda: ask.correlation("age", "cost", bounds=3), ParameterError, "bounds is 3"),
        (lambda: ask.correlation("age", "cost", bounds={"age": 3}), ParameterError, "two numbers"),
        (lambda: ask.correlation("age", "cost", bounds={"age": (3, 1)}), ParameterError, "below"),
        (lambda: ask.covariance("age", "cost", sample="no"), ParameterError, "sample is 'no'"),
        (lambda: ask.covariance("age", 3), ParameterError, "column is 3"),
        (lambda: ask.linear_regression("cost", "age"), ParameterError, "a list"),
        (lambda: ask.linear_regression("cost", []), ParameterError, "0 features"),
        (lambda: ask.linear_regression("cost", NINE), ParameterError, "9 features"),
        (lambda: ask.linear_regression("cost", ["age", "age"]), ParameterError, "twice"),
        (lambda: ask.linear_regression("cost", ["cost"]), ParameterError, "twice"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_remedy(
    make: Any, error: type[LetaloneError], words: str
) -> None:
    with pytest.raises(error, match=words):
        check_aggregate(resolve_aggregate(make(), COLUMNS), COLUMNS)


@pytest.mark.parametrize(
    "damaged",
    [
        Regression(COST, (AGE,), 0, 1, (0, 0), (1,)),
        Regression(COST, (), 0, 1, (), ()),
        Variance(AGE, 0, 1, sample=0),  # pyright: ignore[reportArgumentType]
        Covariance(AGE, COST, 0, 1, 0, 1, sample=1),  # pyright: ignore[reportArgumentType]
        Slope(AGE, COST, 0, 1, 1, 1),
    ],
)
def test_an_aggregate_that_was_made_by_hand_is_checked_too(damaged: Aggregate) -> None:
    with pytest.raises(ParameterError):
        check_aggregate(damaged, COLUMNS)


def everything() -> Any:
    asked = {
        "different": ask.count_distinct("ward"),
        "v": ask.variance("age", sample=True),
        "d": ask.std("age", sample=True),
        "c": ask.covariance("age", "cost", sample=True),
        "p": ask.covariance("age", "cost"),
        "r": ask.correlation("age", "cost"),
        "s": ask.regression_slope("cost", "age"),
        "fit": ask.linear_regression("cost", ["age", "stay"], bounds={"stay": (0, 30)}),
    }
    return make_plan(SCHEMA, asked, max_rows=3)


def test_plans_come_back_from_storage() -> None:
    plan = everything()
    assert plan_from_json(json.dumps(plan.to_json())) == plan


def test_a_plan_without_samples_is_spelled_as_before_there_were_any() -> None:
    """Or the ledger would charge a question again that was answered before."""
    node = make_plan(SCHEMA, {"v": ask.variance("age")}, max_rows=3).to_json()["aggregates"]
    assert "sample" not in json.dumps(node)
    assert '"sample": true' in json.dumps(everything().to_json())


def test_dates_in_features_are_read() -> None:
    plan = make_plan(SCHEMA, {"r": ask.correlation("age", col("day") >= "2024-01-31")}, max_rows=1)
    assert "2024-01-31" in describe_plan(plan)


def test_the_question_is_said_in_words() -> None:
    said = describe_plan(everything())
    for words in (
        "number of different values of ward",
        "sample variance of age clamped to [0, 120]",
        "sample standard deviation of age",
        "sample covariance of age clamped to [0, 120] and cost clamped to [0, 1000]",
        "correlation of age",
        "slope of cost clamped to [0, 1000] along age clamped to [0, 120]",
        "linear regression of cost clamped to [0, 1000] on age clamped to [0, 120] and",
    ):
        assert words in said
