"""Loss distributions on a grid: one certainly above the truth, one certainly below it.

Above.  On the grid l_i = i·step, keep the curve delta(l_i) and connect the dots: between grid
points the true curve, convex in e^l, lies below the chord. The law whose curve is that chord
moves the mass of (l_i, l_(i+1)] to both ends so that its probabilities under P and Q stay.
Below.  Merge outputs whose loss lies in (l_i - step/2, l_i + step/2]: post-processing. The
merged loss ln(m_i / w_i) is off the grid by little; lower all losses by the largest
deviation, `shift`, and charge it once a release.

  Proven:   docs/explanation/proofs/loss_distributions.md, sections 3 and 4
  Tested:   both against brute-force sums and closed forms
  Assumed:  IEEE 754 arithmetic; what `pairs` assumes

Doroshenko, Ghazi, Kamath, Kumar, Manurangsi: Connect the dots (2022).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import expm1

import numpy as np
from numpy.typing import NDArray

from letalone.privacy.loss.pairs import ACCURACY, Atoms, Floats, Pair, Tails

FARTHEST = 2.0**20


@dataclass(frozen=True)
class LatticeLaw:
    """Pr[L = (first + i)·step] = masses[i]; the rest of the mass is at infinity, or nowhere.

    The losses meant may be off by `shift`: higher for a law above the truth, lower for one
    below it, where `lost` is roughly the share of delta that was left out.
    """

    step: Fraction
    first: int
    masses: Floats
    infinite: float = 0.0
    shift: float = 0.0
    lost: float = 0.0

    def losses(self) -> Floats:
        """The losses, as floats."""
        return grid_points(self.first, self.masses.size, self.step)


def grid_points(first: int, count: int, step: Fraction) -> Floats:
    """The grid points from `first` on."""
    return np.arange(first, first + count, dtype=np.float64) * float(step)


def law_above(source: Pair | Atoms, step: Fraction, *, top: float, bottom: float) -> LatticeLaw:
    """A law on the grid whose curve is nowhere below the source's.

    Upper tails below `top` go to infinity; lower tails below `bottom` go up to the grid.
    """
    if isinstance(source, Atoms):
        return _atoms_above(source, step)
    first, last = support(source, step, top=top, bottom=bottom)
    h = float(step)
    grid = grid_points(first, last - first + 1, step)
    tails = source.tails(grid)
    # Of the mass m in (l_i, l_(i+1)], the share at the lower end is a, from P's and Q's mass.
    one, other = _side(tails.one, tails.one_below), _side(tails.other, tails.other_below)
    lower_share = _lower_end(one, other, grid, h)
    unsure = one.size[:-1] + _times_exp(other.size[:-1], grid[:-1])
    error = np.append((8 * ACCURACY * unsure + 2 * source.coarse) / -expm1(-h), 0.0)
    above = tails.one - lower_share + error
    below = tails.one_below + lower_share - error
    tail = np.where(tails.one < 0.5, above, 1 - np.maximum(below, 0.0))
    tail = np.maximum.accumulate(np.clip(tail, 0.0, 1.0)[::-1])[::-1]
    tail[-1] = min(1.0, tails.one[-1] * (1 + ACCURACY))  # beyond the last point: infinity
    masses = -np.diff(tail, prepend=1.0) * (1 + 2.0**-50)
    return LatticeLaw(step, first, masses, max(float(tail[-1]), source.infinite))


@dataclass(frozen=True)
class _Side:
    """Masses between neighbouring points, from the smaller tail; `size` is that tail's."""

    masses: Floats
    size: Floats


def _side(above: Floats, below: Floats) -> _Side:
    upper = above < 0.5
    masses = np.where(upper[:-1], -np.diff(above), np.diff(below))
    # The two tails that a mass is the difference of: the larger one counts.
    size = np.where(upper, above, np.append(below[1:], below[-1]))
    return _Side(masses, size)


