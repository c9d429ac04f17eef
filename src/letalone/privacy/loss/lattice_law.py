"""Loss distributions on a grid: one certainly above the truth, one certainly below it.

Above.  On the grid l_i = i·step, keep the curve delta(l_i) and connect the dots: between grid
points the true curve, convex in e^l, lies below the chord. The law whose curve is that chord
moves the mass of (l_i, l_(i+1)] to both ends so that its probabilities under P and Q stay.
Below.  Every line Pr_P[L > e] - x Pr_Q[L > e] lies below the curve, x = e^l. On (l_i, l_(i+1)]
take the line at a place e near the middle, and at each grid point the lower one of the two
lines that meet there: connecting these dots stays below the lines, hence below the curve. With
an atom at the end a tail may fall below 0, or the last dot; then outputs are merged, and all
losses lowered by the largest deviation of a merged loss from the grid, `shift`, charged once a
release.

  Proven:   docs/explanation/proofs/loss_distributions.md, sections 3 and 4
  Tested:   both against brute-force sums and closed forms
  Assumed:  IEEE 754 arithmetic; what `pairs` assumes

Doroshenko, Ghazi, Kamath, Kumar, Manurangsi: Connect the dots (2022).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, expm1, floor, inf, log2

import numpy as np
from numpy.typing import NDArray

from letalone.privacy.loss import pairs
from letalone.privacy.loss.line_places import left_end, nowhere, refine_places, to_right_end
from letalone.privacy.loss.pairs import ACCURACY, Atoms, Floats, LossTails, Pair, ends_of

FARTHEST = 2.0**20
MOST_POINTS = 1 << 22
SMALLEST = 1e-300
FAR_OUT = 1e-16
MOST_POOLINGS = 12
MOST_RISES = 1000
SMALL_RISE = 1e-13
REACH = 32
NEARLY = 1e-9  # of a step: an atom that far below a point of the grid counts as on it
MOST_ORIGINS = 8
PARTS = 33  # a support is right to a few hundredths of an octave


class TooWide(Exception):  # noqa: N818
    """A law or a sum would not fit into memory at this step."""


@dataclass(frozen=True)
class LatticeLaw:
    """Pr[L = origin + (first + i)·step] = masses[i]; the rest is at infinity, or nowhere.

    The losses meant may be off by `shift`: higher for a law above the truth, lower for one
    below it.
    """

    step: Fraction
    first: int
    masses: Floats
    infinite: float = 0.0
    shift: float = 0.0
    origin: float = 0.0
    lost: float = 0.0  # about how far the mean was lowered

    def losses(self) -> Floats:
        return self.origin + grid_points(self.first, self.masses.size, self.step)


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
    above_p, above_q = sides(tails, source)
    moved = source.misplaced * (1 + float(np.abs(grid).max()))
    lower_share = _lower_end(above_p, above_q, grid, h) if moved < h / 100 else np.zeros(grid.size)
    unsure = above_p.error + times_exp(above_q.error, grid[:-1]) + 8 * moved * above_p.masses
    error = np.append(unsure / -expm1(-h), 0.0)
    above = tails.p - lower_share + error
    below = tails.p_below + lower_share - error
    tail = np.where(tails.p < 0.5, above, 1 - np.maximum(below, 0.0))
    tail = np.maximum.accumulate(np.clip(tail, 0.0, 1.0)[::-1])[::-1]
    off = float(off_by(tails.p[-1:], source)[0])
    tail[-1] = min(1.0, tails.p[-1] * (1 + 4 * off))  # beyond the last point: infinity
    masses = -np.diff(tail, prepend=1.0) * (1 + 2.0**-50)
    return LatticeLaw(step, first, masses, max(float(tail[-1]), source.infinite), moved)


@dataclass(frozen=True)
class _Side:
    """Masses between neighbouring points, from the smaller tails, and how far off they may be."""

    masses: Floats
    error: Floats


def sides(tails: LossTails, source: Pair) -> tuple[_Side, _Side]:
    """Under P and under Q."""
    return (
        _side(tails.p, tails.p_below, source),
        _side(tails.q, tails.q_below, source),
    )


def _side(above: Floats, below: Floats, source: Pair) -> _Side:
    upper = above[:-1] < 0.5
    masses = np.where(upper, -np.diff(above), np.diff(below))
    # The two tails that a mass is the difference of: the larger one counts.
    size = np.where(upper, above[:-1], below[1:])
    off = 8 * off_by(size, source) * size
    return _Side(masses, off + np.where(upper, 0.0, 2 * source.coarse))


def off_by(sizes: Floats, source: Pair) -> Floats:
    """How far tails of these sizes may be off, as a share: far out more (proof, section 2)."""
    far = sizes < FAR_OUT
    if not far.any():
        return np.full(sizes.shape, pairs.accuracy_of(source))
    return pairs.accuracy_of(source) * (1 - np.log(np.clip(sizes, SMALLEST, 1.0)) / 64 * far)


def times_exp(values: Floats, exponents: Floats) -> Floats:
    """values · e^exponents, where the product is not large though a factor may be."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.exp(np.log(np.maximum(values, 0.0)) + exponents)


