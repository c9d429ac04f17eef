"""Laplace: the law of a release, its curve, its error, what it refuses."""

from fractions import Fraction
from math import log

import numpy as np
import pytest
from scipy.stats import laplace

from letalone.errors import ParameterError
from letalone.mechanisms import Laplace
from letalone.mechanisms.sensitivity import histogram, mean_vector
from letalone.mechanisms.values import LARGEST_FLOAT
from letalone.privacy import ADD_REMOVE, REPLACE, LaplacePrivacy
from mechanisms.frequencies import FALSE_ALARM, fit_continuous
from seeded import SeededBits


def test_m3_vector_releases_follow_the_laplace_law_and_not_one_ten_percent_wider():
    """False-positive rate over seeds: 1e-6."""
    noise = Laplace(epsilon=0.5, sensitivity=1.5).release(np.full(60_000, 7.25), bits=SeededBits(1))
    assert fit_continuous(noise, laplace(7.25, 3).cdf) > FALSE_ALARM
    assert fit_continuous(noise, laplace(7.25, 3.3).cdf) < FALSE_ALARM, "too few draws to see 10 %"
    assert fit_continuous(noise, laplace(7.25, 2.7).cdf) < FALSE_ALARM, "too few draws to see 10 %"


def test_scalar_releases_follow_the_same_law():
    """False-positive rate over seeds: 1e-6; power against a scale twice as large."""
    mechanism, bits = Laplace(scale=3, sensitivity=1), SeededBits(2)
    noise = np.array([mechanism.release(7.25, bits=bits) for _ in range(4000)])
    assert fit_continuous(noise, laplace(7.25, 3).cdf) > FALSE_ALARM
    assert fit_continuous(noise, laplace(7.25, 6).cdf) < FALSE_ALARM


def test_the_typed_epsilon_is_the_epsilon():
    mechanism = Laplace(epsilon=0.1, sensitivity=Fraction(1, 3))
    assert mechanism.scale == Fraction(10, 3)
    assert mechanism.privacy == LaplacePrivacy(Fraction(1, 10))
    assert mechanism.privacy.epsilon(0) == 0.1
    assert mechanism.epsilon == Fraction(1, 10)


def test_scale_and_epsilon_are_two_ways_to_the_same_mechanism():
    assert Laplace(epsilon=0.5, sensitivity=1) == Laplace(scale=2, sensitivity=1)


def test_a_float_sensitivity_means_the_larger_of_its_two_readings():
    assert Laplace(epsilon=1, sensitivity=0.1).sensitivity == Fraction(0.1) > Fraction(1, 10)
    assert Laplace(epsilon=1, sensitivity=0.3).sensitivity == Fraction(3, 10) > Fraction(0.3)


def test_m3_neighbouring_answers_are_within_e_to_the_epsilon_on_every_half_line():
    """Of ideal laws at distance Δ; the release is a function of them. Exact for Laplace."""
    mechanism = Laplace(epsilon=0.7, sensitivity=2)
    one, other = laplace(0, float(mechanism.scale)), laplace(2, float(mechanism.scale))
    points = np.linspace(-30, 30, 601)
    ratios = np.log(one.cdf(points) / other.cdf(points))
    assert ratios.max() <= 0.7 + 1e-12
    assert ratios.max() > 0.7 - 1e-9, "the bound is reached"


@pytest.mark.parametrize("size", [1, 10])
def test_the_error_holds_as_often_as_stated_and_hardly_more_often(size):
    """20,000 vectors: a correct width would fail once in 10^6 seeds."""
    mechanism = Laplace(epsilon=0.5, sensitivity=1)
    draws = mechanism.release(np.zeros((20_000, size)), bits=SeededBits(3))
    inside = np.mean(np.abs(draws).max(axis=1) <= mechanism.error(0.9, size=size))
    assert abs(inside - 0.9) < 5 * (0.9 * 0.1 / 20_000) ** 0.5


def test_the_error_is_the_closed_form_rounded_up():
    mechanism = Laplace(epsilon=0.5, sensitivity=1)
    assert mechanism.error(0.95) == pytest.approx(2 * log(20), rel=1e-8)
    assert mechanism.error(0.95) > 2 * log(20)
    exact = -2 * log(1 - 0.9 ** (1 / 10))
    assert mechanism.error(0.9, size=10) == pytest.approx(exact, rel=1e-8)
    assert mechanism.expected_error == 2.0


def test_results_keep_the_shape_and_kind_of_the_value():
    mechanism, bits = Laplace(epsilon=1, sensitivity=1), SeededBits(4)
    assert type(mechanism.release(3, bits=bits)) is float
    assert type(mechanism.release(np.float32(3), bits=bits)) is float
    assert mechanism.release([[1, 2, 3], [4, 5, 6]], bits=bits).shape == (2, 3)
    assert mechanism.release(np.array(3.0), bits=bits).shape == ()
    assert mechanism.release(np.empty((0, 2)), bits=bits).shape == (0, 2)
    strided = np.arange(20.0).reshape(4, 5)[::2, ::-2]
    assert mechanism.release(strided, bits=bits).shape == strided.shape
    assert strided.tolist() == [[4, 2, 0], [14, 12, 10]], "the value given is left as it was"


def test_values_at_the_edge_of_the_floats_stay_finite():
    mechanism, bits = Laplace(scale=1e6, sensitivity=1), SeededBits(5)
    edges = [LARGEST_FLOAT, -LARGEST_FLOAT] * 50
    assert np.isfinite(mechanism.release(edges, bits=bits)).all()
    assert all(np.isfinite(mechanism.release(edge, bits=bits)) for edge in edges)


def test_the_noise_of_a_tiny_and_of_a_huge_scale_has_that_size():
    for scale in (2.0**-20, 2.0**40):
        noise = Laplace(scale=scale, sensitivity=1).release(np.zeros(2000), bits=SeededBits(6))
        assert np.mean(np.abs(noise)) == pytest.approx(scale, rel=0.15)


def test_a_sensitivity_record_gives_the_l1_norm_and_names_the_neighbours():
    mechanism = Laplace(epsilon=1, sensitivity=histogram(neighbours=REPLACE))
    assert mechanism.scale == 2
    assert mechanism.privacy.neighbours == REPLACE
    assert Laplace(epsilon=1, sensitivity=histogram()).privacy.neighbours == ADD_REMOVE
    assert Laplace(epsilon=1, sensitivity=1).privacy.neighbours is None
    with pytest.raises(ParameterError, match=r"Tell .* the dimension"):
        Laplace(epsilon=1, sensitivity=mean_vector(1, size=10))


def test_both_or_neither_of_epsilon_and_scale_is_refused():
    with pytest.raises(ParameterError, match="both given, but exactly one"):
        Laplace(epsilon=1, scale=1, sensitivity=1)
    with pytest.raises(ParameterError, match="neither given, but exactly one"):
        Laplace(sensitivity=1)


def test_it_prints_epsilon_and_error_rounded_up():
    text = repr(Laplace(epsilon=Fraction(1, 3), sensitivity=1))
    assert text == "Laplace(ε = 0.333334, sensitivity 1, scale 3, error 8.988 at 95 %)"


def test_m3_a_release_without_noise_would_be_seen():
    """The weakest sanity: two releases of one value differ, and neither is the value."""
    mechanism, bits = Laplace(epsilon=1, sensitivity=1), SeededBits(7)
    assert len({mechanism.release(1.0, bits=bits) for _ in range(100)} | {1.0}) == 101
