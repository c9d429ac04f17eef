"""Approximate differential privacy: the worst mechanism that is (epsilon, delta)-DP.

Theorem.  Every (epsilon, delta)-DP mechanism is a post-processing of the one that shows
its input with probability delta and is randomized response otherwise. Its curve at
0 <= x <= epsilon is delta + (1 - delta) times that of randomized response, and delta
beyond; its trade-off curve is max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)).
  Proven:   docs/explanation/proofs/curves.md, section 3; groups: group.md, section 1
  Tested:   against an enumeration of events of that mechanism

Kairouz, Oh, Viswanath: The composition theorem for differential privacy (2015).
"""

from fractions import Fraction

from letalone.exact.balls import Ball, ball, certain
from letalone.exact.typed import DELTA, EPSILON_OR_ZERO, Number
from letalone.privacy.bounds import ONE, ZERO, Bounds, dyadic_above, exactly, once
from letalone.privacy.curve import Orders, Privacy, curve
from letalone.privacy.neighbours import Neighbours
from letalone.privacy.pure import PureDP, pure_delta


@curve("approximate")
class ApproxDP(Privacy):
    """Whatever is (epsilon, delta)-DP, and nothing more is known of it."""

    stated_epsilon: Fraction
    stated_delta: Fraction

    def __init__(
        self, epsilon: Number, delta: Number, *, neighbours: Neighbours | None = None
    ) -> None:
        self.fill(
            neighbours,
            stated_epsilon=EPSILON_OR_ZERO.typed("epsilon", epsilon),
            stated_delta=DELTA.typed("delta", delta),
        )

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        leak, rest = self.stated_delta, pure_delta(self.stated_epsilon, epsilon)
        if isinstance(rest, Fraction):
            return exactly(leak)
        return exactly(once(lambda: ball(leak) + ball(1 - leak) * rest))

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        height = 1 - self.stated_delta - false_alarm
        if height <= 0:
            return exactly(ZERO)
        return exactly(once(lambda: self._two_lines(false_alarm)))

    def _two_lines(self, false_alarm: Fraction) -> Ball:
        likely, kept = ball(self.stated_epsilon).exp(), 1 - self.stated_delta
        return (ball(kept) - likely * ball(false_alarm)).max(ball(kept - false_alarm) / likely)

    def worst_loss(self) -> Fraction:
        return self.stated_epsilon

    def certain_leak(self) -> Fraction:
        return self.stated_delta

    def for_group(self, size: int) -> Privacy:
        """A group of k: (k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1)), or no promise."""
        step, leak = self.stated_epsilon, self.stated_delta
        total, delta = size * step, size * leak
        if step > 0 and leak > 0:
            grown = certain(lambda: ball(leak) * ball(total).expm1() / ball(step).expm1())
            delta = dyadic_above(grown)
        return ApproxDP(total, delta) if delta < 1 else NoPrivacy()

    def make_losses(self) -> "Orders | None":
        from letalone.privacy.loss.atoms import binary_atoms

        return (binary_atoms(self.stated_epsilon, self.stated_delta),)

    def split_leak(self) -> tuple[Privacy, ...]:
        """(e, d)-DP is no worse than e-DP together with a leak of d."""
        if not self.stated_epsilon or not self.stated_delta:
            return (self,)
        return PureDP(self.stated_epsilon), ApproxDP(0, self.stated_delta)


@curve("none")
class NoPrivacy(Privacy):
    """No promise is left: anything may be revealed."""

    def __init__(self, *, neighbours: Neighbours | None = None) -> None:
        self.fill(neighbours)

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        del epsilon
        return exactly(ONE)

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        del false_alarm
        return exactly(ZERO)

    def certain_leak(self) -> Fraction:
        return ONE

    def for_group(self, size: int) -> Privacy:
        del size
        return self

    @property
    def is_group_rule(self) -> bool:
        return True

    def _price(self) -> str:
        return "ε = ∞"