def _lower_end(one: _Side, other: _Side, grid: Floats, h: float) -> Floats:
    """a_i = (w e^(l_i) - m e^-h) / (1 - e^-h), within [0, m]; 0 at the last point."""
    share = (times_exp(other.masses, grid[:-1]) - one.masses * np.exp(-h)) / -expm1(-h)
    return np.append(np.clip(share, 0.0, np.maximum(one.masses, 0.0)), 0.0)


def _atoms_above(atoms: Atoms, step: Fraction) -> LatticeLaw:
    h = float(step)
    place, offset = _places(atoms, step)
    # The share at the upper end, rounded up by more than the floats can lose.
    slack = 8 * ACCURACY * (1 + np.abs(atoms.losses) / -expm1(-h))
    exact = offset == 0
    share = np.where(exact, 0.0, np.clip(np.expm1(-offset) / expm1(-h) + slack, 0.0, 1.0))
    first = int(place.min())
    size = _fitting(int(place.max()) - first + 2)
    raised = atoms.masses * (1 + 4 * ACCURACY)
    masses = _pile_weights(place - first, raised * (1 - share), size)
    masses += _pile_weights(place - first + 1, raised * share, size)
    # An atom may also lie a hair above the upper end.
    shift = atoms.unit_error if exact.all() else 4 * ACCURACY * float(np.abs(atoms.losses).max())
    return LatticeLaw(step, first, masses, atoms.infinite * (1 + 4 * ACCURACY), shift)


def _fitting(size: int) -> int:
    if size > MOST_POINTS:
        raise TooWide
    return size


def _pile_weights(places: NDArray[np.int64], weights: Floats, size: int) -> Floats:
    return np.bincount(places, weights, size).astype(np.float64)


def _places(atoms: Atoms, step: Fraction) -> tuple[NDArray[np.int64], Floats]:
    """For each atom the grid point below it and how far it lies above that."""
    if atoms.unit is not None and (atoms.unit / step).denominator == 1:
        multiples = np.rint(atoms.losses / float(atoms.unit)).astype(np.int64)
        return multiples * int(atoms.unit / step), np.zeros(multiples.size)
    place = np.floor(atoms.losses / float(step)).astype(np.int64)
    above = np.maximum(atoms.losses - place * float(step), 5e-324)
    return place, np.where(atoms.losses == 0, 0.0, above)


def law_below(
    source: Pair | Atoms, step: Fraction, *, top: float, bottom: float, often: bool = True
) -> LatticeLaw:
    """A law on the grid whose curve, its losses lowered, is nowhere above the source's.

    What is run often is worth more care at its left end.
    """
    if isinstance(source, Atoms):
        return _atoms_below(source, step)
    first, last = support(source, step, top=top, bottom=bottom)
    h = float(step)
    cheap = ends_of(source)[1] < inf
    start = left_end(source, h, first) if often or cheap else nowhere()
    grid = start.origin + grid_points(first, last - first + 1, step)
    places = to_right_end(source, refine_places(source, start.places(grid, h), grid), grid)
    tails = source.tails(places)
    lowered = _too_high(source, tails, grid)
    tail, lost = _line_tails(source, tails, grid - lowered, h)
    if (tail < 0).any():
        return _or_nothing(_merge_outputs(source, step, tails, first))
    tail = _falling(tail, grid)
    masses = -np.diff(tail, prepend=tail[0]) * (1 - 2.0**-50)
    origin = start.origin - lowered
    return LatticeLaw(step, first, masses, float(tail[-1]), abs(origin) * 2**-50, origin, lost)


