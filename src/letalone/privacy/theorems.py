"""The composition theorems by name, for steps of which only (epsilon, delta) is known.

Theorem.  k steps, each (e, d)-DP, are together
  basic       (k e, k d)-DP                                                          (P3)
  advanced    (e sqrt(2 k ln 1/s) + k e (e^e - 1), k d + s)-DP for every slack s > 0  (P4)
  optimal     (x, D(x))-DP for every x, where D is the curve of k steps of the worst
              mechanism that is (e, d)-DP: with E = e^e,
              1 - D(x) = (1 - d)^k (1 - sum over l of
                         C(k, l) max(0, E^(k-l) - e^x E^l) / (1 + E)^k),
              and no smaller curve holds for all such steps. Steps of different (e_i, d_i)
              have the sum over all signs instead, done in two halves.
The steps may be chosen adaptively, their (e, d) not. What is known of a mechanism beyond
one pair gives more: `compose` uses the whole curve.
  Proven:   docs/explanation/proofs/theorems.md, sections 1 and 2
  Tested:   against an enumeration of outcomes in rationals; optimal <= advanced, basic

Dwork, Rothblum, Vadhan: Boosting and differential privacy (2010). Kairouz, Oh, Viswanath:
The composition theorem for differential privacy (2015). Murtagh, Vadhan: The complexity of
computing the optimal composition of differential privacy (2016).
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import accumulate
from typing import NamedTuple, cast

from letalone.errors import UnsupportedQuery
from letalone.exact.balls import Ball, ball, certain, with_bits, working_bits
from letalone.exact.typed import COUNT, DELTA, EPSILON, POSITIVE_DELTA, Number
from letalone.privacy import bounds
from letalone.privacy.bounds import ONE, ZERO, Bound, Bounds, as_ball, exactly, format_number, once
from letalone.privacy.curve import Json, Privacy, curve
from letalone.privacy.curves.approximate import ApproxDP, NoPrivacy
from letalone.privacy.curves.envelopes import lowest_envelope
from letalone.privacy.neighbours import Neighbours, unify

MOST_ATOMS = 1 << 17  # in one half: a second or two

Step = tuple[Fraction, Fraction, int]


def basic(epsilon: Number, delta: Number = 0, *, times: Number) -> Privacy:
    """Basic composition of equal steps: epsilons and deltas add."""
    count = COUNT.typed("times", times)
    total = count * DELTA.typed("delta", delta)
    if total >= 1:
        return NoPrivacy()
    return ApproxDP(count * EPSILON.typed("epsilon", epsilon), total)


def advanced(epsilon: Number, delta: Number = 0, *, times: Number, slack: Number) -> Privacy:
    """Advanced composition of equal steps; epsilon is rounded up."""
    step, count = EPSILON.typed("epsilon", epsilon), COUNT.typed("times", times)
    more = POSITIVE_DELTA.typed("slack", slack)
    total = count * DELTA.typed("delta", delta) + more

    def formula() -> Ball:
        spread = (2 * ball(count) * -ball(more).log()).sqrt()
        return ball(step) * spread + ball(count * step) * ball(step).expm1()

    return NoPrivacy() if total >= 1 else ApproxDP(bounds.dyadic_above(certain(formula)), total)


def optimal(epsilon: Number, delta: Number = 0, *, times: Number) -> "OptimalComposition":
    """The exact curve of equal steps of which nothing but (epsilon, delta) is known."""
    return OptimalComposition([(epsilon, delta, times)])


def optimal_of(*steps: Privacy) -> "OptimalComposition":
    """The same for different steps, each read as (its largest loss, its leak)."""
    labels = [step.neighbours for step in steps]
    return OptimalComposition([_pair(step) for step in steps]).labelled(reduce(unify, labels, None))


@curve("optimal")
class OptimalComposition(Privacy):
    """What steps reveal at most of which only (epsilon, delta) and their number are known."""

    steps: tuple[Step, ...]

    def __init__(
        self,
        steps: Iterable[Sequence[Number]],
        *,
        neighbours: Neighbours | None = None,
    ) -> None:
        counts: Counter[tuple[Fraction, Fraction]] = Counter()
        for epsilon, delta, times in steps:
            pair = EPSILON.typed("epsilon", epsilon), DELTA.typed("delta", delta)
            counts[pair] += int(COUNT.typed("times", times))
        merged = tuple(sorted((*pair, count) for pair, count in counts.items()))
        _split(merged)  # refuses what would take too long, before anyone waits for it
        self.fill(neighbours, steps=merged)

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """The leak, and where nothing leaks the sum over all signs."""
        leak = self.certain_leak()
        if epsilon >= self.worst_loss():
            return exactly(leak)
        excess = certain(lambda: _excess(self.steps, epsilon))
        return exactly(once(lambda: as_ball(leak) + (1 - as_ball(leak)) * excess))

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Between the envelope of the curve and the best test on one step alone."""
        alone = (ApproxDP(e, d).certified_missed(false_alarm).upper for e, d, _ in self.steps)
        return Bounds(lowest_envelope(self, false_alarm), reduce(bounds.smaller, alone, ONE))

    def worst_loss(self) -> Fraction:
        return sum((epsilon * times for epsilon, _, times in self.steps), ZERO)

    def certain_leak(self) -> Bound:
        leaks = [(delta, times) for _, delta, times in self.steps if delta]
        if not leaks:
            return ZERO
        return once(lambda: -sum((n * ball(-d).log1p() for d, n in leaks), ball(0)).expm1())

    def for_group(self, size: int) -> Privacy:
        """Each step for the group (P2)."""
        groups = [(ApproxDP(e, d).for_group(size), times) for e, d, times in self.steps]
        if any(isinstance(group, NoPrivacy) for group, _ in groups):
            return NoPrivacy()
        pairs = [(cast("ApproxDP", group), times) for group, times in groups]
        return OptimalComposition((g.stated_epsilon, g.stated_delta, n) for g, n in pairs)

    def parameters(self) -> Json:
        return {"steps": [[str(part) for part in step] for step in self.steps]}

    def described(self) -> str:
        return " + ".join(
            f"{n} × ({format_number(e)}, {format_number(d)})" for e, d, n in self.steps
        )


