"""Checking a claim about two finite distributions, and the two ways to get it wrong.

`loss_tail` is the probability that the privacy loss exceeds epsilon. If it is at most delta
for both orders, (epsilon, delta)-DP holds; the converse is false (D7): a loss may exceed
epsilon often and by little.

`satisfies` decides the claim over *all events*. Checking one outcome at a time is a fallacy
for delta > 0 (D8): many small excesses, each below delta, add up.

Theorem.  sup over events S of P(S) - e^epsilon Q(S) is reached at S = {p > e^epsilon q}.
  Proven:   docs/explanation/proofs/curves.md, section 1
  Tested:   against an enumeration of all events, in rationals; tests named d7 and d8
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from enum import Enum
from fractions import Fraction

from letalone.exact.balls import ball, is_positive
from letalone.exact.typed import DELTA, FINITE, Number
from letalone.privacy.bounds import ZERO, above, format_number
from letalone.privacy.curves.finite import Finite, loss_exceeds, pair


class Direction(Enum):
    """Which law is on the left of P(S) <= e^epsilon Q(S) + delta."""

    P_OVER_Q = "p over q"
    Q_OVER_P = "q over p"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim holds, and the event that tells most against it."""

    holds: bool
    event: tuple[int, ...]
    direction: Direction
    outcome_by_outcome: bool
    delta: float
    words: str

    def __str__(self) -> str:
        return self.words

    def __bool__(self) -> bool:
        return self.holds


def loss_tail(p: Iterable[Number], q: Iterable[Number], epsilon: Number) -> float:
    """The probability under p that the privacy loss ln(p/q) exceeds epsilon, rounded up."""
    first, second = pair(p, q)
    limit = FINITE.typed("epsilon", epsilon)
    telling = most_telling_event(first, second, limit)
    return above(sum((first[index] for index in telling), ZERO))


def satisfies(
    p: Iterable[Number], q: Iterable[Number], *, epsilon: Number, delta: Number = 0
) -> Verdict:
    """Whether P(S) <= e^epsilon Q(S) + delta for every event S, both ways round."""
    curve = Finite(p, q)
    limit, allowed = FINITE.typed("epsilon", epsilon), DELTA.typed("delta", delta)
    orders = {Direction.P_OVER_Q: (curve.p, curve.q), Direction.Q_OVER_P: (curve.q, curve.p)}
    needed = [above(steps.delta(limit)) for steps in curve.orders]
    worst = Direction.P_OVER_Q if needed[0] >= needed[1] else Direction.Q_OVER_P
    holds = all(_event_holds(*order, limit, allowed) for order in orders.values())
    outcomes = (outcome for order in orders.values() for outcome in zip(*order, strict=True))
    naive = all(_within(*outcome, limit, allowed) for outcome in outcomes)
    event = most_telling_event(*orders[worst], limit)
    words = _words(limit, allowed, holds, naive, max(needed), event)
    return Verdict(holds, event, worst, naive, min(1.0, max(needed)), words)


def most_telling_event(
    one: tuple[Fraction, ...], other: tuple[Fraction, ...], epsilon: Fraction
) -> tuple[int, ...]:
    """The outcomes whose loss exceeds epsilon."""
    return tuple(
        index
        for index, (p, q) in enumerate(zip(one, other, strict=True))
        if p > 0 and loss_exceeds(p / q if q else None, epsilon)
    )


def _event_holds(
    one: tuple[Fraction, ...], other: tuple[Fraction, ...], epsilon: Fraction, delta: Fraction
) -> bool:
    event = most_telling_event(one, other, epsilon)
    hits = sum((one[index] for index in event), ZERO)
    alarms = sum((other[index] for index in event), ZERO)
    return _within(hits, alarms, epsilon, delta)


def _within(hits: Fraction, alarms: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether told <= e^epsilon alarms + delta, exactly."""
    if alarms == 0 or epsilon == 0:
        return hits <= alarms + delta
    return not is_positive(lambda: ball(hits - delta) - ball(epsilon).exp() * ball(alarms))


def _up(delta: float) -> str:
    """Six digits, rounded up: a delta shown is one that holds."""
    return f"{float(Context(prec=6, rounding=ROUND_CEILING).plus(Decimal(repr(delta)))):g}"


def _words(
    epsilon: Fraction,
    delta: Fraction,
    holds: bool,
    naive: bool,
    needed: float,
    event: tuple[int, ...],
) -> str:
    claim = f"({format_number(epsilon)}, {format_number(delta)})-DP"
    if holds:
        return f"{claim} holds for every event; the smallest delta is {_up(needed)}."
    fails = (
        f"{claim} does not hold: at this epsilon the smallest delta is {_up(needed)}, "
        f"reached by the event of {len(event)} outcome{'s' * (len(event) != 1)}."
    )
    if not naive:
        return fails
    return (
        f"{fails} Every single outcome passes the check: that is the outcome-by-outcome "
        "fallacy. Many outcomes, each within delta, add up to an event that is not."
    )
