"""Certified bounds: outwards, always, and as tight as a float allows."""

from fractions import Fraction
from math import inf, nextafter

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.exact.balls import (
    ball,
    certain,
    float_above,
    float_below,
    floor_scaled,
    fraction_above,
    fraction_below,
    is_positive,
    lower,
    upper,
    working_bits,
)

LARGEST = 1.7976931348623157e308
rationals = st.fractions(min_value=-(10**20), max_value=10**20)


@given(rationals)
def test_floats_around_a_rational_enclose_it_and_are_neighbours(value: Fraction):
    above, below = float_above(value), float_below(value)
    assert Fraction(below) <= value <= Fraction(above)
    assert above in (below, nextafter(below, inf))


@pytest.mark.parametrize(
    ("value", "below", "above"),
    [
        (Fraction(1, 10**400), 0.0, 5e-324),
        (-Fraction(1, 10**400), -5e-324, 0.0),
        (Fraction(10**400), LARGEST, inf),
        (-Fraction(10**400), -inf, -LARGEST),
        (Fraction(3), 3.0, 3.0),
        (Fraction(0), 0.0, 0.0),
        (Fraction(3, 2**1075), 5e-324, 1e-323),
    ],
)
def test_the_edges_of_the_floats_round_outwards(value: Fraction, below: float, above: float):
    assert float_below(value) == below
    assert float_above(value) == above


@given(st.fractions(min_value=Fraction(-700), max_value=Fraction(700)))
def test_the_bounds_of_an_exponential_enclose_sixty_digits_of_it(x: Fraction):
    value = certain(lambda: ball(x).exp())
    with mpmath.workdps(60):
        truth = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
        assert mpmath.mpf(lower(value)) <= truth * (1 + mpmath.mpf(10) ** -50)
        assert mpmath.mpf(upper(value)) >= truth * (1 - mpmath.mpf(10) ** -50)
        assert upper(value) <= nextafter(nextafter(lower(value), inf), inf)
    assert fraction_below(value) <= fraction_above(value)


def test_cancellation_is_met_with_more_digits():
    """e^(10^-30) − 1 − 10^-30 needs two hundred bits: it is 10^-60/2."""
    tiny = Fraction(1, 10**30)
    value = certain(lambda: ball(tiny).exp() - 1 - ball(tiny))
    assert lower(value) == pytest.approx(5e-61)
    assert is_positive(lambda: ball(tiny).exp() - 1 - ball(tiny))
    assert not is_positive(lambda: 1 + ball(tiny) - ball(tiny).exp())


def test_a_sign_that_cannot_be_decided_is_an_error_and_not_a_guess():
    with pytest.raises(ArithmeticError, match="exactly zero"):
        is_positive(lambda: ball(2).sqrt() ** 2 - 2)


def test_the_digits_of_a_real_number_are_its_floor():
    third = floor_scaled(lambda: ball(2).sqrt(), 200)
    assert third**2 < 2 << 400 < (third + 1) ** 2


def test_what_is_not_finite_is_unbounded():
    broken = ball(1) / ball(0)
    assert upper(broken) == inf
    assert lower(broken) == -inf


def test_the_working_precision_is_put_back():
    before = working_bits()
    certain(lambda: ball(2).sqrt(), bits=500)
    assert working_bits() == before


def test_digits_that_cancel_are_computed_again_with_more():
    """e^x - 1 for an x of 10^-60: with the first 128 bits not one digit is left."""
    tiny = Fraction(1, 10**60)
    found = certain(lambda: ball(tiny).exp() - 1)
    assert found.rel_accuracy_bits() >= 64
    assert tiny <= fraction_above(found) <= tiny * (1 + Fraction(1, 10**15))
