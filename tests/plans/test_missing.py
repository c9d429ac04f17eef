"""All that is missing is said at once: bounds, keys and expressions, with codes and remedies."""

from typing import Any

import pytest

from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.in_options import in_options
from letalone.errors.problem import Problem
from letalone.errors.remedies import (
    AddBounds,
    BuyBounds,
    ClampExpression,
    FindKeys,
    NameKeys,
    UseName,
)
from letalone.plans.aggregates import requests as ask
from letalone.plans.expressions import col
from letalone.plans.plan import make_plan
from plans.samples import SCHEMA


def refuse(aggregates: dict[str, Any], **clauses: Any) -> Problem:
    with pytest.raises(ParameterError) as caught:
        make_plan(SCHEMA, aggregates, **clauses)
    return caught.value.problem


def test_the_bounds_of_all_columns_are_one_problem() -> None:
    aggregates = {
        "m": ask.mean("score"),
        "f": ask.sum("stay") / (ask.count() + ask.sum(col("score") * 2)),
        "c": ask.correlation("loss", "stay"),
        "age": ask.mean("age"),
    }
    problem = refuse(aggregates)
    columns = ("score", "stay", "loss")
    assert (problem.code, problem.facts) == (Code.MISSING_BOUNDS, {"columns": columns})
    assert problem.remedies == (AddBounds(columns), BuyBounds(columns))
    assert not problem.others
    assert in_options(problem, str).startswith("No bounds are given for score and stay and loss.")


def test_keys_and_expressions_stand_beside_the_bounds() -> None:
    aggregates = {"m": ask.mean("score"), "q": ask.mean(col("cost") / col("stay"))}
    problem = refuse(aggregates, groups=["note", "ward"], find_keys=False)
    assert problem.remedies[0] == AddBounds(("score",))
    quotient, keys = problem.others
    assert quotient.code is Code.MISSING_EXPRESSION_BOUNDS
    assert quotient.remedies == (ClampExpression("cost / stay"),)
    assert keys.code is Code.MISSING_KEYS
    assert keys.remedies == (NameKeys(("note",), ("text",)), FindKeys())


def test_keys_are_missing_alone_and_cannot_be_found_where_some_are_listed() -> None:
    listed = refuse({"n": ask.count()}, groups=["note", "ward"], keys={"ward": ["A"]})
    assert listed.remedies == (NameKeys(("note",), ("text",)),)
    assert make_plan(SCHEMA, {"n": ask.count()}, groups=["note"]).keys is None


def test_bounds_by_name_are_asked_for_by_name() -> None:
    problem = refuse({"c": ask.covariance("score", "age")})
    assert problem.remedies == (AddBounds(("score",), by_name=True), BuyBounds(("score",)))
    with pytest.raises(ParameterError, match=r"Give bounds=\{'score': \(…, …\)\} from"):
        make_plan(SCHEMA, {"c": ask.covariance("score", "age")})


def test_what_is_wrong_in_another_way_comes_first() -> None:
    assert refuse({"m": ask.mean("score"), "x": ask.mean("coast", lower=0, upper=1)}).remedies == (
        UseName("coast", "cost"),
    )
