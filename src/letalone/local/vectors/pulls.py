"""How far a report of PrivUnit points to its owner's vector, and the sizes that make it most.

With the k nearest of M random directions r times as likely as the others, the mean cosine of the
reported one is m = (r − 1)/(kr + M − k) times the mean sum of the k largest of M cosines: the sum
of all is 0 on average. With M without end it is that of a whole cap, PrivUnit's own.

  Proven:   docs/explanation/proofs/local_vectors.md, sections 2 and 3
  Tested:   exactly in three dimensions; no other k is better; against draws
"""

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from letalone.local.vectors.caps import cap_moments, largest_cosines

FEWEST, MOST_BY_DEFAULT = 64, 4096
ENOUGH = 1.01  # times the error of infinitely many directions


class Pull(NamedTuple):
    """The mean cosine of a reported direction with the vector, and that of its square."""

    cosine: float
    square: float


@lru_cache(maxsize=1024)
def pull_of(ratio: Fraction, chosen: int, directions: int, dimension: int) -> Pull:
    """(r − 1)/(kr + M − k) times the sum of the largest cosines, and the mean square."""
    first, second = largest_cosines(chosen, directions, dimension)
    total, more = float(chosen * ratio + directions - chosen), float(ratio - 1)
    return Pull(more * first / total, (more * second + directions / dimension) / total)


@lru_cache(maxsize=256)
def best_chosen(ratio: Fraction, directions: int, dimension: int) -> int:
    """The k up to M/2 that has the largest pull, by halving: the pull rises, then falls."""
    low, high = 1, directions // 2
    while low < high:
        middle = (low + high) // 2
        near, next_one = (pull_of(ratio, k, directions, dimension) for k in (middle, middle + 1))
        low, high = (middle + 1, high) if near.cosine < next_one.cosine else (low, middle)
    return low


@lru_cache(maxsize=256)
def enough_directions(ratio: Fraction, dimension: int) -> int:
    """The first power of 2 that is nearly as exact as infinitely many directions."""
    count, enough = FEWEST, ENOUGH * squared_error(ideal_cosine(ratio, dimension))
    while count < MOST_BY_DEFAULT:
        chosen = best_chosen(ratio, count, dimension)
        if squared_error(pull_of(ratio, chosen, count, dimension).cosine) <= enough:
            break
        count *= 2
    return count


def squared_error(cosine: float) -> float:
    """Of one unbiased report about a unit vector."""
    return 1 / cosine**2 - 1


def ideal_cosine(ratio: Fraction, dimension: int) -> float:
    """The largest pull of a whole cap of directions: that of PrivUnit as it was published."""
    tails = np.linspace(1e-6, 1, 4096) ** 4 / 2
    cosines = cap_moments(tails, dimension).first
    return float((float(ratio - 1) * cosines / (1 + float(ratio - 1) * tails)).max())
