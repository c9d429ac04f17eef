"""Floats that are said to people are bounds however they are read."""

from fractions import Fraction
from math import inf, isinf, nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.exact.balls import ball, certain
from letalone.exact.typed import as_typed
from letalone.privacy import PureDP
from letalone.privacy.bounds import (
    above,
    at_most,
    below,
    dyadic_above,
    exceeds,
    format_number,
    larger,
    shown_above,
    smaller,
)

fractions = st.fractions(min_value=0, max_value=1000)


@given(fractions)
def test_a_rational_is_rounded_outwards_in_both_readings(value):
    up, down = above(value), below(value)
    assert as_typed(down) <= value <= as_typed(up)
    if as_typed(up) != value:
        assert Fraction(down) <= value <= Fraction(up)
        assert up <= nextafter(nextafter(nextafter(down, inf), inf), inf)
    else:
        assert up == down


@given(fractions)
def test_a_ball_is_rounded_outwards_in_both_readings(value):
    real = certain(lambda: ball(value + 1) / 3)
    third = (value + 1) / 3
    for bound, holds in ((above(real), third.__le__), (below(real), third.__ge__)):
        assert holds(Fraction(bound))
        assert holds(as_typed(bound))


def test_what_was_typed_comes_back():
    assert PureDP(0.3).epsilon(0) == 0.3
    assert above(Fraction(3, 10)) == below(Fraction(3, 10)) == 0.3


def test_beyond_the_floats():
    assert above(Fraction(1, 10**400)) == 5e-324
    assert below(Fraction(1, 10**400)) == 0
    assert isinf(above(Fraction(10**400)))
    assert above(certain(lambda: ball(-(10**6)).exp())) == 5e-324


def test_comparisons_are_certain():
    third = certain(lambda: ball(1) / 3)
    assert not at_most(third, Fraction(1, 3))
    assert not exceeds(third, Fraction(1, 3))
    assert at_most(third, Fraction(1, 3) + Fraction(1, 10**30))
    assert exceeds(third, Fraction(1, 3) - Fraction(1, 10**30))
    assert at_most(Fraction(1, 3), Fraction(1, 3))


def test_the_larger_stays_exact():
    third = certain(lambda: ball(1) / 3)
    assert larger(third, Fraction(1, 2)) == Fraction(1, 2)
    assert smaller(Fraction(1, 4), third) == Fraction(1, 4)
    assert larger(third, Fraction(1, 4)) is third
    assert larger(third, Fraction(1, 3)).overlaps(third)


def test_a_dyadic_is_just_above():
    real = certain(lambda: ball(2).sqrt(), bits=120)
    up = dyadic_above(real)
    assert up**2 > 2
    assert up**2 < 2 + Fraction(1, 2**80)
    assert up.denominator & (up.denominator - 1) == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [(Fraction(1, 10), "0.1"), (Fraction(2), "2"), (Fraction(1, 3), "1/3"),
     (Fraction(1, 10**6), "1e-6"),
     (Fraction(10**40 + 1, 3 * 10**40), "≈0.333333")],
)  # fmt: skip
def test_parameters_read_as_typed(value, text):
    assert format_number(value) == text


def test_printed_epsilons_are_rounded_up():
    assert shown_above(1.23401) == "1.235"
    assert shown_above(0.1) == "0.1"
    assert shown_above(inf) == "∞"
