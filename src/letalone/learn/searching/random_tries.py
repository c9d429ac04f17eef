"""A random number of tries, so that choosing the best of many models costs twice one of them.

K tries are made, each with a candidate drawn at random and fresh noise, and the one with the best
noisy score leaves. K follows the logarithmic law: P[K = k] is proportional to (1 − γ)^k / k, with
γ = 1/N. Neither K nor anything of the other tries leaves.

Theorem.  If each try is (epsilon, delta)-DP, the winner is (2 epsilon, E[K] delta)-DP, whatever
N is; E[K] = (N − 1) / ln N.
  Proven:   docs/explanation/proofs/tuning.md, sections 2 and 3
  Tested:   tests/learn/test_search.py: the law of K by chi-square, the factor 2 exactly on small
            finite mechanisms, and that a fixed number of tries would break it
  Assumed:  the bits are uniform; an observer does not see how long it took

Liu, Talwar: Private selection from private candidates (2019). Papernot, Steinke: Hyperparameter
tuning with Rényi differential privacy (2022): the law is one of theirs; the proof is our own.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log

import numpy as np

from letalone.randomness.bits import BitSource
from letalone.randomness.chance import Chance, sample_bernoulli, sample_bernoullis

COINS_AT_ONCE = 256
MAX_INVERSE = 10**6
STEPS_OF_MEAN = 1000


@dataclass(frozen=True, slots=True)
class RandomTries:
    """How often to try: the logarithmic law with γ = 1 / inverse."""

    inverse: int

    @property
    def mean(self) -> Fraction:
        """E[K], rounded up."""
        exact = (self.inverse - 1) / log(self.inverse)
        # The 1 is more than the logarithm can err.
        return Fraction(ceil(exact * STEPS_OF_MEAN) + 1, STEPS_OF_MEAN)

    def reached(self, candidates: int) -> float:
        """The probability that one of so many candidates is tried at least once."""
        rest = (1 - 1 / self.inverse) * (1 - 1 / candidates)
        return 1 - log(1 - rest) / log(1 / self.inverse)

    def draw(self, bits: BitSource) -> int:
        """K, exactly: a geometric number k, kept with probability 1 / k."""
        while True:
            number = self._geometric(bits)
            if sample_bernoulli(Chance(Fraction(1, number)), bits):
                return number

    def _geometric(self, bits: BitSource) -> int:
        """How many coins with probability γ are tossed until the first head."""
        coin, tossed = Chance(Fraction(1, self.inverse)), 0
        while True:
            heads = np.flatnonzero(sample_bernoullis(coin, COINS_AT_ONCE, bits))
            if heads.size:
                return tossed + int(heads[0]) + 1
            tossed += COINS_AT_ONCE


def tries_for(mean: int) -> RandomTries:
    """The law with the least N whose mean is at least this."""
    low, high = 2, MAX_INVERSE
    while low < high:
        middle = (low + high) // 2
        if (middle - 1) / log(middle) >= mean:
            high = middle
        else:
            low = middle + 1
    return RandomTries(low)
