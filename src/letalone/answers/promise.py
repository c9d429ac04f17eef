"""What a privacy curve promises, in sentences that can be quoted.

Both numbers come from the curve, rounded up: a test with a given rate of false alarms detects
at most 1 - tradeoff(rate), and (1 + delta(0)) / 2 is the best chance of a right guess at even
odds, because delta(0) is the total variation distance.

A list of many different releases is not asked for its own curve, which takes seconds, but for
those that follow from it at once (pure DP, zCDP, Gaussian DP): each reveals no less, and the least
is told. So words take a tenth of a second at most, whatever was asked.

  Proven:   docs/explanation/proofs/curves.md; composition.md and conversions.md for what follows
  Tested:   tests/answers/test_promise.py, against e^epsilon / (1 + e^epsilon), and that what is
            told of many releases is never less than their own curve says
"""

from decimal import ROUND_CEILING, Decimal
from math import inf, isinf, nextafter

from letalone.exact.typed import COUNT, Number, as_typed
from letalone.privacy import ApproxDP, PureDP
from letalone.privacy.bounds import format_number, shown_above
from letalone.privacy.composition import Composed
from letalone.privacy.conversions import terms_of
from letalone.privacy.curve import USUAL_DELTA, Privacy
from letalone.privacy.neighbours import Neighbours, is_replace

FALSE_ALARMS = 0.05
FAMILY = 10
FEW_PARTS = 2  # different ones, whose own curve is asked
NO_LIMIT = "without a limit worth the name"


def price(privacy: Privacy, delta: Number = 0) -> str:
    """One point of the curve: at a delta of 0 where it can be, else at the given one."""
    pure = privacy.epsilon(0)
    if not isinf(pure):
        return f"ε = {shown_above(pure)}"
    at = delta or USUAL_DELTA
    return f"ε = {shown_above(privacy.epsilon(at))} at δ = {format_number(as_typed(at))}"


def most_caught(privacy: Privacy, false_alarm: Number = FALSE_ALARMS) -> float:
    """The most often that a test with this rate of false alarms is right; rounded up."""
    missed = max(curve.tradeoff(false_alarm) for curve in quick(privacy))
    return min(1.0, nextafter(1 - missed, inf))


def best_guess(privacy: Privacy) -> float:
    """The most often that anyone is right about one unit at even odds; rounded up."""
    told_apart = min(curve.delta(0) for curve in quick(privacy))
    return min(1.0, nextafter((1 + told_apart) / 2, inf))


def quick(privacy: Privacy) -> tuple[Privacy, ...]:
    """Curves that a release keeps and that are asked quickly: its own, or what follows from it."""
    if not isinstance(privacy, Composed) or len(privacy.parts) <= FEW_PARTS:
        return (privacy,)
    terms = terms_of(privacy).values()
    points = tuple(make(known) for known, make, _ in terms if known is not None)
    return points or (_point(privacy, USUAL_DELTA),)


def promise(privacy: Privacy) -> str:
    """One paragraph that can be quoted."""
    unit, what = _unit(privacy.neighbours), _question(privacy.neighbours)
    caught, guessed = at_most(most_caught(privacy)), at_most(best_guess(privacy))
    return (
        f"Anyone who sees this answer, whatever else they know and however they compute, can find"
        f" out {what} only to this extent: a test that gives false alarms"
        f" {as_percent(FALSE_ALARMS)} of the time detects the {unit} {caught} (blind guessing:"
        f" {as_percent(FALSE_ALARMS)}), and a bet at even odds is won {guessed} (blind guessing:"
        f" 50 %). This is a mathematical bound on this answer alone; what it says of all people"
        f" together can be learnt with or without any one of them."
    )


def group_promise(privacy: Privacy, size: Number = FAMILY, *, delta: Number = 0) -> str:
    """What the answer reveals about several units together, such as a family (P7).

    From one point of their curve, which is quick, and never less than the whole curve says.
    """
    number = int(COUNT.typed("size", size))
    together = privacy.group(number)
    unit, at = _unit(privacy.neighbours), _point(together, delta)
    return (
        f"Where the data of {number} go together (the {unit}s of one family, say), the promise to"
        f" all of them together is {price(at, delta)}: a test that gives false alarms"
        f" {as_percent(FALSE_ALARMS)} of the time detects them {at_most(most_caught(at))}."
    )


def _point(privacy: Privacy, delta: Number) -> Privacy:
    """One (ε, δ) that the curve keeps."""
    pure = privacy.epsilon(0)
    if not isinf(pure):
        return PureDP(pure)
    at = delta or USUAL_DELTA
    epsilon = privacy.epsilon(at)
    return privacy if isinf(epsilon) else ApproxDP(epsilon, at)


def at_most(probability: float, of: str = "of the time") -> str:
    """How often something can be, at most; a bound that is none is not called one."""
    return NO_LIMIT if probability >= 1 else f"at most {as_percent(probability)} {of}"


def as_percent(probability: float) -> str:
    """In percent, rounded up: a digit after the point, or as many as tell it from 100 %."""
    exact = 100 * Decimal(repr(probability))
    # A step is at most what is missing to 100, so rounding up to one does not reach it.
    digits = 1 if exact >= 100 else max(1, -(100 - exact).adjusted())
    shown = exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_CEILING)
    return f"{shown.normalize():f} %"


def as_sure(confidence: float) -> str:
    """How often an interval is right, in percent: all digits that were typed, so never 100 %."""
    return f"{(100 * Decimal(repr(confidence))).normalize():f} %"


def _unit(neighbours: Neighbours | None) -> str:
    return (neighbours.unit if neighbours is not None else None) or "unit"


def _question(neighbours: Neighbours | None) -> str:
    unit = _unit(neighbours)
    if neighbours is not None and is_replace(neighbours):
        return f"whether the data of any one {unit} are the true ones or any others"
    return f"whether any one {unit} is in the data"
