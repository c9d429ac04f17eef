"""The curve of two finite distributions, and of a group of such steps.

Theorem.  For laws p and q on the same outcomes, delta(e) is the larger of
sum max(0, p_i - e^e q_i) and the same with p and q exchanged; the best test with a given
false-alarm rate rejects outcomes in the order of their likelihood ratio (Neyman and
Pearson), with a coin on the last; `tradeoff` is the lower of both orders.
  Proven:   docs/explanation/proofs/tradeoff.md; the group: group.md, section 3
  Tested:   against an enumeration of all events and of all tests, in rationals
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import ClassVar, cast

from letalone.errors import ParameterError
from letalone.exact.balls import Ball, ball, certain, is_positive
from letalone.exact.typed import COUNT, PROBABILITY, Number, refusal
from letalone.privacy import bounds
from letalone.privacy.bounds import ONE, ZERO, Bound, Bounds, as_ball, exactly, larger, once
from letalone.privacy.curve import Json, Orders, Privacy, curve
from letalone.privacy.curves.envelopes import lowest_envelope
from letalone.privacy.neighbours import Neighbours

ROUNDING = Fraction(1, 10**9)
SHOWN_OUTCOMES = 4


@dataclass(frozen=True, slots=True)
class LikelihoodSteps:
    """One order of a pair: outcomes by falling likelihood ratio, with running sums.

    `hits[j]` and `alarms[j]` are the probabilities of the first j levels of the ratio under
    the one law and the other; `ratios[j]` is the ratio of level j (None: infinite).
    """

    hits: tuple[Fraction, ...]
    alarms: tuple[Fraction, ...]
    ratios: tuple[Fraction | None, ...]

    def lines(self) -> list[tuple[Fraction, Fraction]]:
        """delta is the largest of hits - t alarms over these pairs, t = e^epsilon."""
        return list(zip(self.hits, self.alarms, strict=True))

    def exceeding(self, epsilon: Fraction) -> int:
        """How many levels have a loss above epsilon."""
        low, high = 0, len(self.ratios)
        while low < high:
            middle = (low + high) // 2
            if loss_exceeds(self.ratios[middle], epsilon):
                low = middle + 1
            else:
                high = middle
        return low

    def delta(self, epsilon: Fraction) -> Bound:
        """P(S) - e^epsilon Q(S) for the most telling event S."""
        count = self.exceeding(epsilon)
        hits, alarms = self.hits[count], self.alarms[count]
        if alarms == 0 or epsilon == 0:
            return hits - alarms
        return certain(lambda: ball(hits) - ball(epsilon).exp() * ball(alarms))

    def delta_at_ratio(self, ratio: Fraction) -> Fraction:
        """The same where e^epsilon is a rational: exact."""
        return max(hits - ratio * alarms for hits, alarms in self.lines())

    def missed(self, false_alarm: Fraction) -> Fraction:
        """1 - the power of Neyman and Pearson's test."""
        for index in range(1, len(self.hits)):
            if self.alarms[index] > false_alarm:
                ratio = cast("Fraction", self.ratios[index - 1])
                more = false_alarm - self.alarms[index - 1]
                return 1 - self.hits[index - 1] - ratio * more
        return 1 - self.hits[-1]


def loss_exceeds(ratio: Fraction | None, epsilon: Fraction) -> bool:
    """Whether ln(ratio) > epsilon, exactly (None: an infinite ratio)."""
    if ratio is None or ratio == 0 or epsilon == 0:
        return ratio is None or ratio > 1
    # e^epsilon is irrational for a rational epsilon other than 0, so the sign can be decided.
    return is_positive(lambda: ball(ratio) - ball(epsilon).exp())


def steps_of(first: Sequence[Fraction], second: Sequence[Fraction]) -> LikelihoodSteps:
    """The running sums of one order of a pair."""
    levels: dict[Fraction | None, tuple[Fraction, Fraction]] = {}
    for p, q in zip(first, second, strict=True):
        if p or q:
            ratio = p / q if q else None
            a, b = levels.get(ratio, (ZERO, ZERO))
            levels[ratio] = (a + p, b + q)
    ratios = sorted(levels, key=lambda r: (r is not None, -(r or ZERO)))
    hits = accumulate((levels[r][0] for r in ratios), initial=ZERO)
    alarms = accumulate((levels[r][1] for r in ratios), initial=ZERO)
    return LikelihoodSteps(tuple(hits), tuple(alarms), tuple(ratios))


