"""Formulas as they are written, as they are resolved, stored and said."""

from fractions import Fraction

import pytest

import letalone as la
from letalone.errors import LetaloneError, ParameterError, UnsupportedQuery
from letalone.plans.aggregates.formula_trees import Constant, FunctionCall, Operation, PartValue
from letalone.plans.aggregates.formulas import Formula
from letalone.plans.aggregates.of_columns import Count, CountPresent, Mean, Sum
from letalone.plans.plan import Plan, make_plan
from letalone.plans.stored_plans import plan_from_json
from plans.samples import SCHEMA

TOTAL = la.sum("cost", lower=0, upper=1000)
COST = la.col("cost")


def plan(asked: object, **options: object) -> Plan:
    return make_plan(SCHEMA, {"x": asked}, max_rows=1, **options)


def formula(asked: object, **options: object) -> object:
    return plan(asked, **options).aggregates[0][1]


def test_operators_build_a_tree_with_each_part_once() -> None:
    found = (TOTAL - 2 * la.count()) / TOTAL + la.count() - 0.1
    assert found.parts == (TOTAL, la.count())
    twice = Operation("*", Constant(Fraction(2)), PartValue(1))
    ratio = Operation("/", Operation("-", PartValue(0), twice), PartValue(0))
    plus = Operation("+", ratio, PartValue(1))
    assert found.tree == Operation("-", plus, Constant(Fraction(1, 10)))
    assert (3 - la.count()).tree == Operation("-", Constant(Fraction(3)), PartValue(0))
    assert (1 / la.count()).tree == Operation("/", Constant(Fraction(1)), PartValue(0))
    assert round(abs(-TOTAL), -2).tree == FunctionCall(
        "rounded", FunctionCall("absolute", FunctionCall("negative", PartValue(0))), -2
    )


def test_a_sum_over_its_number_of_rows_is_the_mean() -> None:
    mean = Mean(COST, Fraction(0), Fraction(1000))
    there = ~COST.is_null()
    assert formula(TOTAL / la.count("cost")) == mean
    assert formula(TOTAL / la.count(), where=there) == mean
    assert formula(100 * (TOTAL / la.count()), where=there).parts == (mean,)


def test_a_sum_over_other_rows_is_not_the_mean() -> None:
    """Rows without a cost count in COUNT(*), so the ratio is another number."""
    ratio = formula(TOTAL / la.count())
    assert ratio.parts == (Sum(COST, Fraction(0), Fraction(1000)), Count())
    assert isinstance(formula(TOTAL / la.count("age")).parts[1], CountPresent)
    assert isinstance(formula(la.count() / TOTAL), Formula)


def test_a_column_that_is_surely_there_is_counted_as_rows_are() -> None:
    assert formula(la.count("cost")) == CountPresent(COST)
    assert formula(la.count("cost"), where=~COST.is_null()) == Count()


def test_a_formula_is_stored_without_loss_and_said_in_words() -> None:
    asked = plan(round((TOTAL - 1 / la.count()) / 3, 2) + abs(-la.count("age")))
    assert plan_from_json(asked.to_json()) == asked
    words = asked.in_words()
    assert "(((sum of cost clamped to [0, 1000]) - (1 / (count))) / 3) rounded to 2 digits" in words
    assert "the size of (-(count of rows that have age))" in words


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TOTAL / "x", "part of a formula"),
        (lambda: TOTAL * True, "part of a formula"),
        (lambda: TOTAL + None, "part of a formula"),
        (lambda: TOTAL * float("inf"), "finite number"),
        (lambda: round(TOTAL, 99), "from -15 to 15"),
        (lambda: plan(la.top_k("ward", 1, candidates=["A"]) / 2), "several numbers"),
        (lambda: plan(la.quantile("age", [0.1, 0.9], lower=0, upper=9) + 1), "several numbers"),
        (lambda: Operation("%", PartValue(0), PartValue(0)), "one of"),
        (lambda: FunctionCall("sine", PartValue(0)), "one of"),
        (lambda: plan(Formula((), Constant(Fraction(1)))), "reads each part"),
        (lambda: plan(Formula((Count(),), PartValue(1))), "reads each part"),
        (lambda: plan(Formula((Count(),), "x")), "part of a formula"),
        (lambda: sum([la.count()] * 60), "100 parts"),
    ],
)
def test_what_is_no_formula_is_refused(make: object, words: str) -> None:
    with pytest.raises((ParameterError, UnsupportedQuery), match=words):
        make()


def test_bounding_looks_at_the_parts() -> None:
    with pytest.raises(LetaloneError, match="'x' is not a total"):
        make_plan(
            SCHEMA, {"x": la.max("age", lower=0, upper=9) / 2}, clip=True, groups=["ward"],
            keys=["A"], max_groups=1,
        )  # fmt: skip
    assert make_plan(SCHEMA, {"x": la.count_distinct() / 2}).bounding.max_rows is None
