"""How far a report of PrivUnit points to its owner's vector, and the sizes that make it most.

The cosine c of an isotropic direction in d dimensions with a fixed one has E[c; c ≥ γ] =
(1 − γ²)^((d−1)/2) / ((d − 1) B(1/2, (d − 1)/2)). Let C(t) be that where P[c ≥ γ] = t.

With the k nearest of M random directions r times as likely as the others, the mean cosine of the
reported one is m = (r − 1)/(kr + M − k) times the mean sum of the k largest of M cosines: the sum
of all is 0 on average. With M without end it is that of a whole cap, PrivUnit's own.

Theorem.  The k largest of M independent cosines add up to M E[C(T)] on average, T ~ Beta(k, M − k).
The same holds for squares.
  Proven:   docs/explanation/proofs/local_vectors.md, sections 2 and 3
  Tested:   exactly in three dimensions; against mpmath; no other k is better; against draws
  Assumed:  scipy's incomplete beta functions are right to 1e-11
"""

from fractions import Fraction
from functools import lru_cache
from math import lgamma
from typing import Any, NamedTuple, cast

import numpy as np

from letalone.mechanisms.values import Floats

FEWEST, MOST_BY_DEFAULT = 64, 4096
ENOUGH = 1.01  # times the error of infinitely many directions
NODES = 256
SPREADS = 14  # what is farther from the mean of T has less than 1e-15 of it


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


class Moments(NamedTuple):
    """Of cosines, or sums of them: the mean, and that of the squares."""

    first: Floats
    second: Floats


def cap_moments(tails: Floats, dimension: int) -> Moments:
    """E[c; c ≥ γ] and E[c²; c ≥ γ] where P[c ≥ γ] is each of these tails."""
    from scipy import special

    betainc, inverse = cast("Any", special).betainc, cast("Any", special).betaincinv
    half = (dimension - 1) / 2
    lower = tails > 0.5  # a cap of more than half, whose γ is negative
    square = inverse(half, 0.5, 2 * np.where(lower, 1 - tails, tails))  # 1 − γ²
    peak = np.exp(lgamma(half + 0.5) - lgamma(half) - lgamma(0.5)) / (2 * half)
    above = betainc(half, 1.5, square) / (2 * dimension)
    return Moments(peak * square**half, np.where(lower, 1 / dimension - above, above))


def largest_cosines(chosen: int, directions: int, dimension: int) -> tuple[float, float]:
    """The mean sums of the largest cosines, and of their squares."""
    tails, weights = _beta_nodes(chosen, directions - chosen)
    first, second = cap_moments(tails, dimension)
    return directions * float(weights @ first), directions * float(weights @ second)


def _beta_nodes(a: int, b: int) -> tuple[Floats, Floats]:
    """Where to look at a function, and how much each place counts, for its mean under Beta(a, b).

    Gauss and Legendre's nodes in the angle φ with T = sin² φ, in which the law has smooth ends.
    """
    mean, spread = a / (a + b), (a * b / (a + b + 1)) ** 0.5 / (a + b)
    low, high = (
        np.arcsin(np.sqrt(min(max(mean + way * SPREADS * spread, 0.0), 1.0))) for way in (-1, 1)
    )
    nodes, weights = _legendre()
    angles = (low + high) / 2 + (high - low) / 2 * nodes
    logs = (2 * a - 1) * np.log(np.sin(angles)) + (2 * b - 1) * np.log(np.cos(angles))
    masses = weights * np.exp(logs - logs.max())
    return np.sin(angles) ** 2, masses / masses.sum()


@lru_cache(maxsize=1)
def _legendre() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(NODES)
