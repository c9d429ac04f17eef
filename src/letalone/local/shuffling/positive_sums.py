"""The mean of the positive part of a sum of many equal draws, from above and from below.

S is the sum of n independent draws of a law with few rational values. Wanted is E[max(S, 0)].

Theorem.  Moving a value's mass to its two neighbours on a grid, mean kept, raises E[max(S, 0)];
merging values into their mean lowers it (convex order). On the grid the law of the sum is a tilted
Fourier transform with known errors (`privacy.loss.tilted`), and with K the logarithm of its moment
generating function at the tilt t, E[max(S, 0)] = Σ_{s > 0} s e^(K − ts) P_t[S = s]. What lies
outside of the window counts for at most e^(K − 1)/t times its tilted mass.
  Proven:   docs/explanation/proofs/local_shuffling.md, sections 3 and 4
  Tested:   against exact sums in rationals; convex order checked in rationals
  Assumed:  what `privacy.loss.tilted` assumes
"""

from collections.abc import Sequence
from fractions import Fraction
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np

from letalone.exact.balls import float_below
from letalone.mechanisms.values import Floats
from letalone.privacy.loss.lattice_law import LatticeLaw, TooWide
from letalone.privacy.loss.tilted import TiltedSum, tilted_sum

FINE_POINTS = 1 << 19
SPREADS = 16  # the window is about so many standard deviations of the tilted sum
MOST_CELLS = 1 << 22
UNIT = 2.0**-50
HIGHEST = 600.0  # e to this is a float
TINY = 1e-290  # more than all that underflows

RationalLaw = Sequence[tuple[Fraction, Fraction]]  # values and their probabilities
Cells = dict[int, Fraction]


class Tilt(NamedTuple):
    """A tilt that centres the sum where its positive part lies, and the spread it then has."""

    tilt: float
    spread: float


def positive_mean_above(law: RationalLaw, count: int, points: int = FINE_POINTS) -> float:
    """An upper bound on E[max(S, 0)]; infinite where none was found."""
    tilt = find_tilt(law, count)
    step = Fraction(2) ** round(log(_width(law, tilt) / points, 2))
    total = _sum(spread_onto(law, step), step, 0.0, count, tilt)
    if total is None:
        return float("inf")
    places = total.losses(0)
    inside = _weigh(total, places, total.masses + total.error)
    return (inside + _outside(total)) * (1 + _rounding(total, law, count)) + TINY


def positive_mean_below(law: RationalLaw, count: int, points: int = FINE_POINTS) -> float:
    """A lower bound on E[max(S, 0)]; 0 where none was found."""
    tilt = find_tilt(law, count)
    largest = max(value for value, _ in law)
    cells = max(1, round(largest * points / Fraction(_width(law, tilt))))
    step = Fraction(float_below(largest / cells))
    masses, centre = merge_onto(law, step)
    if len(masses) == 1:
        return 0.0
    origin = float_below(centre)
    total = _sum(masses, step, origin, count, tilt)
    if total is None:
        return 0.0
    places = total.losses(0)
    surely = places - UNIT * (2 * count * abs(origin) + np.abs(places))
    inside = _weigh(total, surely, np.maximum(total.masses - total.error, 0.0))
    return max(0.0, (inside - _outside(total)) * (1 - _rounding(total, law, count)))


def _width(law: RationalLaw, tilt: Tilt) -> float:
    """Of the window, or of all values where they are farther apart."""
    values = [value for value, _ in law]
    return max(SPREADS * tilt.spread, float(max(values) - min(values)))


def spread_onto(law: RationalLaw, step: Fraction) -> Cells:
    """Each value's mass on the two grid points next to it, mean kept: larger in convex order."""
    cells: Cells = {}
    for value, mass in law:
        below = value // step
        part = (value - below * step) / step
        cells[below] = cells.get(below, Fraction(0)) + mass * (1 - part)
        if part:
            cells[below + 1] = cells.get(below + 1, Fraction(0)) + mass * part
    return cells


