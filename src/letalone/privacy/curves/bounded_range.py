"""What the exponential mechanism reveals: a loss within a range of width epsilon.

A mechanism has bounded range epsilon if, for neighbours, its largest loss is at most
epsilon above its smallest. Drawing o with probability proportional to
exp(epsilon u(o) / (2 D)) has it: sharper than being epsilon-DP.

Theorem.  The worst such mechanism has two outcomes, and with E = e^epsilon
    delta(x) = (sqrt E - e^(x/2))^2 / (E - 1)      for 0 <= x <= epsilon,
    missed(a) = (1 - a) / (1 + a (E - 1)),
both reached. It is (epsilon^2 / 8)-zCDP; a group of k has bounded range k epsilon.
  Proven:   docs/explanation/proofs/bounded_range.md
  Tested:   against a search over all two-outcome mechanisms

Durfee, Rogers: Practical differentially private top-k selection with pay-what-you-get
composition (2019). Dong, Durfee, Rogers: Optimal differential privacy composition for
exponential mechanisms (2020). Cesar, Rogers: Bounding, concentrating, and truncating (2021).
"""

from fractions import Fraction

from letalone.exact.balls import Ball, ball, certain
from letalone.exact.typed import EPSILON, Number
from letalone.privacy.bounds import ZERO, Bounds, exactly
from letalone.privacy.curve import Orders, Privacy, curve
from letalone.privacy.curves.pure_terms import pure_rho
from letalone.privacy.neighbours import Neighbours


@curve("bounded_range")
class BoundedRange(Privacy):
    """Whatever has bounded range epsilon, and nothing more is known of it."""

    stated_epsilon: Fraction

    def __init__(self, epsilon: Number, *, neighbours: Neighbours | None = None) -> None:
        self.fill(neighbours, stated_epsilon=EPSILON.typed("epsilon", epsilon))

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """The worst pair has its losses at (epsilon + x) / 2 and epsilon below that."""
        stated = self.stated_epsilon
        if epsilon >= stated:
            return exactly(ZERO)
        gap = (epsilon - stated) / 2
        return exactly(certain(lambda: ball(gap).expm1() ** 2 / -ball(-stated).expm1()))

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """The hyperbola through (0, 1) and (1, 0)."""
        return exactly(certain(lambda: self._missed(false_alarm)))

    def _missed(self, false_alarm: Fraction) -> Ball:
        rise = ball(self.stated_epsilon).expm1()
        return ball(1 - false_alarm) / (1 + ball(false_alarm) * rise)

    def worst_loss(self) -> Fraction:
        """Epsilon itself: a loss range of epsilon contains zero."""
        return self.stated_epsilon

    def for_group(self, size: int) -> Privacy:
        return BoundedRange(size * self.stated_epsilon)

    def zcdp_rho(self) -> Fraction:
        """epsilon^2 / 8, where that is less than what epsilon-DP alone gives."""
        return min(pure_rho(self.stated_epsilon), self.stated_epsilon**2 / 8)

    def reached(self) -> "Orders":
        """Its curve is an envelope: one mechanism has losses of half of it."""
        from letalone.privacy.loss.atoms import binary_atoms

        return (binary_atoms(self.stated_epsilon / 2, ZERO),)

    def make_losses(self) -> "Orders | None":
        from letalone.privacy.loss.pairs import bounded_range_pair

        return (bounded_range_pair(float(self.stated_epsilon)),)
