"""Renyi divergences: of order a at most tau (Renyi DP), or at every order a at most a rho (zCDP).

Theorem.  (1) A mechanism of divergence tau at order a > 1 is (e, delta)-DP for
    delta = e^((a-1)(tau - e)) / a * (1 - 1/a)^(a-1),
and at one order nothing better than the Gaussian with mu^2 = 2 tau / a can be promised. A
rho-zCDP mechanism has this at every order, with tau = a rho; some such mechanism (the Gaussian
with mu = sqrt(2 rho)) is no better than Gaussian.
(2) A group of two has, at order b = a / 2, at most tau (1 + (b - 1/2) / (b - 1)); under zCDP a
group of k costs k^2 rho.
Divergences of the same order add along a composition, adaptive or not, and so does rho. A
divergence at one order is one at every lower order.
The upper curve of zCDP is the formula at the best order found: any order is a proof, so only the
formula is certified, not the search for the order. The lower curves are the Gaussian's.
  Proven:   docs/explanation/proofs/theorems.md, sections 3 and 4; zcdp.md
  Tested:   against sums and integrals at 40 digits, and a dense search at 50; above the Gaussian
            curve everywhere

Mironov: Renyi differential privacy (2017). Bun, Steinke: Concentrated differential privacy (2016).
Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy (2020).
"""

from fractions import Fraction
from math import log1p
from typing import ClassVar

from letalone.errors import UnsupportedQuery
from letalone.exact.balls import Ball, ball, certain
from letalone.exact.typed import Constraint, Number, positive
from letalone.privacy.bounds import ANY_ACCURACY, ONE, Bounds, format_number, smaller
from letalone.privacy.curve import Json, Privacy, curve
from letalone.privacy.curves.envelopes import lowest_envelope
from letalone.privacy.curves.gaussian_curve import gaussian_delta, gaussian_missed
from letalone.privacy.neighbours import Neighbours
from letalone.privacy.search import edge

ORDER = Constraint(
    "a number above 1",
    lambda x: x > 1,
    "It is the order of the Renyi divergence; 2 to 100 is usual.",
    (1, 0.5, 0, -1, float("nan"), float("inf")),
)
DIVERGENCE = positive("It is the Renyi divergence at the order given; smaller means more private.")
RHO = positive("For Gaussian noise it is sensitivity^2 / (2 sigma^2); smaller means more private.")
MOMENTS_ONLY = "a bound on moments does not bound the whole trade-off curve, or the largest loss"
LARGEST_ORDER = 2.0**200
HUGE = Fraction(10) ** 300
FAR = 10**12
SMALLEST = 1e-300


@curve("zcdp")
class ZCDP(Privacy):
    """Whatever is rho-zCDP, and nothing more is known of it."""

    exact: ClassVar[bool] = False
    rho: Fraction

    def __init__(self, rho: Number, *, neighbours: Neighbours | None = None) -> None:
        self.fill(neighbours, rho=RHO.typed("rho", rho))

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """Between the Gaussian's and the best Renyi conversion."""
        order = best_order(rough(self.rho), rough(epsilon))
        # Beyond all floats one evaluation will do: there is no accuracy to ask for.
        bits = 64 if max(self.rho, epsilon) < FAR else ANY_ACCURACY
        above = certain(lambda: renyi_delta(self.rho, epsilon, order), bits=bits)
        return Bounds(gaussian_delta(2 * self.rho, epsilon), smaller(ONE, above))

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Between the envelope of the upper curve and the Gaussian's trade-off."""
        gaussian = gaussian_missed(2 * self.rho, false_alarm)
        return Bounds(lowest_envelope(self, false_alarm), gaussian)

    def for_group(self, size: int) -> Privacy:
        return ZCDP(size**2 * self.rho)

    def zcdp_rho(self) -> Fraction:
        return self.rho

    def why_not(self) -> str:
        return MOMENTS_ONLY


def renyi_delta(rho: Fraction, epsilon: Fraction, above_one: Fraction) -> Ball:
    """The conversion at order 1 + above_one; to be called where the precision is set."""
    order = 1 + above_one
    exponent = ball(above_one * (order * rho - epsilon)) + ball(above_one) * (
        ball(above_one / order).log()
    )
    return exponent.exp() / ball(order)


def best_order(rho: float, epsilon: float) -> Fraction:
    """The order, less one, at which the conversion is about smallest; nothing is certified."""

    # The derivative of the exponent, which grows with the order.
    def slope(u: float) -> float:
        return rho * (2 * u + 1) - epsilon - log1p(1 / max(u, SMALLEST))

    _, order = edge(lambda u: slope(u) > 0)
    return Fraction(min(order, LARGEST_ORDER))


def rough(value: Fraction) -> float:
    """A float near a rational of any size."""
    return float(min(value, HUGE))


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
