"""What two-sided geometric noise reveals.

Noise with Pr[Z = z] proportional to A^|z|, A = e^(-1/scale), on an integer query that moves
by at most `sensitivity` = s (in the L1 sense for vectors).

Theorem.  In one dimension, for 0 <= e < s / scale, with t = e scale and K = ceil((s - t)/2),
    delta(e) = 1 - (A^K + A^(s + 1 - t - K)) / (1 + A),
exactly, and 0 from s / scale on; in any dimension no more than that. A group of k has the
sensitivity k s.
  Proven:   docs/explanation/proofs/geometric.md (section 3: vectors)
  Tested:   against a 50-digit sum, and in the plane against a two-dimensional one

Ghosh, Roughgarden, Sundararajan: Universally utility-maximizing privacy mechanisms (2012).
"""

from fractions import Fraction
from math import ceil

from letalone.exact.balls import Ball, ball, certain, is_positive
from letalone.exact.typed import COUNT, SCALE, Number
from letalone.privacy.bounds import ONE, ZERO, Bounds, exactly
from letalone.privacy.curve import Orders, Privacy, curve
from letalone.privacy.neighbours import Neighbours


@curve("geometric")
class GeometricPrivacy(Privacy):
    """The curve of two-sided geometric noise; the pure epsilon is sensitivity / scale."""

    sensitivity: int
    scale: Fraction

    def __init__(
        self, sensitivity: Number, scale: Number, *, neighbours: Neighbours | None = None
    ) -> None:
        self.fill(
            neighbours,
            sensitivity=int(COUNT.typed("sensitivity", sensitivity)),
            scale=SCALE.typed("scale", scale),
        )

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """The most telling event is {noise < K}: there the loss exceeds epsilon."""
        shift, steps = self.sensitivity, epsilon * self.scale
        if steps >= shift:
            return exactly(ZERO)
        below = ceil((shift - steps) / 2)
        powers = (Fraction(below), shift + 1 - steps - below)
        return exactly(certain(lambda: 1 - self._shares(*powers)))

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Straight lines between the tests {output <= j}; the right one is found exactly."""
        if false_alarm == 0:
            return exactly(ONE)
        low, high = 0, self.sensitivity
        while low < high:
            middle = (low + high) // 2
            if self._reaches(middle, false_alarm):
                high = middle
            else:
                low = middle + 1
        return exactly(certain(lambda: self._interpolated(low, false_alarm)))

    def _reaches(self, last: int, false_alarm: Fraction) -> bool:
        """Whether the test {output <= last} raises more false alarms than that."""
        power = Fraction(self.sensitivity - last)
        return is_positive(lambda: self._shares(power) - ball(false_alarm))

    def _interpolated(self, last: int, false_alarm: Fraction) -> Ball:
        # 1 - delta(e) - e^e a at the loss e of the output `last`; below zero delta is mirrored.
        steps = self.sensitivity - 2 * last
        likely = ball(steps / self.scale).exp()
        kept = self._shares(Fraction(last), Fraction(self.sensitivity + 1 - steps - last))
        return kept - likely * ball(false_alarm)

    def _shares(self, *powers: Fraction) -> Ball:
        """The sum of A^power / (1 + A): each is the probability of a half-line."""
        total = ball(0)
        for power in powers:
            total += ball(-power / self.scale).exp()
        return total / (1 + ball(-1 / self.scale).exp())

    def worst_loss(self) -> Fraction:
        return self.sensitivity / self.scale

    def for_group(self, size: int) -> Privacy:
        return GeometricPrivacy(size * self.sensitivity, self.scale)

    def make_losses(self) -> "Orders | None":
        from letalone.privacy.loss.atoms import geometric_atoms

        atoms = geometric_atoms(self.sensitivity, self.scale)
        return None if atoms is None else (atoms,)
