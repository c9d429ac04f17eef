"""What a shuffled batch of local reports reveals about one of them: bounds from both sides.

Each report is at least as likely as the *blanket* ω(y) = min over all values of R_x(y), whatever
its owner holds. So each report is, with probability γ = Σ ω(y), drawn from the blanket and says
nothing about its owner.

Theorem.  With E = e^ε, Y drawn from the blanket with probability γ, and
G = (R_x(Y) − E R_x'(Y))/ω(Y), else 0, a batch of n reports has δ(ε) ≤ E[max(G_1 + … + G_n, 0)]/n at
its worst pair of values x, x'. If all others hold one value z, δ(ε) is exactly the same mean for
G = (R_x(Y) − E R_x'(Y))/R_z(Y), Y drawn from R_z: a lower bound.
  Proven:   docs/explanation/proofs/local_shuffling.md
  Tested:   against sums over all batches, in rationals; both bounds in order; published numbers
  Assumed:  one closed batch of at least n honest reports, one a person, without times, addresses
            or tokens, all by the same oracle

Balle, Bell, Gascón, Nissim: The privacy blanket of the shuffle model (2019). Su, Cheng, Wang:
Decomposition-based optimal bounds for privacy amplification via shuffling (2025). Feldman,
McMillan, Talwar: Hiding among the clones (2021), for the closed form.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, log, sqrt
from typing import Protocol

from letalone.errors import UnsupportedQuery
from letalone.exact.balls import ball, certain, float_below, fraction_above, fraction_below
from letalone.exact.typed import EPSILON_OR_ZERO, POSITIVE_DELTA, Number, whole_from
from letalone.local.shuffling.likelihoods import LikelihoodAtoms
from letalone.local.shuffling.positive_sums import (
    FINE_POINTS,
    RationalLaw,
    positive_mean_above,
    positive_mean_below,
)
from letalone.mechanisms.parameters import fill
from letalone.privacy import REPLACE, ApproxDP, Privacy
from letalone.privacy.bounds import shown_above
from letalone.privacy.curves.clones import count_below
from letalone.privacy.curves.shuffled_counts import counts_above

MOST_REPORTS = 10**9
CONDITIONS = "one closed batch of honest reports, one a person, without times, addresses or tokens"
TAKEN = (
    "KaryResponse, SubsetSelection, UnaryEncoding, LocalHashing, HadamardResponse, CountMeanSketch,"
    " Duchi, Piecewise, Hybrid and PrivUnit"
)
REPORTS = whole_from(
    2, "It is how many honest reports the closed batch holds at least; declare it, do not count."
)
# How many points a transform has, how often ε is halved with it, and how far it may have been off.
STAGES = ((1 << 13, 16, 2.0), (1 << 15, 9, 1.2))
LAST_ROUNDS = 6
LEAST_EPSILON, MOST_EPSILON = 1e-12, 32.0
FEW_REPORTS, FEWER_POINTS = 50_000, 1 << 16  # a sum of few draws needs fewer points


class Shufflable(Protocol):
    """Whatever can say how likely its reports are, beside its blanket and from a third value."""

    @property
    def privacy(self) -> Privacy:
        """The curve of one report."""
        ...

    def blanket_atoms(self) -> LikelihoodAtoms:
        """Of the worst pair of values, under the blanket."""
        ...

    def crowds(self) -> tuple[LikelihoodAtoms, ...]:
        """Of a pair of values, under the reports of others who all hold one value."""
        ...

    def lie_of_two(self) -> Fraction | None:
        """The chance of a lie if a report is one of two answers whatever is held."""
        ...


DeltaBound = Callable[[Fraction, int], float]  # at an ε, by a transform of so many points


@dataclass(frozen=True, slots=True, init=False)
class ShuffledBatch:
    """A closed batch of at least `reports` honest reports of one oracle, in random order.

    The conditions are the owner's to keep: one report a person, all of them by this oracle, and
    nothing that says who sent which. A live view of reports has the local ε, not this one.
    """

    oracle: Shufflable
    reports: int

    def __init__(self, oracle: Shufflable, *, reports: int) -> None:
        count = int(REPORTS.typed("reports", reports))
        if not hasattr(oracle, "blanket_atoms"):
            raise UnsupportedQuery(_refusal(oracle))
        fill(self, oracle=oracle, reports=min(count, MOST_REPORTS))

    def delta_bounds(self, epsilon: Number) -> tuple[float, float]:
        """Between these two lies the batch's δ at this ε, at its worst."""
        at = EPSILON_OR_ZERO.typed("epsilon", epsilon)
        return self._below(at, self._points()), self._above(at, self._points())

    def epsilon_bounds(self, delta: Number) -> tuple[float, float]:
        """Between these two lies the batch's ε at this δ, at its worst."""
        at = float(POSITIVE_DELTA.typed("delta", delta))
        local = float(self.oracle.privacy.epsilon(0))
        high = min(local, self._search(self._above, at, local, upper=True))
        return min(high, self._search(self._below, at, local, upper=False)), high

    def epsilon(self, delta: Number) -> float:
        """The batch reveals at most this ε at this δ."""
        return self.epsilon_bounds(delta)[1]

    def privacy(self, delta: Number) -> Privacy:
        """What the batch reveals about one report: (ε, δ) under replace."""
        price = ApproxDP(self.epsilon(delta), float(POSITIVE_DELTA.typed("delta", delta)))
        return price.with_neighbours(REPLACE)

    def closed_form(self, delta: Number) -> float | None:
        """The bound of 2021 for any oracle with this local ε; None outside of its range."""
        return clones_epsilon(
            float(self.oracle.privacy.epsilon(0)),
            self.reports,
            float(POSITIVE_DELTA.typed("delta", delta)),
        )

    def __repr__(self) -> str:
        low, high = self.epsilon_bounds(1e-6)
        local = shown_above(float(self.oracle.privacy.epsilon(0)))
        return (
            f"ShuffledBatch({self.reports} reports: ε from {low:.4g} to {shown_above(high)} at"
            f" δ = 1e-6, {local} for one report alone; for {CONDITIONS})"
        )

    def _points(self) -> int:
        return FEWER_POINTS if self.reports <= FEW_REPORTS else FINE_POINTS

    def _above(self, epsilon: Fraction, points: int) -> float:
        alone, counted = float(self.oracle.privacy.delta(epsilon)), self._counted_above(epsilon)
        if counted < 1:
            return min(alone, counted)
        law = gain_law(self.oracle.blanket_atoms(), _power_below(epsilon))
        return min(
            alone, positive_mean_above(law, self.reports, points) / self.reports * (1 + 2.0**-50)
        )

    def _counted_above(self, epsilon: Fraction) -> float:
        """For two answers, whatever the others hold; else nothing is known this way."""
        lie = self.oracle.lie_of_two()
        return 1.0 if lie is None else counts_above(self.reports, lambda: ball(lie), epsilon)

    def _below(self, epsilon: Fraction, points: int) -> float:
        lie, crowds = self.oracle.lie_of_two(), self.oracle.crowds()
        if lie is not None:
            is_telling = self.oracle.privacy.delta(epsilon) > 0
            return float_below(count_below(self.reports, lambda: ball(lie), epsilon)) * is_telling
        return max((self._crowd_below(atoms, epsilon, points) for atoms in crowds), default=0.0)

    def _crowd_below(self, atoms: LikelihoodAtoms, epsilon: Fraction, points: int) -> float:
        law = gain_law(atoms, _power_above(epsilon))
        if max(value for value, _ in law) <= 0:
            return 0.0
        return positive_mean_below(law, self.reports, points) / self.reports * (1 - 2.0**-50)

    def _search(self, bound: DeltaBound, delta: float, local: float, *, upper: bool) -> float:
        """The best ε that some bound, rough or fine, has confirmed."""
        if bound(Fraction(0), self._points()) <= delta:
            return 0.0
        confirmed, low, high = (local if upper else 0.0), 0.0, local
        for points, rounds, reach in (*STAGES, (self._points(), LAST_ROUNDS, 1.01)):
            low, high = _bracket(
                lambda at, n=points: bound(Fraction(at), n) <= delta, low, high, reach
            )
            for _ in range(rounds):
                middle = (low + high) / 2
                is_enough = bound(Fraction(middle), points) <= delta
                low, high = (low, middle) if is_enough else (middle, high)
                if is_enough == upper:
                    confirmed = middle
        return confirmed


