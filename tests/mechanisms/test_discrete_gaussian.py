"""Discrete Gaussian: the law, which curve holds when, its error, what it refuses."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.mechanisms import DiscreteGaussian
from letalone.mechanisms.sensitivity import histogram
from letalone.mechanisms.values import EXACT_INT
from letalone.privacy import REPLACE, ZCDP, DiscreteGaussianPrivacy
from mechanisms.frequencies import FALSE_ALARM, fit
from seeded import SeededBits


def discrete_gaussian_law(sigma):
    reach = int(20 * sigma) + 5
    weights = {x: exp(-(x**2) / (2 * sigma**2)) for x in range(-reach, reach + 1)}
    return {x: weight / sum(weights.values()) for x, weight in weights.items()}


def test_releases_follow_the_law_and_not_one_ten_percent_wider():
    """False-positive rate over seeds: 1e-6."""
    noise = (
        DiscreteGaussian(sigma=4, sensitivity=1).release(np.full(30_000, 9), bits=SeededBits(40))
        - 9
    )
    assert fit(noise.tolist(), discrete_gaussian_law(4)) > FALSE_ALARM
    assert fit(noise.tolist(), discrete_gaussian_law(4.4)) < FALSE_ALARM
    assert fit(noise.tolist(), discrete_gaussian_law(3.6)) < FALSE_ALARM


def test_scalar_releases_follow_the_same_law():
    """False-positive rate over seeds: 1e-6; power against a sigma 50 % larger."""
    mechanism, bits = DiscreteGaussian(sigma=1.5, sensitivity=1), SeededBits(41)
    noise = [mechanism.release(10**15, bits=bits) - 10**15 for _ in range(4000)]
    assert fit(noise, discrete_gaussian_law(1.5)) > FALSE_ALARM
    assert fit(noise, discrete_gaussian_law(2.25)) < FALSE_ALARM


def test_the_curve_is_exact_where_one_coordinate_moves_and_zcdp_elsewhere():
    assert DiscreteGaussian(sigma=10, sensitivity=3).privacy == DiscreteGaussianPrivacy(3, 10)
    assert DiscreteGaussian(
        sigma=10, dimension=5, sensitivity=1
    ).privacy == DiscreteGaussianPrivacy(1, 10)
    assert DiscreteGaussian(
        sigma=10, sensitivity=1.4, dimension=5
    ).privacy == DiscreteGaussianPrivacy(1, 10)
    assert DiscreteGaussian(sigma=10, sensitivity=2, dimension=5).privacy == ZCDP(Fraction(4, 200))
    two = DiscreteGaussian(sigma=10, sensitivity=histogram(neighbours=REPLACE), dimension=5)
    assert two.privacy.rho == two.sensitivity**2 / 200
    assert two.privacy.neighbours == REPLACE


def test_more_numbers_than_the_dimension_are_refused_where_the_promise_would_break():
    """Three coordinates that each move by 3 are 27-, not 9-zCDP."""
    bits = SeededBits(42)
    with pytest.raises(ParameterError, match="There are 3 numbers, but dimension is 1"):
        DiscreteGaussian(sigma=10, sensitivity=3).release([1, 2, 3], bits=bits)
    wide = DiscreteGaussian(sigma=10, sensitivity=3, dimension=3)
    assert wide.release([1, 2, 3], bits=bits).shape == (3,)
    assert DiscreteGaussian(sigma=10, sensitivity=1).release(
        np.zeros(50, dtype=int), bits=bits
    ).shape == (50,)


@pytest.mark.parametrize(
    "arguments", [{"sensitivity": 1}, {"sensitivity": 3}, {"sensitivity": 3, "dimension": 4}]
)
def test_a_calibrated_sigma_keeps_its_promise(arguments):
    mechanism = DiscreteGaussian(epsilon=1, delta=1e-6, **arguments)
    assert mechanism.privacy.delta(1) <= 1e-6
    close = mechanism.sigma * Fraction(9, 10)
    assert DiscreteGaussian(sigma=close, **arguments).privacy.delta(1) > 1e-6


@pytest.mark.parametrize("sigma", [0.1, 0.3, 0.5, 1, 3.7, 31.9, 40])
@pytest.mark.parametrize("confidence", [0.3, 0.5, 0.95, 0.999])
@pytest.mark.parametrize("size", [1, 5])
def test_the_error_holds_and_is_at_most_one_step_too_wide(sigma, confidence, size):
    law = discrete_gaussian_law(sigma)

    def inside(width):
        return sum(p for x, p in law.items() if abs(x) <= width) ** size

    width = DiscreteGaussian(sigma=sigma, sensitivity=1).error(confidence, size=size)
    assert inside(width) >= confidence
    assert width <= 1 or inside(width - 2) < confidence


@pytest.mark.parametrize("sigma", [0.1, 0.2, 0.5, 1, 3.7, 31.9, 32.5, 60])
def test_the_expected_error_is_never_below_the_mean_absolute_noise(sigma):
    mean = sum(abs(x) * p for x, p in discrete_gaussian_law(sigma).items())
    stated = DiscreteGaussian(sigma=sigma, sensitivity=1).expected_error
    assert mean * (1 - 1e-12) <= stated <= mean * (1 + 1e-4)


def test_a_sensitivity_that_no_whole_number_has_is_refused():
    with pytest.raises(ParameterError, match=r"sensitivity is 1.5, but must be whole for a scalar"):
        DiscreteGaussian(sigma=1, sensitivity=1.5)
    with pytest.raises(ParameterError, match=r"sensitivity is 0.5, but must be"):
        DiscreteGaussian(sigma=1, sensitivity=0.5, dimension=2)


def test_floats_are_refused_with_the_remedy():
    with pytest.raises(ParameterError, match="Round floats first"):
        DiscreteGaussian(sigma=1, sensitivity=1).release([1.0])


def test_it_prints_epsilon_delta_and_error():
    assert repr(DiscreteGaussian(epsilon=1, delta=1e-6, sensitivity=3, dimension=4)) == (
        "DiscreteGaussian(ε = 1, δ = 1e-6, sensitivity 3, sigma 13.5927, error 27 at 95 %)"
    )


@pytest.mark.parametrize("epsilon", [0.3, 0.7, 1, 2.3])
@pytest.mark.parametrize(("sensitivity", "dimension"), [(1, 1), (3, 1), (3, 4)])
def test_the_curve_never_says_more_than_the_epsilon_typed(epsilon, sensitivity, dimension):
    mechanism = DiscreteGaussian(
        epsilon=epsilon, delta=1e-6, sensitivity=sensitivity, dimension=dimension
    )
    assert mechanism.privacy.epsilon(1e-6) <= epsilon
    assert (mechanism.epsilon, mechanism.delta) == mechanism.target
    assert DiscreteGaussian(sigma=1, sensitivity=1).epsilon is None
    assert DiscreteGaussian(sigma=1, sensitivity=1).delta is None


def test_numbers_alone_and_in_lists_are_clamped_alike():
    mechanism, bits = DiscreteGaussian(sigma=1, sensitivity=1), SeededBits(43)
    assert abs(mechanism.release(10**40, bits=bits) - EXACT_INT) < 100
    assert abs(int(mechanism.release([10**40], bits=bits)[0]) - EXACT_INT) < 100


@pytest.mark.parametrize("sensitivity", [1 << 63, 10**30, 10**300])
def test_a_sensitivity_beyond_what_is_clamped_is_refused_at_once(sensitivity):
    with pytest.raises(ParameterError, match=r"sensitivity is .*, but must be at most 2\^62"):
        DiscreteGaussian(epsilon=1, delta=1e-6, sensitivity=sensitivity)