def _line_tails(source: Pair, tails: LossTails, grid: Floats, h: float) -> tuple[Floats, float]:
    """The upper tails of the law from below, and about how far it lowers the mean."""
    lower, higher = _gaps(source, tails, grid)
    with np.errstate(over="ignore", invalid="ignore"):
        tail = _from_below(tails, source) - (lower - higher * exp(-h)) / -expm1(-h)
        lost = abs(float(lower.sum() - higher.sum()))
    tail = np.minimum(tail, tails.p[0] * (1 - 4 * pairs.accuracy_of(source)))
    # What the law holds beyond the last point must not be above the lower line there.
    leak = source.infinite * (1 - 4 * ACCURACY)
    tail[-1] = min(leak, _last_value(source, tails, float(grid[-1])) - float(lower[-1]))
    return np.nan_to_num(tail, nan=-1.0), lost


def _last_value(source: Pair, tails: LossTails, point: float) -> float:
    """The last line at the last point, from below: below 0 where losses end before the point."""
    tail_p, tail_q = float(_from_below(tails, source)[-1]), tails.q[-1:]
    largest = times_exp(tail_q * (1 + 4 * off_by(tail_q, source)), np.array([point]))
    return tail_p - float(largest[0])


def _too_high(source: Pair, tails: LossTails, grid: Floats) -> float:
    """How far the grid is above the loss of the last outputs, merged; 0 if they go on for ever."""
    side_p, side_q = sides(tails, source)
    held = (side_p.masses > 4 * side_p.error).nonzero()[0]
    if ends_of(source)[1] == inf or not held.size:
        return 0.0
    k = int(held[-1])
    least, largest = side_p.masses[k] - side_p.error[k], side_q.masses[k] + side_q.error[k]
    over = float(grid[k + 1] - (np.log(least) - np.log(largest + SMALLEST))) + 2.0**-46
    return over if 0 < over < 0.1 * (grid[1] - grid[0]) else 0.0


def _gaps(source: Pair, tails: LossTails, grid: Floats) -> tuple[Floats, Floats]:
    """At l_i, how far line i must be lowered; at l_(i+1), how far it surely must be.

    With m, w the masses between both places, line i is above line i-1 at l_i by w e^l - m.
    """
    side_p, side_q = sides(tails, source)
    above = times_exp(side_q.masses, grid[1:]) - side_p.masses
    # Of a mass under Q that is too small for floats nothing is known but that it is small.
    small = np.where(side_p.masses > 0, SMALLEST, 0.0)
    unsure = side_p.error + times_exp(side_q.error + small, grid[1:])
    return (
        np.append(0.0, np.maximum(above + unsure, 0.0)),
        np.append(np.maximum(-above - unsure, 0.0), 0.0),
    )


def _from_below(tails: LossTails, source: Pair) -> Floats:
    """Lower bounds on the upper tails under P."""
    off = 4 * off_by(np.minimum(tails.p, tails.p_below), source)
    least = 1 - tails.p_below * (1 + off) - source.coarse
    return np.where(tails.p < 0.5, tails.p * (1 - off), least)


def _falling(tail: Floats, grid: Floats) -> Floats:
    """Neighbours that rise are replaced by their mean, which keeps the curve or lowers it."""
    for more in range(MOST_POOLINGS):
        rises = (np.diff(tail) > SMALL_RISE).nonzero()[0]
        if not 0 < rises.size < MOST_RISES:
            break
        reach = REACH << more
        part = slice(max(0, int(rises[0]) - reach), int(rises[-1]) + reach)
        tail[part] = _pool_violators(tail[part], np.exp(grid[part][0] - grid[part]))
    return np.minimum.accumulate(tail)


