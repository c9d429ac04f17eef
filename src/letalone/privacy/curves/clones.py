"""One report hidden among the others of a batch: certified bounds on what the batch reveals.

Each of n - 1 other reports says "one" or "other" with probability p, by a fair coin, and else
nothing. The report in question says what its owner holds with probability t, the opposite
with s, and nothing with 1 - t - s. The batch shows A and B, the numbers of reports that say
"one" and "other".

Theorem.  With E = e^x and m = A + B the most telling event is {A > threshold(m)}, affine in m.
With C ~ Bin(n - 1, p), a = the first whole number above the threshold,
b = P[Bin(m - 1, 1/2) = a - 1] and V = P[Bin(m - 1, 1/2) >= a],
    delta(x) = sum over m of P[C = m - 1] ((t - E s) b - (E - 1)(t + s) V)
                           - P[C = m] (E - 1)(1 - t - s) (b / 2 + V).
  Proven:   docs/explanation/proofs/shuffling.md, sections 3 to 5, with every rounding error
  Tested:   against sums over all batches in rationals, and over all clones in floats
  Assumed:  float operations round to nearest, as IEEE 754 says
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from letalone.exact.balls import Ball, ball, fraction_above, fraction_below, upper, with_bits
from letalone.privacy.curves.response_curve import RandomizedResponsePrivacy

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PRECISION = 256
UNIT = Fraction(1, 2**53)  # the relative error of one float operation
EXPONENT = 101  # 2 e^-101 lies outside of the window, e^-101 is negligible in it
OUTSIDE = Fraction(1, 2**143)  # more than both, and than all that underflows
FIXED_BITS = 61  # thresholds and their sums stay below 2^62
NARROW = Fraction(1, 2**100)
ENOUGH_BITS = 64
TINIEST = 1e-300  # below it floats lose digits
MOST_BLOCKS = 48
NOTHING_KNOWN = (Fraction(0), Fraction(1))


@dataclass(frozen=True, slots=True)
class Clones:
    """How reports of whatever is epsilon-DP speak: as in the worst such mechanism.

    A law gives balls of any precision, and two equal laws are equal.
    """

    epsilon: Fraction

    def told(self) -> Ball:
        """The probability t that the report in question says what its owner holds."""
        return 1 / (1 + ball(-self.epsilon).exp())

    def other(self) -> Ball:
        """The probability s that it says the opposite."""
        return 1 / (1 + ball(self.epsilon).exp())

    def silent(self) -> Ball:
        """The probability 1 - t - s that it says nothing about the two: never."""
        return ball(0)

    def clone(self) -> Ball:
        """The probability that another report says one of the two, by a fair coin.

        A report is e^-epsilon times as likely from anybody as from either neighbour.
        """
        return ball(-self.epsilon).exp()


@dataclass(frozen=True, slots=True)
class Answers:
    """Randomized response where everybody else holds a third answer, or there are only two."""

    base: RandomizedResponsePrivacy

    def told(self) -> Ball:
        """The truth."""
        return self.base.told()

    def other(self) -> Ball:
        """The one other answer that matters."""
        return self.base.other()

    def silent(self) -> Ball:
        """Any further answer."""
        return (self.base.categories - 2) * self.base.other()

    def clone(self) -> Ball:
        """Both answers are lies."""
        return 2 * self.base.other()


@dataclass(frozen=True, slots=True)
class CoveredAnswers(Answers):
    """Randomized response among the reports that are drawn evenly from all answers.

    Such a report is covered: it says nothing about its owner.
    """

    def clone(self) -> Ball:
        """Two of all answers."""
        return ball(2) / self.base.categories

    def covered(self) -> Ball:
        """The probability of that: each answer has the probability s at least, whatever is true."""
        return self.base.categories * self.base.other()


ReportLaw = Clones | Answers


@dataclass(frozen=True, slots=True)
class ShuffledCrowd:
    """A batch of two or more reports."""

    reports: int
    law: ReportLaw


class Window(NamedTuple):
    """The numbers m that are looked at, from `first` to `last`."""

    first: int
    last: int

    @property
    def size(self) -> int:
        return self.last - self.first + 1


class CrowdWeights(NamedTuple):
    """What multiplies b and V, for a report that speaks and one that does not."""

    gain: float  # (t - e^x s)
    loss: float  # (e^x - 1)(t + s)
    silent: float  # (e^x - 1)(1 - t - s)
    steepness: float  # (t - s)(1 + e^x), rounded up
    share: float  # 1 - e^x s / t, rounded up: P - e^x Q is nowhere more of P


# Of positive terms: delta is the first less the second, the third and fourth are errors.
Sums = tuple[float, float, float, float]


def crowd_bounds(crowd: ShuffledCrowd, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds on delta of the pair at 0 <= epsilon < ln(t / s) <= 100."""
    return with_bits(lambda: _bounds(crowd, epsilon), PRECISION)