def merge_onto(law: RationalLaw, step: Fraction) -> tuple[Cells, Fraction]:
    """Values merged into points centre + k·step, means kept: smaller in convex order.

    The heaviest value is the centre, joined by all that are less than a step away. Every other
    value is moved towards the centre, onto the grid, by merging it with some of the centre's mass.
    """
    order = sorted((atom for atom in law if atom[1]), key=lambda atom: -atom[1])
    group, rest = order[:1], order[1:]
    while True:
        mass = sum((m for _, m in group), Fraction(0))
        centre = sum((v * m for v, m in group), Fraction(0)) / mass
        near = [atom for atom in rest if abs(atom[0] - centre) < step]
        cells = None if near else _pull_in(rest, centre, mass, step)
        if cells is not None:
            return cells, centre
        joining = near or [min(rest, key=lambda atom: abs(atom[0] - centre))]
        group, rest = group + joining, [atom for atom in rest if atom not in joining]


def _pull_in(rest: RationalLaw, centre: Fraction, mass: Fraction, step: Fraction) -> Cells | None:
    """The grid's masses; None if the centre has too little mass for all of them."""
    cells: Cells = {0: mass}
    for value, weight in rest:
        place = int((value - centre) / step)  # towards the centre
        point = place * step
        more = weight * (value - centre - point) / point
        cells[place] = cells.get(place, Fraction(0)) + weight + more
        cells[0] -= more
    return cells if cells[0] >= 0 else None


def find_tilt(law: RationalLaw, count: int) -> Tilt:
    """Near the smallest value of K(t) − ln t, by golden sections; any tilt gives right bounds."""
    values, masses = (
        np.array([float(part) for part in column]) for column in zip(*law, strict=True)
    )
    values, logs = values[masses > 0], np.log(masses[masses > 0])

    def cost(log_tilt: float) -> float:
        exponents = exp(log_tilt) * values + logs
        peak = float(exponents.max())
        return count * (peak + log(float(np.exp(exponents - peak).sum()))) - log_tilt

    low, high = log(1e-9 / float(np.abs(values).max())), log(300 / float(np.abs(values).max()))
    for _ in range(64):
        first, second = low + 0.382 * (high - low), low + 0.618 * (high - low)
        low, high = (low, second) if cost(first) < cost(second) else (first, high)
    tilt = exp((low + high) / 2)
    weights = np.exp(tilt * values + logs - (tilt * values + logs).max())
    weights /= weights.sum()
    variance = float(weights @ (values - weights @ values) ** 2)
    return Tilt(tilt, sqrt(count * max(variance, 1e-300)))


def _sum(cells: Cells, step: Fraction, origin: float, count: int, tilt: Tilt) -> TiltedSum | None:
    first, last = int(min(cells)), int(max(cells))
    if last - first > MOST_CELLS:
        return None
    masses = np.zeros(last - first + 1)
    for place, mass in cells.items():
        masses[int(place) - first] = float(mass)
    try:
        total = tilted_sum([(LatticeLaw(step, first, masses, origin=origin), count)], tilt.tilt)
    except TooWide:
        return None
    return total if total.log_moment < HIGHEST else None


def _weigh(total: TiltedSum, places: Floats, masses: Floats) -> float:
    """Σ s e^(K − ts) over the positive places."""
    held = places > 0
    exponents = total.log_moment - total.tilt * total.losses(0)[held]
    return float((places[held] * np.exp(exponents) * masses[held]).sum())


def _outside(total: TiltedSum) -> float:
    """s e^(K − ts) is at most e^(K − 1)/t."""
    return total.outside * exp(total.log_moment - 1) / total.tilt


def _rounding(total: TiltedSum, law: RationalLaw, count: int) -> float:
    """Of masses and values, once a draw; of the transform's own; of the last sum."""
    steepest = total.tilt * max(abs(float(value)) for value, _ in law)
    drawn = count * UNIT * (2 + 2 * steepest)
    return total.slack + drawn + total.masses.size * UNIT + 2.0**-38
