"""On a screen no value lies beyond its interval, and none is shown where nothing was learnt."""

from math import nextafter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import letalone as la
from answers.releases import OUTPUTS, made
from letalone.answers.columns import CellKind, Output
from letalone.answers.shown import as_shown
from letalone.answers.views import interval_text
from letalone.plans.plan import make_plan
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

SCHEMA = Schema("t", (Column("x", Type.NUMBER),))


def plan_of(aggregate: Any) -> Any:
    return make_plan(SCHEMA, {"a": aggregate}).to_json()


def output(value: float, low: float, high: float) -> Output:
    return Output("a", "a", "", CellKind.NUMBER, (value,), (low,), (high,))


def shown(plan: Any, value: float, low: float, high: float) -> Any:
    (found,) = as_shown(plan, [output(value, low, high)])
    assert (found.low, found.high) == ((low,), (high,)) or low == high, "the ends stay"
    return found.values[0]


@given(st.tuples(*[st.floats(-1e300, 1e300)] * 3))
def test_a_value_is_shown_within_its_interval_and_as_it_is_where_it_lies_in_it(
    numbers: tuple[float, float, float],
) -> None:
    value, low, high = numbers[0], *sorted(numbers[1:])
    found = shown(plan_of(la.count()), value, low, high)
    assert low <= found <= high
    assert found == value or not low <= value <= high


def test_a_number_that_noise_took_below_0_is_shown_with_the_range_of_0() -> None:
    """A sum's is as wide as it was; of an old count, 0 to 0 was stored, and its own is unknown."""
    total = plan_of(la.sum("x", lower=0, upper=10))
    (found,) = as_shown(total, [output(-500.0, -800.0, -200.0)])
    assert (found.values, found.low, found.high) == ((0.0,), (0.0,), (300.0,))
    below = plan_of(la.sum("x", lower=-10, upper=0))
    (found,) = as_shown(below, [output(500.0, 200.0, 800.0)])
    assert (found.values, found.low, found.high) == ((0.0,), (-300.0,), (0.0,))
    counted = Output("a", "a", "", CellKind.INTEGER, (-35, -20, 0), (0, 0, 0), (0, 30, 0))
    (found,) = as_shown(plan_of(la.count()), [counted])
    assert (found.values, found.low, found.high) == ((0, 0, 0), (0, 0, 0), (35, 30, 0))


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("mean", (2, 10)),
        ("median", (2, 10)),
        ("max", (2, 10)),
        ("variance", (0, 16)),
        ("std", (0, 4)),
    ],
)
def test_a_value_is_unknown_where_its_interval_is_its_whole_range_and_only_there(
    name: str, whole: tuple[float, float]
) -> None:
    plan = plan_of(getattr(la, name)("x", lower=2, upper=10))
    least, most = whole
    assert shown(plan, 3.0, least, most) is None
    assert shown(plan, 3.0, nextafter(least, 99), most) is None
    assert shown(plan, 3.0, least + 1e-3, most) == 3.0
    assert shown(plan, 3.0, least, most - 1e-3) == 3.0


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (0, 10, (0.0, 0.0, 8.0)),
        (2, 10, (0.0, 0.0, 8.0)),
        (-1, 10, (-3.0, -9.0, 5.0)),
        (-10, 0, (-3.0, -9.0, 0.0)),
    ],
)
def test_a_sum_is_known_however_wide_its_interval_is_and_has_the_sign_of_its_values(
    lower: int, upper: int, expected: tuple[float, float, float]
) -> None:
    plan = plan_of(la.sum("x", lower=lower, upper=upper))
    (found,) = as_shown(plan, [output(-3.0, -9.0, 5.0)])
    assert (found.values, found.low, found.high) == tuple((end,) for end in expected)
    (wide,) = as_shown(plan, [output(1.0, -1e300, 1e300)])
    assert wide.values[0] is not None


@pytest.mark.parametrize(("name", "much"), [("variance", 0.16), ("std", 0.4)])
def test_a_spread_of_0_is_unknown_where_it_may_be_much_and_no_other_value_is(
    name: str, much: float
) -> None:
    plan = plan_of(getattr(la, name)("x", lower=2, upper=10))
    assert shown(plan, 0.0, 0.0, 1.5 * much) is None
    assert shown(plan, 0.0, 0.0, 0.9 * much) == 0.0, "nearly all values are the same"
    assert shown(plan, 1e-3, 0.0, 1.5 * much) == 1e-3
    assert shown(plan_of(la.count()), 0, 0, 99) == 0
    assert shown(plan_of(la.mean("x", lower=0, upper=10)), 0.0, 0.0, 9.0) == 0.0


def test_the_release_shows_one_and_keeps_the_other() -> None:
    release = made()
    assert release.shown[0].values == (2**55 + 1, 0, 12)
    assert release.outputs == OUTPUTS
    assert [row["n"] for row in release.rows()] == [2**55 + 1, -5, 12]


def test_an_unknown_value_is_called_so_with_its_interval() -> None:
    assert interval_text(None, 0.0, 3000.0) == "unknown [0, 3,000]"
    assert interval_text(None, 0, 9) == "unknown [0, 9]"
    assert interval_text(None, 0.0, 2813.2688) == "unknown [0, 2,814]", "rounded outwards"
    assert interval_text(None, None, None) == "missing"
