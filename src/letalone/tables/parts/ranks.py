"""Quantiles and their intervals, read off noisy trees.

The noisy ranks of all places are sums of the tree's consistent counts. True ranks rise, so these
are made to rise: by isotonic least squares, which replace a block of ranks that fall by their
mean. Where rows are few, blocks are long, and a block's mean has less noise than one rank: its
variance is the mean variance in it less what a block of that length gains. A block that reaches
the first or the last place gains nothing: where there are hardly any rows, the noise alone made it
so long. The interval leaves out the cells whose rising rank is farther from the target than its
noise strays.

Where the data jump, the first rank after the jump is not the mean of a block around it, but the
least mean of those that start there: too low. So the noisy rank there is looked at itself, and
what it allows is allowed for all ranks above it; likewise the last one before a jump.

Theorem.  A value v of rank T = share · n + constant has #{x < v} ≤ T ≤ #{x ≤ v}. If ranks jump at
v, above and below, by more than the noise can undo, v lies below the interval with the
probability at most that the noise exceeds its band on one side; and above it alike.
  Proven:   docs/explanation/proofs/tables.md, section 4
  Tested:   tests/tables/test_quantiles.py: coverage where ranks do not jump, for several kinds of
            data, with both kinds of noise: at 95 %, 95 to 97 % where a cell has few rows
  Assumed:  blocks, which depend on the noise, have the variance of blocks fixed beforehand. Where
            rows are equal, about as many as the noise is large, and a gap follows, the rank after
            them is the least mean of those that start there, but no jump is seen: one side of the
            band was left by twice as many as it should be there
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from letalone.tables.columns import Floats, Integers
from letalone.tables.intervals import Family, NoiseLaw, reach
from letalone.tables.parts.consistent import CountTree, power_sums

Ends = tuple[Integers, Integers, Integers]
STARTS = 9  # blocks of a length that are looked at
JUMP = 1.5  # deviations of a node's noise, by which data rise and noise seldom does
LEAST = 0.25  # of the variance of a rank is left at least


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Noisy ranks of all places, a row for each key, and rising ones, in blocks that are equal."""

    tree: CountTree
    noisy: Floats
    rising: Floats
    starts: Integers  # the first place of each block, row after row
    lengths: Integers

    def interval(
        self,
        share: float,
        law: NoiseLaw,
        *,
        confidence: float,
        after_jumps: float | None = None,
        constant: float = 0.0,
    ) -> Ends:
        """The cell of rank share · n + constant, and the first and last that it may be.

        Ranks beside a jump have the band of `after_jumps`, where it is given.
        """
        target = share * self.noisy[:, -1:] + constant
        # Below the first cell and above the last there is nothing to tell apart.
        place = np.sum(self.rising[:, 1:-1] < target, axis=1)
        beside = confidence if after_jumps is None else after_jumps
        above, below = self._reached(share, law, self._band(share, law, confidence), beside)
        low = np.sum(above[:, 1:-1] < target, axis=1)
        high = self.tree.count - 1 - np.sum(below[:, 1:-1] > target, axis=1)
        return place, np.minimum(low, place), np.maximum(high, place)

    def _reached(
        self, share: float, law: NoiseLaw, stray: Floats, beside: float
    ) -> tuple[Floats, Floats]:
        """The most and the least that ranks may be, within the noise."""
        width = band(self.tree, share, law, beside)
        rises = np.diff(self.rising, axis=1) > JUMP * law.deviation
        no = np.zeros((len(rises), 1), np.bool_)
        after, before = np.hstack([no, rises]), np.hstack([rises, no])
        highest = np.maximum.accumulate(np.where(after, self.noisy + width, -np.inf), axis=1)
        backwards = np.where(before, self.noisy - width, np.inf)[:, ::-1]
        least = np.minimum.accumulate(backwards, axis=1)[:, ::-1]
        return np.maximum(self.rising + stray, highest), np.minimum(self.rising - stray, least)

    def _band(self, share: float, law: NoiseLaw, confidence: float) -> Floats:
        """What a block's mean less share · n strays by, at each of its places."""
        squares, fourths = _sums(self.tree, share)
        running = np.concatenate([np.zeros(1), np.cumsum(squares)])
        mean = (running[self.starts + self.lengths] - running[self.starts]) / self.lengths
        gained = np.interp(np.log2(self.lengths), *_gains(self.tree))
        at_an_end = (self.starts == 0) | (self.starts + self.lengths == self.tree.count + 1)
        gained = np.where(at_an_end, 0.0, gained)
        deviation = np.sqrt(np.maximum(mean - gained, LEAST * mean))
        far = law.deviation * reach(law.family, _evenness(squares, fourths), confidence)
        return np.repeat(deviation, self.lengths).reshape(self.rising.shape) * far


