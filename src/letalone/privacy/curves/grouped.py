"""What any release reveals about a group: P2 on the whole curve.

Theorem.  If one unit has the curve d, a group of k has at every x >= 0
    delta(k x) <= d(x) (1 + e^x + ... + e^((k-1) x)) = d(x) (e^(k x) - 1) / (e^x - 1),
at x = 0: k d(0). What holds at k x holds at every larger epsilon, so any x <= epsilon / k is a
proof; a few are tried. Losses add along the chain of k neighbours. From below: a group of up
to k may be one unit, so the group's curve is never below d.
  Proven:   docs/explanation/proofs/group.md, section 1
  Tested:   against chains of finite laws, and against the exact group curve where there is one
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, reduce
from math import inf, isfinite
from typing import ClassVar

from letalone.exact.typed import COUNT, Number, refusal
from letalone.privacy import bounds
from letalone.privacy.bounds import ONE, ZERO, Bound, Bounds, above, at_most, once, smaller
from letalone.privacy.curve import FARTHEST_EPSILON, Orders, Privacy, curve, log_ratio
from letalone.privacy.curves.envelopes import lowest_envelope
from letalone.privacy.curves.finite import as_series
from letalone.privacy.neighbours import Neighbours
from letalone.privacy.search import edge

# Where a curve has a leak and no largest loss, P2 is best where the rest is about the leak.
SHARES_OF_THE_LEAK = (Fraction(2), Fraction(1, 2), Fraction(1, 10), Fraction(1, 100))


@curve("grouped")
class Grouped(Privacy):
    """A group of up to `size` units of a release with the curve `single`."""

    exact: ClassVar[bool] = False
    single: Privacy
    size: int

    def __init__(
        self, single: Privacy, size: Number, *, neighbours: Neighbours | None = None
    ) -> None:
        if not isinstance(single, Privacy):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refusal("single", single, "a privacy curve")
        self.fill(neighbours, single=single.labelled(None), size=int(COUNT.typed("size", size)))

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """Between the curve of one unit and the best proof for the group."""
        return Bounds(self.single.certified_delta(epsilon).lower, self.upper_delta(epsilon))

    def upper_delta(self, epsilon: Fraction) -> Bound:
        """The least of P2 at epsilon / k, at the corners below it, and of other proofs."""
        others = (curve.upper_delta(epsilon) for curve in self.alternatives())
        return reduce(smaller, others, self.by_rule(epsilon))

    def by_rule(self, epsilon: Fraction) -> Bound:
        """The least of P2 at epsilon / k and at the corners below it."""
        each, worst = epsilon / self.size, self.worst_loss()
        past = worst is not None and at_most(worst, epsilon)
        deltas = (delta for at, delta in corners(self.single, self.size) if past or at <= each)
        return reduce(smaller, deltas, rule(self.single, self.size, each))

    def _epsilon_above(self, delta: Fraction) -> float:
        """The least of P2's and of the other proofs'; each is found on its own curve."""
        others = [curve.epsilon(delta) for curve in self.alternatives()]
        worst = self.worst_loss()
        if worst is not None and at_most(self.certain_leak(), delta):
            others.append(above(worst))
        _, by_rule = edge(
            lambda x: at_most(self.by_rule(bounds.lowest_reading(x)), delta),
            gap=lambda x: log_ratio(self.by_rule(Fraction(x)), delta),
            limit=min([FARTHEST_EPSILON, *others]),
        )
        return min(by_rule, *others, inf)

    def _epsilon_below(self, delta: Fraction) -> float:
        return self.single.epsilon_bounds(delta)[0]

    def alternatives(self) -> tuple[Privacy, ...]:
        return alternatives(self.single, self.size)

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Between the envelope of the upper curve and the best test against one unit."""
        alone = self.single.certified_missed(false_alarm).upper
        return Bounds(lowest_envelope(self, false_alarm), alone)

    def lower_missed(self, false_alarm: Fraction) -> Bound:
        return lowest_envelope(self, false_alarm)

    def worst_loss(self) -> Bound | None:
        worst = self.single.worst_loss()
        if worst is None or isinstance(worst, Fraction):
            return None if worst is None else self.size * worst
        return once(lambda: self.size * worst)

    def certain_leak(self) -> Bound:
        """P2 where it is best; 0 if one unit has no leak."""
        if self.single.certain_leak() == 0:
            return ZERO
        return reduce(smaller, (delta for _, delta in corners(self.single, self.size)), ONE)

    def for_group(self, size: int) -> Privacy:
        return self.single.for_group(size * self.size)

    @property
    def is_group_rule(self) -> bool:
        return True

    def make_losses(self) -> "Orders | None":
        return None if (curve := self._with_losses()) is None else curve.losses()

    def directions(self) -> int:
        return 0 if (curve := self._with_losses()) is None else curve.directions()

    def _with_losses(self) -> Privacy | None:
        """The first of the other proofs that has loss distributions."""
        return next((curve for curve in self.alternatives() if curve.losses() is not None), None)

    def reached(self) -> "Orders":
        """A group may be one unit."""
        return self.single.reached()

    def described(self) -> str:
        return f"{self.single.named()}, size={self.size}"


def rule(single: Privacy, size: int, each: Fraction) -> Bound:
    """P2 at this epsilon of one unit, capped at 1."""
    known = single.upper_delta(each)
    if known == 0:
        return ZERO
    if each == 0 and isinstance(known, Fraction):
        return min(ONE, size * known)
    return smaller(ONE, once(lambda: as_series(each, size) * bounds.as_ball(known)))


@lru_cache(maxsize=256)
def corners(single: Privacy, size: int) -> tuple[tuple[Fraction, Bound], ...]:
    """Points of one unit's curve past which P2 may grow again, with what it gives there."""
    return tuple((at, rule(single, size, at)) for at in dict.fromkeys(_places(single)))


def _places(single: Privacy) -> Iterator[Fraction]:
    yield ZERO
    worst, leak = single.worst_loss(), single.certain_leak()
    if worst is not None:
        yield bounds.rational_above(worst)
    elif not bounds.is_zero(leak):
        largest = Fraction(above(leak))
        epsilons = (
            single.epsilon(min(Fraction(1, 2), largest * (1 + s))) for s in SHARES_OF_THE_LEAK
        )
        yield from (Fraction(at) for at in epsilons if isfinite(at))


@lru_cache(maxsize=256)
def alternatives(single: Privacy, size: int) -> tuple[Privacy, ...]:
    """Other curves that are proven for a group of such units."""
    return single.also_for_group(size)
