"""D6: what any test can do, against explicit tests."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import erfinv, exp, log, mpf, ncdf, sqrt

from letalone.exact.typed import as_typed
from letalone.privacy import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    DiscreteGaussianPrivacy,
    GaussianDP,
    GeometricPrivacy,
    LaplacePrivacy,
    PureDP,
    RandomizedResponsePrivacy,
    between,
    compose,
)
from letalone.privacy.curves.envelopes import lowest_envelope
from privacy import slow_sums as slow

RATES = [
    0,
    Fraction(1, 1000),
    Fraction(1, 20),
    Fraction(1, 3),
    Fraction(3, 5),
    Fraction(99, 100),
    1,
]


def best_test(p, q, false_alarm):
    """The least P[miss] over all randomised tests: lines between all pairs of events.

    Every test mixes events, so the best at a rate lies on a segment between two of them.
    """
    points = {
        (sum((q[i] for i in s), Fraction(0)), 1 - sum((p[i] for i in s), Fraction(0)))
        for s in slow.all_events(len(p))
    }
    best = Fraction(1)
    for a, miss_a in points:
        for b, miss_b in points:
            if a <= false_alarm <= b:
                part = (false_alarm - a) / (b - a) if b > a else Fraction(0)
                best = min(best, miss_a + part * (miss_b - miss_a))
    return best


@given(
    st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any),
    st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any),
    st.fractions(0, 1, max_denominator=50),
)
def test_d6_the_tradeoff_of_a_finite_pair_is_that_of_the_best_test(left, right, rate):
    p, q = ([Fraction(x, sum(law)) for x in law] for law in (left, right))
    truth = min(best_test(p, q, rate), best_test(q, p, rate))
    lower, upper = between(p, q).tradeoff_bounds(rate)
    assert as_typed(lower) <= truth <= as_typed(upper)
    assert upper - lower < 1e-15


def discrete_missed(p, q, rate):
    """Neyman and Pearson on outcomes already in the order of their likelihood ratio."""
    told, alarms = mpf(0), mpf(0)
    for a, b in zip(p, q, strict=True):
        if alarms + b > rate:
            return 1 - told - a / b * (rate - alarms)
        told, alarms = told + a, alarms + b
    return 1 - told


@pytest.mark.parametrize("rate", [r for r in RATES if 0 < r < 1])
@pytest.mark.parametrize("sensitivity", [1, 4])
def test_d6_the_integer_laws_against_neyman_and_pearson(rate, sensitivity):
    for curve, law in (
        (GeometricPrivacy(sensitivity, 2), slow.geometric_law),
        (DiscreteGaussianPrivacy(sensitivity, 2), slow.discrete_gaussian_law),
    ):
        p, q = (law(2, shift, 200) for shift in (0, sensitivity))
        truth = discrete_missed(p, q, slow.number(rate))
        lower, upper = curve.tradeoff_bounds(rate)
        assert mpf(lower) <= truth <= mpf(upper)
        assert upper - lower < 1e-15


@pytest.mark.parametrize("rate", [r for r in RATES if 0 < r < 1])
def test_d6_gaussian_and_laplace_against_thresholds(rate):
    """Both likelihood ratios grow along the line, so the best test is a threshold."""
    a = slow.number(rate)
    z = sqrt(mpf(2)) * erfinv(1 - 2 * a)
    lower, upper = GaussianDP(2).tradeoff_bounds(rate)
    assert mpf(lower) <= ncdf(z - 2) <= mpf(upper)
    assert upper - lower < 1e-15
    # Laplace: false alarm P[X > t] = a, missed P[X + r < t].
    r = mpf(3) / 2
    t = -log(2 * a) if a < mpf(1) / 2 else log(2 * (1 - a))
    truth = exp(t - r) / 2 if t < r else 1 - exp(r - t) / 2
    lower, upper = LaplacePrivacy(Fraction(3, 2)).tradeoff_bounds(rate)
    assert mpf(lower) - mpf(10) ** -50 <= truth <= mpf(upper) + mpf(10) ** -50
    assert upper - lower < 1e-15


@pytest.mark.parametrize("rate", [r for r in RATES if 0 < r < 1])
def test_d6_bounded_range_is_reached_by_a_two_outcome_pair(rate):
    e, a = exp(mpf(2)), slow.number(rate)
    grid = (exp(2 * mpf(k) / 4000) for k in range(1, 4000))
    # Losses ln t and ln t - 2: the test that rejects on the first outcome, and its lines.
    reached = min(max(1 - t * a, t / e * (1 - a)) for t in grid)
    lower, upper = BoundedRange(2).tradeoff_bounds(rate)
    assert mpf(lower) <= reached
    assert reached < mpf(upper) + mpf(10) ** -3


CURVES = [
    PureDP(1),
    ApproxDP(1, 0.01),
    GaussianDP(1),
    ZCDP(0.5),
    LaplacePrivacy(1),
    GeometricPrivacy(2, 2),
    DiscreteGaussianPrivacy(1, 2),
    RandomizedResponsePrivacy(1, categories=4),
    BoundedRange(1),
    between([0.5, 0.4, 0.1], [0.3, 0.7, 0]),
    between([0.5, 0.4, 0.1], [0.3, 0.6, 0.1]).group(2),
    compose(GaussianDP(1), LaplacePrivacy(0.5)),
    LaplacePrivacy(0.1) * 1000,
]


@pytest.mark.few("[Pure", "[Approx", "[Gaussian", "[Finite(", "[Laplace", "[Discrete", "[ZCDP")
@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_d6_both_inequalities_hold_on_the_tradeoff_curve(curve):
    """P_MD + e^e P_FA >= 1 - d and P_FA + e^e P_MD >= 1 - d, for every point of the curve."""
    for rate in RATES:
        missed = Fraction(curve.tradeoff_bounds(rate)[1])
        for epsilon in (0, Fraction(1, 3), 1, 3):
            factor, delta = exp(slow.number(epsilon)), mpf(curve.delta(epsilon))
            a, b = slow.number(rate), slow.number(missed)
            assert b + factor * a >= 1 - delta
            assert a + factor * b >= 1 - delta


@pytest.mark.long
@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_the_tradeoff_is_cautious_falls_and_is_below_guessing(curve):
    lowers = []
    for rate in RATES:
        lower, upper = curve.tradeoff_bounds(rate)
        assert 0 <= lower <= upper <= 1
        assert lower == curve.tradeoff(rate)
        assert lower <= float(1 - rate) + 1e-15
        lowers.append(lower)
    assert all(a >= b for a, b in pairwise(lowers))
    assert lowers[-1] == 0


@pytest.mark.parametrize("curve", [GaussianDP(1), LaplacePrivacy(2), PureDP(1)], ids=str)
@pytest.mark.parametrize(
    "rate", [Fraction(1, 10**6), Fraction(1, 20), Fraction(1, 2), Fraction(9, 10)]
)
def test_the_envelope_finds_the_exact_curve_from_delta_alone(curve, rate):
    envelope = float(lowest_envelope(curve, rate))
    exact = curve.tradeoff(rate)
    assert envelope <= exact + 1e-15
    assert envelope >= exact - 1e-8
