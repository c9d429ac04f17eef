"""Gaussian: the law of a release, both calibrations, its error, what it refuses."""

from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.stats import norm

from letalone.errors import ParameterError
from letalone.mechanisms import Gaussian
from letalone.mechanisms.calibration import smallest
from letalone.mechanisms.gaussian import Calibration
from letalone.mechanisms.sensitivity import histogram, mean_vector
from letalone.privacy import REPLACE, GaussianDP
from mechanisms.frequencies import FALSE_ALARM, fit_continuous
from seeded import SeededBits
from stages import pick


def balle_wang(sigma, epsilon):
    """delta of unit sensitivity, in 60 digits."""
    with mp.workdps(60):
        sigma, epsilon = mpf(sigma.numerator) / sigma.denominator, mpf(epsilon)
        return mp.ncdf(1 / (2 * sigma) - epsilon * sigma) - mp.exp(epsilon) * mp.ncdf(
            -1 / (2 * sigma) - epsilon * sigma
        )


def test_releases_follow_the_normal_law_and_not_one_ten_percent_wider():
    """False-positive rate over seeds: 1e-6."""
    draws = Gaussian(sigma=3, sensitivity=1).release(np.full(60_000, 7.25), bits=SeededBits(30))
    assert fit_continuous(draws, norm(7.25, 3).cdf) > FALSE_ALARM
    assert fit_continuous(draws, norm(7.25, 3.3).cdf) < FALSE_ALARM, "too few draws to see 10 %"
    assert fit_continuous(draws, norm(7.25, 2.7).cdf) < FALSE_ALARM, "too few draws to see 10 %"


def test_scalar_releases_follow_the_same_law():
    """False-positive rate over seeds: 1e-6; power against a sigma twice as large."""
    mechanism, bits = Gaussian(sigma=3, sensitivity=1), SeededBits(31)
    draws = np.array([mechanism.release(7.25, bits=bits) for _ in range(4000)])
    assert fit_continuous(draws, norm(7.25, 3).cdf) > FALSE_ALARM
    assert fit_continuous(draws, norm(7.25, 6).cdf) < FALSE_ALARM


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 0.5, 1, 3, 20])
@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-6, 1e-12, 1e-100])
def test_m8_the_exact_sigma_keeps_the_promise_and_a_smaller_one_breaks_it(epsilon, delta):
    sigma = Gaussian(epsilon=epsilon, delta=delta, sensitivity=1).sigma
    with mp.workdps(150):
        assert balle_wang(sigma, mpf(repr(epsilon))) <= mpf(repr(delta))
        assert balle_wang(sigma * (1 - Fraction(1, 10**12)), mpf(repr(epsilon))) > mpf(repr(delta))


def test_m8_the_privacy_is_the_whole_curve_and_passes_through_what_was_typed():
    mechanism = Gaussian(epsilon=1, delta=1e-6, sensitivity=2.5)
    assert mechanism.privacy == GaussianDP(Fraction(5, 2) / mechanism.sigma)
    assert mechanism.privacy.delta(1) <= 1e-6
    assert mechanism.privacy.epsilon(1e-6) == pytest.approx(1, rel=1e-12)
    assert mechanism.privacy.epsilon(0) == float("inf"), "it cannot reach delta = 0"


def test_m8_classic_is_the_textbook_formula_rounded_up():
    mechanism = Gaussian(epsilon=0.5, delta=1e-6, sensitivity=2, calibration="classic")
    formula = 2 * sqrt(2 * log(1.25e6)) / 0.5
    assert float(mechanism.sigma) == pytest.approx(formula, rel=1e-15)
    assert mechanism == Gaussian(
        epsilon=0.5, delta=1e-6, sensitivity=2, calibration=Calibration.CLASSIC
    )


@settings(max_examples=pick(25, 60))
@given(
    epsilon=st.floats(1e-4, 0.9999),
    exponent=st.integers(1, 30),
    sensitivity=st.sampled_from([0.1, 1, 7]),
)
def test_m8_exact_is_never_noisier_than_classic_and_classic_keeps_its_promise(
    epsilon, exponent, sensitivity
):
    delta = float(f"1e-{exponent}")
    exact = Gaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    classic = Gaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity, calibration="classic")
    assert exact.sigma <= classic.sigma
    assert classic.privacy.delta(epsilon) <= delta


@pytest.mark.parametrize("epsilon", [1, 1.5, 10])
def test_m8_classic_is_refused_from_epsilon_1_on(epsilon):
    with pytest.raises(ParameterError, match=r"must be below 1 .* calibration='exact'"):
        Gaussian(epsilon=epsilon, delta=1e-6, sensitivity=1, calibration="classic")


