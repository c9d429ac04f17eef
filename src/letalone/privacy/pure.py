"""Pure differential privacy: what a mechanism known only to be epsilon-DP reveals at most.

Theorem.  Among all epsilon-DP mechanisms, binary randomized response reveals most: its
curve is (1 - e^(x - epsilon)) / (1 + e^-epsilon) at 0 <= x <= epsilon, and every
epsilon-DP mechanism is a post-processing of it. Its trade-off curve is
max(1 - e^epsilon a, e^-epsilon (1 - a)).
  Proven:   docs/explanation/proofs/curves.md, section 3
  Tested:   against an enumeration of events; a group costs k times as much

Kairouz, Oh, Viswanath: The composition theorem for differential privacy (2015).
"""

from fractions import Fraction

from letalone.exact.balls import Ball, ball, certain
from letalone.exact.typed import EPSILON, Number
from letalone.privacy.bounds import ZERO, Bounds, exactly, once
from letalone.privacy.curve import Orders, Privacy, curve
from letalone.privacy.neighbours import Neighbours


@curve("pure")
class PureDP(Privacy):
    """Whatever is epsilon-DP, and nothing more is known of it."""

    stated_epsilon: Fraction

    def __init__(self, epsilon: Number, *, neighbours: Neighbours | None = None) -> None:
        self.fill(neighbours, stated_epsilon=EPSILON.typed("epsilon", epsilon))

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        return exactly(pure_delta(self.stated_epsilon, epsilon))

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Two lines: the loss is never beyond epsilon, either way."""
        return exactly(once(lambda: pure_missed(self.stated_epsilon, false_alarm)))

    def worst_loss(self) -> Fraction:
        return self.stated_epsilon

    def for_group(self, size: int) -> Privacy:
        """A group of k costs k times epsilon (P2)."""
        return PureDP(size * self.stated_epsilon)

    def make_losses(self) -> "Orders | None":
        from letalone.privacy.loss.atoms import binary_atoms

        return (binary_atoms(self.stated_epsilon, ZERO),)


def pure_delta(stated: Fraction, epsilon: Fraction) -> Fraction | Ball:
    """What is left at `epsilon` of a mechanism that is `stated`-DP."""
    if epsilon >= stated:
        return ZERO
    return certain(lambda: -ball(epsilon - stated).expm1() / (1 + ball(-stated).exp()))


def pure_missed(stated: Fraction, false_alarm: Fraction) -> Ball:
    """The larger of the two lines; to be called where the precision is set."""
    likely = ball(stated).exp()
    return (1 - likely * ball(false_alarm)).max(ball(1 - false_alarm) / likely)
