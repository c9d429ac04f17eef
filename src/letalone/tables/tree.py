"""Many quantiles in one release: a tree of counts with noise on every node.

The cells are grouped `branches` at a time, and those groups again, `levels` times. Each row
is counted once on each level. The rank of any value is a sum of few nodes, so all quantiles,
however many, are read off the same noisy tree.

Theorem.  A unit moves the tree by `levels` times what it moves the cells by, in L1 and in L2
squared. A value v of rank share · n has #{x < v} ≤ share · n ≤ #{x ≤ v}; the interval holds
every cell for which both may be so within the noise's band. It covers with at least the
confidence for each quantile.
  Proven:   docs/explanation/proofs/tables.md, section 4
  Tested:   coverage; ranks against sorted data
  Assumed:  nothing beyond the noise's own proof
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.engines.measures import Measure
from letalone.tables.columns import Answer
from letalone.tables.intervals import band
from letalone.tables.noise import Noise
from letalone.tables.scales import Scale
from letalone.tables.sensitivity import Contribution, Moved, sensitivity_of
from letalone.tables.vectors import ROOT_TWO, VectorPart, Wholes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TreePart(VectorPart):
    """Several quantiles of one column."""

    names: tuple[str, ...]
    unit: Contribution
    scale: Scale
    shares: tuple[Fraction, ...]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The cells."""
        return (self.scale.cells,)

    @property
    def shape(self) -> tuple[int, int]:
        """Levels and branches with the least variance of a rank: levels³ · (branches − 1)."""
        count = self.scale.cells.count
        shapes = ((levels, _root_above(count, levels)) for levels in range(1, 18))
        return min(shapes, key=lambda shape: shape[0] ** 3 * (shape[1] - 1))

    @property
    def moved(self) -> Moved:
        """Each level moves as the cells do."""
        one, (levels, _) = sensitivity_of(self.scale.cells, self.unit), self.shape
        return Moved(levels * one.l1, levels * one.l2_squared)

    @property
    def weight(self) -> float:
        """Half of the nodes that a rank may need."""
        levels, branches = self.shape
        return ROOT_TWO * self.moved.l1 * (levels * (branches - 1) / 2) ** 0.5

    def vector(self, exact: list[Wholes]) -> Wholes:
        """All levels beside each other, from the top."""
        sums = np.cumsum(np.asarray(exact[0], dtype=np.int64), axis=1)
        sums = np.pad(sums, ((0, 0), (1, 0)))
        return np.concatenate([np.diff(sums[:, ends], axis=1) for ends in self._ends()], axis=1)

    def _ends(self) -> list[Integers]:
        """Where the nodes of each level end, in cells, after a leading 0."""
        count, (levels, branches) = self.scale.cells.count, self.shape
        sizes = [branches**level for level in range(levels - 1, -1, -1)]
        return [np.array([*range(0, count, size), count]) for size in sizes]

    def answers(self, noisy: Floats, noise: Noise, confidence: float) -> dict[str, Answer]:
        """Each quantile with its interval, one row for each key."""
        ranks, top = self._ranks(noisy), self._top
        found = [
            self._one(ranks, noisy[:, :top], share, noise, confidence) for share in self.shares
        ]
        place, low, high = (np.stack(ends, axis=1) for ends in zip(*found, strict=True))
        return dict.fromkeys(self.names, self.scale.answer(place, low, high))

    @property
    def _top(self) -> int:
        return len(self._ends()[0]) - 1

    def _ranks(self, noisy: Floats) -> Floats:
        """#{x < cell} for each cell and one beyond, as sums of nodes."""
        count, start = self.scale.cells.count, 0
        ranks, before = np.zeros((noisy.shape[0], count + 1)), np.zeros(count + 1, np.int64)
        for ends in self._ends():
            nodes = noisy[:, start : start + len(ends) - 1]
            sums = np.pad(np.cumsum(nodes, axis=1), ((0, 0), (1, 0)))
            # Whole nodes of this level, after those that the level above has counted.
            whole = np.searchsorted(ends, np.arange(count + 1), side="right") - 1
            ranks += sums[:, whole] - sums[:, np.searchsorted(ends, before)]
            before, start = ends[whole], start + len(ends) - 1
        return ranks

    def _one(
        self, ranks: Floats, top: Floats, share: Fraction, noise: Noise, confidence: float
    ) -> tuple[Integers, Integers, Integers]:
        missed = ranks - float(share) * np.sum(top, axis=1, keepdims=True)
        band_at = self._band(share, noise, confidence)
        may_be = (missed[:, :-1] <= band_at[:-1]) & (missed[:, 1:] >= -band_at[1:])
        rising = (np.maximum.accumulate(missed, axis=1) + _falling_least(missed)) / 2
        place = np.sum(rising[:, 1:-1] < 0, axis=1)
        count, some = may_be.shape[1], may_be.any(axis=1)
        low = np.where(some, np.argmax(may_be, axis=1), 0)
        last: Integers = count - 1 - np.argmax(may_be[:, ::-1], axis=1)
        high = np.where(some, last, count - 1)
        return place, np.minimum(low, place), np.maximum(high, place)

    def _band(self, share: Fraction, noise: Noise, confidence: float) -> Floats:
        """What the noise of a rank less share · n exceeds on one side, seldom enough."""
        q, count = float(share), np.arange(self.scale.cells.count + 1)
        ends = self._ends()
        first = np.searchsorted(ends[0], count, side="right") - 1
        used, before = np.zeros(count.size), ends[0][first]
        for level in ends[1:]:
            whole = np.searchsorted(level, count, side="right") - 1
            used += whole - np.searchsorted(level, before)
            before = level[whole]
        top = first.astype(np.float64)
        terms = [(1.0, used), (1 - q, top), (q, self._top - top)]
        return band(noise.law, terms, confidence)

    def width(self, noise: Noise, confidence: float) -> float:
        """The widest band, in rows."""
        return max(float(np.max(self._band(share, noise, confidence))) for share in self.shares)


def _root_above(count: int, levels: int) -> int:
    """The least whole number, 2 or more, whose power reaches the count."""
    root = max(2, ceil(count ** (1 / levels)) - 1)
    while root**levels < count:
        root += 1
    return root


def _falling_least(values: NDArray[Any]) -> Floats:
    return np.minimum.accumulate(values[:, ::-1], axis=1)[:, ::-1]
