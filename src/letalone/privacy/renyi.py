"""Renyi differential privacy at one order: the divergence of order a is at most tau.

Theorem.  (1) Such a mechanism is (e, delta)-DP for
    delta = e^((a-1)(tau - e)) / a * (1 - 1/a)^(a-1),
and at one order nothing better than the Gaussian with mu^2 = 2 tau / a can be promised.
(2) A group of two has, at order b = a / 2, at most tau (1 + (b - 1/2) / (b - 1)).
Divergences of the same order add along a composition, adaptive or not. A divergence at one
order is one at every lower order.
  Proven:   docs/explanation/proofs/theorems.md, sections 3 and 4
  Tested:   against sums and integrals at 40 digits; above the Gaussian curve everywhere

Mironov: Renyi differential privacy (2017). Canonne, Kamath, Steinke: The discrete Gaussian
for differential privacy (2020).
"""

from fractions import Fraction
from typing import ClassVar

from letalone.errors import UnsupportedQuery
from letalone.exact.balls import Ball, certain
from letalone.exact.typed import Constraint, Number, positive
from letalone.privacy.bounds import ANY_ACCURACY, ONE, Bounds, format_number, smaller
from letalone.privacy.curve import Json, Privacy, curve
from letalone.privacy.envelopes import lowest_envelope
from letalone.privacy.gaussian import gaussian_delta, gaussian_missed
from letalone.privacy.neighbours import Neighbours
from letalone.privacy.zcdp import FAR, renyi_delta

ORDER = Constraint(
    "a number above 1",
    lambda x: x > 1,
    "It is the order of the Renyi divergence; 2 to 100 is usual.",
    (1, 0.5, 0, -1, float("nan"), float("inf")),
)
DIVERGENCE = positive("It is the Renyi divergence at the order given; smaller means more private.")


@curve("renyi")
class RenyiDP(Privacy):
    """Whatever has this Renyi divergence at this order, and nothing more is known of it."""

    exact: ClassVar[bool] = False
    order: Fraction
    divergence: Fraction

    def __init__(
        self, order: Number, epsilon: Number, *, neighbours: Neighbours | None = None
    ) -> None:
        self.fill(
            neighbours,
            order=ORDER.typed("order", order),
            divergence=DIVERGENCE.typed("epsilon", epsilon),
        )

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """Between the Gaussian's and the conversion at this order."""
        above = order_delta(self.order, self.divergence, epsilon)
        return Bounds(gaussian_delta(self._gaussian(), epsilon), smaller(ONE, above))

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Between the envelope of the upper curve and the Gaussian's trade-off."""
        gaussian = gaussian_missed(self._gaussian(), false_alarm)
        return Bounds(lowest_envelope(self, false_alarm), gaussian)

    def _gaussian(self) -> Fraction:
        """The square of the mu that has this divergence at this order."""
        return 2 * self.divergence / self.order

    def for_group(self, size: int) -> Privacy:
        """Halves the order for each doubling of the group; refused where none is left above 1."""
        order, divergence = self.order, self.divergence
        for _ in range((size - 1).bit_length()):
            order /= 2
            if order <= 1:
                raise UnsupportedQuery(
                    f"A group of {size} needs an order above {2 ** (size - 1).bit_length()}, but "
                    f"this is {format_number(self.order)}: each doubling of a group halves the "
                    "order. "
                    "State the divergence at a larger order, or as zCDP, where groups cost k^2."
                )
            divergence *= 1 + (order - Fraction(1, 2)) / (order - 1)
        return RenyiDP(order, divergence)

    def renyi_divergence(self, order: Fraction) -> Fraction | None:
        return self.divergence if self.order >= order else None

    @property
    def has_family(self) -> bool:
        return True

    @property
    def is_group_rule(self) -> bool:
        return True

    def why_not(self) -> str:
        return "one order says nothing about higher ones"

    def parameters(self) -> Json:
        return {"order": str(self.order), "epsilon": str(self.divergence)}

    def described(self) -> str:
        return f"order={format_number(self.order)}, epsilon={format_number(self.divergence)}"


def order_delta(order: Fraction, divergence: Fraction, epsilon: Fraction) -> Ball:
    """The delta at epsilon that a divergence of this order leaves (theorem, 1)."""
    bits = 64 if max(divergence, epsilon) < FAR else ANY_ACCURACY
    return certain(lambda: renyi_delta(divergence / order, epsilon, order - 1), bits=bits)
