"""Types, intervals and presence hold in every row; what is not total is refused in words."""

from datetime import date, datetime
from fractions import Fraction
from math import inf, isfinite

import pytest
from hypothesis import given, settings

from evaluator import Row, evaluate
from letalone.errors import LetaloneError, ParameterError, UnsupportedQuery
from letalone.plans.expressions import Case, Expression, Literal, Not, case, col
from letalone.plans.types import Type
from letalone.plans.typing import ExpressionType, columns_of, surely_present, type_of
from plans.samples import ROWS, SCHEMA, conditions, numbers
from stages import pick

PYTHON = {Type.BOOLEAN: bool, Type.INTEGER: int, Type.NUMBER: float}


@settings(max_examples=pick(60, 200), deadline=None)
@given(numbers(3), ROWS)
def test_every_number_is_missing_or_of_its_type_and_within_its_interval(
    expression: Expression, row: Row
) -> None:
    typed = type_of(expression, SCHEMA)
    value = evaluate(expression, row, SCHEMA)
    if value is None:
        assert typed.nullable
        return
    assert isfinite(value)
    assert typed.lower <= value <= typed.upper
    assert typed.type is not Type.INTEGER or isinstance(value, int)


@settings(max_examples=pick(60, 200), deadline=None)
@given(conditions(3), ROWS)
def test_every_condition_is_true_false_or_missing_where_that_is_said(
    expression: Expression, row: Row
) -> None:
    typed = type_of(expression, SCHEMA)
    value = evaluate(expression, row, SCHEMA)
    assert typed.type is Type.BOOLEAN
    assert value in (True, False) or typed.nullable


@settings(max_examples=pick(60, 200), deadline=None)
@given(conditions(3), ROWS)
def test_what_is_surely_present_is_there_in_every_row_that_is_kept(
    condition: Expression, row: Row
) -> None:
    if evaluate(condition, row, SCHEMA) is True:
        for name in surely_present(condition):
            assert evaluate(col(name), row, SCHEMA) is not None


@settings(max_examples=pick(50, 150), deadline=None)
@given(conditions(2), numbers(2), ROWS)
def test_within_a_filter_presence_and_intervals_hold_for_the_kept_rows(
    where: Expression, expression: Expression, row: Row
) -> None:
    typed = columns_of(SCHEMA, where=where).type_of(expression)
    if evaluate(where, row, SCHEMA) is True:
        value = evaluate(expression, row, SCHEMA)
        assert typed.nullable if value is None else typed.lower <= value <= typed.upper


@pytest.mark.parametrize(
    ("expression", "lower", "upper"),
    [
        (col("age") + 1, 1, 121),
        (1 - col("age"), -119, 1),
        (col("cost") * -2, -2000, 0),
        (col("cost") / 4, 0, 250),
        (1 / (col("age") + 1), 1 / 121, 1),
        (1 / col("loss"), -2, 0),
        (col("age") / col("loss"), -240, 0),
        (-col("cost"), -1000, 0),
        (col("stay") * 0, 0, 0),
        (col("score") + 1, -inf, inf),
        (1 / col("age"), -inf, inf),
        (col("day").part("month"), 1, 12),
        (case((col("smokes"), 1), otherwise=0.5), 0.5, 1),
        (case((col("smokes"), col("age"))), 0, 120),
    ],
)
def test_intervals_are_as_narrow_as_the_declared_bounds_allow(
    expression: Expression, lower: float, upper: float
) -> None:
    typed = type_of(expression, SCHEMA)
    assert (typed.lower, typed.upper) == (lower, upper)


def test_arithmetic_gives_numbers_and_parts_of_dates_whole_numbers() -> None:
    assert type_of(col("age") + 1, SCHEMA).type is Type.NUMBER
    assert type_of(-col("age"), SCHEMA).type is Type.NUMBER
    assert type_of(col("day").part("year"), SCHEMA).type is Type.INTEGER
    assert type_of(col("day").start_of("week"), SCHEMA).type is Type.DATE
    assert type_of(case((col("smokes"), 1), otherwise=0), SCHEMA).type is Type.INTEGER
    assert type_of(case((col("smokes"), 1), otherwise=0.5), SCHEMA).type is Type.NUMBER


def test_what_cannot_be_missing_is_told_apart() -> None:
    present = columns_of(SCHEMA, where=(col("cost") > 1) & ~col("ward").is_null())
    assert not present.type_of(col("cost") * 2).nullable
    assert not present.type_of(col("ward")).nullable
    assert present.type_of(col("age")).nullable
    assert present.type_of(col("cost") / col("cost")).nullable, "0 / 0 is missing"
    assert not type_of(col("age").is_null(), SCHEMA).nullable
    assert not type_of(case((col("smokes"), 1), otherwise=0), SCHEMA).nullable


