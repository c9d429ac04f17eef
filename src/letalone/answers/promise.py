"""What a privacy curve promises, in sentences that can be quoted.

Both numbers come from the curve, rounded up: a test with a given rate of false alarms detects
at most 1 - tradeoff(rate), and (1 + delta(0)) / 2 is the best chance of a right guess at even
odds, because delta(0) is the total variation distance.

  Proven:   docs/explanation/proofs/curves.md
  Tested:   tests/answers/test_promise.py, against e^epsilon / (1 + e^epsilon)
"""

from decimal import ROUND_CEILING, Decimal
from math import inf, isinf, nextafter

from letalone.exact.typed import COUNT, Number, as_typed
from letalone.privacy import ApproxDP, PureDP
from letalone.privacy.bounds import shown, shown_above
from letalone.privacy.curve import USUAL_DELTA, Privacy
from letalone.privacy.neighbours import Neighbours, is_replace

FALSE_ALARMS = 0.05
FAMILY = 10


def price(privacy: Privacy, delta: Number = 0) -> str:
    """One point of the curve: at a delta of 0 where it can be, else at the given one."""
    pure = privacy.epsilon(0)
    if not isinf(pure):
        return f"ε = {shown_above(pure)}"
    at = delta or USUAL_DELTA
    return f"ε = {shown_above(privacy.epsilon(at))} at δ = {shown(as_typed(at))}"


def most_caught(privacy: Privacy, false_alarm: Number = FALSE_ALARMS) -> float:
    """The most often that a test with this rate of false alarms is right; rounded up."""
    return min(1.0, nextafter(1 - privacy.tradeoff(false_alarm), inf))


def best_guess(privacy: Privacy) -> float:
    """The most often that anyone is right about one unit at even odds; rounded up."""
    return min(1.0, nextafter((1 + privacy.delta(0)) / 2, inf))


def promise(privacy: Privacy) -> str:
    """One paragraph that can be quoted."""
    unit, what = _unit(privacy.neighbours), _question(privacy.neighbours)
    caught, guessed = percent(most_caught(privacy)), percent(best_guess(privacy))
    return (
        f"Anyone who sees this answer, whatever else they know and however they compute, can find"
        f" out {what} only to this extent: a test that gives false alarms"
        f" {percent(FALSE_ALARMS)} of the time detects the {unit} at most {caught} of the"
        f" time (blind guessing: {percent(FALSE_ALARMS)}), and a bet at even odds is won at most"
        f" {guessed} of the time (blind guessing: 50 %). This is a mathematical bound on this"
        f" answer alone; what it says of all people together can be learnt with or without any"
        f" one of them."
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
        f" {percent(FALSE_ALARMS)} of the time detects them at most"
        f" {percent(most_caught(at))} of the time."
    )


def _point(privacy: Privacy, delta: Number) -> Privacy:
    """One (ε, δ) that the curve keeps."""
    pure = privacy.epsilon(0)
    if not isinf(pure):
        return PureDP(pure)
    at = delta or USUAL_DELTA
    found = privacy.epsilon(at)
    return privacy if isinf(found) else ApproxDP(found, at)


def percent(probability: float) -> str:
    """In percent with at most one digit after the point, rounded up."""
    shown = (100 * Decimal(repr(probability))).quantize(Decimal("0.1"), rounding=ROUND_CEILING)
    return f"{shown.normalize():f} %"


def _unit(neighbours: Neighbours | None) -> str:
    return (neighbours.unit if neighbours is not None else None) or "unit"


def _question(neighbours: Neighbours | None) -> str:
    unit = _unit(neighbours)
    if neighbours is not None and is_replace(neighbours):
        return f"whether the data of any one {unit} are the true ones or any others"
    return f"whether any one {unit} is in the data"
