"""Fluent building, sameness, and limits that hold before anything recurses."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from letalone.errors import ParameterError
from letalone.plans.expressions import (
    And,
    Arithmetic,
    Bin,
    Case,
    ColumnRef,
    Comparison,
    Concat,
    DatePart,
    DateText,
    Expression,
    IsNull,
    Length,
    Like,
    Literal,
    Negated,
    Not,
    OneOf,
    Or,
    Respelled,
    StartOf,
    Substring,
    as_expression,
    case,
    checked_size,
    col,
    column_names,
    inline_columns,
    same,
)
from letalone.plans.typing import type_of
from plans.samples import SCHEMA, conditions
from stages import pick

A, ONE = ColumnRef("a"), Literal(1)


@pytest.mark.parametrize(
    ("built", "meant"),
    [
        (col("a") + 1, Arithmetic("+", A, ONE)),
        (1 + col("a"), Arithmetic("+", ONE, A)),
        (col("a") - 1, Arithmetic("-", A, ONE)),
        (1 - col("a"), Arithmetic("-", ONE, A)),
        (col("a") * 1, Arithmetic("*", A, ONE)),
        (1 * col("a"), Arithmetic("*", ONE, A)),
        (col("a") / 1, Arithmetic("/", A, ONE)),
        (1 / col("a"), Arithmetic("/", ONE, A)),
        (-col("a"), Negated(A)),
        (col("a") == 1, Comparison("=", A, ONE)),
        (ONE.value == col("a"), Comparison("=", A, ONE)),
        (col("a") != 1, Comparison("<>", A, ONE)),
        (col("a") < 1, Comparison("<", A, ONE)),
        (ONE.value < col("a"), Comparison(">", A, ONE)),
        (col("a") <= 1, Comparison("<=", A, ONE)),
        (col("a") >= 1, Comparison(">=", A, ONE)),
        (ONE.value >= col("a"), Comparison("<=", A, ONE)),
        (col("a") & col("b") & col("c"), And((A, ColumnRef("b"), ColumnRef("c")))),
        (col("a") | (col("b") | col("c")), Or((A, ColumnRef("b"), ColumnRef("c")))),
        (True & col("a"), And((Literal(True), A))),
        (False | col("a"), Or((Literal(False), A))),
        (~col("a"), Not(A)),
        (col("a").isin([1, 2]), OneOf(A, (1, 2))),
        (col("a").is_null(), IsNull(A)),
        (col("a").part("year"), DatePart("year", A)),
        (col("a").start_of("month"), StartOf("month", A)),
        (col("a").year(), DatePart("year", A)),
        (col("a").quarter(), DatePart("quarter", A)),
        (col("a").month(), DatePart("month", A)),
        (col("a").day(), DatePart("day", A)),
        (col("a").weekday(), DatePart("weekday", A)),
        (col("a").hour(), DatePart("hour", A)),
        (col("a").strftime("%Y-%m"), DateText("%Y-%m", A)),
        (
            col("a").days_since(col("b")),
            Arithmetic("-", StartOf("day", A), StartOf("day", ColumnRef("b"))),
        ),
        (col("a").like("50!%%", escape="!"), Like(A, "50\\%%")),
        (col("a").ilike("É_B"), Like(Respelled("lower", A), "É_b")),
        (col("a").starts_with("_a"), Like(A, "\\_a%")),
        (col("a").ends_with("\\"), Like(A, "%\\\\")),
        (col("a").contains("%"), Like(A, "%\\%%")),
        (col("a").upper(), Respelled("upper", A)),
        (col("a").lower(), Respelled("lower", A)),
        (col("a").trim(), Respelled("trim", A)),
        (col("a").substr(1, 3), Substring(A, 1, 3)),
        (col("a").substr(-2), Substring(A, -2, None)),
        (col("a").length(), Length(A)),
        (col("a").concat(1, col("a")), Concat((A, ONE, A))),
        (col("a").if_null(1), Case(((Not(IsNull(A)), A),), ONE)),
        (case((col("a"), 1), otherwise=0.5), Case(((A, ONE),), Literal(Fraction(1, 2)))),
    ],
)
def test_operators_build_the_node_that_they_say(built: Expression, meant: Expression) -> None:
    assert same(built, meant)


def test_sameness_tells_types_and_order_apart() -> None:
    different = [Literal(1), Literal(True), Literal(1.5), Literal("1"), Literal(None), col("1")]
    for one in different:
        assert [same(one, other) for other in different].count(True) == 1
    assert not same(col("a") - 1, 1 - col("a"))
    assert same(Literal(0.1), Literal(Fraction(1, 10)))


def test_expressions_are_found_in_sets_and_dicts_by_what_they_say() -> None:
    assert len({col("a") + 1, col("a") + 1, col("a") + 2}) == 2
    assert {col("a") >= 1: "found"}[col("a") >= 1] == "found"


@pytest.mark.parametrize(
    "write",
    [
        lambda: (col("a") == 1) and (col("b") == 2),
        lambda: (col("a") > 1) or (col("b") == 2),
        lambda: not col("a"),
        lambda: 0 < col("a") < 10,
        lambda: bool(col("a") != col("a")),
    ],
)
def test_and_or_not_and_chains_are_refused_instead_of_dropping_a_condition(write) -> None:
    with pytest.raises(ParameterError, match="Write & for and"):
        write()


@pytest.mark.parametrize(
    "write",
    [
        lambda: col(""),
        lambda: col(3),
        lambda: Arithmetic("**", A, ONE),
        lambda: Comparison("==", A, ONE),
        lambda: Arithmetic("+", A, 1),
        lambda: And(()),
        lambda: Or([A]),
        lambda: OneOf(A, ()),
        lambda: OneOf(A, tuple(range(10_001))),
        lambda: col("a").isin("abc"),
        lambda: case(),
        lambda: case((col("a"),)),
        lambda: col("a").part("century"),
        lambda: Bin(A, 0, 0, 3),
        lambda: Bin(A, 0, 1, 0),
        lambda: Bin(A, 0, 1, 10**6),
        lambda: Bin(A, float("nan"), 1, 3),
        lambda: A.clamp(),
        lambda: A.like(3),
        lambda: A.like(col("b")),
        lambda: A.like("a" * 1001),
        lambda: A.like("%a" * 10),
        lambda: A.like("%a_%b%"),
        lambda: A.like("a!", escape="!"),
        lambda: A.like("!a", escape="!"),
        lambda: A.like("a", escape="%"),
        lambda: A.like("a", escape="ab"),
        lambda: A.like("\ud800"),
        lambda: A.contains(col("b")),
        lambda: Like(A, "\\a"),
        lambda: Respelled("title", A),
        lambda: A.substr(0),
        lambda: A.substr(1.5),
        lambda: A.substr(1, 0),
        lambda: A.substr(1, -1),
        lambda: A.substr(-3, 2),
        lambda: A.substr(10**7),
        lambda: Concat(()),
        lambda: A.strftime("%W"),
        lambda: A.strftime("%"),
        lambda: A.strftime("day"),
        lambda: A.strftime(""),
        lambda: A.strftime(3),
        lambda: A.strftime("%Y" * 60),
        lambda: A.strftime("%Y\ud800"),
        lambda: A.clamp(2, 1),
        lambda: A.clamp(float("inf")),
        lambda: col("a") + object(),
        lambda: col("a") + float("inf"),
    ],
)
def test_nodes_that_mean_nothing_are_refused_when_they_are_made(write) -> None:
    with pytest.raises(ParameterError):
        write()


def chain(length: int) -> Expression:
    expression: Expression = col("age")
    for _ in range(length):
        expression = expression + 1
    return expression


def doubled(times: int) -> Expression:
    """2^times parts, in as many objects as `times`."""
    expression: Expression = col("age")
    for _ in range(times):
        expression = expression + expression
    return expression


@pytest.mark.parametrize("hostile", [chain(50), chain(5000), doubled(8), doubled(45)])
@pytest.mark.parametrize(
    "use", [checked_size, hash, column_names, lambda e: type_of(e, SCHEMA), lambda e: same(e, A)]
)
def test_hostile_expressions_are_refused_before_recursion(hostile: Expression, use) -> None:
    with pytest.raises(ParameterError, match="more than 200 parts or is nested deeper than 50"):
        use(hostile)


def test_expressions_at_the_limits_are_admitted() -> None:
    assert type_of(chain(49), SCHEMA).upper == 169
    many = OneOf(col("age"), tuple(range(10_000)))
    assert type_of(many, SCHEMA).nullable
    flat = And(tuple(col("smokes") for _ in range(199)))
    assert checked_size(flat) is flat


def test_inlining_replaces_derived_columns_and_is_limited_too() -> None:
    derived = {"each": col("cost") / 2}
    assert same(inline_columns(col("each") + col("age"), derived), col("cost") / 2 + col("age"))
    found = inline_columns(case((col("each") > 1, col("each")), otherwise=0), derived)
    assert column_names(found) == ["cost"]
    with pytest.raises(ParameterError, match="more than 200"):
        inline_columns(doubled(5), {"age": doubled(4)})


@settings(max_examples=pick(40, 100))
@given(conditions(3))
def test_inlining_nothing_changes_nothing(expression: Expression) -> None:
    assert same(inline_columns(expression, {}), expression)


def test_ranges_are_labelled_by_their_ends() -> None:
    assert [Bin(A, 0, 10, 3).label(i) for i in range(3)] == ["[0, 10)", "[10, 20)", "[20, 30]"]
    assert Bin(A, -0.5, 0.25, 2).label(0) == "[-0.5, -0.25)"


def test_a_function_in_place_of_an_expression_is_told_how_to_write_it() -> None:
    with pytest.raises(ParameterError, match=r"Write it with la\.col") as refused:
        as_expression(lambda row: row.age > 18)
    assert "0x" not in str(refused.value)
