"""How noise is correlated: each step's takes back a part of what the steps before brought in.

The noise of step t is ξ_t less `shares[1]` of the noise of step t - 1, and so on for as many steps
as there are bands: K·noise = ξ, for the banded matrix K with `shares` below its diagonal. The sums
of all gradients so far, which is what a model has learnt, then have less noise than each step has.
Nobody may take part twice within as many steps, and each time adds `length` to a unit's clip.

  Proven:   docs/explanation/proofs/correlated_noise.md
  Tested:   tests/deep_learning/test_bands.py: against matrices

Choquette-Choo, Ganesh, McKenna, McMahan, Rush, Thakurta, Xu: (Amplified) banded matrix
factorization (2023).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter  # pyright: ignore[reportUnknownVariableType]

from letalone.exact.typed import Constraint

MOST_BANDS = 8  # the proof's bound of rounding is for so many
BANDS = Constraint(
    f"a whole number from 1 to {MOST_BANDS}",
    lambda x: x.denominator == 1 and 1 <= x <= MOST_BANDS,
    "1 is independent noise; 4 is usual.",
    (0, -1, 1.5, MOST_BANDS + 1),
)
GRID = 1 << 16  # shares are multiples of 1 / GRID, so that floats are exact
TRIED = 64  # powers of 1 / (1 - x), from the square root on
HORIZON = 1 << 14  # steps that are looked at: beyond, the best shares hardly change
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bands:
    """The shares of earlier noise that are taken back; the first is 1, and they fall."""

    shares: tuple[Fraction, ...] = (Fraction(1),)

    @property
    def count(self) -> int:
        """Over so many steps noise is correlated, and so many parts the units are thrown into."""
        return len(self.shares)

    @property
    def length(self) -> Fraction:
        """The length of the shares, rounded up: how much longer a unit's part in a run is."""
        squares = sum(int(share * GRID) ** 2 for share in self.shares)
        root = isqrt(squares << 80)
        return Fraction(root + (root * root < squares << 80), GRID << 40)

    def rounds(self, steps: int) -> int:
        """How often a unit can take part in so many steps."""
        return rounds_of(steps, self.count)

    def variance(self, steps: int) -> float:
        """The variance of a late step's noise, in variances of ξ; the first one has 1."""
        return float(np.square(self._inverse(steps)).sum())

    def error_of_sums(self, steps: int) -> float:
        """The root mean square error of running sums, for as much privacy a round as 1 gives."""
        sums, left = np.cumsum(self._inverse(steps)), np.arange(steps, 0, -1)
        return float(self.length) * sqrt(float(np.square(sums) @ left) / steps)

    def _inverse(self, steps: int) -> Floats:
        first = np.zeros(steps)
        first[0] = 1
        shares = [float(share) for share in self.shares]
        return np.asarray(lfilter([1.0], shares, first), np.float64)


INDEPENDENT = Bands()


def rounds_of(steps: int, bands: int) -> int:
    """How often each part has its turn in so many steps, at most."""
    return -(-steps // bands)


def bands_for(count: int, steps: int) -> Bands:
    """The bands with the smallest error of running sums, among powers of 1 / (1 - x)."""
    if count == 1:
        return INDEPENDENT
    tried = [_power(Fraction(k, 2 * TRIED), count) for k in range(TRIED, 2 * TRIED)]
    return min(tried, key=lambda bands: bands.error_of_sums(min(steps, HORIZON)))


def _power(exponent: Fraction, count: int) -> Bands:
    """The first coefficients of (1 - x)^-exponent; they fall, so noise does not pile up."""
    shares = [Fraction(1)]
    for j in range(1, count):
        shares.append(shares[-1] * (exponent + j - 1) / j)
    return Bands(tuple(Fraction(round(share * GRID), GRID) for share in shares))
