"""Gaussian curves at an epsilon that protects nobody: as right as elsewhere, and as quick."""

from fractions import Fraction
from time import process_time

import mpmath
import pytest

from letalone.mechanisms.gaussian import Gaussian
from letalone.privacy import GaussianDP
from letalone.privacy.curves.gaussian_curve import gaussian_delta


def balle_wang(mu_squared: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """The definition with 400 digits; exp and erfc of huge numbers are multiplied as logarithms."""
    with mpmath.workdps(400):
        mu, eps = mpmath.sqrt(mpmath.mpf(mu_squared.numerator) / mu_squared.denominator), epsilon
        eps = mpmath.mpf(eps.numerator) / eps.denominator
        near, far = (eps / mu - mu / 2) / mpmath.sqrt(2), (eps / mu + mu / 2) / mpmath.sqrt(2)
        # e^(x^2) erfc(x) as a continued fraction (Abramowitz and Stegun 7.1.14), for far > 30.
        tail = mpmath.mpf(0)
        for number in range(4000, 0, -1):
            tail = mpmath.mpf(number) / 2 / (far + tail)
        scaled = 1 / (far + tail) / mpmath.sqrt(mpmath.pi)
        return (mpmath.erfc(near) - mpmath.exp(-near * near) * scaled) / 2


@pytest.mark.parametrize("epsilon", [5 * 10**3, 4 * 10**7, 6 * 10**7, 10**12, 10**20, 10**40])
@pytest.mark.parametrize("quantile", [-6, 0, 5, 30])
@pytest.mark.few("-6-", "30-1000000000000")
def test_delta_is_the_definition_near_and_far(epsilon: int, quantile: int) -> None:
    """mu is chosen so that delta is about that of a normal deviate of this size."""
    eps = Fraction(epsilon)
    root = Fraction(int(mpmath.sqrt(2 * epsilon) * 2**40), 2**40)
    mu_squared = (root - quantile) ** 2
    wanted, found = balle_wang(mu_squared, eps), gaussian_delta(mu_squared, eps)
    middle = mpmath.mpf(found.mid().str(60, radius=False))
    assert abs(middle - wanted) <= mpmath.mpf(2) ** -60 * wanted


def test_a_huge_epsilon_takes_no_longer_than_another() -> None:
    """With the product of a huge and a tiny number each step took a million bits: minutes."""
    start = process_time()
    for exponent in (10, 14, 20, 40, 100):
        noise = Gaussian(epsilon=Fraction(10) ** exponent, delta=1e-7, sensitivity=1)
        assert noise.privacy.delta(Fraction(10) ** exponent) <= 1e-7
    assert 0.49 < GaussianDP(10**20).delta(5 * 10**39) <= 0.5
    assert process_time() - start < 5
