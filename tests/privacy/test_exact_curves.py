"""D2: each curve against its definition, summed slowly: never below, and tight."""

from fractions import Fraction

import pytest
from mpmath import erfc, exp, log, mp, mpf, sqrt

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
from privacy import slow_sums as slow

TIGHT = mpf(10) ** -12
REFERENCE = mpf(10) ** -50


def assert_certified(curve, epsilon, truth):
    """The floats are read as decimals; REFERENCE is what 60 digits may lose."""
    lower, upper = (slow.number(as_typed(bound)) for bound in curve.delta_bounds(epsilon))
    assert lower * (1 - REFERENCE) <= truth <= upper * (1 + REFERENCE)
    assert upper <= truth * (1 + TIGHT) + mpf(10) ** -320
    assert lower >= truth * (1 - TIGHT) - mpf(10) ** -320


@pytest.mark.parametrize("ratio", [Fraction(1, 100), Fraction(1), Fraction(7, 2)])
@pytest.mark.parametrize("part", [0, Fraction(1, 3), Fraction(9, 10), 1, 2])
def test_d2_laplace_is_the_integral_of_the_excess(ratio, part):
    epsilon = part * ratio
    truth = slow.laplace_delta(ratio, epsilon) if part < 1 else mpf(0)
    assert_certified(LaplacePrivacy(ratio), epsilon, truth)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(5, 2)])
@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize("part", [0, Fraction(1, 7), Fraction(3, 5), Fraction(999, 1000), 1, 2])
def test_d2_geometric_is_the_sum_of_the_excess(scale, sensitivity, part):
    epsilon = part * sensitivity / scale
    laws = (slow.geometric_law(scale, shift, 400) for shift in (0, sensitivity))
    truth = slow.divergence(*laws, epsilon) if part < 1 else mpf(0)
    assert_certified(GeometricPrivacy(sensitivity, scale), epsilon, truth)


@pytest.mark.long
@pytest.mark.parametrize("sigma", [Fraction(1, 10), Fraction(1, 2), 1, Fraction(16), Fraction(17)])
@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("epsilon", [0, Fraction(1, 10), 1, Fraction(7, 2)])
def test_d2_discrete_gaussian_is_the_sum_of_the_excess(sigma, sensitivity, epsilon):
    """sigma = 16 is summed term by term, 17 by Euler and Maclaurin."""
    reach = int(30 * sigma) + 10
    laws = (slow.discrete_gaussian_law(sigma, shift, reach) for shift in (0, sensitivity))
    truth = slow.divergence(*laws, epsilon)
    assert_certified(DiscreteGaussianPrivacy(sensitivity, sigma), epsilon, truth)


@pytest.mark.long
@pytest.mark.parametrize("sigma", [60, 500])
def test_d2_wide_discrete_gaussians_are_the_sum_of_the_excess(sigma):
    laws = [slow.discrete_gaussian_law(sigma, shift, 18 * sigma) for shift in (0, 2)]
    for epsilon in (0, Fraction(1, 50)):
        truth = slow.divergence(*laws, epsilon)
        assert_certified(DiscreteGaussianPrivacy(2, sigma), epsilon, truth)


@pytest.mark.parametrize("mu", [Fraction(1, 10), 1, 3])
@pytest.mark.parametrize("epsilon", [0, Fraction(1, 2), 2, 8])
def test_d2_gaussian_is_the_integral_of_the_excess(mu, epsilon):
    assert_certified(GaussianDP(mu), epsilon, slow.gaussian_delta(mu, epsilon))


@pytest.mark.parametrize("epsilon", [20, 37, 38, 60, 300, 709, 710, 5000])
def test_d2_gaussian_keeps_its_digits_far_out(epsilon):
    """Down to 1e-300 and below the floats; Balle and Wang's formula at 100 digits."""
    mu = mpf(1)
    with mp.workdps(100):
        near, far = (epsilon / mu - mu / 2) / sqrt(2), (epsilon / mu + mu / 2) / sqrt(2)
        truth = (erfc(near) - exp(mpf(epsilon)) * erfc(far)) / 2
        assert_certified(GaussianDP(1), epsilon, truth)
        if epsilon == 37:
            assert mpf(10) ** -301 < truth < mpf(10) ** -290


