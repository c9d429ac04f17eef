"""Zero-concentrated differential privacy: every Renyi divergence of order a is at most a rho.

Theorem.  A rho-zCDP mechanism is (e, delta)-DP for
    delta = e^((a-1)(a rho - e)) / a * (1 - 1/a)^(a-1)      for every order a > 1,
and some rho-zCDP mechanism (the Gaussian with mu = sqrt(2 rho)) is no better than
Gaussian. Budgets add; a group of k costs k^2 rho.
The upper curve is this formula at the best order found: any order is a proof, so only the
formula is certified, not the search for the order. The lower curve is the Gaussian's.
  Proven:   docs/explanation/proofs/zcdp.md
  Tested:   against a dense search at 50 digits; above the Gaussian curve everywhere

Bun, Steinke: Concentrated differential privacy (2016).
Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy (2020).
"""

from fractions import Fraction
from math import log1p
from typing import ClassVar

from letalone.exact.balls import Ball, ball, certain
from letalone.exact.typed import Number, positive
from letalone.privacy.bounds import ANY_ACCURACY, ONE, Bounds, smaller
from letalone.privacy.curve import Privacy, curve
from letalone.privacy.envelopes import lowest_envelope
from letalone.privacy.gaussian import gaussian_delta, gaussian_missed
from letalone.privacy.neighbours import Neighbours
from letalone.privacy.search import edge

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
        return Bounds(
            lowest_envelope(self, false_alarm), gaussian_missed(2 * self.rho, false_alarm)
        )

    def for_group(self, size: int) -> Privacy:
        """A group of k costs k^2 rho."""
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