def test_m8_the_classic_formula_would_break_its_promise_for_large_epsilon():
    """Why it is refused: at epsilon = 10 and delta = 0.1 the formula's curve is above delta."""
    sigma = Fraction(sqrt(2 * log(1.25 / 0.1)) / 10)
    assert GaussianDP(1 / sigma).delta_bounds(10)[0] > 0.1


def test_m8_delta_0_is_refused_and_names_laplace():
    with pytest.raises(ParameterError, match=r"delta is 0, .* use Laplace"):
        Gaussian(epsilon=1, delta=0, sensitivity=1)


def test_half_a_calibration_is_refused():
    with pytest.raises(ParameterError, match="both given"):
        Gaussian(epsilon=1, delta=1e-6, sigma=1, sensitivity=1)
    with pytest.raises(ParameterError, match="both given"):
        Gaussian(delta=1e-6, sigma=1, sensitivity=1)
    with pytest.raises(ParameterError, match="neither given"):
        Gaussian(sensitivity=1)
    with pytest.raises(ParameterError, match="delta is missing: epsilon alone"):
        Gaussian(epsilon=1, sensitivity=1)
    with pytest.raises(ParameterError, match="epsilon is missing: delta alone"):
        Gaussian(delta=1e-6, sensitivity=1)
    with pytest.raises(ParameterError, match="calibration is 'best', but must be 'exact' or"):
        Gaussian(epsilon=1, delta=1e-6, sensitivity=1, calibration="best")


@pytest.mark.parametrize("size", [1, 10])
def test_the_error_holds_as_often_as_stated_and_hardly_more_often(size):
    """20,000 vectors: a correct width would fail once in 10^6 seeds."""
    mechanism = Gaussian(sigma=2, sensitivity=1)
    draws = mechanism.release(np.zeros((20_000, size)), bits=SeededBits(32))
    inside = np.mean(np.abs(draws).max(axis=1) <= mechanism.error(0.9, size=size))
    assert abs(inside - 0.9) < 5 * (0.9 * 0.1 / 20_000) ** 0.5


def test_the_error_is_the_normal_quantile_rounded_up():
    assert Gaussian(sigma=2, sensitivity=1).error(0.95) == pytest.approx(
        2 * norm.ppf(0.975), rel=1e-8
    )
    assert Gaussian(sigma=2, sensitivity=1).expected_error == pytest.approx(2 * sqrt(2 / np.pi))


def test_a_sensitivity_record_gives_the_l2_norm():
    mechanism = Gaussian(sigma=1, sensitivity=histogram(neighbours=REPLACE))
    assert Fraction(2) <= mechanism.sensitivity**2 <= 2 + Fraction(1, 2**50)
    assert mechanism.privacy.neighbours == REPLACE
    assert Gaussian(sigma=1, sensitivity=mean_vector(1, size=10)).sensitivity == Fraction(1, 5)


def test_sigma_is_a_dyadic_rational_of_53_bits():
    sigma = Gaussian(epsilon=0.3, delta=1e-5, sensitivity=Fraction(1, 3)).sigma
    assert sigma.denominator & (sigma.denominator - 1) == 0
    assert sigma.numerator.bit_length() <= 54


def test_it_prints_epsilon_delta_and_error():
    assert repr(Gaussian(epsilon=1, delta=1e-6, sensitivity=1)) == (
        "Gaussian(ε = 1, δ = 1e-6, sensitivity 1, sigma 4.22468, error 8.281 at 95 %)"
    )
    assert "ε = 0.396858 at δ = 1e-6" in repr(Gaussian(sigma=10, sensitivity=1))


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1, 1.1, 2.3, 4.9, 0.6000000000000001])
@pytest.mark.parametrize("delta", [1e-6, 0.01])
@pytest.mark.parametrize("sensitivity", [1, 0.1, 7])
def test_the_curve_never_says_more_than_the_epsilon_typed(epsilon, delta, sensitivity):
    """0.7 is below seven tenths in binary: noise for 7/10 would be said to cost 0.70…01."""
    privacy = Gaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity).privacy
    assert epsilon * (1 - 1e-14) <= privacy.epsilon(delta) <= epsilon


def test_noise_for_seven_tenths_alone_would_be_said_to_cost_more():
    """The power of the test above: without the lower reading of 0.7, it fails."""
    exact = smallest(lambda s: Fraction(GaussianDP(1 / s).delta(Fraction(7, 10))) <= 1e-6)
    assert GaussianDP(1 / exact).epsilon(1e-6) > 0.7


def test_the_target_can_be_read_back():
    typed = Gaussian(epsilon=0.7, delta=1e-6, sensitivity=1)
    assert (typed.epsilon, typed.delta) == (Fraction(7, 10), Fraction(1, 10**6))
    by_sigma = Gaussian(sigma=1, sensitivity=1)
    assert (by_sigma.epsilon, by_sigma.delta) == (None, None)
