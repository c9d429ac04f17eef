"""How the cosines of random directions are distributed, and those of the nearest few.

The cosine c of an isotropic direction in d dimensions with a fixed one has E[c; c ≥ γ] =
(1 − γ²)^((d−1)/2) / ((d − 1) B(1/2, (d − 1)/2)). Let C(t) be that where P[c ≥ γ] = t.

Theorem.  The k largest of M independent cosines add up to M E[C(T)] on average, T ~ Beta(k, M − k).
The same holds for squares.
  Proven:   docs/explanation/proofs/local_vectors.md, section 3
  Tested:   exactly in three dimensions; against mpmath; against draws
  Assumed:  scipy's incomplete beta functions are right to 1e-11
"""

from functools import lru_cache
from math import lgamma
from typing import Any, NamedTuple, cast

import numpy as np

from letalone.mechanisms.values import Floats

NODES = 256
SPREADS = 14  # what is farther from the mean of T has less than 1e-15 of it


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
