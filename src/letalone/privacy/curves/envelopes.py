"""The trade-off curve that follows from a curve of (epsilon, delta) pairs, certified.

Theorem.  Every test that tells P from Q with P[false alarm] = a misses with probability at
least the supremum over all real epsilon of 1 - delta(epsilon) - e^epsilon a, and some test
misses no more often.
  Proven:   docs/explanation/proofs/curves.md, tradeoff.md
  Tested:   tests/laws/test_curves.py, tests/privacy/test_tradeoff.py
"""

from fractions import Fraction
from functools import reduce
from heapq import heapify, heappush, heapreplace
from itertools import pairwise
from math import exp, log

from letalone.exact.balls import ball
from letalone.privacy.bounds import ONE, ZERO, Bound, above, as_ball, larger, once
from letalone.privacy.curve import FARTHEST_EPSILON, Privacy
from letalone.privacy.search import peak

NEGLIGIBLE = Fraction(1, 2**60)
CUTS = (0.25, 1.0, 4.0)
MAX_CUTS = 60
Interval = tuple[float, tuple[float, float]]


def lowest_envelope(curve: Privacy, false_alarm: Fraction) -> Bound:
    """A certified lower bound on P[missed detection] from the upper curve (theorem).

    Every epsilon gives a bound; the one used is found by an uncertified search.
    """
    reach, best = _best_line(curve, false_alarm)
    tried = (0.0, best, reach if best >= 0 else -reach)
    return reduce(larger, (_line(curve, Fraction(e), false_alarm) for e in tried), ZERO)


def _best_line(curve: Privacy, false_alarm: Fraction) -> tuple[float, float]:
    """How far lines may matter, and about which epsilon's is the highest."""
    rate = float(false_alarm)
    far = curve.epsilon(max(NEGLIGIBLE * (1 - false_alarm), NEGLIGIBLE**2))
    reach = min(far, FARTHEST_EPSILON)
    # The envelope is symmetric; its slope is -1 where both rates are (1 - delta(0)) / 2.
    if 2 * rate <= 1 - _upper(curve, 0.0):
        return reach, peak(lambda e: -_upper(curve, e) - exp(min(e, 700)) * rate, 0.0, reach)
    return reach, -peak(lambda e: exp(-e) * (1 - _upper(curve, e) - rate), 0.0, reach)


def highest_envelope(curve: Privacy, false_alarm: Fraction) -> Bound:
    """A certified upper bound on P[missed detection] from the lower curve.

    Missed detections are the supremum over all e of 1 - delta(e) - e^e a. From one e to the
    next that is at most 1 - delta(next) - e^e a, since delta falls; beyond the
    last at most 1 - e^e a, and before the first at most its e^e. Intervals are halved
    where the bound is largest.
    """
    if false_alarm == 0:
        return ONE
    best = _best_line(curve, false_alarm)[1]
    far = max(1 - log(float(false_alarm)), abs(best)) + 40
    at = sorted({-far, far, best, *(best + sign * cut for cut in CUTS for sign in (-1, 1))})
    parts = [_make_interval(curve, pair, false_alarm) for pair in pairwise(at)]
    heapify(parts)
    for _ in range(MAX_CUTS):
        _, (low, high) = parts[0]
        middle = (low + high) / 2
        heapreplace(parts, _make_interval(curve, (low, middle), false_alarm))
        heappush(parts, _make_interval(curve, (middle, high), false_alarm))
    before = once(lambda: ball(Fraction(-far)).exp())
    after = once(lambda: 1 - ball(Fraction(far)).exp() * ball(false_alarm))
    return reduce(larger, (before, after), _step(curve, parts[0][1], false_alarm))


def _make_interval(curve: Privacy, ends: tuple[float, float], false_alarm: Fraction) -> Interval:
    """For a heap that has the largest bound first."""
    return -above(_step(curve, ends, false_alarm)), ends


def _step(curve: Privacy, ends: tuple[float, float], false_alarm: Fraction) -> Bound:
    """What no line between these ends exceeds."""
    low, high = map(Fraction, ends)
    least = curve.delta_at(high).lower
    return once(lambda: 1 - as_ball(least) - ball(low).exp() * ball(false_alarm))


def _upper(curve: Privacy, epsilon: float) -> float:
    return min(1.0, above(curve.upper_delta(Fraction(epsilon))))


def _line(curve: Privacy, epsilon: Fraction, false_alarm: Fraction) -> Bound:
    """1 - delta(e) - e^e a, which below zero is e^e (1 - delta(-e) - a)."""
    delta = curve.upper_delta(abs(epsilon))
    if epsilon < 0:
        return once(lambda: ball(epsilon).exp() * (ball(1 - false_alarm) - as_ball(delta)))
    return once(lambda: 1 - as_ball(delta) - ball(epsilon).exp() * ball(false_alarm))