def pure_pair(epsilon):
    p = exp(slow.number(epsilon)) / (1 + exp(slow.number(epsilon)))
    return [p, 1 - p], [1 - p, p]


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 5])
@pytest.mark.parametrize("part", [0, Fraction(1, 3), Fraction(99, 100), 1, 3])
def test_d1_pure_is_the_curve_of_binary_randomized_response(epsilon, part):
    truth = slow.divergence(*pure_pair(epsilon), part * epsilon) if part < 1 else mpf(0)
    assert_certified(PureDP(epsilon), part * epsilon, truth)


@pytest.mark.parametrize("epsilon", [0, Fraction(1, 2), 2])
@pytest.mark.parametrize("x", [0, Fraction(1, 4), Fraction(1, 2), 3])
def test_d2_approximate_is_the_curve_of_the_worst_mechanism(epsilon, x):
    delta = Fraction(3, 100)
    p, q = ([(1 - slow.number(delta)) * a for a in law] for law in pure_pair(epsilon))
    leaking = [*p, slow.number(delta), mpf(0)], [*q, mpf(0), slow.number(delta)]
    assert_certified(ApproxDP(epsilon, delta), x, slow.divergence(*leaking, x))


@pytest.mark.parametrize("categories", [2, 3, 7])
@pytest.mark.parametrize("x", [0, Fraction(1, 4), Fraction(99, 100), 1, Fraction(11, 10), 4])
def test_d2_randomized_response_is_the_sum_of_the_excess(categories, x):
    weights = [exp(mpf(1)), *[mpf(1)] * (categories - 1)]
    p = [w / sum(weights) for w in weights]
    q = [p[1], p[0], *p[2:]]
    truth = slow.divergence(p, q, x) if x < 1 else mpf(0)
    assert_certified(RandomizedResponsePrivacy(1, categories=categories), x, truth)


def test_m1_warners_coins_are_exactly_ln_3():
    curve = RandomizedResponsePrivacy(truth=Fraction(3, 4))
    lower, upper = curve.epsilon_bounds(0)
    assert mpf(lower) < log(mpf(3)) < mpf(upper)
    assert upper - lower < 1e-15
    assert curve.delta(Fraction(lower)) > 0
    assert curve.delta(Fraction(upper)) == 0
    assert_certified(
        curve, 1, slow.divergence([mpf(3) / 4, mpf(1) / 4], [mpf(1) / 4, mpf(3) / 4], 1)
    )


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 1, 4])
@pytest.mark.parametrize("part", [0, Fraction(1, 3), Fraction(9, 10)])
def test_d2_bounded_range_is_the_worst_of_all_pairs_with_that_range(epsilon, part):
    """Two outcomes whose losses are t and t - epsilon, over a fine grid of t."""
    e, x = slow.number(epsilon), slow.number(part * epsilon)
    grid = [e * k / 2000 for k in range(2001)]
    worst = max((exp(e) - exp(t)) * (1 - exp(x - t)) / (exp(e) - 1) for t in grid)
    lower, upper = BoundedRange(epsilon).delta_bounds(part * epsilon)
    assert worst <= mpf(upper)
    assert mpf(lower) <= worst * (1 + mpf(10) ** -4), "no pair reaches the claimed curve"
    best = (e + x) / 2
    truth = (exp(e) - exp(best)) * (1 - exp(x - best)) / (exp(e) - 1)
    assert_certified(BoundedRange(epsilon), part * epsilon, truth)


def test_bounded_range_is_sharper_than_pure():
    assert BoundedRange(1).delta(Fraction(1, 2)) < PureDP(1).delta(Fraction(1, 2)) / 3


