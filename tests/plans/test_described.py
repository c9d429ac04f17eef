"""Plans and expressions in words."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from letalone.plans.aggregates import requests as ask
from letalone.plans.described import describe_open
from letalone.plans.expressions import Bin, Expression, case, col
from letalone.plans.plan import PublicJoin, bins, make_plan
from letalone.plans.schema import Column
from letalone.plans.types import Type
from letalone.plans.wording import in_words
from plans.samples import SCHEMA


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (col("age") >= 65, "age >= 65"),
        (col("odd name") == "A", "'odd name' = 'A'"),
        ((col("cost") - 1) / 2.5, "(cost - 1) / 2.5"),
        (-col("cost"), "-cost"),
        ((col("age") > 1) & ~col("cost").is_null(), "(age > 1) and (cost is not missing)"),
        (col("smokes") | ~col("smokes"), "smokes or (not smokes)"),
        (col("ward").isin(["A", "B"]), "ward is one of 'A', 'B'"),
        (col("age").isin(range(9)), "age is one of 0, 1, 2, 3, 4, … (9 in all)"),
        (col("day") < date(2024, 1, 31), "day < 2024-01-31"),
        (col("day").part("year"), "the year of day"),
        (col("day").strftime("%A"), "the name of the day of day"),
        (col("day").strftime("%B"), "the name of the month of day"),
        (col("day").strftime("%Y-%m"), "day written as '%Y-%m'"),
        (col("day").days_since(date(2024, 1, 31)), "(the date of day) - (the date of 2024-01-31)"),
        (col("ward").like("A%"), "ward is like 'A%'"),
        (col("ward").ilike("A%"), "ward is like 'a%' in any case of letters"),
        (col("ward").lower().like("A%"), "(ward in small letters) is like 'A%'"),
        (col("ward").upper(), "ward in capitals"),
        (col("ward").trim(), "ward without blanks at its ends"),
        (col("ward").substr(1, 1), "the first letter of ward"),
        (col("ward").substr(1, 2), "the first 2 letters of ward"),
        (col("ward").substr(2, 2), "letters 2 to 3 of ward"),
        (col("ward").substr(2), "ward from letter 2 on"),
        (col("ward").substr(-2), "the last 2 letters of ward"),
        (col("ward").length(), "the number of letters of ward"),
        (col("ward").concat("-", col("note")), "ward followed by '-' followed by note"),
        (col("smokes") == True, "smokes = true"),  # noqa: E712
        (col("note").is_null(), "note is missing"),
        (case((col("smokes"), 1)), "(1 if smokes; otherwise missing)"),
        (Bin(col("age"), 0, 10, 10), "age in ranges of 10 from 0 to 100"),
        (col("age").clamp(0, 10), "age clamped to [0, 10]"),
        (col("age").clamp(upper=10), "age clamped to at most 10"),
        (col("age").clamp(lower=0.5), "age clamped to at least 0.5"),
    ],
)
def test_expressions_read_aloud(expression: Expression, words: str) -> None:
    assert in_words(expression) == words


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            lambda low, high: ask.mean("cost", lower=low, upper=high),
            "mean of cost clamped to the bounds found",
        ),
        (
            lambda low, high: ask.sum(col("cost").clamp(low, high) * 2),
            "sum of cost * 2 clamped to the bounds found",
        ),
        (
            lambda low, high: ask.median(col("cost").clamp(low, high)),
            "quantile 0.5 of cost clamped to the bounds found",
        ),
        (
            lambda low, high: ask.sum("cost", lower=low, upper=high) / ask.sum("age"),
            "(sum of cost clamped to the bounds found) / (sum of age clamped to [0, 120])",
        ),
        (
            lambda low, high: ask.covariance("cost", "age", bounds={"cost": (low, high)}),
            "covariance of cost clamped to the bounds found and age clamped to [0, 120]",
        ),
        (
            lambda low, high: ask.linear_regression("age", ["cost"], bounds={"cost": (low, high)}),
            "linear regression of age clamped to [0, 120] on cost clamped to the bounds found",
        ),
    ],
)
def test_bounds_in_which_two_plans_differ_are_told_as_still_to_be_found(
    asked: Callable[[int, int], Any], words: str
) -> None:
    one, other = (make_plan(SCHEMA, {"n": asked(*ends)}) for ends in ((0, 1), (-(10**9), 10**9)))
    assert describe_open(one, other).startswith(f"{words}; at most ")
    assert describe_open(one, one) == one.in_words()


def test_a_plan_reads_as_one_sentence() -> None:
    plan = make_plan(
        SCHEMA,
        {"n": ask.count(), "cost": ask.mean("cost")},
        groups=["ward"],
        where=col("age") >= 65,
    )
    assert plan.in_words() == (
        "count and mean of cost clamped to [0, 1000], for each ward among 'A', 'B', 'C';"
        " only rows with age >= 65; at most 10 rows per patient_id"
    )


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (ask.count_distinct(), "number of units"),
        (ask.sum("cost"), "sum of cost clamped to [0, 1000]"),
        (ask.variance("age"), "variance of age clamped to [0, 120]"),
        (ask.std("age"), "standard deviation of age clamped to [0, 120]"),
        (ask.quantile("age", [0.25, 0.5, 0.75]), "quantiles 0.25, 0.5 and 0.75 of age clamped"),
        (ask.median("cost"), "quantile 0.5 of cost clamped to [0, 1000] in steps of 1"),
        (ask.min("age"), "private minimum of age"),
        (ask.max("age"), "private maximum of age"),
        (ask.histogram("age", [0, 18, 120]), "histogram of age in 2 ranges from 0 to 120"),
        (ask.top_k("ward", 2), "2 most frequent of 3 candidates for ward"),
        (ask.private_bounds("score"), "private bounds of score"),
        (ask.mean(col("age") >= 65), "mean of (age >= 65, as 1 or 0) clamped to [0, 1]"),
    ],
)
def test_each_aggregate_is_named(asked, words: str) -> None:
    assert make_plan(SCHEMA, {"x": asked}).in_words().startswith(words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"groups": ["note"]}, ", for each note that enough units have;"),
        ({"groups": ["ward", "smokes"]}, ", for each of 6 combinations of ward and smokes;"),
        (
            {"groups": [bins("age", 0, 100, 50)]},
            "for each age (age in ranges of 50 from 0 to 100) among '[0, 50)', '[50, 100]';",
        ),
        (
            {"groups": ["ward"], "max_groups": 1, "max_rows": 2},
            "at most 1 group per patient_id, with at most 2 rows in each",
        ),
        ({"groups": ["ward"], "max_groups": 2, "clip": True}, "cut off at the bounds of one row"),
        ({"derived": [("each", col("cost") / 2)]}, "; where each is cost / 2;"),
        (
            {"joins": [PublicJoin("p", (("ward", "code"),), (Column("r", Type.TEXT),), "")]},
            "joined with the public table p on ward = code",
        ),
    ],
)
def test_each_part_of_the_question_is_said(changes: dict, words: str) -> None:
    assert words in make_plan(SCHEMA, {"n": ask.count()}, **changes).in_words()


def test_the_unit_is_said_when_it_is_the_row_and_when_units_are_counted() -> None:
    rows = make_plan(replace(SCHEMA, unit=None), {"n": ask.count()})
    assert rows.in_words() == "count; each row is protected on its own"
    units = make_plan(SCHEMA, {"n": ask.count_distinct()})
    assert units.in_words() == "number of units; all rows of each patient_id, once"
