"""Calibration returns an end that was certified, whatever the function does."""

from fractions import Fraction

import pytest

from letalone.errors import ParameterError
from letalone.mechanisms import Laplace
from letalone.mechanisms.calibration import calibrate, largest, smallest
from letalone.privacy import ZCDP, GaussianDP, LaplacePrivacy


@pytest.mark.parametrize(
    "border", [Fraction(1, 3), Fraction(7), Fraction(10**9, 7), Fraction(1, 2**40)]
)
def test_the_ends_are_certified_and_within_one_part_in_2_52(border):
    high, low = smallest(lambda x: x >= border), largest(lambda x: x <= border)
    assert border <= high <= border * (1 + Fraction(1, 2**51))
    assert border * (1 - Fraction(1, 2**51)) <= low <= border


def test_a_function_that_jumps_about_still_gets_a_certified_answer():
    def jumps(x):
        return int(x * 10) % 3 == 0 and x > 1

    assert jumps(smallest(lambda x: x >= 100 or jumps(x)))


def test_no_fit_is_refused():
    for search in (smallest, largest):
        with pytest.raises(ParameterError, match="No noise between"):
            search(lambda _: False)
        with pytest.raises(ParameterError, match="No noise between"):
            search(lambda _: True)


def test_calibrate_finds_the_smallest_noise_as_a_float():
    sigma = calibrate(lambda s: GaussianDP(1 / Fraction(s)), epsilon=1, delta=1e-6)
    assert 4.2246788892 <= sigma <= 4.2246788894 * (1 + 1e-6)
    assert GaussianDP(1 / Fraction(sigma)).delta(1) <= 1e-6
    scale = calibrate(lambda s: LaplacePrivacy(1 / Fraction(s)), epsilon=0.1, delta=0)
    assert 10 <= scale <= 10 * (1 + 1e-6)
    assert calibrate(lambda s: ZCDP(1 / (2 * Fraction(s) ** 2)), epsilon=1, delta=1e-6) > sigma
    with pytest.raises(ParameterError, match="epsilon is 0"):
        calibrate(lambda s: ZCDP(s), epsilon=0, delta=0.1)


def test_what_is_no_function_or_goes_the_wrong_way_is_told():
    with pytest.raises(ParameterError, match="privacy_of is 3, but must be a function"):
        calibrate(3, epsilon=1, delta=1e-6)
    with pytest.raises(ParameterError, match=r"Give its \.privacy"):
        calibrate(lambda e: Laplace(epsilon=e, sensitivity=1), epsilon=1, delta=1e-6)
    with pytest.raises(ParameterError, match="1/x"):
        calibrate(lambda e: LaplacePrivacy(Fraction(e)) * 100, epsilon=1, delta=1e-6)
