"""The geometric mechanism: a private count from an exact one.

If a whole-number query moves by at most `sensitivity` in L1 between neighbours, release
its value plus Z, where P[Z = z] is (1 − α)/(1 + α)·α^|z| with α = e^(−1/scale).

Theorem.  The release is (epsilon, 0)-DP for epsilon = sensitivity / scale, and its exact
curve is `GeometricPrivacy(sensitivity, scale)`: for vectors too that curve is the worst.
  Proven:   docs/explanation/proofs/geometric.md; its error in proofs/utility.md
  Tested:   the draws against the law, with power against a 10 % wider one
  Assumed:  the bits are uniform; an observer does not see how long it took

Ghosh, Roughgarden, Sundararajan: Universally utility-maximizing privacy mechanisms (2012).
"""

from dataclasses import dataclass
from typing import ClassVar, overload

from letalone.exact.balls import Ball
from letalone.exact.typed import Constraint, Number
from letalone.mechanisms.additive import ScaleNoise
from letalone.mechanisms.parameters import WHOLE_NOISE, WHOLE_SENSITIVITY
from letalone.mechanisms.tails import geometric_mean_size, geometric_width
from letalone.mechanisms.values import Arrays, Integers, add_integer, add_integers, release_integers
from letalone.privacy import GeometricPrivacy, Privacy
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.geometric import sample_geometric, sample_geometrics


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Geometric(ScaleNoise):
    """Adds two-sided geometric noise to whole numbers; calibrated by `epsilon` or `scale`.

    Parameters: `epsilon` is what a release costs; or `scale` is the size of the noise, and the
    other follows. `sensitivity` is the most that one unit can move the answer in L1 (the sum
    over all coordinates): a whole number, or what `la.sensitivity` computes.
    """

    _sensitivity_rule: ClassVar[Constraint] = WHOLE_SENSITIVITY
    _noise_rule: ClassVar[Constraint] = WHOLE_NOISE
    sensitivity: int

    def _curve(self) -> Privacy:
        return GeometricPrivacy(self.sensitivity, self.scale)

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
            lambda number: add_integer(number, sample_geometric(self.scale, bits)),
            lambda numbers: add_integers(
                numbers,
                self.scale,
                lambda: sample_geometric(self.scale, bits),
                lambda count: sample_geometrics(self.scale, count, bits),
            ),
        )

    def error(self, confidence: Number = 0.95, *, size: int = 1) -> int:
        return geometric_width(self.scale, confidence, size)

    def _mean_size(self) -> Ball:
        return geometric_mean_size(self.scale)
