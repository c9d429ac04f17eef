"""Searches over the floats, decided by certified comparisons.

Floats that are not negative are ordered like their bit patterns, so a bisection over
bit patterns takes at most 64 steps wherever the answer lies. A guess makes it shorter and
cannot make it wrong: both floats that `edge` returns have themselves been checked.

  Proven:   `edge` returns neighbouring floats of which the first was seen to fail `holds`
            and the second to pass it
  Tested:   tests/privacy/test_search.py
"""

import struct
from collections.abc import Callable
from math import inf, sqrt

LARGEST_FLOAT = 1.7976931348623157e308
GOLDEN = (sqrt(5) - 1) / 2
GOLDEN_STEPS = 44  # narrows to 2^-30 of the width
SECANT_STEPS = 24


def edge(
    holds: Callable[[float], bool],
    *,
    start: float = 1.0,
    gap: Callable[[float], float] | None = None,
    limit: float = LARGEST_FLOAT / 2,
) -> tuple[float, float]:
    """Neighbouring floats (fails, holds) where a condition starts to hold.

    (0, 0) where it holds from zero on; (x, inf) where it does not hold at x, past the limit.
    `gap`, which may be rough, is positive before the edge and negative after it.
    """
    if holds(0.0):
        return 0.0, 0.0
    low, high = 0.0, start
    while not holds(high):
        if high >= limit:
            return high, inf
        low, high = high, high * 2
    ends = index_of(low), index_of(high)
    if gap is not None:
        ends = _around(holds, index_of(crossing(gap, low, high)), ends)
    first = _bisect(holds, *ends)
    return float_of(first - 1), float_of(first)


def _around(holds: Callable[[float], bool], guess: int, ends: tuple[int, int]) -> tuple[int, int]:
    """A bracket near the guess, widened until its ends are checked."""
    low, high = ends
    step = 2
    while (below := guess - step) > low and holds(float_of(below)):
        high, step = below, 8 * step
    low, step = max(low, below), 2
    while (above := guess + step) < high and not holds(float_of(above)):
        low, step = max(low, above), 8 * step
    return low, min(high, above)


def _bisect(holds: Callable[[float], bool], low: int, high: int) -> int:
    while high - low > 1:
        middle = (low + high) // 2
        if holds(float_of(middle)):
            high = middle
        else:
            low = middle
    return high


def index_of(value: float) -> int:
    """The position of a float that is not negative among all of them."""
    return struct.unpack("<q", struct.pack("<d", value))[0]


def float_of(index: int) -> float:
    """The float at a position."""
    return struct.unpack("<d", struct.pack("<q", index))[0]


def crossing(gap: Callable[[float], float], low: float, high: float) -> float:
    """Near where a falling function crosses zero (Illinois; nothing is certified)."""
    at_low, at_high, side = gap(low), gap(high), 0
    for _ in range(SECANT_STEPS):
        middle = (low * at_high - high * at_low) / (at_high - at_low) if at_low > at_high else low
        if not low < middle < high:
            middle = (low + high) / 2
        at = gap(middle)
        if at == 0 or high - low <= 1e-15 * high:
            return middle
        if at > 0:
            low, at_low, at_high = middle, at, at_high / 2 if side > 0 else at_high
        else:
            high, at_high, at_low = middle, at, at_low / 2 if side < 0 else at_low
        side = 1 if at > 0 else -1
    return low


def peak(function: Callable[[float], float], low: float, high: float) -> float:
    """Near where a function with one peak is largest (golden section; nothing is certified)."""
    lower, upper = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = function(lower), function(upper)
    for _ in range(GOLDEN_STEPS):
        if at_left < at_right:
            low, lower, at_left = lower, upper, at_right
            upper = low + GOLDEN * (high - low)
            at_right = function(upper)
        else:
            high, upper, at_right = upper, lower, at_left
            lower = high - GOLDEN * (high - low)
            at_left = function(lower)
    return lower if at_left >= at_right else upper