class BinomialTails(NamedTuple):
    """Outcomes of several steps, by rising loss, with the probability of that loss or more."""

    losses: tuple[Fraction, ...]
    outcomes: tuple[tuple[Ball, Ball], ...]
    likely: tuple[Ball, ...]
    unlikely: tuple[Ball, ...]


def _pair(step: Privacy) -> tuple[Fraction, Fraction, int]:
    worst, leak = step.worst_loss(), step.certain_leak()
    if worst is None:
        raise UnsupportedQuery(
            f"{type(step).__name__} has no largest loss, so it is not one (epsilon, delta) pair. "
            "Read it at a delta (convert to ApproxDP), or use compose, which takes whole curves."
        )
    return bounds.rational_above(worst), bounds.rational_above(leak), 1


def _split(steps: tuple[Step, ...]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Two halves with about equally many outcomes."""
    halves: tuple[list[Step], list[Step]] = ([], [])
    sizes = [1, 1]
    for step in sorted(steps, key=lambda step: -step[2]):
        side = 0 if sizes[0] <= sizes[1] else 1
        halves[side].append(step)
        sizes[side] *= step[2] + 1
    if max(sizes) > MOST_ATOMS:
        raise UnsupportedQuery(
            f"These steps have {sizes[0]} times {sizes[1]} outcomes, and each factor must be at "
            f"most {MOST_ATOMS}: the optimal composition of different steps is hard to compute "
            "(#P). Use compose, whose two bounds are certified and close."
        )
    return tuple(halves[0]), tuple(halves[1])


def _excess(steps: tuple[Step, ...], epsilon: Fraction) -> Ball:
    """The sum over outcomes a of one half of P_a P[rest] - e^x Q_a Q[rest], where loss > x."""
    first_half, second_half = (_tails(half, working_bits()) for half in _split(steps))
    factor, total = ball(epsilon).exp(), ball(0)
    for loss, (p, q) in zip(first_half.losses, first_half.outcomes, strict=True):
        first = bisect_right(second_half.losses, epsilon - loss)
        if first < len(second_half.losses):
            total += p * second_half.likely[first] - factor * q * second_half.unlikely[first]
    return total


@lru_cache(maxsize=32)
def _tails(steps: tuple[Step, ...], precision: int) -> BinomialTails:
    return with_bits(lambda: _sum_tails(_outcomes(steps)), precision)


def _sum_tails(outcomes: dict[Fraction, tuple[Ball, Ball]]) -> BinomialTails:
    losses = sorted(outcomes)
    falling = [outcomes[loss] for loss in reversed(losses)]
    likely = accumulate(p for p, _ in falling)
    unlikely = accumulate(q for _, q in falling)
    return BinomialTails(
        tuple(losses), tuple(falling[::-1]), tuple(likely)[::-1], tuple(unlikely)[::-1]
    )


def _outcomes(steps: tuple[Step, ...]) -> dict[Fraction, tuple[Ball, Ball]]:
    """The probabilities of each loss of randomized responses, under the one and the other."""
    outcomes = {ZERO: (ball(1), ball(1))}
    for epsilon, _, times in steps:
        more: dict[Fraction, tuple[Ball, Ball]] = {}
        for loss, (p, q) in outcomes.items():
            for step, (likely, unlikely) in _binomial(epsilon, times).items():
                old = more.get(loss + step, (ball(0), ball(0)))
                more[loss + step] = (old[0] + p * likely, old[1] + q * unlikely)
        outcomes = more
    return outcomes


def _binomial(epsilon: Fraction, times: int) -> dict[Fraction, tuple[Ball, Ball]]:
    """C(k, l) E^(k-l) / (1 + E)^k and its mirror, at the loss (k - 2l) epsilon."""
    chance = (1 + ball(-epsilon).exp()) ** -times
    ratio, ways = ball(-epsilon).exp(), ball(1)
    probabilities: list[Ball] = []
    for lies in range(times + 1):
        probabilities.append(chance * ways)
        ways = ways * ratio * (times - lies) / (lies + 1)
    return {
        (times - 2 * lies) * epsilon: (probabilities[lies], probabilities[times - lies])
        for lies in range(times + 1)
    }