@pytest.mark.parametrize("epsilon", [0, Fraction(1, 10), 1, 3])
def test_d2_finite_is_the_largest_over_all_events(epsilon):
    p = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8), 0, 0]
    q = [Fraction(1, 10), Fraction(1, 2), 0, Fraction(1, 5), Fraction(1, 5), 0]
    assert_certified(between(p, q), epsilon, slow.delta_by_events(p, q, epsilon))


def test_d7_a_half_and_a_third_differ_by_exactly_a_sixth():
    curve = between([1 / 2, 1 / 2], [1 / 3, 2 / 3])
    assert curve == between([Fraction(1, 2)] * 2, [Fraction(1, 3), Fraction(2, 3)])
    lower, upper = curve.delta_bounds(0)
    assert Fraction(lower) < Fraction(1, 6) < Fraction(upper)
    assert upper - lower < 1e-16


@pytest.mark.parametrize(("sigma", "epsilon", "more"), [(0.5, 0.48, 0.118), (1, 0, 0.016)])
def test_the_discrete_gaussian_is_not_gaussian(sigma, epsilon, more):
    """The Gaussian curve of the same sigma would understate the loss.

    Rule 29 of docs/explanation/soundness.md.
    """
    discrete = DiscreteGaussianPrivacy(1, sigma).delta_bounds(epsilon)[0]
    assert discrete - GaussianDP(1 / Fraction(sigma)).delta(epsilon) > more


@pytest.mark.parametrize(
    "curve",
    [
        GaussianDP(1),
        DiscreteGaussianPrivacy(1, 1),
        DiscreteGaussianPrivacy(2, 10**6),
        GaussianDP(1) * 2,
        compose(ApproxDP(1, 0.1), GaussianDP(1), DiscreteGaussianPrivacy(1, 2)),
    ],
    ids=str,
)
def test_no_epsilon_is_too_large(curve):
    leak = 0.1 if "0.1" in str(curve) else 0
    for epsilon in (1e6, 1e15, 1e300, Fraction(10) ** 400):
        lower, upper = curve.delta_bounds(epsilon)
        assert lower <= leak + 1e-300
        assert leak <= upper <= leak * (1 + 1e-12) + 5e-324
        assert curve.delta(-epsilon) == 1
    assert curve.epsilon_bounds(1e-9)[0] > 0


def test_known_values_of_the_gaussian_curve():
    assert GaussianDP(1).epsilon(1e-5) == pytest.approx(4.377178095681, abs=1e-11)
    assert GaussianDP(1).delta(1) == pytest.approx(0.1269367375, abs=1e-10)


@pytest.mark.parametrize("epsilon", [Fraction(-1, 2), -3])
def test_negative_epsilons_are_the_sum_of_the_excess_too(epsilon):
    p, q = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [Fraction(1, 6)] * 3 + [Fraction(1, 2)]
    p = [*p, Fraction(0)]
    assert_certified(between(p, q), epsilon, slow.delta_by_events(p, q, epsilon))
    a, b = slow.geometric_law(2, 0, 300), slow.geometric_law(2, 3, 300)
    assert_certified(GeometricPrivacy(3, 2), epsilon, slow.divergence(a, b, epsilon))


@pytest.mark.parametrize(
    "curve",
    [
        LaplacePrivacy(0.1),
        GaussianDP(0.1),
        DiscreteGaussianPrivacy(1, 10),
        GeometricPrivacy(1, 10),
        ZCDP(0.1),
        ApproxDP(0.1, 1e-8),
        GaussianDP(1).sampled(0.01),
    ],
    ids=lambda curve: type(curve).__name__,
)
def test_a_huge_curve_is_printed_at_once_in_one_line(curve):
    for number in (10**30, 10**400):
        text = str(curve * number)
        assert len(text) < 130
        assert "δ = 1.001" not in text


def test_the_quick_epsilon_of_a_huge_curve_is_no_less_than_the_slow_one():
    """At a mu of 50,000, just beyond where it is used; and it is near."""
    huge = GaussianDP(50_000)
    printed = float(str(huge).split("ε = ")[1].split(" ")[0])
    assert huge.epsilon(1e-6) <= printed <= 1.001 * huge.epsilon(1e-6)