def _times_exp(values: Floats, exponents: Floats) -> Floats:
    """values · e^exponents, where the product is not large though a factor may be."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.exp(np.log(np.maximum(values, 0.0)) + exponents)


def _lower_end(one: _Side, other: _Side, grid: Floats, h: float) -> Floats:
    """a_i = (w e^(l_i) - m e^-h) / (1 - e^-h), within [0, m]; 0 at the last point."""
    share = (_times_exp(other.masses, grid[:-1]) - one.masses * np.exp(-h)) / -expm1(-h)
    return np.append(np.clip(share, 0.0, np.maximum(one.masses, 0.0)), 0.0)


def _atoms_above(atoms: Atoms, step: Fraction) -> LatticeLaw:
    h = float(step)
    place, offset = _places(atoms, step)
    # The share at the upper end, rounded up by more than the floats can lose.
    slack = 8 * ACCURACY * (1 + np.abs(atoms.losses)) / -expm1(-h)
    exact = offset == 0
    share = np.where(exact, 0.0, np.clip(np.expm1(-offset) / expm1(-h) + slack, 0.0, 1.0))
    first = int(place.min())
    size = int(place.max()) - first + 2
    raised = atoms.masses * (1 + 4 * ACCURACY)
    masses = _piled(place - first, raised * (1 - share), size)
    masses += _piled(place - first + 1, raised * share, size)
    shift = atoms.unit_error if exact.all() else 0.0
    return LatticeLaw(step, first, masses, atoms.infinite * (1 + 4 * ACCURACY), shift)


def _piled(places: NDArray[np.int64], weights: Floats, size: int) -> Floats:
    return np.bincount(places, weights, size).astype(np.float64)


def _places(atoms: Atoms, step: Fraction) -> tuple[NDArray[np.int64], Floats]:
    """For each atom the grid point below it and how far it lies above that."""
    if atoms.unit is not None and (atoms.unit / step).denominator == 1:
        whole = np.rint(atoms.losses / float(atoms.unit)).astype(np.int64)
        return whole * int(atoms.unit / step), np.zeros(whole.size)
    place = np.floor(atoms.losses / float(step)).astype(np.int64)
    above = np.maximum(atoms.losses - place * float(step), 5e-324)
    return place, np.where(atoms.losses == 0, 0.0, above)


def law_below(
    source: Pair | Atoms, step: Fraction, *, top: float, bottom: float, tilt: float | None = None
) -> LatticeLaw:
    """A law on the grid whose curve, its losses lowered, is nowhere above the source's.

    The tilt says which bins matter; without one, all are kept.
    """
    if isinstance(source, Atoms):
        return _atoms_below(source, step)
    first, last = support(source, step, top=top, bottom=bottom)
    edges = grid_points(first, last - first + 2, step) - 0.5 * float(step)
    return _bins(source, step, edges, first).law(step, first, tilt)


@dataclass(frozen=True)
class _Bins:
    """Outputs merged: a lower bound on the mass of each bin, and on its loss above the grid."""

    masses: Floats
    off: Floats
    kept: NDArray[np.bool_]

    def law(self, step: Fraction, first: int, tilt: float | None) -> LatticeLaw:
        """Lower all losses by the largest deviation; leave out bins that are not worth it."""
        if tilt is None:
            shift = max(0.0, float(np.where(self.kept, -self.off, 0.0).max()))
            return LatticeLaw(step, first, self.masses, 0.0, shift)
        grid = grid_points(first, self.masses.size, step)
        weights = np.where(self.kept, self.masses, 0.0)
        with np.errstate(divide="ignore"):
            exponents = tilt * grid + np.log(weights)
        share = np.exp(exponents - exponents.max())
        share /= share.sum()
        gap = np.where(self.kept, -self.off, -np.inf)
        order = np.argsort(-gap)
        # Leaving out the worst bins costs their share of delta; keeping them, their gap.
        lost = np.append(0.0, np.cumsum(share[order]))[:-1]
        best = int(np.argmin(lost / (1 + tilt) + np.maximum(gap[order], 0.0)))
        weights[order[:best]] = 0.0
        shift = max(0.0, float(gap[order[best]]))
        return LatticeLaw(step, first, weights, 0.0, shift, float(lost[best]) / (1 + tilt))


def _bins(source: Pair, step: Fraction, edges: Floats, first: int) -> _Bins:
    tails = source.tails(edges)
    mine, others = _side(tails.one, tails.one_below), _side(tails.other, tails.other_below)
    one = mine.masses
    least = one - 4 * ACCURACY * mine.size[:-1] - 2 * source.coarse
    most = np.maximum(others.masses + 4 * ACCURACY * others.size[:-1] + 2 * source.coarse, 5e-324)
    kept = least > 0.5 * one
    losses = np.log(np.where(kept, least, 1.0)) - np.log(most)
    grid = grid_points(first, one.size, step)
    return _Bins(np.where(kept, least, 0.0), np.where(kept, losses - grid, 0.0), kept)


def _atoms_below(atoms: Atoms, step: Fraction) -> LatticeLaw:
    place, offset = _places(atoms, step)
    h = float(step)
    up = offset > h / 2
    nearest = place + up
    gap = np.where(offset == 0, 0.0, nearest * h - atoms.losses)
    first = int(nearest.min())
    size = int(nearest.max()) - first + 1
    masses = _piled(nearest - first, atoms.masses * (1 - 4 * ACCURACY), size)
    slack = 4 * ACCURACY * float(np.abs(atoms.losses).max())
    shift = max(0.0, float(gap.max())) + (slack if np.any(offset != 0) else atoms.unit_error)
    return LatticeLaw(step, first, masses, atoms.infinite * (1 - 4 * ACCURACY), shift)


def support(source: Pair, step: Fraction, *, top: float, bottom: float) -> tuple[int, int]:
    """Grid points between which nearly all the mass lies."""
    low, high = _ends(source, top, bottom)
    return int(np.floor(low / float(step))) - 1, int(np.ceil(high / float(step))) + 1


@lru_cache(maxsize=256)
def _ends(source: Pair, top: float, bottom: float) -> tuple[float, float]:
    def tails(loss: float) -> Tails:
        return source.tails(np.array([loss]))

    high = _edge(lambda loss: float(tails(loss).one[0]) <= top + source.infinite)
    low = _edge(lambda loss: float(tails(-loss).one_below[0]) <= bottom + source.coarse)
    return -low, high


def _edge(beyond: Callable[[float], bool]) -> float:
    """A loss past which `beyond` holds, not far from the first such."""
    high = 2.0**-20
    if beyond(-high):
        low = -high
        while beyond(low) and low > -FARTHEST:
            low *= 2
        high = low / 2
    else:
        while not beyond(high) and high < FARTHEST:
            high *= 2
        low = 0.0 if high <= 2.0**-20 else high / 2
    for _ in range(10):  # a thousandth of it is near enough
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return high
