"""Conversions: each that is a theorem, tight; the others refused with the reason."""

from fractions import Fraction
from itertools import product
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import erfinv, mp, mpf, ncdf, quad

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.privacy import (
    ADD_REMOVE,
    ZCDP,
    ApproxDP,
    BoundedRange,
    DiscreteGaussianPrivacy,
    GaussianDP,
    LaplacePrivacy,
    NoPrivacy,
    PureDP,
    RandomizedResponsePrivacy,
    compose,
)
from letalone.privacy.conversions import convert
from letalone.privacy.curves.laplace_curve import laplace_divergence
from letalone.privacy.curves.pure_terms import pure_divergence, pure_mu_squared, pure_rho
from letalone.privacy.curves.renyi import RenyiDP
from stages import pick

F = Fraction
mp.dps = 40
EPSILONS = [F(1, 10**6), F(1, 100), F(1, 2), F(1), F(3), F(20), F(300)]


def real(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


def slow_divergence(order: Fraction, epsilon: Fraction) -> mpf:
    """Randomized response, outcome by outcome."""
    a, p = real(order), 1 / (1 + mp.exp(-real(epsilon)))
    q = 1 / (1 + mp.exp(real(epsilon)))
    return mp.log(p**a * q ** (1 - a) + q**a * p ** (1 - a)) / (a - 1)


# Pure to everything, against randomized response, which reaches each.


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("order", [F(11, 10), F(2), F(8), F(96)])
def test_pure_to_renyi_is_reached_by_randomized_response(epsilon, order) -> None:
    found, slow = real(pure_divergence(order, epsilon)), slow_divergence(order, epsilon)
    assert slow * (1 - mpf(10) ** -20) <= found <= slow * (1 + mpf(10) ** -20)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pure_to_zcdp_is_the_kullback_leibler_divergence_and_never_less(epsilon) -> None:
    """At order 1 it is reached; at every other order randomized response stays below."""
    rho, e = real(pure_rho(epsilon)), real(epsilon)
    assert rho >= e * mp.tanh(e / 2) * (1 - mpf(10) ** -25)
    assert rho <= e**2 / 2
    assert rho == pytest.approx(float(e * mp.tanh(e / 2)), rel=1e-15)
    for order in (F(101, 100), F(2), F(10), F(1000)):
        assert slow_divergence(order, epsilon) <= real(order) * rho * (1 + mpf(10) ** -25)


@pytest.mark.parametrize("epsilon", EPSILONS[:-1])
def test_pure_to_gaussian_touches_the_corner_of_the_pure_curve(epsilon) -> None:
    mu = mp.sqrt(real(pure_mu_squared(epsilon)))
    corner = 1 / (1 + mp.exp(real(epsilon)))
    assert ncdf(-mu / 2) <= corner
    assert ncdf(-mu / 2) == pytest.approx(float(corner), rel=1e-15)
    exact = 2 * mp.sqrt(2) * erfinv(1 - 2 * corner)
    assert float(mu) == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize("false_alarm", [0.001, 0.1, 0.27, 0.5, 0.9])
def test_pure_to_gaussian_is_a_weaker_promise_everywhere(false_alarm) -> None:
    gaussian = convert(PureDP(1), GaussianDP)
    assert gaussian.tradeoff_bounds(false_alarm)[0] <= PureDP(1).tradeoff_bounds(false_alarm)[1]


def test_beyond_ten_thousand_the_bound_on_mu_is_still_above() -> None:
    assert pure_mu_squared(F(10**4)) < 8 * 10**4
    assert pure_mu_squared(F(10**6)) == 8 * 10**6
    assert pure_mu_squared(F(10**4) + 1) > pure_mu_squared(F(10**4))


@pytest.mark.parametrize("ratio", [F(1, 100), F(1), F(5)])
@pytest.mark.parametrize("order", [F(3, 2), F(3), F(24)])
def test_laplace_to_renyi_is_the_integral(ratio, order) -> None:
    a, r = real(order), real(ratio)

    def integrand(x):
        return mp.exp(-a * abs(x) - (1 - a) * abs(x - r)) / 2

    slow = mp.log(quad(integrand, [-mp.inf, 0, r, mp.inf])) / (a - 1)
    found = real(laplace_divergence(order, ratio))
    assert found >= slow * (1 - mpf(10) ** -20)
    assert float(found) == pytest.approx(float(slow), rel=1e-12)
    assert found < real(pure_divergence(order, ratio))


# The curve of one order.


def test_the_delta_of_one_order_is_the_formula_and_above_the_gaussian() -> None:
    curve = RenyiDP(8, 0.5)
    for epsilon in (0, 0.5, 1, 3):
        a, tau = mpf(8), mpf("0.5")
        slow = mp.exp((a - 1) * (tau - mpf(epsilon))) / a * (1 - 1 / a) ** (a - 1)
        low, high = curve.delta_bounds(epsilon)
        assert high == pytest.approx(min(1.0, float(slow)), rel=1e-12)
        assert high >= min(mpf(1), slow) * (1 - mpf(10) ** -18)
        assert low <= GaussianDP(mu_squared=F(1, 8)).delta(epsilon) <= high


@settings(max_examples=pick(25, 60), deadline=None)
@given(
    st.lists(st.integers(1, 50), min_size=3, max_size=5),
    st.lists(st.integers(1, 50), min_size=3, max_size=5),
    st.sampled_from([F(3, 2), F(2), F(5)]),
    st.sampled_from([F(0), F(1, 4), F(1), F(2)]),
)
def test_every_pair_of_laws_obeys_the_conversion_of_one_order(p, q, order, epsilon) -> None:
    """With the divergence of the pair itself; a conversion too small by a third is caught."""
    size = min(len(p), len(q))
    one = [mpf(n) / sum(p[:size]) for n in p[:size]]
    other = [mpf(n) / sum(q[:size]) for n in q[:size]]
    a = real(order)
    moment = sum(x**a * y ** (1 - a) for x, y in zip(one, other, strict=True))
    tau = F(float(mp.log(moment) / (a - 1))) + F(1, 10**12)
    exact = sum(max(0, x - mp.exp(real(epsilon)) * y) for x, y in zip(one, other, strict=True))
    assert float(exact) <= RenyiDP(order, max(tau, F(1, 10**12))).delta(epsilon)


@pytest.mark.long  # how tight, not whether: the other conversions of this file
def test_the_conversion_of_one_order_is_reached_by_some_pair() -> None:
    """Power: two outcomes come within a tenth of the formula, so it cannot be lowered much."""
    a, epsilon, best = mpf(2), mpf(1), mpf(0)
    for n in range(1, 400):
        x = mpf(n) / 400
        for m in range(1, 40):
            y = x * mpf(m) / 40 / mp.e
            tau = mp.log(x**a * y ** (1 - a) + (1 - x) ** a * (1 - y) ** (1 - a)) / (a - 1)
            formula = mp.exp((a - 1) * (tau - epsilon)) / a * (1 - 1 / a) ** (a - 1)
            best = max(best, (x - mp.e * y) / formula)
    assert 0.9 < best <= 1


def test_a_group_of_two_halves_the_order_and_is_refused_where_none_is_left() -> None:
    group = RenyiDP(8, 1).group(2)
    assert (group.order, group.divergence) == (4, 1 + F(7, 2) / 3)
    assert GaussianDP(1).zcdp_rho() * 4 * group.order <= group.divergence * 4
    with pytest.raises(UnsupportedQuery, match="larger order"):
        RenyiDP(2, 1).group(2)


def test_a_group_of_gaussians_stays_below_the_group_of_its_order() -> None:
    """D_b for a shift k times as large is k^2 b rho; the theorem must not promise less."""
    for order, size in product((10, 16, 50), (2, 3, 4, 5, 6, 7, 8)):
        rho = F(1, 10)
        group = RenyiDP(order, order * rho).group(size)
        assert group.divergence >= size**2 * group.order * rho


@pytest.mark.parametrize("bad", [{"order": 1}, {"order": 0.5}, {"epsilon": 0}, {"epsilon": inf}])
def test_bad_parameters_of_an_order_are_refused(bad) -> None:
    with pytest.raises(ParameterError, match=r"but must be"):
        RenyiDP(**{"order": 2, "epsilon": 1, **bad})


def test_a_curve_of_one_order_prints_and_stores_its_parameters() -> None:
    assert str(RenyiDP(8, 0.5)).startswith("RenyiDP(order=8, epsilon=0.5): ε = ")
    assert RenyiDP(8, 0.5).parameters() == {"order": "8", "epsilon": "1/2"}
    assert RenyiDP(8, 0.5).tradeoff_bounds(0.1)[0] < RenyiDP(8, 0.5).tradeoff_bounds(0.1)[1]


# The table of directions.

ALLOWED = [
    (LaplacePrivacy(1), PureDP, {}),
    (LaplacePrivacy(1), ZCDP, {}),
    (LaplacePrivacy(1), GaussianDP, {}),
    (RandomizedResponsePrivacy(1), GaussianDP, {}),
    (GaussianDP(1), ZCDP, {}),
    (GaussianDP(1), RenyiDP, {"order": 4}),
    (GaussianDP(1), ApproxDP, {"delta": 1e-6}),
    (GaussianDP(1), ApproxDP, {"epsilon": 2}),
    (ZCDP(0.1), RenyiDP, {"order": 4}),
    (ZCDP(0.1), ApproxDP, {"delta": 1e-6}),
    (RenyiDP(8, 0.5), RenyiDP, {"order": 4}),
    (RenyiDP(8, 0.5), ApproxDP, {"delta": 1e-6}),
    (BoundedRange(1), ZCDP, {}),
    (DiscreteGaussianPrivacy(1, 2), ZCDP, {}),
    (compose(GaussianDP(1), LaplacePrivacy(0.1)), GaussianDP, {}),
    (compose(ZCDP(1), LaplacePrivacy(0.1)), ZCDP, {}),
]
REFUSED = [
    (ZCDP(0.1), GaussianDP, {}, "moments"),
    (DiscreteGaussianPrivacy(1, 2), GaussianDP, {}, "moments"),
    (RenyiDP(8, 0.5), GaussianDP, {}, "one order"),
    (RenyiDP(8, 0.5), ZCDP, {}, "one order"),
    (RenyiDP(8, 0.5), RenyiDP, {"order": 9}, "one order"),
    (GaussianDP(1), PureDP, {}, "no bound"),
    (ZCDP(1), PureDP, {}, "moments"),
    (ApproxDP(1, 1e-6), PureDP, {}, "show everything"),
    (ApproxDP(1, 1e-6), ZCDP, {}, "show everything"),
    (ApproxDP(1, 1e-6), GaussianDP, {}, "show everything"),
    (ApproxDP(1, 1e-6), RenyiDP, {"order": 2}, "show everything"),
    (ApproxDP(1, 1e-6), ApproxDP, {"delta": 1e-7}, "larger delta"),
    (GaussianDP(1), ApproxDP, {"delta": 0}, "larger delta"),
    (NoPrivacy(), ZCDP, {}, "show everything"),
]


@pytest.mark.parametrize(("privacy", "to", "extra"), ALLOWED)
def test_a_conversion_that_is_a_theorem_never_promises_more(privacy, to, extra) -> None:
    found = convert(privacy.with_neighbours(ADD_REMOVE), to, **extra)
    assert isinstance(found, to)
    assert found.neighbours == ADD_REMOVE
    for epsilon in (0, 0.5, 1, 3):
        assert found.delta(epsilon) >= privacy.delta_bounds(epsilon)[0]


@pytest.mark.parametrize(("privacy", "to", "extra", "reason"), REFUSED)
def test_a_conversion_that_is_none_is_refused_with_the_reason(privacy, to, extra, reason) -> None:
    with pytest.raises(UnsupportedQuery, match=reason):
        convert(privacy, to, **extra)


@pytest.mark.parametrize(
    ("to", "extra"),
    [
        (ApproxDP, {}),
        (ApproxDP, {"delta": 1e-6, "epsilon": 1}),
        (RenyiDP, {}),
        (ZCDP, {"delta": 1e-6}),
        (PureDP, {"order": 2}),
        (LaplacePrivacy, {}),
    ],
)
def test_parameters_that_do_not_belong_are_refused(to, extra) -> None:
    with pytest.raises(ParameterError):
        convert(PureDP(1), to, **extra)


def test_pure_comes_back_as_it_was() -> None:
    assert convert(PureDP(0.1), PureDP) == PureDP(0.1)
    assert convert(LaplacePrivacy(0.1) * 3, PureDP) == PureDP(0.3)
    assert convert(GaussianDP(0.5), GaussianDP) == GaussianDP(0.5)
    assert convert(GaussianDP(0.5), ZCDP) == ZCDP(0.125)
    assert convert(BoundedRange(1), ZCDP) == ZCDP(0.125)


def test_what_is_no_curve_is_refused() -> None:
    with pytest.raises(ParameterError, match="convert was given the type int"):
        convert(3, ZCDP)
