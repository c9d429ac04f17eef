"""Pure and approximate differential privacy: the worst mechanism that is (epsilon, delta)-DP.

Theorem.  Among all epsilon-DP mechanisms, binary randomized response reveals most: its curve is
(1 - e^(x - epsilon)) / (1 + e^-epsilon) at 0 <= x <= epsilon. Every (epsilon, delta)-DP mechanism
is a post-processing of the one that shows its input with probability delta and is randomized
response otherwise. Its curve at 0 <= x <= epsilon is delta + (1 - delta) times that of randomized
response, and delta beyond; its trade-off curve is
max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)).
  Proven:   docs/explanation/proofs/curves.md, section 3; groups: group.md, section 1
  Tested:   against an enumeration of events of that mechanism; a group costs k times as much

Kairouz, Oh, Viswanath: The composition theorem for differential privacy (2015).
"""

from fractions import Fraction

from letalone.exact.balls import Ball, ball, certain
from letalone.exact.typed import DELTA, EPSILON, EPSILON_OR_ZERO, Number
from letalone.privacy.bounds import ONE, ZERO, Bounds, dyadic_above, exactly, once
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
        return exactly(once(lambda: _two_lines(self.stated_epsilon, ZERO, false_alarm)))

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


def _two_lines(epsilon: Fraction, delta: Fraction, false_alarm: Fraction) -> Ball:
    """The larger of the two lines; to be called where the precision is set."""
    likely, kept = ball(epsilon).exp(), 1 - delta
    return (ball(kept) - likely * ball(false_alarm)).max(ball(kept - false_alarm) / likely)


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
        lines = (self.stated_epsilon, self.stated_delta, false_alarm)
        return exactly(once(lambda: _two_lines(*lines)))

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