def test_a_condition_and_its_opposite_leave_no_otherwise_where_it_cannot_be_missing() -> None:
    old = col("age") >= 65
    share = Case(((old, Literal(1)), (Not(old), Literal(0))), Literal(None))
    assert type_of(share, SCHEMA).nullable
    assert not columns_of(SCHEMA, where=col("age") > 1).type_of(share).nullable
    half = Case(((old, Literal(1)), (Not(col("smokes")), Literal(0))), Literal(None))
    assert columns_of(SCHEMA, where=col("age") > 1).type_of(half).nullable


def test_derived_columns_are_typed_in_their_order_and_within_the_filter() -> None:
    derived = [("each", col("cost") / 2), ("twice", col("each") * 4)]
    columns = columns_of(SCHEMA, derived=derived)
    assert columns.type_of(col("twice")) == ExpressionType(Type.NUMBER, 0, 2000, nullable=True)
    kept = columns_of(SCHEMA, derived=derived, where=col("twice") > 1)
    assert not kept.type_of(col("twice")).nullable
    assert not kept.type_of(col("cost")).nullable, "it stands in twice"
    with pytest.raises(ParameterError, match="'each' is not in table"):
        columns_of(SCHEMA, derived=derived[::-1])


@pytest.mark.parametrize(
    ("expression", "error", "words"),
    [
        (col("agee") > 1, ParameterError, "Did you mean 'age'"),
        (col("ward") + 1, ParameterError, "'ward' is text and cannot be added"),
        (col("smokes") * 2, ParameterError, "la.case"),
        (col("day") + col("day"), ParameterError, "date and cannot be added"),
        (col("seen") - col("day"), ParameterError, "subtracts date from timestamp"),
        (col("day") - 7, ParameterError, "subtracts integer from date"),
        (col("age").like("A%"), ParameterError, "is integer and cannot be matched with a pattern"),
        (col("day").upper(), ParameterError, "is date and cannot be taken for text"),
        (col("cost").length(), ParameterError, "is number and cannot be counted by letters"),
        (col("ward").concat(col("cost")), ParameterError, "text and whole numbers can"),
        (col("ward").concat(None), ParameterError, "is missing and cannot be joined"),
        (col("day").strftime("%Y %H"), ParameterError, "has no hour. It must be timestamp"),
        (col("ward").strftime("%Y"), ParameterError, "is text and has no"),
        (col("ward").if_null(1), ParameterError, "integer and text"),
        (col("age") / None, ParameterError, "missing and cannot be divided"),
        (-col("ward"), ParameterError, "cannot be negated"),
        (col("ward") < "B", UnsupportedQuery, "order differs between engines"),
        (col("smokes") < True, UnsupportedQuery, "orders boolean"),
        (col("age") == "7", ParameterError, "without quotes"),
        (col("smokes") == 1, ParameterError, "True or False"),
        (col("day") >= "2024-01-01", ParameterError, "datetime.date"),
        (col("seen") >= date(2024, 1, 1), ParameterError, "datetime.datetime"),
        (col("age") == None, ParameterError, "is_null"),  # noqa: E711
        (col("scan") == "x", UnsupportedQuery, "does not know"),
        (col("age").isin([1, None]), ParameterError, "hold None"),
        (col("age").isin(["1"]), ParameterError, "integer with text"),
        (col("age").isin([2**63]), ParameterError, "64 bits"),
        (col("age") < 2**63, ParameterError, "64 bits"),
        (col("score") < Fraction(10) ** 400, ParameterError, "larger than any double"),
        (~col("age"), ParameterError, "must be a condition"),
        (col("smokes") & col("age"), ParameterError, "must be a condition"),
        (col("smokes") | col("agee"), ParameterError, "not in table"),
        (case((col("age"), 1)), ParameterError, "must be a condition"),
        (case((col("smokes"), 1), otherwise="x"), ParameterError, "integer and text"),
        (case((col("smokes"), None)), ParameterError, "All values of a case are None"),
        (col("age").part("year"), ParameterError, "has no year"),
        (col("ward").start_of("month"), ParameterError, "has no start of its month"),
        (col("day").part("hour"), ParameterError, "must be timestamp"),
    ],
)
def test_what_is_not_total_or_has_no_meaning_is_refused_with_the_remedy(
    expression: Expression, error: type[LetaloneError], words: str
) -> None:
    with pytest.raises(error, match=words):
        type_of(expression, SCHEMA)


def test_times_compare_with_times() -> None:
    assert type_of(col("seen") >= datetime(2024, 1, 1), SCHEMA).type is Type.BOOLEAN
