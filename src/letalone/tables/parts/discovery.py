"""Which keys there are, privately: those that enough units have.

Each key's number of units, after bounding each unit to g groups, gets geometric noise of scale
g/ε; keys whose noisy number reaches a threshold are listed, sorted, and nothing is said about
the others. The threshold is so high that a key of one unit reaches it with probability at most
δ/g. Under replace, 2g stands for g in both.

Theorem.  The list of keys is (ε, δ)-DP.
  Proven:   docs/explanation/proofs/tables.md, section 6
  Tested:   by exact sums for small tables; a threshold smaller by one breaks the promise
  Assumed:  the engine counts each unit in at most g groups
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import ceil

import numpy as np

from letalone.exact.balls import Ball, ball, certain, fraction_above
from letalone.mechanisms import Geometric
from letalone.plans.types import Key
from letalone.privacy import ApproxDP, Privacy
from letalone.randomness.bits import BitSource
from letalone.tables.sensitivity import MAX_FOUND_KEYS, Contribution

Keys = tuple[tuple[Key, ...], ...]


@dataclass(frozen=True, slots=True)
class Discovery:
    """The private choice of keys."""

    unit: Contribution
    epsilon: Fraction
    delta: Fraction

    @property
    def touched(self) -> int:
        """How many keys' numbers can differ between neighbours, by one each."""
        return self.unit.found_in * (2 if self.unit.replace else 1)

    @property
    def threshold(self) -> int:
        """The least noisy number of units that lists a key."""
        scale, miss = self.touched / self.epsilon, self.delta / self.touched

        # A key of one unit is listed if its noise is at least threshold − 1, which has the
        # probability a^(threshold − 1)/(1 + a), a = e^(−1/scale).
        def least() -> Ball:
            alpha = (-1 / ball(scale)).exp()
            return -(ball(miss) * (1 + alpha)).log() * ball(scale)

        return 1 + max(1, ceil(fraction_above(certain(least))))

    @property
    def privacy(self) -> Privacy:
        return ApproxDP(self.epsilon, self.delta)

    @property
    def words(self) -> str:
        """The mechanism, with its threshold, which is public."""
        return f"keys of about {self.threshold} units or more, by geometric noise and a threshold"

    def choose(self, found: list[tuple[tuple[Key, ...], int]], bits: BitSource) -> Keys:
        # Values of one column have one type; a missing one comes first.
        ordered = sorted(found, key=lambda pair: [(key is not None, key) for key in pair[0]])
        noise = Geometric(epsilon=self.epsilon, sensitivity=self.touched)
        noisy = noise.release(np.array([count for _, count in ordered], np.int64), bits=bits)
        counted = zip(ordered, noisy.tolist(), strict=True)
        listed = (key for (key, _), count in counted if count >= self.threshold)
        return tuple(islice(listed, MAX_FOUND_KEYS))