def _refusal(oracle: object) -> str:
    remedy = f"ShuffledBatch takes {TAKEN}. "
    if isinstance(getattr(oracle, "privacy", None), Privacy):
        remedy += "For another mechanism use its curve: mechanism.privacy.shuffled(reports=…). "
    return (
        f"Shuffling is not proven here for {type(oracle).__name__}. {remedy}"
        f"The guarantee holds for {CONDITIONS}."
    )


def _bracket(
    is_enough: Callable[[float], bool], low: float, high: float, reach: float
) -> tuple[float, float]:
    """Around where a rougher bound was enough first, the ends between which this one is."""
    step = reach
    while low > LEAST_EPSILON and is_enough(low):
        low, high, step = low / step, low, step * step
    step = reach
    while high < MOST_EPSILON and not is_enough(high):
        low, high, step = high, high * step, step * step
    return low, high


def gain_law(atoms: LikelihoodAtoms, power: Fraction) -> RationalLaw:
    """G and its probabilities: one − E other for each kind of report, 0 if it is not covered."""
    law: dict[Fraction, Fraction] = {}
    for mass, first, other in atoms:
        gain = first - power * other
        law[gain] = law.get(gain, Fraction(0)) + mass
    law[Fraction(0)] = law.get(Fraction(0), Fraction(0)) + 1 - sum(mass for mass, _, _ in atoms)
    return [(gain, mass) for gain, mass in law.items() if mass]


@lru_cache(maxsize=1024)
def _power_below(epsilon: Fraction) -> Fraction:
    """At most e^ε: a smaller power has a larger δ."""
    return (
        _short(fraction_below(certain(lambda: ball(epsilon).exp())), 0) if epsilon else Fraction(1)
    )


@lru_cache(maxsize=1024)
def _power_above(epsilon: Fraction) -> Fraction:
    """At least e^ε: a larger power has a smaller δ."""
    return (
        _short(fraction_above(certain(lambda: ball(epsilon).exp())), 1) if epsilon else Fraction(1)
    )


def _short(power: Fraction, more: int) -> Fraction:
    return max(Fraction(1), Fraction((power.numerator << 60) // power.denominator + more, 1 << 60))


def clones_epsilon(local: float, reports: int, delta: float) -> float | None:
    """The closed form of 2021, as in the code published with it."""
    if reports <= 16 * log(4 / delta) or local > log(reports / (16 * log(4 / delta))):
        return None
    grown = 8 * sqrt(exp(local) * log(4 / delta) / reports) + 8 * exp(local) / reports
    share = (1 - exp(-local)) / (1 + exp(-local) / (1 + grown))
    return log(1 + share * grown) * (1 + 1e-12)