def _pool_violators(values: Floats, weights: Floats) -> Floats:
    """The falling sequence nearest to these values: pool adjacent violators."""
    blocks: list[tuple[float, float, int]] = []  # the mean, its weight, how many
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        blocks.append((value, weight, 1))
        while len(blocks) > 1 and blocks[-1][0] > blocks[-2][0]:
            (a, v, n), (b, w, m) = blocks.pop(), blocks.pop()
            blocks.append(((a * v + b * w) / (v + w) * (1 - 2.0**-50), v + w, n + m))
    means, _, counts = zip(*blocks, strict=True)
    return np.repeat(means, counts)


def _or_nothing(law: LatticeLaw) -> LatticeLaw:
    """All outputs merged into one, which shows nothing, where that loses less than the shift."""
    mean = float(law.masses @ law.losses())
    if law.shift < mean:
        return law
    return LatticeLaw(law.step, 0, np.array([1 - 2.0**-50]), lost=max(0.0, mean))


def _merge_outputs(source: Pair, step: Fraction, tails: LossTails, first: int) -> LatticeLaw:
    """Where lines fail (an atom at the end): outputs merged, all losses lowered by `shift`."""
    side_p, side_q = sides(tails, source)
    least = side_p.masses - side_p.error
    largest = np.maximum(side_q.masses, 0.0) + side_q.error + SMALLEST
    kept = least > 0.5 * side_p.masses
    losses = np.log(np.where(kept, least, 1.0)) - np.log(largest)
    grid = grid_points(first + 1, least.size, step)
    gaps = np.where(kept, grid - losses, 0.0)
    if not np.isfinite(gaps).all():
        raise TooWide
    shift = max(0.0, float(gaps.max()) + 2.0**-44)
    masses = np.where(kept, least, 0.0)
    return LatticeLaw(step, first + 1, masses, shift=shift, lost=shift)


def _atoms_below(atoms: Atoms, step: Fraction) -> LatticeLaw:
    place, offset = _places(atoms, step)
    if (offset == 0).all():
        return _place_atoms(atoms, step, place, shift=atoms.unit_error)
    if atoms.losses.size == 2 and np.ptp(atoms.losses) > 2 * float(step):
        return _moved_inwards(atoms, step)
    return _moved_down(atoms, step)


def _moved_down(atoms: Atoms, step: Fraction) -> LatticeLaw:
    """Each atom at the point of the grid below it."""
    h = float(step)
    origin = _origin(atoms, h)
    place = np.floor((atoms.losses - origin) / h + NEARLY).astype(np.int64)
    largest = float(np.abs(atoms.losses).max()) + abs(origin)
    shift = 2 * h * NEARLY + 4 * ACCURACY * largest
    return _place_atoms(atoms, step, place, shift=shift, origin=origin)


def _place_atoms(
    atoms: Atoms, step: Fraction, place: NDArray[np.int64], *, shift: float, origin: float = 0.0
) -> LatticeLaw:
    first = int(place.min())
    size = _fitting(int(place.max()) - first + 1)
    masses = _pile_weights(place - first, atoms.masses * (1 - 4 * ACCURACY), size)
    lost = shift + float(atoms.masses @ (atoms.losses - origin - place * float(step)))
    leak = atoms.infinite * (1 - 4 * ACCURACY)
    return LatticeLaw(step, first, masses, leak, shift, origin, max(0.0, lost))


def _moved_inwards(atoms: Atoms, step: Fraction) -> LatticeLaw:
    """Two atoms, each at a point of the grid between them: the chord below theirs."""
    (low, high), slack = sorted(atoms.losses.tolist()), _slack(atoms, float(step))
    origins = (0.0, (low + 2 * slack) % float(step), (high - 2 * slack) % float(step))
    return min((_chord(atoms, step, origin) for origin in origins), key=lambda law: law.lost)


