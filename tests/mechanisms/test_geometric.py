"""Geometric: the law of a release, its curve, its error, what it refuses."""

from fractions import Fraction
from math import exp, tanh

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.mechanisms import Geometric
from letalone.mechanisms.sensitivity import count, histogram
from letalone.mechanisms.values import EXACT_INT
from letalone.privacy import ADD_REMOVE, REPLACE, GeometricPrivacy
from mechanisms.frequencies import FALSE_ALARM, fit
from seeded import SeededBits


def geometric_law(scale, reach=400):
    """Claim M5's formula."""
    alpha = exp(-1 / scale)
    return {x: (1 - alpha) / (1 + alpha) * alpha ** abs(x) for x in range(-reach, reach + 1)}


def test_m5_vector_releases_follow_the_geometric_law_and_not_one_ten_percent_wider():
    """False-positive rate over seeds: 1e-6."""
    noise = (
        Geometric(epsilon=0.5, sensitivity=2).release(np.full(30_000, 9), bits=SeededBits(20)) - 9
    )
    assert noise.dtype == np.int64
    assert fit(noise.tolist(), geometric_law(4)) > FALSE_ALARM
    assert fit(noise.tolist(), geometric_law(4.4)) < FALSE_ALARM, "too few draws to see 10 %"
    assert fit(noise.tolist(), geometric_law(3.6)) < FALSE_ALARM, "too few draws to see 10 %"


def test_scalar_releases_follow_the_same_law():
    """False-positive rate over seeds: 1e-6; power against a scale 50 % larger."""
    mechanism, bits = Geometric(scale=3, sensitivity=1), SeededBits(21)
    noise = [mechanism.release(9, bits=bits) - 9 for _ in range(4000)]
    assert fit(noise, geometric_law(3)) > FALSE_ALARM
    assert fit(noise, geometric_law(4.5)) < FALSE_ALARM


def test_m5_lambda_is_sensitivity_over_epsilon_and_the_curve_is_exact():
    mechanism = Geometric(epsilon=0.1, sensitivity=3)
    assert mechanism.scale == 30
    assert mechanism.epsilon == Fraction(1, 10)
    assert mechanism.privacy == GeometricPrivacy(3, 30)
    assert mechanism.privacy.epsilon(0) == 0.1


def test_m5_neighbouring_counts_are_exactly_epsilon_apart():
    law = geometric_law(4)
    losses = [abs(np.log(law[x] / law[x + 2])) for x in range(-100, 100)]
    assert max(losses) == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("scale", [0.2, 1, 3.7, 50])
@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_error_is_the_least_width_that_holds(scale, size, confidence):
    def inside(width):
        alpha = exp(-1 / scale)
        return (1 - 2 * alpha ** (width + 1) / (1 + alpha)) ** size

    width = Geometric(scale=scale, sensitivity=1).error(confidence, size=size)
    assert inside(width) >= confidence
    assert width == 0 or inside(width - 1) < confidence


def test_the_expected_error_is_the_mean_absolute_noise():
    law = geometric_law(3)
    mean = sum(abs(x) * p for x, p in law.items())
    assert Geometric(scale=3, sensitivity=1).expected_error == pytest.approx(mean, rel=1e-9)
    assert Geometric(scale=3, sensitivity=1).expected_error >= 1 / np.sinh(1 / 3) * (1 - 1e-15)
    assert law[0] == pytest.approx(tanh(1 / 6))


def test_numbers_alone_in_lists_and_in_arrays_are_clamped_alike():
    mechanism, bits = Geometric(scale=1, sensitivity=1), SeededBits(22)
    for size in (10**40, -(10**40)):
        edge = EXACT_INT if size > 0 else -EXACT_INT
        assert abs(mechanism.release(size, bits=bits) - edge) < 100
        assert abs(int(mechanism.release([size], bits=bits)[0]) - edge) < 100
    huge = mechanism.release(np.array([2**64 - 1, 0], dtype=np.uint64), bits=bits)
    assert abs(int(huge[0]) - EXACT_INT) < 100
    assert abs(int(huge[1])) < 100


@pytest.mark.parametrize("scale", [2.0**40, 2.0**55, 2.0**61, 2.0**70])
def test_sums_at_any_scale_are_clamped_and_never_wrap(scale):
    """A wrapped 64-bit sum would turn a huge value into its opposite: seeds are the same."""
    mechanism = Geometric(scale=scale, sensitivity=1)
    high = mechanism.release(np.full(300, EXACT_INT), bits=SeededBits(23))
    low = mechanism.release(np.full(300, -EXACT_INT), bits=SeededBits(23))
    assert (high >= low).all()
    assert high.max() <= 2**63 - 1
    assert low.min() >= -(2**63) + 1
    assert len(set(high.tolist())) > 100 or scale > 2**60


def test_results_keep_the_shape_and_kind_of_the_value():
    mechanism, bits = Geometric(epsilon=1, sensitivity=1), SeededBits(24)
    assert type(mechanism.release(3, bits=bits)) is int
    assert type(mechanism.release(np.int16(3), bits=bits)) is int
    assert mechanism.release([[1, 2, 3], [4, 5, 6]], bits=bits).shape == (2, 3)
    assert mechanism.release([], bits=bits).shape == (0,)
    assert mechanism.release(np.zeros((0, 4), dtype=int), bits=bits).shape == (0, 4)


def test_a_sensitivity_record_names_the_neighbours():
    assert Geometric(epsilon=1, sensitivity=histogram(neighbours=REPLACE)).scale == 2
    assert Geometric(epsilon=1, sensitivity=count()).privacy.neighbours == ADD_REMOVE


def test_a_negative_sensitivity_is_refused_with_the_remedy():
    with pytest.raises(
        ParameterError, match=r"sensitivity is -1, but must be a whole .* 1 or more"
    ):
        Geometric(scale=3, sensitivity=-1)


def test_it_prints_epsilon_and_error():
    assert repr(Geometric(epsilon=0.1, sensitivity=1)) == (
        "Geometric(ε = 0.1, sensitivity 1, scale 10, error 30 at 95 %)"
    )


def test_the_sum_of_a_single_number_is_clamped_as_in_a_list():
    mechanism, bits = Geometric(scale=2.0**80, sensitivity=1), SeededBits(25)
    assert all(abs(mechanism.release(0, bits=bits)) <= 2**63 - 1 for _ in range(50))
    assert abs(mechanism.release(1, bits=bits)) == 2**63 - 1, "2^80 is far beyond"
