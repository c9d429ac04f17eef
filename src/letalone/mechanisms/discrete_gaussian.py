"""The discrete Gaussian mechanism: private whole numbers by normal noise on the integers.

If a query of `dimension` whole numbers moves by at most `sensitivity` in L2 between
neighbours, release it plus independent Z with P[Z = z] proportional to e^(−z²/2sigma²).

Theorem.  A scalar has the exact curve `DiscreteGaussianPrivacy(sensitivity, sigma)`. If the
L2 sensitivity is below √2, a neighbour moves a single coordinate by 1, so vectors of any
length have the curve of a scalar with sensitivity 1. Any other vector is
sensitivity²/(2 sigma²)-zCDP. It is *not* sensitivity/sigma-GDP.
  Proven:   docs/explanation/proofs/discrete_gaussian.md; its error in proofs/utility.md
  Tested:   the draws against the law, with power against a 10 % wider one
  Assumed:  the bits are uniform; an observer does not see how long it took

From (epsilon, delta) sigma is found by bisection and certified by the curve. The curve
need not be monotone in sigma, so a smaller sigma might do by chance; none is looked for.

Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy (2020).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import overload

from letalone.errors import ParameterError
from letalone.exact.balls import Ball
from letalone.exact.typed import COUNT, SCALE, Constraint, Number, refusal
from letalone.mechanisms import parameters
from letalone.mechanisms.additive import SigmaNoise, read_target
from letalone.mechanisms.calibration import as_printed, smallest
from letalone.mechanisms.parameters import SensitivityLike, check_range, fill, read_sensitivity
from letalone.mechanisms.tails import discrete_gaussian_mean_size, discrete_gaussian_width
from letalone.mechanisms.values import Arrays, Integers, add_integer, add_integers, release_integers
from letalone.privacy import ZCDP, DiscreteGaussianPrivacy, Privacy
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.discrete_gaussian import (
    sample_discrete_gaussian,
    sample_discrete_gaussians,
)

WHOLE_MOVES = Constraint(
    "at most 2^62",
    lambda x: x <= 1 << 62,
    "Whole numbers beyond are clamped, so none moves further.",
    (2.0**63, 1e30, 1e300),
)
ONE_OR_MORE = Constraint(
    "a number that is 1 or more, and whole for a scalar",
    lambda x: x >= 1,
    "Whole numbers move by whole numbers; la.sensitivity computes it.",
    (0, -1, 0.5, float("nan"), float("inf")),
)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class DiscreteGaussian(SigmaNoise):
    """Adds discrete normal noise; calibrated by `epsilon` and `delta`, or by `sigma`.

    Parameters: `epsilon` and `delta` are one point that the curve of a release keeps to; or
    `sigma` is about the standard deviation of the noise. `sensitivity` is the most that one
    unit can move the answer in L2 (Euclidean), whole for a scalar: a number, or what
    `la.sensitivity` computes. `dimension` is how many numbers a release may have; with a
    sensitivity of 1, any number of them.
    """

    dimension: int

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        sigma: Number | None = None,
        sensitivity: SensitivityLike,
        dimension: int = 1,
    ) -> None:
        size, neighbours = read_sensitivity(sensitivity, "l2", ONE_OR_MORE)
        check_range("sensitivity", size, WHOLE_MOVES)
        length = int(COUNT.typed("dimension", dimension))
        if length == 1 and size.denominator != 1:
            raise refusal("sensitivity", float(size), "whole for a scalar", ONE_OR_MORE.hint)
        target = read_target(epsilon=epsilon, delta=delta, sigma=sigma)
        noise = SCALE.typed("sigma", sigma) if target is None else _sigma(size, length, *target)
        fill(self, sensitivity=size, neighbours=neighbours, dimension=length)
        fill(self, sigma=check_range("sigma", noise, parameters.WHOLE_NOISE), target=target)

    def _curve(self) -> Privacy:
        return _curve_of(self.sensitivity, self.dimension, self.sigma)

    @overload
    def release(self, value: int, *, bits: BitSource = SYSTEM) -> int: ...
    @overload
    def release(self, value: Arrays, *, bits: BitSource = SYSTEM) -> Integers: ...
    def release(self, value: object, *, bits: BitSource = SYSTEM) -> int | Integers:
        """The value, or every entry of an array, with fresh noise.

        Values beyond ±(2^62 − 1) are clamped to it first, and the sum to ±(2^63 − 1), alone
        and in lists alike: what comes out fits into 64 bits.
        """
        return release_integers(
            value,
            lambda number: add_integer(number, sample_discrete_gaussian(self.sigma, bits)),
            lambda numbers: self._release_all(numbers, bits),
        )

    def _release_all(self, numbers: Integers, bits: BitSource) -> Integers:
        if numbers.size > self.dimension and not _moves_one_step(self.sensitivity):
            raise ParameterError(
                f"There are {numbers.size} numbers, but dimension is {self.dimension} and the"
                " sensitivity is above 1: the promise would not hold for more. Make the"
                f" mechanism with dimension={numbers.size}."
            )
        return add_integers(
            numbers,
            self.sigma,
            lambda: sample_discrete_gaussian(self.sigma, bits),
            lambda count: sample_discrete_gaussians(self.sigma, count, bits),
        )

    def error(self, confidence: Number = 0.95, *, size: int = 1) -> int:
        return discrete_gaussian_width(self.sigma, confidence, size)

    def _mean_size(self) -> Ball:
        return discrete_gaussian_mean_size(self.sigma)


def _moves_one_step(sensitivity: Fraction) -> bool:
    return sensitivity**2 < 2


def _curve_of(sensitivity: Fraction, dimension: int, sigma: Fraction) -> Privacy:
    if _moves_one_step(sensitivity):
        return DiscreteGaussianPrivacy(1, sigma)
    if dimension == 1:
        return DiscreteGaussianPrivacy(int(sensitivity), sigma)
    return ZCDP(sensitivity**2 / (2 * sigma**2))


@lru_cache(maxsize=1024)
def _sigma(sensitivity: Fraction, dimension: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    at = as_printed(epsilon)

    def keeps(sigma: Fraction) -> bool:
        return Fraction(_curve_of(sensitivity, dimension, sigma).delta(at)) <= delta

    return smallest(keeps)