def _slack(atoms: Atoms, h: float) -> float:
    """More than what the places of atoms and of a grid near them are off."""
    return 8 * ACCURACY * (float(np.abs(atoms.losses).sum()) + h)


def _chord(atoms: Atoms, step: Fraction, origin: float) -> LatticeLaw:
    """The curve from the left line at one point of the grid to 0 at another."""
    h, (low, high) = float(step), sorted(atoms.losses.tolist())
    slack = _slack(atoms, h)
    first, last = ceil((low - origin + slack) / h), floor((high - origin - slack) / h)
    low_end, high_end = origin + first * h, origin + last * h
    total, shown = float(atoms.masses.sum()), -np.expm1(low_end - atoms.losses)
    high_mass = float(atoms.masses @ shown) / -expm1(low_end - high_end)
    # The masses are right to a relative 2^-44, the losses less the grid's to the slack.
    parts = atoms.masses @ (8 * ACCURACY * np.abs(shown) + slack * np.exp(low_end - atoms.losses))
    unsure = 8 * ACCURACY * total + float(parts) / -expm1(low_end - high_end)
    masses = np.zeros(last - first + 1)
    masses[-1], masses[0] = max(0.0, high_mass - unsure), max(0.0, total - high_mass - unsure)
    lost = float(atoms.masses @ atoms.losses - high_mass * high_end - (total - high_mass) * low_end)
    if high_mass < unsure:  # the left point is too high: no mass there is below
        masses[0], lost = 0.0, inf
    leak = atoms.infinite * (1 - 4 * ACCURACY)
    return LatticeLaw(step, first, masses, leak, 2.0**-50 * abs(origin), origin, max(0.0, lost))


def _origin(atoms: Atoms, h: float) -> float:
    """Where the grid starts so that little is lost when all atoms move down to it."""
    heaviest = atoms.losses[np.argsort(-atoms.masses)[:MOST_ORIGINS]]

    def lost(origin: float) -> float:
        return float(atoms.masses @ (((atoms.losses - origin) / h + NEARLY) % 1))

    best = min(map(float, heaviest), key=lost)
    return best % h


def support(source: Pair, step: Fraction, *, top: float, bottom: float) -> tuple[int, int]:
    """Grid points between which nearly all the mass lies."""
    low, high = ends_but_for(source, top, bottom)
    _fitting(int((high - low) / float(step)))
    return int(np.floor(low / float(step))) - 1, int(np.ceil(high / float(step))) + 1


@lru_cache(maxsize=256)
def ends_but_for(source: Pair, top: float, bottom: float) -> tuple[float, float]:
    """Losses below and above which there is no more than `bottom` and `top`, not far from it."""
    if (ends := ends_of(source))[1] - ends[0] < inf:
        return ends
    losses, tails = _overview(source)
    nothing_below = tails.p_below <= bottom + source.coarse
    nothing_above = tails.p <= top + source.infinite
    low = max(int(nothing_below.sum()) - 1, 0)
    high = min(losses.size - int(nothing_above.sum()), losses.size - 1)
    before = _split_evenly(float(losses[low]), float(losses[min(low + 1, losses.size - 1)]))
    after = _split_evenly(float(losses[max(high - 1, 0)]), float(losses[high]))
    tails = source.tails(np.append(before, after))
    nothing_below = tails.p_below[:PARTS] <= bottom + source.coarse
    nothing_above = tails.p[PARTS:] <= top + source.infinite
    return (
        float(before[max(int(nothing_below.sum()) - 1, 0)]),
        float(after[min(PARTS - int(nothing_above.sum()), PARTS - 1)]),
    )


def _split_evenly(low: float, high: float) -> Floats:
    return low + (high - low) * np.arange(PARTS, dtype=np.float64) / (PARTS - 1)


@lru_cache(maxsize=256)
def _overview(source: Pair) -> tuple[Floats, LossTails]:
    sizes = np.exp2(np.arange(-20.0, log2(FARTHEST) + 0.25, 0.25))
    losses = np.concatenate([-sizes[::-1], sizes])
    return losses, source.tails(losses)
