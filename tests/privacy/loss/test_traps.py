"""Where other accountants fell: overflow, lost digits, ends of ranges, memory, shortcuts."""

import tracemalloc
from fractions import Fraction
from math import exp, inf

import pytest
from mpmath import binomial, log, mpf, ncdf, tanh
from mpmath import exp as long_exp

import contour
from contour import ACCURACY, Contour
from letalone.errors import ParameterError
from letalone.privacy import (
    ApproxDP,
    GaussianDP,
    LaplacePrivacy,
    PureDP,
    RandomizedResponsePrivacy,
    RenyiDP,
    compose,
    convert,
)
from letalone.privacy.curves.bounded_range import BoundedRange

F = Fraction
MEGABYTE = 2**20


def number(value: object) -> mpf:
    exact = F(str(value)) if isinstance(value, float) else F(value)
    return mpf(exact.numerator) / exact.denominator


def balle_wang(mu: mpf, epsilon: mpf) -> mpf:
    """Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu), with 60 digits."""
    return ncdf(mu / 2 - epsilon / mu) - long_exp(epsilon) * ncdf(-mu / 2 - epsilon / mu)


def outcomes(epsilon: object, times: int) -> list[tuple[mpf, mpf]]:
    """The losses of randomized responses with their probabilities, by their definition."""
    e = number(epsilon)
    told = 1 / (1 + long_exp(-e))
    return [
        ((2 * k - times) * e, binomial(times, k) * told**k * (1 - told) ** (times - k))
        for k in range(times + 1)
    ]


def binomial_delta(epsilon: object, times: int, at: object) -> mpf:
    x = number(at)
    return sum(p * (1 - long_exp(x - loss)) for loss, p in outcomes(epsilon, times) if loss > x)


# Epsilon at and above 709, where e^epsilon is no float.


@pytest.mark.parametrize("at", [708, 709, 710, 900, 1199])
def test_epsilon_above_709_does_not_overflow_in_delta(at):
    low, high = (PureDP(40) * 30).delta_bounds(at)
    truth = binomial_delta(40, 30, at)
    assert low <= truth <= high
    assert high <= truth * (1 + mpf(10) ** -6) + mpf(10) ** -12


@pytest.mark.long  # loss/test_attacks.py: 700 above its middle
def test_epsilon_above_709_does_not_overflow_in_epsilon():
    low, high = (PureDP(40) * 30).epsilon_bounds(1e-9)
    assert 709 < low <= high <= 1200
    assert binomial_delta(40, 30, high) <= mpf(1e-9)
    assert (LaplacePrivacy(800) * 2).epsilon(1e-9) <= 1600
    assert 0 < (LaplacePrivacy(50) * 20).epsilon_bounds(1e-9)[1] <= 1000
    many = compose(GaussianDP(30), PureDP(1) * 500)
    low, high = many.epsilon_bounds(1e-6)
    truth = Contour([(contour.gaussian(30.0), 1), (contour.pure(1.0), 500)], high)
    assert low > 709
    assert truth.delta(low) >= 1e-6 * (1 - ACCURACY)
    assert truth.delta(high) <= 1e-6 * (1 + ACCURACY)


# Delta to 1e-30.


@pytest.mark.parametrize("exponent", [3, 10, 20, 30])
def test_one_gaussian_is_balle_and_wang_down_to_a_delta_of_1e_30(exponent):
    delta = F(1, 10**exponent)
    low, high = GaussianDP(1).epsilon_bounds(delta)
    assert balle_wang(mpf(1), mpf(high)) <= number(delta) <= balle_wang(mpf(1), mpf(low))
    assert high <= low * (1 + 1e-12)


