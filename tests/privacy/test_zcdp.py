"""zCDP: the conversion against a dense search, and its place above the Gaussian."""

from fractions import Fraction

import pytest
from mpmath import exp, log, mpf, sqrt

from letalone.privacy import (
    REPLACE,
    ZCDP,
    BoundedRange,
    DiscreteGaussianPrivacy,
    GaussianDP,
    LaplacePrivacy,
    PureDP,
    convert,
)
from letalone.privacy.curves.pure_terms import pure_rho
from privacy import slow_sums as slow


def conversion(rho, epsilon, order):
    return exp((order - 1) * (order * rho - epsilon)) / order * (1 - 1 / order) ** (order - 1)


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 2), 10])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 20])
def test_the_upper_curve_is_the_best_renyi_conversion(rho, epsilon):
    r, e = slow.number(rho), slow.number(epsilon)
    low, high = mpf(10) ** -12, mpf(10) ** 12  # the order less one, bisected on the slope
    for _ in range(200):
        middle = sqrt(low * high)
        rising = r * (2 * middle + 1) - e + log(middle / (1 + middle)) > 0
        low, high = (low, middle) if rising else (middle, high)
    truth = conversion(r, e, 1 + low)
    upper = mpf(ZCDP(rho).delta(epsilon))
    assert truth <= upper <= truth * (1 + mpf(10) ** -12) + mpf(10) ** -320
    orders = (1 + mpf(10) ** (mpf(k) / 20) for k in range(-160, 160))
    assert truth <= min(conversion(r, e, order) for order in orders)


@pytest.mark.parametrize("rho", [1e-6, 0.02, 0.5, 8])
def test_it_is_never_below_what_is_rho_zcdp(rho):
    """Gaussian, discrete Gaussian, pure and bounded-range curves of that rho."""
    curve = ZCDP(rho)
    for epsilon in (0, 0.1, 1, 5, 30):
        assert curve.delta(epsilon) >= GaussianDP(mu_squared=2 * Fraction(str(rho))).delta(epsilon)
    for inside in (
        PureDP(1.3),
        LaplacePrivacy(0.7),
        BoundedRange(2),
        DiscreteGaussianPrivacy(1, 0.5),
    ):
        for epsilon in (0, 0.2, 0.65, 1.1, 4):
            assert ZCDP(inside.zcdp_rho()).delta(epsilon) >= inside.delta_bounds(epsilon)[0]


def test_conversions_carry_the_stated_rho_and_the_neighbours():
    assert convert(PureDP(2, neighbours=REPLACE), ZCDP) == ZCDP(
        pure_rho(Fraction(2)), neighbours=REPLACE
    )
    assert convert(BoundedRange(2), ZCDP) == ZCDP(0.5)
    assert convert(GaussianDP(2), ZCDP) == ZCDP(2)
    assert convert(DiscreteGaussianPrivacy(3, 2), ZCDP) == ZCDP(Fraction(9, 8))


def test_extreme_parameters_neither_overflow_nor_hang():
    assert ZCDP(Fraction(1, 10**400)).delta(1) == 5e-324
    assert ZCDP(Fraction(10) ** 400).delta(1) == 1
    assert ZCDP(0.5).delta(Fraction(10) ** 320) == 5e-324
    assert ZCDP(0.5).epsilon(Fraction(1, 10**5000)) < 200
