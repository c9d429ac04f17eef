"""How far sums of many noises stray, for many groups at once.

For X = Σ a_j Z_j with Laplace noises Z_j of scale 1, let K(λ) = −Σ log(1 − (λ a_j)²), and for
λ > 0 let x = K'(λ), w = √(2(λx − K)), u = λ√K''. By Lugannani and Rice (Saddle point approximation
for the distribution of the sum of independent random variables, 1980)
    P[X > x] ≈ 1 − Φ(w) + φ(w)(1/u − 1/w),
which falls as λ rises, so that λ is found by halving. What comes out is widened by 0.6 %, since
it was seen to be too narrow by up to 0.5 %.

  Proven:   Gaussian noise: exact
  Tested:   tests/tables/test_spread.py, against the exact tails of `intervals.width`: never
            narrower, and at 95 % at most 2 % wider, from one noise to eighteen
  Assumed:  the approximation is no worse between the weights that were tested
"""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from letalone.tables.intervals import Family, Law

Floats = NDArray[np.float64]
STEPS = 50
BLOCK = 1 << 20  # weights that are looked at together: memory stays small
WIDER = 1.006
SMALLEST, LARGEST = 1e-3, 1 - 1e-12  # tilts λ, where the largest weight is 1
ROOT = float(np.sqrt(2 * np.pi))


def widths(law: Law, weights: Floats, confidence: float) -> Floats:
    """Sums of noises, weighted along the last axis, stay within these with this probability."""
    if law.family is Family.GAUSSIAN:
        spread = np.sqrt(np.sum(weights**2, axis=-1))
        return NormalDist().inv_cdf((1 + confidence) / 2) * law.scale * spread
    largest = np.max(np.abs(weights), axis=-1)
    none = (largest == 0)[..., None]
    scaled = np.where(none, 1.0, weights) / np.where(none, 1.0, largest[..., None])
    squares = (scaled**2).reshape(-1, weights.shape[-1])
    blocks = np.array_split(squares, 1 + squares.size // BLOCK)
    found = np.concatenate([_laplace(block, (1 - confidence) / 2) for block in blocks])
    return law.scale * largest * WIDER * found.reshape(largest.shape)


def _laplace(squares: Floats, miss: float) -> Floats:
    low = np.full(squares.shape[:-1], SMALLEST)
    high = np.full(squares.shape[:-1], LARGEST)
    for _ in range(STEPS):
        middle = (low + high) / 2
        above = _tail(squares, middle)[0] > miss
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return _tail(squares, high)[1]


def _tail(squares: Floats, tilt: Floats) -> tuple[Floats, Floats]:
    """The probability beyond the place that a tilt belongs to, and that place."""
    from scipy.special import ndtr  # slow to load

    left = 1 - squares * tilt[..., None] ** 2
    place = tilt * np.sum(2 * squares / left, axis=-1)
    curvature = np.sum(2 * squares * (2 - left) / left**2, axis=-1)
    root = np.sqrt(2 * (tilt * place + np.sum(np.log(left), axis=-1)))
    more = np.exp(-(root**2) / 2) / ROOT * (1 / (tilt * np.sqrt(curvature)) - 1 / root)
    return ndtr(-root) + more, place