@pytest.mark.parametrize("exponent", [6, 15, 30])
def test_a_composition_keeps_its_digits_down_to_a_delta_of_1e_30(exponent):
    """A Gaussian and 40 randomized responses: a sum over answers of Balle and Wang."""
    delta, mu = F(1, 10**exponent), number("1/2")
    whole = compose(GaussianDP(F(1, 2)), PureDP(F(1, 10)) * 40)
    answers = outcomes(F(1, 10), 40)

    def truth(epsilon: float) -> mpf:
        return sum(p * balle_wang(mu, mpf(epsilon) - loss) for loss, p in answers)

    low, high = whole.epsilon_bounds(delta)
    assert truth(high) <= number(delta) <= truth(low)
    assert truth(high / (1 + 1e-4)) >= number(delta), "within a ten-thousandth"
    assert truth(low * (1 + 2e-3)) <= number(delta), "measured: 1.4 thousandths at worst"


@pytest.mark.parametrize("at", ["18", "45", "59"])
def test_pure_lists_keep_their_digits_down_to_a_delta_of_1e_30(at):
    low, high = (PureDP(F(1, 10)) * 600).delta_bounds(F(at))
    truth = binomial_delta(F(1, 10), 600, F(at))
    assert low <= truth <= high
    if truth > mpf(10) ** -30:
        assert high <= truth * (1 + 1e-6)


# Ends of ranges.


def test_a_rate_of_zero_costs_nothing_however_often():
    curve = GaussianDP(1).sampled(0) * 10**6
    assert curve.epsilon_bounds(0) == (0.0, 0.0)
    assert curve.epsilon_bounds(1e-9) == (0.0, 0.0)
    assert curve.delta_bounds(0) == (0.0, 0.0)


def test_a_rate_of_one_is_the_release_itself():
    assert (GaussianDP(1).sampled(1) * 5).epsilon_bounds(1e-6) == GaussianDP(
        mu_squared=5
    ).epsilon_bounds(1e-6)
    nearly = (GaussianDP(1).sampled(1 - F(1, 10**9)) * 5).epsilon_bounds(1e-6)
    truth = GaussianDP(mu_squared=5).epsilon_bounds(1e-6)
    assert nearly[0] <= truth[1]
    assert nearly[1] >= truth[0] * (1 - 1e-7)
    assert nearly[1] <= truth[1] * 1.15, "measured: 13.6 %, where a record is hardly ever left out"


def test_no_steps_cost_nothing():
    for curve in (LaplacePrivacy(1), GaussianDP(1).sampled(F(1, 10)), ApproxDP(1, 1e-3)):
        assert (curve * 0).epsilon_bounds(0) == (0.0, 0.0)
        assert (curve * 0).delta_bounds(0) == (0.0, 0.0)
    assert compose().epsilon(0) == 0


@pytest.mark.parametrize("at", [-0.5, -2, -40])
def test_a_negative_epsilon_is_the_other_order(at):
    """delta(-e) = 1 - e^-e (1 - delta(e)), here by the exact sum at -e itself."""
    low, high = (PureDP(F(1, 5)) * 30).delta_bounds(at)
    truth = binomial_delta(F(1, 5), 30, at)
    assert low <= truth <= high
    assert high - low < 1e-6


def test_a_delta_so_large_that_no_epsilon_is_needed():
    """Where delta(0) is below the delta asked for; the upper bound found is the worst loss."""
    curve = LaplacePrivacy(F(1, 1000)) * 10
    low, high = curve.epsilon_bounds(0.1)
    assert low == 0
    assert high <= 0.01


# "Discrete mean differs": a wide loss on a grid that was too coarse for its mean.


@pytest.mark.parametrize("times", [10, 200])
def test_a_fifth_sampled_at_sigma_one_is_enclosed(times):
    jobs = [(contour.sampled_gaussian(1.0, 0.2, removed=True), times)]
    low, high = (GaussianDP(1).sampled(F(1, 5)) * times).epsilon_bounds(1e-5)
    truth = Contour(jobs, high)
    assert truth.delta(high) <= 1e-5 * (1 + ACCURACY)
    assert truth.delta(low) >= 1e-5 * (1 - ACCURACY)
    assert truth.delta(high / (1 + 1e-4)) >= 1e-5
    assert truth.delta(low * (1 + 1e-3)) <= 1e-5


# Memory.


