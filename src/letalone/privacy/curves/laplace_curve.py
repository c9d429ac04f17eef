"""What Laplace noise reveals.

Noise of scale b on a query of L1 sensitivity D, with ratio r = D / b.

Theorem.  In one dimension, delta(e) = 1 - e^((e - r) / 2) for 0 <= e <= r, exactly; in any
dimension no more than that. The trade-off curve is 1 - e^r a below e^-r / 2, e^-r / (4a)
up to 1/2, and e^-r (1 - a) beyond. A group of k has the ratio k r. The Renyi divergence at
order a is ln(a/(2a-1) e^((a-1) r) + (a-1)/(2a-1) e^(-a r)) / (a - 1).
  Proven:   docs/explanation/proofs/laplace.md (section 3: vectors); theorems.md, section 3
  Tested:   against a 50-digit integral, and in the plane against a two-dimensional one

Dwork, McSherry, Nissim, Smith: Calibrating noise to sensitivity in private data analysis
(2006).
"""

from fractions import Fraction

from letalone.exact.balls import Ball, ball, certain, is_positive
from letalone.exact.typed import EPSILON, Number
from letalone.privacy.bounds import ONE, ZERO, Bounds, dyadic_above, exactly
from letalone.privacy.curve import Orders, Privacy, curve
from letalone.privacy.neighbours import Neighbours


@curve("laplace")
class LaplacePrivacy(Privacy):
    """The curve of Laplace noise; `ratio` is sensitivity / scale, the pure epsilon."""

    ratio: Fraction

    def __init__(self, ratio: Number, *, neighbours: Neighbours | None = None) -> None:
        self.fill(neighbours, ratio=EPSILON.typed("ratio", ratio))

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """Where the loss exceeds epsilon: the half-line left of the middle, less a little."""
        if epsilon >= self.ratio:
            return exactly(ZERO)
        return exactly(certain(lambda: -ball((epsilon - self.ratio) / 2).expm1()))

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """A line, a hyperbola, a line."""
        return exactly(certain(lambda: self._missed(false_alarm)) if false_alarm else ONE)

    def _missed(self, false_alarm: Fraction) -> Ball:
        likely = ball(self.ratio).exp()
        if 2 * false_alarm >= 1:
            return ball(1 - false_alarm) / likely
        if is_positive(lambda: 1 - ball(self.ratio).exp() * ball(2 * false_alarm)):
            return 1 - likely * ball(false_alarm)
        return 1 / (likely * ball(4 * false_alarm))

    def worst_loss(self) -> Fraction:
        return self.ratio

    def for_group(self, size: int) -> Privacy:
        return LaplacePrivacy(size * self.ratio)

    def renyi_divergence(self, order: Fraction) -> Fraction:
        return laplace_divergence(order, self.ratio)

    def make_losses(self) -> "Orders | None":
        from letalone.privacy.loss.pairs import LaplacePair

        return (LaplacePair(float(self.ratio)),)


def laplace_divergence(order: Fraction, ratio: Fraction) -> Fraction:
    """The divergence of Laplace noise at this order, rounded up."""

    def formula() -> Ball:
        # ln(w e^u + (1 - w) e^v) with u > v: u + ln(w + (1 - w) e^(v - u)).
        weight = order / (2 * order - 1)
        rest = ball(1 - weight) * ball(-(2 * order - 1) * ratio).exp()
        return ball(ratio) + (ball(weight) + rest).log() / ball(order - 1)

    return min(ratio, dyadic_above(certain(formula)))
