"""Where to draw the lines of a law from below.

A law from below keeps one line for each interval of the grid. Any places are sound, since
`lattice_law` merges outputs where a tail or the last dot falls below 0. The bound is tight
where the outputs between neighbouring places have, merged, the loss of their grid point;
`refined` moves the places towards that. The last line is drawn beyond the end of the losses:
there it is 0, as the curve is; on the end itself an atom may count as above it and the last dot
falls. Poisson sampling piles up losses just above ln(1 - rate), within a few steps of the grid;
there the grid itself is moved by a part of a step so that the first outputs, merged, lie on it
too (`left_end`). Where the losses end on both sides, as Laplace's do with an atom at each end,
both ends are on the grid.

  Proven:   docs/explanation/proofs/loss_distributions.md, section 4: nothing depends on the places
            but how tight the bound is
  Tested:   the lower bounds of sampled jobs against an independent contour integral
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, inf, nextafter

import numpy as np

from letalone.privacy.loss.pairs import Floats, Pair, ends_of

NEAR = 48  # grid points from the left end on that are placed with care
ROUNDS = 10
SECANTS = 8
HALVINGS = 50
NEARLY = 1e-11


@dataclass(frozen=True)
class LeftEnd:
    """How far the grid is moved, and the places near the left end."""

    origin: float
    end: float
    first: int
    near: Floats

    def places(self, grid: Floats, step: float) -> Floats:
        """Near the middles; near the left end those found there, and none before it."""
        places = grid + 0.5 * step
        places[: self.first] = np.minimum(places[: self.first], self.end)
        size = min(self.near.size, places.size - self.first)
        places[self.first : self.first + size] = self.near[:size]
        return places


def nowhere() -> LeftEnd:
    """The grid as it is, the places at the middles."""
    return LeftEnd(0.0, inf, 0, np.zeros(0))


@lru_cache(maxsize=64)
def left_end(source: Pair, step: float, first: int) -> LeftEnd:
    """Where the grid starts: at the end of the losses, or so that those next to it fit."""
    end, other = ends_of(source)
    index = 0 if end == -inf else ceil(end / step - (0.5 if other < inf else 0)) - first
    if index < 1:  # the losses end before the grid starts
        return nowhere()
    points: Floats = step * np.arange(first + index, first + index + NEAR, dtype=np.float64)
    if other < inf:  # both ends are on the grid, an atom at each
        return LeftEnd(end - float(points[0]), nextafter(end, -inf), index, np.zeros(0))
    lowest, highest = end - float(points[0]) - 0.25 * step, 0.75 * step
    origin = _crossing(lambda o: _first_off(source, points + o, step), lowest, highest)
    return LeftEnd(origin, end, index, _near(source, points + origin, step))


def to_right_end(source: Pair, places: Floats, grid: Floats) -> Floats:
    """The last outputs, merged, must not have a loss below their grid point."""
    end = ends_of(source)[1]
    beyond = end + (2.0**-40 + 2 * source.misplaced) * (1 + abs(end))
    last = int(np.searchsorted(grid, beyond, side="right")) - 1
    if end == inf or last < 1 or last >= grid.size:
        return places
    places[last:] = beyond
    low, high = float(places[last - 1]), beyond
    if _last_off(source, low, beyond, grid[last]) >= 0:
        return places
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        off = _last_off(source, middle, beyond, grid[last])
        low, high = (middle, high) if off < 0 else (low, middle)
    places[last - 1] = high
    return places


def _last_off(source: Pair, place: float, end: float, point: float) -> float:
    """The deviation of the outputs between a place and the end, or nearly 0 where it is."""
    points = np.array([point, point + 1.0])
    off = float(deviations(source, np.array([place, end]), points)[0])
    return 0.0 if off > -NEARLY else off


def _first_off(source: Pair, points: Floats, step: float) -> float:
    """The deviation of the first bin; one that has become empty asks for a higher grid."""
    places = np.append(-inf, _near(source, points, step))
    return float(deviations(source, places[:3], points[:2])[0]) or step


def _crossing(falls: Callable[[float], float], low: float, high: float) -> float:
    """About where a falling function is 0: regula falsi, the end that stays counted by half."""
    at_low, at_high = falls(low), falls(high)
    if at_low <= 0 or at_high >= 0:
        return low if at_low <= 0 else high
    middle = low
    for _ in range(SECANTS):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        is_falling = falls(middle)
        if is_falling > 0:
            low, at_low, at_high = middle, is_falling, at_high / 2
        else:
            high, at_high, at_low = middle, is_falling, at_low / 2
    return middle


def _near(source: Pair, points: Floats, step: float) -> Floats:
    """Places from the left end on, for a grid that is given."""
    places = points + 0.5 * step
    for _ in range(ROUNDS):
        off = deviations(source, np.append(-inf, places), points)
        places = np.maximum.accumulate(places - _mean_of_both(off))
    return places


def refine_places(source: Pair, places: Floats, grid: Floats) -> Floats:
    """The places moved once more, if that keeps their order."""
    off = deviations(source, places, grid[1:])
    moved = places.copy()
    moved[1:] -= _mean_of_both(off)
    return moved if (np.diff(moved) >= 0).all() else places


def _mean_of_both(off: Floats) -> Floats:
    """At the place after each bin, the mean of its deviation and the next one's."""
    return np.append((off[:-1] + off[1:]) / 2, off[-1:])


def deviations(source: Pair, places: Floats, grid: Floats) -> Floats:
    """How far the loss of the outputs between places is above the grid; 0 where there are few."""
    tails = source.tails(places)
    count = grid.size
    masses_p = _masses(tails.p, tails.p_below)
    masses_q = _masses(tails.q, tails.q_below)
    masses_p, masses_q, grid = masses_p[:count], masses_q[:count], grid[: masses_p.size]
    known = (masses_p > 1e-290) & (masses_q > 1e-290)
    ratio = np.log(np.where(known, masses_p, 1.0)) - np.log(np.where(known, masses_q, 1.0))
    step = grid[1] - grid[0] if grid.size > 1 else inf
    return np.where(known, np.clip(ratio - grid, -0.4 * step, 0.4 * step), 0.0)


def _masses(above: Floats, below: Floats) -> Floats:
    return np.where(above[:-1] < 0.5, -np.diff(above), np.diff(below))