@pytest.mark.long
@pytest.mark.parametrize(
    "curve",
    [
        LaplacePrivacy(F(1, 100)) * 1234,
        LaplacePrivacy(F(1, 100)),
        GaussianDP(1).sampled(F(1, 1000)) * 10**6,
        GaussianDP(1).sampled(F(1, 1000)) * 10**7,
    ],
    ids=["laplace", "one laplace", "million", "ten million"],
)
def test_memory_stays_below_300_megabytes(curve):
    tracemalloc.start()
    try:
        low, high = curve.epsilon_bounds(1.5e-6)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0 <= low <= high < inf
    assert peak < 300 * MEGABYTE


# A count that was forgotten.


@pytest.mark.parametrize("times", [1, 10, 100])
def test_randomized_response_repeated_is_charged_every_time(times):
    """One library reports 1.0987 for ten answers where ten single ones cost 10.987."""
    one = RandomizedResponsePrivacy(truth=F(3, 4))
    many, listed = one * times, compose(*[one] * times)
    assert many == listed
    worst = times * log(3)
    assert many.epsilon(0) >= worst
    assert many.epsilon(0) <= worst * (1 + mpf(10) ** -12)
    told = mpf(3) / 4
    at = mpf(times) * log(3) / 2
    truth = sum(
        binomial(times, k) * told**k * (1 - told) ** (times - k) * (1 - long_exp(at - loss))
        for k in range(times + 1)
        if (loss := (2 * k - times) * log(3)) > at
    )
    low, high = many.delta_bounds(float(at))
    assert low <= truth * (1 + mpf(10) ** -12)
    assert truth * (1 - mpf(10) ** -12) <= high <= truth * (1 + mpf(10) ** -4) + mpf(10) ** -12


# Renyi divergence near order 1.


@pytest.mark.parametrize("over", [F(1, 10), F(1, 10**3), F(1, 10**9), F(1, 10**30)])
def test_a_renyi_order_near_one_is_sound_and_does_not_blow_up(over):
    """At order a -> 1 it is the divergence of Kullback and Leibler, which says little of delta."""
    found = convert(LaplacePrivacy(2), RenyiDP, order=1 + over)
    ratio = mpf(2)
    kullback = ratio + long_exp(-ratio) - 1
    assert number(found.divergence) >= kullback
    assert number(found.divergence) <= kullback * (1 + 2 * number(over) + mpf(10) ** -25)
    for at in (0, 0.5, 1, 1.9):
        low, high = found.delta_bounds(at)
        assert 0 <= low <= high <= 1
        assert high >= LaplacePrivacy(2).delta_bounds(at)[0]
    pure = convert(PureDP(2), RenyiDP, order=1 + over)
    assert number(pure.divergence) >= 2 * tanh(mpf(1))


def test_an_order_of_one_is_refused():
    with pytest.raises(ParameterError, match="must be a number above 1"):
        RenyiDP(1, 0.5)


# A limit theorem is no bound.


def test_the_central_limit_shortcut_is_refuted_by_the_certified_lower_bound():
    """Job c: mu = q sqrt(T (e^(1/s^2) - 1)) gives 9.64, below what is certainly reached."""
    low, high = (GaussianDP(F(5, 4)).sampled(F(1, 100)) * 10**4).epsilon_bounds(1e-5)
    mu = 0.01 * (10**4 * (exp(1 / 0.8**2) - 1)) ** 0.5
    shortcut = GaussianDP(mu).epsilon(1e-5)
    assert 9.6 < shortcut < 9.7
    assert shortcut < 10.0 < low <= 10.05364 <= high


def test_an_epsilon_whose_tails_are_no_floats_still_has_an_answer() -> None:
    """δ of a bounded range of 1500 at 1500 − u is (1 − e^(−u/2))²; of both, e/(1 + e) of it."""
    found = compose(BoundedRange(1500), PureDP(1)).epsilon(1e-3)
    least = 1501 + 2 * float(log(1 - ((1 + exp(1)) / exp(1) * 1e-3) ** 0.5))
    assert least <= found <= 1501
