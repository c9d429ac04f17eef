"""How far noise strays: half-widths that hold with at least a stated probability.

For `size` independent coordinates to stay within w at once, with probability at least c,
one must stray with probability at most m = 1 − c^(1/size). Then
  Laplace       w = scale · ln(1/m)
  geometric     the least whole w with 2α^(w+1)/(1+α) ≤ m, where α = e^(−1/scale)
  Gaussian      w = sigma · √2 · erfc⁻¹(m)
  discrete Gaussian
                ⌈w' − ½⌉ for the Gaussian's w' if that is at least sigma − ½, else ⌈w'⌉
Every width is rounded up.

  Proven:   docs/explanation/proofs/utility.md, section 2
  Tested:   against exact sums; the next smaller width fails for integer laws
  Assumed:  Arb is correct
"""

from fractions import Fraction
from math import ceil

from letalone.exact.balls import Ball, ball, certain, fraction_above, upper
from letalone.exact.typed import CONFIDENCE, COUNT, Number

EXACT_UP_TO = 32  # above this sigma the bound on E|Z| is off by less than 1e-4 of it


def laplace_width(scale: Fraction, confidence: Number, size: int) -> Ball:
    """Laplace noise stays within this with at least this probability."""
    return certain(lambda: -ball(scale) * _miss(confidence, size).log())


def geometric_width(scale: Fraction, confidence: Number, size: int) -> int:
    """Two-sided geometric noise stays within this with at least this probability."""

    def least() -> Ball:
        alpha = (-1 / ball(scale)).exp()
        return ball(scale) * (2 / ((1 + alpha) * _miss(confidence, size))).log()

    return max(0, _ceiling(certain(least)) - 1)


def gaussian_width(sigma: Fraction, confidence: Number, size: int) -> Ball:
    """Gaussian noise stays within this with at least this probability."""
    return certain(lambda: ball(sigma) * ball(2).sqrt() * _miss(confidence, size).erfcinv())


def discrete_gaussian_width(sigma: Fraction, confidence: Number, size: int) -> int:
    """Discrete Gaussian noise stays within this with at least this probability."""
    width = gaussian_width(sigma, confidence, size)
    narrow = max(0, _ceiling(width - ball(Fraction(1, 2))))
    return narrow if narrow >= sigma - Fraction(1, 2) else _ceiling(width)


def geometric_mean_size(scale: Fraction) -> Ball:
    """E|Z| = 2α/(1 − α²) = 1/sinh(1/scale) of two-sided geometric noise."""
    return certain(lambda: 1 / (1 / ball(scale)).sinh())


def gaussian_mean_size(sigma: Fraction) -> Ball:
    """E|Z| = sigma · √(2/π) of Gaussian noise."""
    return certain(lambda: ball(sigma) * (2 / Ball.pi()).sqrt())


def discrete_gaussian_mean_size(sigma: Fraction) -> Ball:
    """A bound on E|Z| of discrete Gaussian noise: the sum, or sigma · √(2/π) above it."""
    if sigma > EXACT_UP_TO:
        return gaussian_mean_size(sigma)
    last = ceil(20 * sigma) + 2  # what is left out is below e^(−200)

    def mean() -> Ball:
        weights = [(-ball(Fraction(x * x) / (2 * sigma**2))).exp() for x in range(1, last)]
        total = 1 + 2 * sum(weights, ball(0))
        # From `last` on each term is at most 3/4 of the one before, since x/sigma² is at
        # least 20/32 there: the tail is at most four times its first term.
        tail = 4 * last * (-ball(Fraction(last * last) / (2 * sigma**2))).exp()
        sizes = sum((x * weight for x, weight in enumerate(weights, 1)), ball(0))
        return 2 * (sizes + tail) / total

    return certain(mean)


def _miss(confidence: Number, size: int) -> Ball:
    inside = CONFIDENCE.typed("confidence", confidence)
    count = COUNT.typed("size", size)
    return -(ball(inside).log() / ball(count)).expm1()


def _ceiling(value: Ball) -> int:
    return ceil(fraction_above(value))


def rounded_up(value: Ball, grid: Fraction) -> float:
    """The width with the half grid step that rounding the result may add."""
    return upper(certain(lambda: value + ball(grid / 2)))
