"""A shuffled batch of answers yes or no: an upper bound, whatever the others hold.

Each of n people tells the truth with probability t, and else a lie, s = 1 − t < t. The batch shows
how many said yes. If m of the n − 1 others hold yes, T is how many of the others say it.

Theorem.  With E = e^x, δ(x) of the batch is the largest over all m of
    δ_m = max over a of (t − E s) P[T = a − 1] − (E − 1) P[T ≥ a].
Which m is worst is not always one of the ends, so m runs in blocks: δ_m is at most that of a
smaller batch, without those of whom the block does not say what they hold. With as many blocks as
people nothing is lost; with J blocks, about n/J people.
  Proven:   docs/explanation/proofs/shuffling.md, section 6
  Tested:   against exact sums over all batches; wrong bounds are noticed
  Assumed:  what `privacy.loss.tilted` assumes
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from letalone.exact.balls import Ball, ball, lower, upper, with_bits
from letalone.privacy.loss.lattice_law import LatticeLaw, TooWide
from letalone.privacy.loss.tilted import TiltedSum, tilted_sum

Floats = NDArray[np.float64]

PRECISION = 256
ENOUGH_BITS = 64
DRAWN = 2.0**-50  # more than a mass of a law, with t and s themselves, is off
LAST_SUM = 2.0**-38
LOGARITHM = 1e-9  # more than a logarithm of a ratio is off
REACH, MORE = 3, 1  # events are looked at so many spreads and places around the likeliest
STEEPEST = 600.0  # over what is looked at
TINY = 1e-290  # more than all that underflows
NOTHING_KNOWN = 1.0
MOST_COUNTED = 10**8  # more reports only hide better


@dataclass(frozen=True, slots=True)
class EventWeights:
    """What P[T = a − 1] and P[T ≥ a] count for: t − E s from above, E − 1 from below."""

    gain: float
    excess: float
    tilt: float  # about ln((E t − s)/(t − E s))


@dataclass(frozen=True, slots=True)
class Events:
    """The events {count ≥ a} for some neighbouring a, their chances times e^−`scale`.

    `reached` is P[T = a − 1] from above, `beyond` is P[T ≥ a] from below. The best event is one of
    these if the tilt of the weights is from `least_tilt` to `most_tilt`.
    """

    scale: float
    reached: Floats
    beyond: Floats
    least_tilt: float
    most_tilt: float


def counts_above(
    reports: int, lie: Callable[[], Ball], epsilon: Fraction, blocks: int = 64
) -> float:
    """An upper bound on δ at ε ≥ 0 for a batch of at least two reports."""
    weights = with_bits(lambda: _weights(lie(), epsilon), PRECISION)
    if weights is None:
        return NOTHING_KNOWN
    if weights.gain <= 0:
        return 0.0
    reports = min(reports, MOST_COUNTED)
    size = -(-reports // blocks)
    lies = with_bits(lambda: float(lie().mid()), PRECISION)
    firsts = range(0, reports, size)
    # Of the others, at least `first` hold yes, and those behind the block no.
    return max(_alike(first, max(0, reports - first - size), lies, weights) for first in firsts)


def _weights(lie: Ball, epsilon: Fraction) -> EventWeights | None:
    likely, truth = ball(epsilon).exp(), 1 - lie
    gain, loss = truth - likely * lie, likely * truth - lie
    if gain.rel_accuracy_bits() < ENOUGH_BITS:
        return None  # ε is too close to the local one
    tilt = float((loss / gain).log().mid()) if gain > 0 else inf
    return EventWeights(upper(gain), lower(ball(epsilon).expm1()), max(0.0, tilt))


def _alike(ones: int, zeros: int, lie: float, weights: EventWeights) -> float:
    """The bound if so many others hold yes and so many hold no."""
    if ones + zeros == 0:
        return weights.gain
    spread = sqrt((ones + zeros) * lie * (1 - lie))
    # A law serves all ε whose tilt is near; where it does not show the best event, one of its own.
    for steps in (max(1, round(weights.tilt * spread)), max(weights.tilt * spread, 0.1)):
        tilt = steps / spread
        events = _events(ones, zeros, lie, tilt)
        if events is not None and events.least_tilt <= weights.tilt <= events.most_tilt:
            values = weights.gain * events.reached - weights.excess * events.beyond
            return float(values.max()) * (1 + LAST_SUM) * exp(events.scale) + TINY
    return NOTHING_KNOWN


@lru_cache(maxsize=160)
def _events(ones: int, zeros: int, lie: float, tilt: float) -> Events | None:
    total = _sum(ones, zeros, lie, tilt)
    if total is None:
        return None
    others, end = ones + zeros, total.first + total.masses.size - 1
    peak = min(max(0, total.first + int(np.argmax(total.masses))), others)
    reach = ceil(REACH * total.spread) + MORE
    first, last = max(0, peak - reach), min(others, peak + reach)
    is_steep = tilt * 2 * reach > STEEPEST or total.log_moment - tilt * first > STEEPEST
    if is_steep or first < total.first or last > end:
        return None
    return _weigh(total, others, (first, peak, last))


def _weigh(total: TiltedSum, others: int, ends: tuple[int, int, int]) -> Events:
    """The masses tilted back, from both sides, their tails, and for which tilts they serve."""
    first, peak, last = ends
    places = np.arange(first, min(others, total.first + total.masses.size - 1) + 1)
    masses = total.masses[places - total.first]
    back = np.exp(-total.tilt * (places - first).astype(np.float64))
    growth = _rounding(total, others)
    upper = np.maximum(masses + total.error, 0.0) * back * (1 + growth)
    sure = np.maximum(masses - total.error, 0.0) * back * (1 - growth)
    tails = np.append(np.cumsum(sure[::-1])[::-1], 0.0)[1:] - total.outside * back * (1 + growth)
    size = last - first + 1
    top = log(max(sure[peak - first] - total.outside * back[peak - first], TINY))
    return Events(
        total.log_moment - total.tilt * first,
        upper[:size],
        np.maximum(tails[:size], 0.0),
        -inf if first == 0 else (log(upper[0]) - top) / (peak - first) + LOGARITHM,
        inf if last == others else (top - log(upper[size - 1])) / (last - peak) - LOGARITHM,
    )


def _rounding(total: TiltedSum, others: int) -> float:
    """Of tilts and transform; of the masses; of exponents; of the last sums."""
    farthest = total.tilt * (abs(total.first) + total.masses.size)
    exponents = (abs(total.log_moment) + farthest) * DRAWN
    drawn = (others + total.masses.size) * DRAWN
    return min(1.0, total.slack + drawn + exponents + LAST_SUM)


def _sum(ones: int, zeros: int, lie: float, tilt: float) -> TiltedSum | None:
    truths = LatticeLaw(Fraction(1), 0, np.array([lie, 1 - lie]))
    lies = LatticeLaw(Fraction(1), 0, np.array([1 - lie, lie]))
    laws = [(law, count) for law, count in ((truths, ones), (lies, zeros)) if count]
    try:
        return tilted_sum(laws, tilt)
    except TooWide:
        return None