@curve("finite")
class Finite(Privacy):
    """The curve of two finite distributions, in the worse of the two orders."""

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    orders: tuple[LikelihoodSteps, LikelihoodSteps]

    def __init__(
        self, p: Iterable[Number], q: Iterable[Number], *, neighbours: Neighbours | None = None
    ) -> None:
        first, second = pair(p, q)
        orders = (steps_of(first, second), steps_of(second, first))
        self.fill(neighbours, p=first, q=second, orders=orders)

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        return exactly(larger(*(steps.delta(epsilon) for steps in self.orders)))

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """The lower of both orders, exactly."""
        return exactly(min(steps.missed(false_alarm) for steps in self.orders))

    def worst_loss(self) -> Bound:
        """The logarithm of the largest finite ratio, either way."""
        ratio = self.worst_ratio()
        return ZERO if ratio == 1 else certain(lambda: ball(ratio).log())

    def worst_ratio(self) -> Fraction:
        """The largest finite likelihood ratio, either way; at least 1."""
        return max([ONE, *(r for steps in self.orders for r in steps.ratios if r is not None)])

    def certain_leak(self) -> Fraction:
        """The probability of outcomes that the other law never gives."""
        return max(steps.hits[steps.ratios.count(None)] for steps in self.orders)

    def for_group(self, size: int) -> Privacy:
        """P2 on the whole curve: nothing more is known of what lies between two such steps."""
        return FiniteGroup(self.labelled(None), size)

    def make_losses(self) -> "Orders | None":
        from letalone.privacy.loss.atoms import envelope_atoms

        atoms = envelope_atoms(line for steps in self.orders for line in steps.lines())
        return (atoms,) if atoms.masses.any() else None

    def reached(self) -> "Orders":
        """Each order by itself; the larger of both is a bound from above only."""
        from letalone.privacy.loss.atoms import envelope_atoms

        return tuple(envelope_atoms(steps.lines()) for steps in self.orders)

    def parameters(self) -> Json:
        return {"p": [str(x) for x in self.p], "q": [str(x) for x in self.q]}

    def described(self) -> str:
        if len(self.p) > SHOWN_OUTCOMES:
            return f"{len(self.p)} outcomes"
        p, q = (", ".join(bounds.format_number(x) for x in law) for law in (self.p, self.q))
        return f"p=[{p}], q=[{q}]"


@curve("finite_group")
class FiniteGroup(Privacy):
    """A group of `size` units, each step no worse than a finite pair.

    The upper curve is the best of P2 at epsilon / size and at every corner of the pair's
    curve below it; the lower curve is the pair's own, since a group may differ in one.
    """

    exact: ClassVar[bool] = False
    step: Finite
    size: int

    def __init__(self, step: Finite, size: Number, *, neighbours: Neighbours | None = None) -> None:
        if not isinstance(step, Finite):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refusal("step", step, "the curve of two finite distributions")
        self.fill(neighbours, step=step, size=int(COUNT.typed("size", size)))

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """P2: delta(x) (1 + e^x + ... + e^((k-1) x)) at x = epsilon / k, or at a corner."""
        each = epsilon / self.size
        known = self.step.certified_delta(each).upper
        corners = [r for r in self.corners() if not loss_exceeds(r, each)]
        best = min([ONE, *(self._at_corner(r) for r in corners)])
        spread = known if known == 0 else once(lambda: as_series(each, self.size) * as_ball(known))
        return Bounds(self.step.certified_delta(epsilon).lower, bounds.smaller(best, spread))

    @property
    def is_group_rule(self) -> bool:
        return True

    def corners(self) -> set[Fraction]:
        """The ratios, 1 or more, at which the pair's curve bends."""
        return {r for s in self.step.orders for r in s.ratios if r is not None and r >= 1} | {ONE}

    def _at_corner(self, ratio: Fraction) -> Fraction:
        delta = max(steps.delta_at_ratio(ratio) for steps in self.step.orders)
        return delta * sum((ratio**j for j in range(self.size)), ZERO)

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Between the envelope of the upper curve and the pair's own trade-off."""
        single = self.step.certified_missed(false_alarm).upper
        return Bounds(lowest_envelope(self, false_alarm), single)

    def worst_loss(self) -> Bound:
        """Losses add along a chain of neighbours."""
        ratio = self.step.worst_ratio()
        return ZERO if ratio == 1 else certain(lambda: self.size * ball(ratio).log())

    def certain_leak(self) -> Fraction:
        """P2 at the last corner, or earlier where that is better."""
        return min([ONE, *(self._at_corner(r) for r in self.corners())])

    def for_group(self, size: int) -> Privacy:
        return FiniteGroup(self.step, size * self.size)

    def described(self) -> str:
        return f"{self.step.described()}, size={self.size}"


def as_series(each: Fraction, size: int) -> Ball:
    """1 + e^x + ... + e^((k-1) x)."""
    return ball(each * size).expm1() / ball(each).expm1() if each else ball(size)


def between(p: Iterable[Number], q: Iterable[Number]) -> Finite:
    """The curve of two finite distributions over the same outcomes.

    Whole numbers and fractions are taken exactly; floats mean their shortest decimals and are
    normalised if they sum to 1 within 1e-9.
    """
    return Finite(p, q)


def pair(
    p: Iterable[Number], q: Iterable[Number]
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Two distributions over the same outcomes, checked and exact."""
    first, second = distribution("p", p), distribution("q", q)
    if len(first) != len(second):
        raise ParameterError(
            f"p has {len(first)} outcomes and q has {len(second)}, but both must list the same "
            "outcomes in the same order. Give an outcome that cannot happen the probability 0."
        )
    return first, second


def distribution(name: str, law: Iterable[Number]) -> tuple[Fraction, ...]:
    """A finite distribution, checked and exact."""
    given = _list_probabilities(name, law)
    values = tuple(PROBABILITY.typed(f"a probability of {name}", value) for value in given)
    rounded = any(not isinstance(value, int | Fraction) for value in given)
    total = sum(values, ZERO)
    if total != 1 and not (rounded and abs(total - 1) <= ROUNDING):
        raise ParameterError(
            f"{name} sums to {bounds.format_number(total)}, but must sum to 1 (floats: within 1e-9"
            "). List every outcome once; fractions.Fraction keeps thirds exact."
        )
    return tuple(value / total for value in values)


def _list_probabilities(name: str, law: Iterable[Number]) -> list[Number]:
    # A set has no order and drops repeats; a dict would give its keys.
    with suppress(TypeError):
        if not issubclass(type(law), str | bytes | AbstractSet | Mapping):
            return list(law)
    raise refusal(name, law, "a list of probabilities, one for each outcome in order")
