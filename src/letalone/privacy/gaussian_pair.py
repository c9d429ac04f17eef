"""The curve of N(0, 1) against N(mu, 1), from the square of mu.

Proven:   docs/explanation/proofs/gaussian.md, sections 1 and 2
Tested:   tests/privacy/test_exact_curves.py, test_far_gaussians.py
Assumed:  Arb's erfc and its inverse are correct
"""

from fractions import Fraction

from letalone.exact.balls import Ball, ball, certain
from letalone.privacy.bounds import ONE, once

FAR = Fraction(10**6)
LARGE, TERMS = 10**4, 12  # (2n-1)!! / (2 x^2)^n is below 2^-290 then


def gaussian_delta(mu_squared: Fraction, epsilon: Fraction) -> Ball:
    """The ball of delta for a Gaussian pair."""
    beyond = epsilon - mu_squared / 2
    if beyond > 0 and beyond**2 >= FAR**2 * mu_squared:
        # delta <= Phi(-z) <= e^(-z^2 / 2) for z = epsilon / mu - mu / 2 >= FAR.
        return once(lambda: Ball(0.5, 0.5) * ball(-(FAR**2) / 2).exp())
    return certain(lambda: _balle_wang(mu_squared, ball(epsilon)))


def _balle_wang(mu_squared: Fraction, epsilon: Ball) -> Ball:
    # Phi(x) = erfc(-x / sqrt 2) / 2, and far^2 - near^2 = epsilon: no huge number is multiplied by
    # a tiny one.
    half, mu = ball(2).sqrt(), ball(mu_squared).sqrt()
    near, far = (epsilon / mu - mu / 2) / half, (epsilon / mu + mu / 2) / half
    height = (-near * near).exp()
    first = height * _scaled_erfc(near) if near > LARGE else near.erfc()
    second = height * _scaled_erfc(far) if far > LARGE else epsilon.exp() * far.erfc()
    return (first - second) / 2


def _scaled_erfc(x: Ball) -> Ball:
    """e^(x^2) erfc(x) for large x: the series is off by less than the first term left out."""
    total, term = ball(0), ball(1)
    for number in range(TERMS):
        total += term
        term *= -(2 * number + 1) / (2 * x * x)
    return (total + term * Ball(0, 1)) / (x * Ball.pi().sqrt())


def gaussian_missed(mu_squared: Fraction, false_alarm: Fraction) -> Fraction | Ball:
    """The ball of P[missed detection] for a Gaussian pair."""
    if false_alarm == 0:
        return ONE
    return certain(lambda: _quantile_shift(mu_squared, false_alarm))


def _quantile_shift(mu_squared: Fraction, false_alarm: Fraction) -> Ball:
    # z with P[N > z] = a is sqrt 2 erfc^-1(2a); missed is P[N < z - mu].
    shift = ball(mu_squared).sqrt() / ball(2).sqrt()
    return (shift - ball(2 * false_alarm).erfcinv()).erfc() / 2