def ranks_of(tree: CountTree, noisy: Floats) -> Ranks:
    """The rising ranks of a noisy tree for each key."""
    from scipy.optimize import isotonic_regression  # slow to load

    ranks = np.pad(np.cumsum(tree.counts(noisy), axis=1), ((0, 0), (1, 0)))
    fits: list[Any] = [isotonic_regression(row) for row in ranks]
    rising = np.array([fit.x for fit in fits], dtype=np.float64).reshape(ranks.shape)
    none = np.zeros(0, np.int64)  # there may be no key
    starts: Integers = np.concatenate([none, *(fit.blocks[:-1] for fit in fits)])
    lengths: Integers = np.concatenate([none, *(np.diff(fit.blocks) for fit in fits)])
    return Ranks(tree, ranks, rising, starts, lengths)


def band(tree: CountTree, share: float, law: NoiseLaw, confidence: float) -> Floats:
    """What the noise of ranks less share · n stays within, for each place."""
    squares, fourths = _sums(tree, share)
    far = reach(law.family, _evenness(squares, fourths), confidence)
    return law.deviation * far * np.sqrt(squares)


@lru_cache(maxsize=4096)
def widest(tree: CountTree, share: float, family: Family, confidence: float) -> float:
    """The largest of a band, where a node's noise has the standard deviation 1."""
    squares, fourths = _sums(tree, share)
    return float(np.max(reach(family, _evenness(squares, fourths), confidence) * np.sqrt(squares)))


@lru_cache(maxsize=4096)
def mean_band(tree: CountTree, share: float, law: NoiseLaw, confidence: float) -> float:
    """The mean of a band over all places."""
    return float(np.mean(band(tree, share, law, confidence)))


@lru_cache(maxsize=4096)
def spread(tree: CountTree, share: float) -> float:
    """The root of the mean variance of ranks less share · n, where a node's noise has 1."""
    return float(np.mean(_sums(tree, share)[0])) ** 0.5


@lru_cache(maxsize=8)
def _sums(tree: CountTree, share: float) -> tuple[Floats, Floats]:
    return power_sums(tree, share, np.arange(tree.count + 1))


def _evenness(squares: Floats, fourths: Floats) -> Floats:
    return np.divide(fourths, squares**2, out=np.ones_like(squares), where=squares > 0)


@lru_cache(maxsize=64)
def _gains(tree: CountTree) -> tuple[Floats, Floats]:
    """How much less the variance of a block's mean is than the mean variance in it.

    By the logarithm of the block's length: the least gain of some blocks all over the tree.
    """
    places = np.arange(tree.count + 1)
    running = np.concatenate([np.zeros(1), np.cumsum(_sums(tree, 0.0)[0])])
    powers = np.arange(int(np.log2(places.size)) + 1)
    gains = [0.0]
    for length in [2**power for power in powers[1:].tolist()]:
        starts = np.unique(np.linspace(0, places.size - length, STARTS, dtype=np.int64))
        forms = np.clip((starts[:, None] + length - 1 - places[:-1]) / length, 0, 1)
        alone = (running[starts + length] - running[starts]) / length
        gains.append(max(gains[-1], float(np.min(alone - tree.squares(forms)))))
    return powers.astype(np.float64), np.array(gains)
