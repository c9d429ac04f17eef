"""The largest price that fits is found to fit, and the next one of three digits does not."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.privacy import Budget
from letalone.privacy.largest import largest_price, round_down, round_up

positive = st.fractions(min_value="1/1000", max_value=1000)


@given(limit=positive, asked=positive, about=positive)
def test_the_result_fits_and_the_next_number_of_three_digits_does_not(limit, asked, about):
    tried = []

    def fits(price):
        tried.append(price)
        return price.epsilon <= limit

    found = largest_price(fits, Budget(asked), left=Budget(about))
    if found is None:  # below four decades under what was said to be left
        assert limit < min(asked, about) / 999
        return
    assert found in tried
    assert fits(found)
    assert found.epsilon == asked or found.epsilon == round_down(min(limit, asked))
    assert len(tried) < 20


def test_the_exact_number_that_is_left_is_found_at_once():
    tried = []
    asked, left = Budget(5), Budget(1.5)
    found = largest_price(lambda p: tried.append(p) or p <= left, asked, left=left)
    assert found == left
    assert len(tried) == 4


def test_less_delta_is_offered_where_no_epsilon_helps():
    left = Budget(Fraction(3, 2), Fraction(5, 10**7))
    found = largest_price(lambda price: price <= left, Budget(0.5, 1e-6), left=left)
    assert found == Budget(0.5, 5e-7)


def test_less_delta_is_offered_rather_than_an_epsilon_that_helps_nobody():
    """At a tiny ε the curve of found groups has less of its δ."""
    left = Budget(Fraction(3, 2), Fraction(5, 10**7))

    def fits(price):
        return price <= left or price.epsilon < Fraction(1, 10_000)

    assert largest_price(fits, Budget(0.5, 1e-6), left=left) == Budget(0.5, 5e-7)


def test_nothing_is_offered_where_nothing_fits():
    assert largest_price(lambda _: False, Budget(1, 1e-6), left=Budget(1, 1e-7)) is None


@pytest.mark.parametrize(
    ("value", "rounded"),
    [("1.2349", "1.23"), ("999.9", "999"), ("0.00098765", "0.000987"), ("7", "7")],
)
def test_round_down_and_up_are_neighbours_of_three_digits(value, rounded):
    down = round_down(Fraction(value))
    assert down == Fraction(rounded)
    up = round_up(Fraction(value))
    assert up == down if down == Fraction(value) else down < Fraction(value) < up
    assert round_down(up) == up
    assert up <= down * Fraction(102, 100)
