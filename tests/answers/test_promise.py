"""Sentences that can be quoted: their numbers are those of the curve, rounded up."""

from decimal import Decimal
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

import letalone as la
from letalone.answers.promise import (
    as_percent,
    as_sure,
    best_guess,
    group_promise,
    most_caught,
    price,
    promise,
)

LABEL = la.ADD_REMOVE.of("patient")


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1, 3])
def test_the_numbers_are_those_of_pure_privacy(epsilon: float) -> None:
    curve = la.PureDP(epsilon)
    odds = exp(epsilon) / (1 + exp(epsilon))
    assert odds <= best_guess(curve) <= odds + 1e-12
    caught = min(exp(epsilon) * 0.05, 1 - exp(-epsilon) * 0.95)
    assert caught <= most_caught(curve) + 1e-15 <= caught + 1e-12


def test_percentages_are_rounded_up() -> None:
    assert [as_percent(p) for p in (0.05, 0.0824, 0.08301, 0.5, 0.1, 0.99331, 0.99967)] == [
        "5 %",
        "8.3 %",
        "8.4 %",
        "50 %",
        "10 %",
        "99.4 %",
        "99.97 %",
    ]


@given(st.floats(0.99, 1, exclude_max=True))
def test_what_is_not_certain_is_never_called_100_percent(probability: float) -> None:
    said = Decimal(as_percent(probability).removesuffix(" %"))
    assert 100 * Decimal(repr(probability)) <= said < 100


@given(st.floats(0.5, 1, exclude_max=True))
def test_a_confidence_is_said_as_it_was_typed(confidence: float) -> None:
    said = Decimal(as_sure(confidence).removesuffix(" %"))
    assert said == 100 * Decimal(repr(confidence)) < 100


@pytest.mark.parametrize("epsilon", [8, 20, 60])
def test_a_promise_that_is_hardly_one_does_not_speak_of_100_percent(epsilon: int) -> None:
    curve = la.PureDP(epsilon).with_neighbours(LABEL)
    words = promise(curve) + group_promise(curve)
    assert "100 %" not in words
    assert "without a limit worth the name" in words


def test_the_paragraph_names_the_unit_and_both_numbers() -> None:
    words = promise(la.PureDP(0.5).with_neighbours(LABEL))
    assert "whether any one patient is in the data" in words
    assert "detects the patient at most 8.3 % of the time" in words
    assert "won at most 62.3 % of the time" in words
    replaced = promise(la.PureDP(0.5).with_neighbours(la.REPLACE.of("patient")))
    assert "whether the data of any one patient are the true ones or any others" in replaced


def test_p7_a_family_of_ten_is_told_what_holds_for_it() -> None:
    words = group_promise(la.PureDP(0.5).with_neighbours(LABEL), 10)
    assert "the promise to all of them together is ε = 5" in words
    assert as_percent(most_caught(la.PureDP(5))) in words


def test_a_curve_without_a_pure_epsilon_is_priced_at_the_delta_that_was_asked_for() -> None:
    curve = la.Gaussian(epsilon=1, delta=1e-5, sensitivity=1).privacy
    assert price(curve, 1e-5) == "ε = 1 at δ = 1e-5"
    assert price(curve).endswith("at δ = 1e-6")


KINDS = (la.PureDP(0.1), la.PureDP(0.13), la.GaussianDP(0.2), la.ZCDP(0.01), la.GaussianDP(0.1))


@pytest.mark.long
@pytest.mark.parametrize("parts", [KINDS[:2] * 2 + KINDS[2:], (*KINDS[:2], la.PureDP(1e-06))])
def test_what_is_told_of_many_releases_is_never_less_than_their_own_curve_says(parts) -> None:
    whole = la.compose(*parts)
    assert len(whole.parts) > 2
    assert most_caught(whole) >= 1 - whole.tradeoff_bounds(0.05)[1]
    assert best_guess(whole) >= (1 + whole.delta_bounds(0)[0]) / 2
    nothing = la.compose(*(la.PureDP(n) for n in (50, 60, 70)))
    assert best_guess(whole) < best_guess(nothing), "a bound that says nothing would pass"


@pytest.mark.long
def test_a_trade_off_is_the_lower_of_both_bounds_to_nine_digits() -> None:
    for parts in (KINDS[:2], KINDS, (la.GaussianDP(1),), (la.PureDP(1).sampled(0.1),)):
        whole = la.compose(*parts)
        for alarm in (0, 0.1, 1):
            assert whole.tradeoff(alarm) == pytest.approx(whole.tradeoff_bounds(alarm)[0], rel=1e-9)
