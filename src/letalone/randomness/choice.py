"""Choosing among many candidates with probability proportional to e^score, exactly.

A score is a rational: the exact binary utility times an exact factor. The floats below know
each weight e^(score − top) to a relative error of 2^-38, hence every cumulative sum; a
uniform number U that lies clearly inside one candidate's share decides. Otherwise (about
once in 10^6 draws for a thousand candidates or fewer) the shares next to U are computed in balls,
with more bits of U, until one of them holds it.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 9
  Tested:   the law against exact probabilities, with power; forced ties; scores that
            differ by 10^300
  Assumed:  IEEE 754 arithmetic; numpy's exp is right to 2^-40 (it is to 2^-51)
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from letalone.exact.balls import Ball, ball
from letalone.randomness.bits import BitSource, Words
from letalone.randomness.bulk import Flags, Floats, Wholes
from letalone.randomness.chance import exp_minus, settle
from letalone.randomness.lazy import LazyReal, decide
from letalone.randomness.uniform import sample_below

PART = 4096  # sums are kept per part, so that rounding errors do not grow with 10^7 terms
RELATIVE = 2.0**-36  # more than two sums within a part can be off, relative to the whole
A_PART = 2.0**-52  # what adding up the parts costs more, for each of them
FADED = 2.0**-20  # when the weights left are this small, they are scaled anew


@dataclass(frozen=True, slots=True)
class Scores:
    """score = factor · utility; a multiplicity stands for that many equal candidates."""

    utilities: Floats
    factor: Fraction
    multiplicities: Wholes | None = None

    def below_top(self, index: int, top: float) -> Fraction:
        """How far a score lies below that of utility `top`."""
        return self.factor * (Fraction(top) - Fraction(float(self.utilities[index])))


def choose(scores: Scores, bits: BitSource) -> int:
    """An index, with probability proportional to its multiplicity times e^score."""
    return _Pool(scores).draw(bits)


def choose_in_order(scores: Scores, count: int, bits: BitSource) -> list[int]:
    """`count` different indices, each drawn like `choose` from those left."""
    pool = _Pool(scores)
    chosen: list[int] = []
    for _ in range(count):
        chosen.append(pool.draw(bits))
        pool.remove(chosen[-1])
    return chosen


def permute_and_flip(scores: Scores, bits: BitSource) -> int:
    """In random order, toss each candidate's coin e^(score − top); the first heads wins.

    The coins do not depend on the order, so the winner is uniform among the heads.
    """
    heads = np.flatnonzero(_flips(scores, bits))
    return int(heads[sample_below(heads.size, bits)])


class _Pool:
    """The candidates that are left, with the weights of all and the sums of parts of them."""

    def __init__(self, scores: Scores) -> None:
        self.scores = scores
        self.left: Flags = np.ones(scores.utilities.size, np.bool_)
        self._weigh()

    def draw(self, bits: BitSource) -> int:
        word = bits.word()
        sums: Floats = np.cumsum(self.parts)
        total = float(sums[-1])
        target, slack = word * 2.0**-64 * total, (RELATIVE + A_PART * sums.size) * total
        part = min(int(np.searchsorted(sums, target, side="right")), sums.size - 1)
        before = float(sums[part - 1]) if part else 0.0
        inner: Floats = before + np.cumsum(self.weights[part * PART : (part + 1) * PART])
        place = min(int(np.searchsorted(inner, target, side="right")), inner.size - 1)
        low = inner[place - 1] if place else before
        index = part * PART + place
        if low + slack < target < inner[place] - slack:
            return index
        return self._exactly(index, word, bits)

    def remove(self, index: int) -> None:
        self.left[index] = False
        self.weights[index] = 0.0
        part = index // PART
        self.parts[part] = self.weights[part * PART : (part + 1) * PART].sum()
        if self.parts.sum() < FADED and self.left.any():
            self._weigh()

    def _weigh(self) -> None:
        self.top = float(self.scores.utilities[self.left].max())
        self.weights = _weights(self.scores, self.top)
        self.weights[~self.left] = 0.0
        if self.scores.multiplicities is not None:
            self.weights *= self.scores.multiplicities
        self.parts = np.add.reduceat(self.weights, np.arange(0, self.weights.size, PART))

    def _exactly(self, guess: int, word: int, bits: BitSource) -> int:
        """The index whose share holds U, when `word` is the first word of U."""
        uniform, size = LazyReal(word, 1, 1 << bits.word_size), self.left.size
        total = self._sum_of_first(size)

        def is_below(count: int) -> bool:
            part = self._sum_of_first(count)
            return decide(lambda: part() - uniform.enclosure() * total(), [uniform], bits)

        count = guess + 1
        while count < size and not is_below(count):
            count += 1
        while count > 1 and is_below(count - 1):
            count -= 1
        return count - 1

    def _sum_of_first(self, count: int) -> Callable[[], Ball]:
        """The exact weights of the first `count`, added up; equal ones at once."""
        chosen = np.flatnonzero(self.left[:count])
        values, first, inverse = np.unique(
            self.scores.utilities[chosen], return_index=True, return_inverse=True
        )
        multiplicities = self.scores.multiplicities
        times = np.zeros(values.size, object)
        np.add.at(times, inverse, 1 if multiplicities is None else multiplicities[chosen])
        depths = [self.scores.below_top(int(chosen[k]), self.top) for k in first]
        terms = [(int(n), depth) for n, depth in zip(times, depths, strict=True)]
        return lambda: sum((n * (-ball(depth)).exp() for n, depth in terms), ball(0))


def _weights(scores: Scores, top: float) -> Floats:
    """e^(score − top), right to 2^-39 relative where it is at least e^-700."""
    # Halves cannot overflow when they are subtracted.
    with np.errstate(all="ignore"):
        depth = (scores.utilities * 0.5 - top * 0.5) * (2 * float(scores.factor))
        return np.exp(depth, out=depth)


def _flips(scores: Scores, bits: BitSource) -> Flags:
    """For each candidate a coin that shows heads with probability e^(score − top)."""
    top = float(scores.utilities.max())
    chance = _weights(scores, top)
    words: Words = np.empty(chance.size, np.uint64)
    bits.fill(words)
    height, slack = words * 2.0**-64, chance * RELATIVE + 2.0**-62
    heads: NDArray[np.bool_] = height < chance
    best = scores.utilities == top
    for k in np.flatnonzero((np.abs(height - chance) <= slack) & ~best).tolist():
        heads[k] = settle(exp_minus(scores.below_top(k, top)), int(words[k]), bits)
    return heads | best
