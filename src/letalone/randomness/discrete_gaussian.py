"""The discrete Gaussian, Pr[n] ∝ e^(−n²/2σ²) on the integers, exactly.

Round an ideal Gaussian number to the nearest integer n; this has probability proportional
to e^(−n²/2σ²)·h(n) with h(n) = ∫ cosh(n·t/σ²)·e^(−t²/2σ²) dt over |t| ≤ 1/2, which is least at
n = 0. So keep n with probability h(0)/h(n): the rest is the discrete Gaussian. For every σ
at least 86 % are kept, and for large σ all but about 1/(24σ²).

The plural form knows that 1 − q²/24 ≤ h(0)/h(n) ≤ 1/(1 + q²(1/24 − 1/(320σ²))) for q = n/σ²,
and asks the reference between the two.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 7
  Tested:   by enumeration of bits, chi-square with power, the bounds against balls
  Assumed:  the words are independent and uniform

The idea of rejection from an easier law is that of Canonne, Kamath, Steinke: The discrete
Gaussian for differential privacy (2020); the proposal here is the rounded Gaussian.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log, sqrt

import numpy as np

from letalone.exact.balls import Ball, ball, working_bits
from letalone.randomness import bulk
from letalone.randomness.bits import BitSource, Words
from letalone.randomness.bulk import BLOCK, FEW_DRAWS, Flags, Places, Wholes, draw_all
from letalone.randomness.chance import Chance, settle
from letalone.randomness.draws import sampler
from letalone.randomness.rounding import ToNearest, wholes_of
from letalone.randomness.table import LawTable, build_table, sample_table
from letalone.randomness.ziggurat import HALF_GAUSSIAN

NARROW = 16  # below this standard deviation a table is faster
SLACK = 2.0**-40  # more than the floats in the bounds can be off


def sample_discrete_gaussian(sigma: Fraction, bits: BitSource) -> int:
    """One draw with Pr[n] ∝ e^(−n²/2σ²)."""
    source = sampler(HALF_GAUSSIAN, bits.word_size)
    while True:
        nearest = source.draw(bits).times(sigma).affine(2, 1, 2).floor(bits)
        if _is_kept(nearest, sigma, bits):
            return nearest


def sample_discrete_gaussians(sigma: Fraction, count: int, bits: BitSource) -> Wholes:
    """Independent draws with Pr[n] ∝ e^(−n²/2σ²)."""
    if count < FEW_DRAWS:
        return wholes_of([sample_discrete_gaussian(sigma, bits) for _ in range(count)])
    if sigma < NARROW:
        return sample_table(_table(sigma), count, bits)
    out, again = _propose(count, sigma, bits)
    while again.size:
        fresh, refused = _propose(again.size, sigma, bits)
        out = out.astype(np.promote_types(out.dtype, fresh.dtype), copy=False)
        out[again] = fresh
        again = again[refused]
    return out


def _propose(count: int, sigma: Fraction, bits: BitSource) -> tuple[Wholes, Places]:
    """So many rounded Gaussian numbers, and which of them the coin h(0)/h(n) refuses."""
    rounding = ToNearest(np.empty(count, np.int64))
    draw_all(HALF_GAUSSIAN, sigma, count, rounding, bits)
    out = rounding.drawn()
    # What is not rounded exactly lies within the widest rectangle.
    widest = sampler(HALF_GAUSSIAN).table.largest_width
    farthest = max(rounding.farthest, int(sigma * widest) + 2)
    surely = int((1 - (farthest / float(sigma) ** 2) ** 2 / 24 - SLACK) * 65536)
    parts = [
        _refused_places(out[start : start + BLOCK], max(surely, 0), sigma, bits) + start
        for start in range(0, out.size, BLOCK)
    ]
    return out, np.concatenate(parts)


@lru_cache(maxsize=4096)
def keep_chance(size: int, sigma: Fraction) -> Chance:
    """h(0)/h(n) for |n| = size."""
    if size == 0:
        return Chance(Fraction(1))
    return Chance(lambda: _bump(0, sigma) / _bump(size, sigma))


def _bump(size: int, sigma: Fraction) -> Ball:
    """h(n), but for a factor that does not depend on n."""
    root = ball(sigma) * ball(2).sqrt()
    low, high = ((ball(2 * size + side) / 2) / root for side in (-1, 1))
    return (low.erfc() - high.erfc()) * (ball(size) ** 2 / (2 * ball(sigma) ** 2)).exp()


def _is_kept(proposal: int, sigma: Fraction, bits: BitSource) -> bool:
    """Tosses the coin h(0)/h(n); a word clearly below its lower bound spares the balls."""
    word = bits.word()
    bend = (proposal / float(sigma) ** 2) ** 2
    if word < (1 - bend / 24 - SLACK - 2.0**-bits.word_size) * 2.0**bits.word_size:
        return True
    return settle(keep_chance(abs(proposal), sigma), word, bits)


def _refused_places(proposals: Wholes, surely: int, sigma: Fraction, bits: BitSource) -> Places:
    """Which are refused, when each is kept with a chance of at least `surely` 2^-16ths."""
    short = np.empty((proposals.size + 3) // 4, np.uint64)
    bits.fill(short)
    first = short.view(np.uint16)[: proposals.size]  # 16 bits of the coin nearly always do
    uncertain = bulk.sparse_places(first >= np.uint16(min(surely, 65535)))
    rest = np.empty(uncertain.size, np.uint64)
    bits.fill(rest)
    words = (first[uncertain].astype(np.uint64) << np.uint64(48)) | (rest >> np.uint64(16))
    return uncertain[_refuse(proposals[uncertain], words, sigma, bits)]


def _refuse(proposals: Wholes, words: Words, sigma: Fraction, bits: BitSource) -> Flags:
    variance = float(sigma) ** 2
    bend = (proposals.astype(np.float64) / variance) ** 2
    height = words * 2.0**-64
    least, largest = 1 - bend / 24, 1 / (1 + bend * (1 / 24 - 1 / (320 * variance)))
    refused = height > largest + SLACK
    for k in np.flatnonzero(~refused & (height > least - SLACK)).tolist():
        refused[k] = not settle(keep_chance(abs(int(proposals[k])), sigma), int(words[k]), bits)
    return refused


@dataclass(frozen=True, slots=True)
class DiscreteGaussianLaw:
    """The law as a distribution function."""

    sigma: Fraction

    @property
    def reach(self) -> int:
        """Beyond 8σ lie fewer than 10^-14 of all draws."""
        return int(8 * self.sigma) + 1

    def above(self, n: int) -> Callable[[], Ball]:
        """Pr[Z > n], from the sums of e^(−m²/2σ²) over m > n."""

        def share() -> Ball:
            tails = _tails(self.sigma, working_bits())
            return tails[min(n + 1, len(tails) - 1)] / (tails[0] + tails[1])

        return share


@lru_cache(maxsize=32)
def _table(sigma: Fraction) -> LawTable:
    return build_table(DiscreteGaussianLaw(sigma))


@lru_cache(maxsize=8)
def _tails(sigma: Fraction, precision: int) -> list[Ball]:
    """The sums of e^(−m²/2σ²) over m ≥ k, for k = 0, 1, …; the last is a bound on the rest."""
    end = int(float(sigma) * sqrt(2 * log(2) * (precision + 128))) + 2
    half = 1 / (2 * sigma * sigma)
    beyond = (-ball((end + 1) ** 2 * half)).exp() / (1 - (-ball((2 * end + 3) * half)).exp())
    tails = [beyond.union(ball(0))]
    for m in range(end, -1, -1):
        tails.append(tails[-1] + (-ball(m * m * half)).exp())
    return tails[::-1]
