"""The Gaussian mechanism: private numbers by normal noise, for a delta above 0.

If a query moves by at most `sensitivity` in L2 between neighbours, release its value plus
independent normal noise of standard deviation `sigma` in every coordinate.

Theorem.  The exact curve is `GaussianDP(sensitivity / sigma)`. Two calibrations:
  exact     the smallest sigma whose curve passes below (epsilon, delta), for any epsilon
  classic   sigma = sensitivity·√(2 ln(1.25/delta))/epsilon, for epsilon below 1 only;
            never less noisy than exact
  Proven:   docs/explanation/proofs/gaussian.md; that the curve at the sigma returned is
            within (epsilon, delta) is certified by balls each time
  Tested:   the draws against the law, with power against a 10 % wider one; a sigma smaller
            by 1e-12 breaks the promise
  Assumed:  the bits are uniform; an observer does not see how long it took

The noise is an ideal real number added to the exact value, and only the sum is rounded to
a grid that depends on sigma alone. Rounding is post-processing, so the sensitivity does
not grow, in any dimension.

Balle, Wang: Improving the Gaussian mechanism for differential privacy (2018).
"""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Literal, overload

from letalone.errors import ParameterError
from letalone.exact.balls import Ball, ball, certain, upper
from letalone.exact.typed import SCALE, Number
from letalone.mechanisms import parameters
from letalone.mechanisms.additive import SigmaNoise, read_target
from letalone.mechanisms.calibration import as_printed, smallest
from letalone.mechanisms.parameters import SensitivityLike, check_range, fill, read_sensitivity
from letalone.mechanisms.tails import gaussian_mean_size, gaussian_width, rounded_up
from letalone.mechanisms.values import Arrays, Floats, release_floats
from letalone.privacy import GaussianDP, Privacy
from letalone.privacy.bounds import six
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.real_noise import add_gaussian, add_gaussians, grid_of


class Calibration(Enum):
    """How sigma follows from epsilon and delta."""

    EXACT = "exact"
    CLASSIC = "classic"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Gaussian(SigmaNoise):
    """Adds normal noise; calibrated by `epsilon` and `delta`, or by `sigma`.

    Parameters: `epsilon` and `delta` are one point that the curve of a release keeps to; or
    `sigma` is the standard deviation of the noise. `sensitivity` is the most that one unit can
    move the answer in L2 (Euclidean): a number, or what `la.sensitivity` computes.
    `calibration` is "exact" (the least sigma, for every epsilon) or "classic" (the textbook
    formula, below epsilon 1).
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        sigma: Number | None = None,
        sensitivity: SensitivityLike,
        calibration: Calibration | Literal["exact", "classic"] = Calibration.EXACT,
    ) -> None:
        size, neighbours = read_sensitivity(sensitivity, "l2")
        how = _read_calibration(calibration)
        target = read_target(epsilon=epsilon, delta=delta, sigma=sigma)
        if target is None:
            noise = SCALE.typed("sigma", sigma)
        else:
            noise = _exact(size, *target) if how is Calibration.EXACT else _classic(size, *target)
        noise = check_range("sigma", noise, parameters.FLOAT_NOISE)
        fill(self, sensitivity=size, sigma=noise, neighbours=neighbours, target=target)

    def _curve(self) -> Privacy:
        return GaussianDP(self.sensitivity / self.sigma)

    @overload
    def release(self, value: float, *, bits: BitSource = SYSTEM) -> float: ...
    @overload
    def release(self, value: Arrays, *, bits: BitSource = SYSTEM) -> Floats: ...
    def release(self, value: object, *, bits: BitSource = SYSTEM) -> float | Floats:
        """The value, or every entry of an array, with fresh noise.

        Whole numbers beyond ±2^53, which floats cannot hold exactly, are clamped to it first,
        alone and in lists alike.
        """
        return release_floats(
            value,
            lambda number: add_gaussian(number, self.sigma, bits),
            lambda numbers: add_gaussians(numbers, self.sigma, bits),
        )

    def error(self, confidence: Number = 0.95, *, size: int = 1) -> float:
        """All of `size` numbers stay within this of the truth, at least this often.

        Where a result is so large that floats next to it lie further apart than the grid of
        sigma / 2^28 (near 2^60, 256 apart), rounding adds half of that, which is not included.
        """
        return rounded_up(gaussian_width(self.sigma, confidence, size), grid_of(self.sigma))

    def _mean_size(self) -> Ball:
        return gaussian_mean_size(self.sigma)


def _read_calibration(calibration: Calibration | str) -> Calibration:
    try:
        return Calibration(calibration)
    except ValueError:
        raise ParameterError(
            f"calibration is {calibration!r}, but must be 'exact' or 'classic'."
            " 'exact' is never noisier."
        ) from None


def _exact(sensitivity: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    return _rounded_up(sensitivity * _unit_sigma(epsilon, delta))


@lru_cache(maxsize=1024)
def _unit_sigma(epsilon: Fraction, delta: Fraction) -> Fraction:
    at = as_printed(epsilon)
    return smallest(lambda sigma: Fraction(GaussianDP(1 / sigma).delta(at)) <= delta)


def _classic(sensitivity: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    if epsilon >= 1:
        raise ParameterError(
            f"epsilon is {six(epsilon)}, but must be below 1 for calibration='classic': its"
            " proof ends there. Use calibration='exact', which holds for every epsilon."
        )
    factor = certain(lambda: (2 * (ball(Fraction(5, 4)) / ball(delta)).log()).sqrt())
    return _rounded_up(sensitivity / epsilon * Fraction(upper(factor)))


def _rounded_up(sigma: Fraction) -> Fraction:
    """The smallest dyadic rational of 53 bits at or above sigma."""
    shift = 53 - (sigma.numerator.bit_length() - sigma.denominator.bit_length())
    unit = Fraction(2) ** shift
    return -((-sigma * unit).__floor__()) / unit