def _bounds(crowd: ShuffledCrowd, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    window, weights = _window(crowd), _weights(crowd, epsilon)
    thresholds = _thresholds(crowd, epsilon, window)
    if weights is None or thresholds is None:
        return NOTHING_KNOWN
    firsts, slack = thresholds
    outside = OUTSIDE * Fraction(weights.share)
    if firsts[-1] > window.last or _is_negligible(firsts, window):
        return Fraction(0), outside
    sums = _sums(crowd, window, weights, firsts, slack)
    if sums is None:
        return NOTHING_KNOWN
    less, more = _round_both_ways(sums, (8 * window.size + 64) * UNIT)
    return max(less - OUTSIDE, Fraction(0)), max(more, Fraction(0)) + outside


def blanket_above(reports: int, law: CoveredAnswers, epsilon: Fraction) -> Fraction:
    """An upper bound on delta if only covered reports hide: `law` is that of these.

    The fewer there are, the more is revealed: a block of numbers is taken at its smallest.
    """
    weights = with_bits(lambda: _weights(ShuffledCrowd(2, law), epsilon), PRECISION)
    if weights is None:
        return Fraction(1)
    total = OUTSIDE * Fraction(weights.share)
    for others, chance in _blocks(reports - 1, law):
        alone = Fraction(weights.gain) * (1 + 2 * UNIT)  # nobody is covered
        total += chance * (
            crowd_bounds(ShuffledCrowd(others + 1, law), epsilon)[1] if others else alone
        )
    return total


@lru_cache(maxsize=64)
def _blocks(size: int, law: CoveredAnswers) -> tuple[tuple[int, Fraction], ...]:
    """Numbers of covered reports, each with the chance, rounded up, of that many up to the next."""
    low, high = with_bits(lambda: _reach(size, law.covered()), PRECISION)
    low, high = max(0, low), min(size, high)
    chances = with_bits(lambda: _law(size, law.covered(), low, high), PRECISION)
    starts = _starts(low, high, size)
    growth = (8 * chances.size + 64) * UNIT
    sums = np.add.reduceat(chances, np.array(starts) - low)
    blocks = zip(starts, (Fraction(float(part)) * (1 + growth) for part in sums), strict=True)
    return tuple(blocks)


def _starts(low: int, high: int, size: int) -> list[int]:
    """Where blocks begin: the far ends matter little, and many reports need few blocks."""
    count = min(MOST_BLOCKS, max(1, isqrt(64 * 10**6 // (size + 1))))
    if high - low < MOST_BLOCKS:
        return list(range(low, high + 1))
    # 14 standard deviations either way; past 6 below nothing is likely, nor past 3 above.
    near, far = low + (high - low) * 8 // 28, low + (high - low) * 17 // 28
    return [low, *sorted({near + (far - near) * step // count for step in range(count)})]


def _round_both_ways(sums: Sums, growth: Fraction) -> tuple[Fraction, Fraction]:
    """The difference, rounded down and up, each sum being right to a relative `growth`."""
    gains, losses, uncertain, misplaced = (Fraction(part) for part in sums)
    less = gains * (1 - growth) - (losses + uncertain) * (1 + growth)
    more = (gains + uncertain + misplaced) * (1 + growth) - losses * (1 - growth)
    return less, more


def _window(crowd: ShuffledCrowd) -> Window:
    """What C or C + 1 can be."""
    low, high = _reach(crowd.reports - 1, crowd.law.clone())
    return Window(max(1, low), min(crowd.reports, high))


def _reach(size: int, share: Ball) -> tuple[int, int]:
    """By Bernstein, Bin(size, share) < low or >= high has at most the probability 2 e^-101."""
    part = _nearest(share)
    mean = size * part
    far = EXPONENT / 3 + sqrt(EXPONENT**2 / 9 + 2 * EXPONENT * mean * (1 - part)) + 3
    far += mean * 2.0**-50  # what the floats above may lose
    return ceil(mean - far), ceil(mean + far)


def _weights(crowd: ShuffledCrowd, epsilon: Fraction) -> CrowdWeights | None:
    likely, truth, other = ball(epsilon).exp(), crowd.law.told(), crowd.law.other()
    excess, gain = ball(epsilon).expm1(), truth - likely * other
    if gain.rel_accuracy_bits() < ENOUGH_BITS:
        return None  # epsilon is too close to the local one
    return CrowdWeights(
        _nearest(gain),
        _nearest(excess * (truth + other)),
        _nearest(excess * crowd.law.silent()),
        upper((truth - other) * (1 + likely)),
        upper(gain / truth),
    )


def _thresholds(
    crowd: ShuffledCrowd, epsilon: Fraction, window: Window
) -> tuple[Integers, Fraction] | None:
    """The first whole number above the threshold, or above at most `slack` less than it.

    In fixed point, so that from one m to the next it grows by 0 or 1, exactly.
    """
    likely, truth, other = ball(epsilon).exp(), crowd.law.told(), crowd.law.other()
    steep = (truth - other) * (1 + likely)
    clone, excess = crowd.law.clone(), ball(epsilon).expm1()
    quiet = clone / 2 * crowd.law.silent() / (1 - clone) * excess / steep
    slope = (likely * truth - other) / steep - quiet
    begin = slope * window.first + quiet * crowd.reports
    if not (slope.rad() < ball(NARROW) and begin.rad() < ball(NARROW)):
        return None  # the local epsilon is too small
    bits = FIXED_BITS - window.size.bit_length()
    step, start = _scale_down(slope, bits), _scale_down(begin, bits)
    above_bits, part = start >> bits, start & ((1 << bits) - 1)
    grown = (part + step * np.arange(window.size, dtype=np.int64)) >> bits
    return grown + (above_bits + 1), Fraction(2 * (window.size + 2), 1 << bits)


def _scale_down(value: Ball, bits: int) -> int:
    """The whole number below 2^bits times a lower bound that is off by less than 2^-100."""
    return int(fraction_below(value) * (1 << bits) // 1)


def _is_negligible(firsts: Integers, window: Window) -> bool:
    """Whether by Hoeffding's inequality every V + b is 0 or below e^-101 < OUTSIDE."""
    steps = np.arange(window.first, window.last + 1, dtype=np.float64) - 1
    distance = np.maximum(firsts - 1 - steps / 2, 0)
    return bool(np.all((firsts - 1 > steps) | (2 * distance**2 > (EXPONENT + 1) * steps)))


def _sums(
    crowd: ShuffledCrowd, window: Window, weights: CrowdWeights, firsts: Integers, slack: Fraction
) -> Sums | None:
    """The sums over the window; None where floats have too few digits."""
    points, start = _points(window, firsts)
    is_hit = firsts <= np.arange(window.first, window.last + 1)
    if start < TINIEST or not np.all(points[is_hit] > TINIEST):
        return None
    tails, doubts = _tails(window, firsts, points)
    chances = _chances(crowd, window)
    speaking, silent = chances[:-1], chances[1:]
    alone = float((speaking * points).sum())
    rate = speaking * weights.loss + silent * weights.silent
    return (
        alone * weights.gain,
        float((rate * tails + silent * points * (weights.silent / 2)).sum()),
        float((rate * doubts).sum()),
        alone * weights.steepness * upper(ball(slack)) / max(1, window.first // 2),
    )


def _points(window: Window, firsts: Integers) -> tuple[Floats, float]:
    """b(m) = P[Bin(m - 1, 1/2) = a - 1], downwards from the last m by ratios."""
    last, first_above = window.last, int(firsts[-1])
    start = _nearest(_binomial(last - 1, first_above - 1) / ball(2) ** (last - 1))
    m = np.arange(last, window.first, -1, dtype=np.float64)
    a, fewer = firsts[:0:-1], firsts[-2::-1]
    remaining = np.where(a == fewer, m - a, a - 1.0)
    ratios = np.concatenate(([start], 2 * np.maximum(remaining, 0) / (m - 1)))
    return np.cumprod(ratios, dtype=np.float64)[::-1], start


def _tails(window: Window, firsts: Integers, points: Floats) -> tuple[Floats, Floats]:
    """V(m) = P[Bin(m - 1, 1/2) >= a], downwards, and a bound on the error of each."""
    start, rest, terms = _last_tail(window.last - 1, int(firsts[-1]), float(points[-1]))
    m = np.arange(window.first, window.last, dtype=np.float64)
    a, b = firsts[:-1].astype(np.float64), points[:-1]
    moved = firsts[1:] > firsts[:-1]
    steps = np.where(moved, b * np.maximum(m - a, 0) / a, -b)[::-1] / 2
    tails = np.cumsum(np.concatenate(([start], steps)))[::-1]
    reached = np.cumsum(np.concatenate(([start], np.abs(steps))))[::-1]
    unit = (6 * window.size + 6 * terms + 64) * 2.0**-53
    return np.maximum(tails, 0.0), reached * unit + rest


def _last_tail(size: int, first: int, point: float) -> tuple[float, float, int]:
    """P[Bin(size, 1/2) >= first] from P[= first - 1], what is left out, and how many terms."""
    terms = min(size - first + 1, 9 * isqrt(size) + 60)
    if terms <= 0:
        return 0.0, 0.0, 0
    k = np.arange(first, first + terms, dtype=np.float64)
    falling = np.cumprod((size + 1 - k) / k)
    end = first + terms
    ratio = (size + 1 - end) / end  # of the first term left out to the last one kept
    rest = 2 * point * float(falling[-1]) * ratio / (1 - ratio) if ratio > 0 else 0.0
    return point * float(falling.sum()), rest, terms


@lru_cache(maxsize=16)
def _chances(crowd: ShuffledCrowd, window: Window) -> Floats:
    """P[C = c] from c = first - 1 to c = last."""
    return _law(crowd.reports - 1, crowd.law.clone(), window.first - 1, window.last)


def _law(size: int, share: Ball, low: int, high: int) -> Floats:
    """P[Bin(size, share) = c] from low to high, outwards from the likeliest."""
    mode = min(max(int(_nearest(share * (size + 1))), low), min(high, size))
    peak = _binomial(size, mode) * share**mode * (1 - share) ** (size - mode)
    odds = _nearest(share / (1 - share))
    up = np.arange(mode, high, dtype=np.float64)
    down = np.arange(mode, low, -1, dtype=np.float64)
    rising = np.cumprod((size - up) / (up + 1) * odds)
    falling = np.cumprod(down / (size - down + 1) / odds)
    return np.concatenate((falling[::-1], [1.0], rising)) * _nearest(peak)


def _binomial(size: int, chosen: int) -> Ball:
    """The binomial coefficient, by gamma functions."""
    if chosen < 0 or chosen > size:
        return ball(0)
    logs = [ball(k + 1).lgamma() for k in (size, chosen, size - chosen)]
    return (logs[0] - logs[1] - logs[2]).exp()


def _nearest(value: Ball) -> float:
    """A float within a relative 2^-52 of the number, whose ball is far narrower."""
    return float(value.mid())


def count_below(reports: int, other: Callable[[], Ball], epsilon: Fraction) -> Fraction:
    """A lower bound on delta for yes or no, a lie having the probability s, everybody else alike.

    The batch shows a count. The others' is T ~ Bin(n - 1, s), and the events {count >= a} and
    {count < a} give (t - e^x s) T(a - 1) - (e^x - 1) T[>= a], and the same from below.
    """
    return with_bits(lambda: _count_below(reports, other(), epsilon), PRECISION)


def _count_below(reports: int, lie: Ball, epsilon: Fraction) -> Fraction:
    likely, truth = ball(epsilon).exp(), 1 - lie
    gain = truth - likely * lie
    if gain.rel_accuracy_bits() < ENOUGH_BITS:
        return Fraction(0)
    ratio = (likely * truth - lie) / gain
    many = int(_nearest(ratio * lie * reports / (truth + ratio * lie)))
    others = reports - 1 - int(_nearest(lie * reports / (lie + ratio * truth)))
    from_above = _told_below(reports - 1, many, lie, gain, likely - 1)
    return max(from_above, _told_below(reports - 1, others, truth, gain, likely - 1), Fraction(0))


def _told_below(size: int, last: int, share: Ball, gain: Ball, excess: Ball) -> Fraction:
    """gain P[= last] - excess P[> last] for Bin(size, share), rounded down; 0 if too small."""
    point = _nearest(_binomial(size, last) * share**last * (1 - share) ** (size - last))
    if point < TINIEST:
        return Fraction(0)
    spread, odds = sqrt(size) / 2, _nearest(share / (1 - share))
    k = np.arange(last, min(size, last + ceil(14 * spread) + 200) + 1, dtype=np.float64)
    falling = np.cumprod((size - k) / (k + 1) * odds)
    # The last ratio bounds all that follow; it is far below 1, or 0 at the end of the support.
    ratio = (size - k[-1]) / (k[-1] + 1) * odds
    tail = float(falling.sum()) + 2 * float(falling[-1]) * ratio / (1 - ratio)
    growth = (6 * k.size + 64) * UNIT
    beyond = Fraction(tail) * (1 + growth) * fraction_above(excess)
    return Fraction(point) * ((1 - growth) * fraction_below(gain) - beyond)
