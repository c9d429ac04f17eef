"""The Laplace mechanism: a private number, or vector, from an exact one.

If a query moves by at most `sensitivity` in L1 between neighbours, release its value plus
independent noise with density proportional to exp(−|z| / scale) in every coordinate.

Theorem.  The release is (epsilon, 0)-DP for epsilon = sensitivity / scale, and its exact
curve is `LaplacePrivacy(sensitivity / scale)`: for vectors too that curve is the worst.
  Proven:   docs/explanation/proofs/laplace.md; its error in proofs/utility.md
  Tested:   the draws against the law, with power against a 10 % wider one
  Assumed:  the bits are uniform; an observer does not see how long it took

The noise is an ideal real number added to the exact value, and only the sum is rounded to
a grid that depends on the scale alone. Rounding is post-processing, so the sensitivity
does not grow, in any dimension, and the typed epsilon is the epsilon.

Dwork, McSherry, Nissim, Smith: Calibrating noise to sensitivity in private data
analysis (2006).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, overload

from letalone.exact.balls import Ball, ball, certain
from letalone.exact.typed import SENSITIVITY, Constraint, Number
from letalone.mechanisms.additive import ScaleNoise
from letalone.mechanisms.parameters import FLOAT_NOISE
from letalone.mechanisms.tails import laplace_width, rounded_up
from letalone.mechanisms.values import Arrays, Floats, release_floats
from letalone.privacy import LaplacePrivacy, Privacy
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.real_noise import add_laplace, add_laplaces, grid_of


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Laplace(ScaleNoise):
    """Adds Laplace noise to numbers; calibrated by `epsilon` or by `scale`.

    Parameters: `epsilon` is what a release costs; or `scale` is the size of the noise, and the
    other follows. `sensitivity` is the most that one unit can move the answer in L1 (the sum
    over all coordinates): a number, or what `la.sensitivity` computes.
    """

    _sensitivity_rule: ClassVar[Constraint] = SENSITIVITY
    _noise_rule: ClassVar[Constraint] = FLOAT_NOISE
    sensitivity: Fraction

    def _curve(self) -> Privacy:
        return LaplacePrivacy(self.epsilon)

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
            lambda number: add_laplace(number, self.scale, bits),
            lambda numbers: add_laplaces(numbers, self.scale, bits),
        )

    def error(self, confidence: Number = 0.95, *, size: int = 1) -> float:
        """All of `size` numbers stay within this of the truth, at least this often.

        Where a result is so large that floats next to it lie further apart than the grid of
        scale / 2^28 (near 2^60, 256 apart), rounding adds half of that, which is not included.
        """
        return rounded_up(laplace_width(self.scale, confidence, size), grid_of(self.scale))

    def _mean_size(self) -> Ball:
        return certain(lambda: ball(self.scale))
