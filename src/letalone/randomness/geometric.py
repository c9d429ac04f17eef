"""Two-sided geometric noise on the integers, exactly.

If E is exponential with mean 1, then ⌊scale · E⌋ is at least n with probability
e^(−n/scale): the one-sided geometric law. The two-sided law Pr[z] ∝ e^(−|z|/scale) is 0 with
probability (1 − a)/(1 + a), a = e^(−1/scale), and else a random sign times 1 + ⌊scale · E⌋.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 5
  Tested:   by enumeration of bits, chi-square with power, forced ties, the tail
  Assumed:  the words are independent and uniform
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from letalone.exact.balls import Ball, ball
from letalone.randomness.bits import BitSource
from letalone.randomness.bulk import FEW_DRAWS, Wholes, draw_all, sparse_places
from letalone.randomness.chance import Chance, sample_bernoulli, sample_bernoullis
from letalone.randomness.draws import sampler
from letalone.randomness.rounding import AwayFromZero, wholes_of
from letalone.randomness.table import LawTable, build_table, sample_table
from letalone.randomness.ziggurat import EXPONENTIAL

NARROW = 16  # below this scale a table is faster


def sample_geometric(scale: Fraction, bits: BitSource) -> int:
    """One draw with Pr[z] ∝ e^(−|z|/scale)."""
    if not sample_bernoulli(_not_zero(scale), bits):
        return 0
    floor = sampler(EXPONENTIAL, bits.word_size).draw(bits).times(scale).floor(bits)
    return floor + (floor >= 0)


def sample_geometrics(scale: Fraction, count: int, bits: BitSource) -> Wholes:
    """Independent draws with Pr[z] ∝ e^(−|z|/scale)."""
    if count < FEW_DRAWS:
        return wholes_of([sample_geometric(scale, bits) for _ in range(count)])
    if scale < NARROW:
        return sample_table(_table(scale), count, bits)
    rounding = AwayFromZero(np.empty(count, np.int64))
    draw_all(EXPONENTIAL, scale, count, rounding, bits)
    out = rounding.drawn()
    out[sparse_places(~sample_bernoullis(_not_zero(scale), count, bits))] = 0
    return out


@dataclass(frozen=True, slots=True)
class GeometricLaw:
    """The two-sided law as a distribution function."""

    scale: Fraction

    @property
    def reach(self) -> int:
        """Beyond 28 scales lie fewer than 10^-12 of all draws."""
        return int(28 * self.scale) + 1

    def above(self, n: int) -> Callable[[], Ball]:
        """Pr[Z > n] = a^(n+1)/(1 + a), a = e^(−1/scale)."""
        return lambda: (-ball((n + 1) / self.scale)).exp() / (1 + (-ball(1 / self.scale)).exp())


@lru_cache(maxsize=32)
def _table(scale: Fraction) -> LawTable:
    return build_table(GeometricLaw(scale))


@lru_cache(maxsize=256)
def _not_zero(scale: Fraction) -> Chance:
    """The two-sided law's probability 2a/(1 + a) of not being 0."""
    return Chance(lambda: 2 / (1 + ball(1 / scale).exp()))
