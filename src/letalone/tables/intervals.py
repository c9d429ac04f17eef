"""Intervals: how far sums of noise stray, and which means and variances fit what was seen.

Noise here is a weighted sum of independent noises of one law, Laplace or Gaussian. (Geometric
noise on a fine grid is Laplace noise to nine digits; counts of their own use its exact tails.)
A sum of Laplace noises with different scales s has
    P[|X| > x] = Σ w_j e^(−x/s_j),   w_j = Π_{i≠j} s_j² / (s_j² − s_i²).
Scales nearer to each other than a small ratio are raised until they differ, which widens.

A mean is a ratio of two noisy numbers. The sum over rows of (t − m) is 0 for the true mean m,
whatever it is, so its noisy form must be within the noise's width at m: the interval is the
set of m for which it is (Fieller). A variance v likewise: the sum of (t − m)² − v, at the
estimated m, around which that sum is flat.

Sums of many noises are approximated, for many groups at once.
For X = Σ a_j Z_j with Laplace noises Z_j of scale 1, let K(λ) = −Σ log(1 − (λ a_j)²), and for
λ > 0 let x = K'(λ), w = √(2(λx − K)), u = λ√K''. By Lugannani and Rice (Saddle point approximation
for the distribution of the sum of independent random variables, 1980)
    P[X > x] ≈ 1 − Φ(w) + φ(w)(1/u − 1/w),
which falls as λ rises, so that λ is found by halving. What comes out is widened by 0.6 %, since
it was seen to be too narrow by up to 0.5 %.

Where the weights are too many to be looked at, `reach` takes Σa² and Σa⁴ for them: the sum is
taken to be one of m = (Σa²)²/Σa⁴ equal noises, m not whole, which has the same variance and the
same kurtosis, hence the cumulants −m log(1 − λ²).

  Proven:   docs/explanation/proofs/tables.md, section 5; the approximation: Gaussian noise exactly
  Tested:   coverage over seeded runs; the tails against simulation and the equal-scale formula;
            tests/tables/test_spread.py, against the exact tails of `intervals.width`: never
            narrower, and at 95 % at most 2 % wider, from one noise to eighteen; `reach` for the
            ranks of trees, against the approximation by all weights: from 0.2 % narrower to
            2.5 % wider at 95 %, at most 2 % narrower at 99.9 %
  Assumed:  doubles are good to nine digits here; the variance's interval ignores the square of
            the mean's relative error; the approximation is no worse between the weights that were
            tested
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache, partial
from math import log, prod
from statistics import NormalDist

import numpy as np

from letalone.exact.balls import ball, upper, with_bits
from letalone.tables.columns import Flags, Floats

APART = 2.0**-9  # scales differ by at least this ratio: three of them keep nine digits
NARROW = Fraction(1, 2**24)  # the same where digits do not run out
STEPS = 60  # halvings of an interval: a double has 53 bits
TILT_STEPS = 50
BLOCK = 1 << 20  # weights that are looked at together: memory stays small
WIDER = 1.006
SMALLEST, LARGEST = 1e-3, 1 - 1e-12  # tilts λ, where the largest weight is 1
ROOT = float(np.sqrt(2 * np.pi))
EVENNESS = np.linspace(0, 1, 257)  # Σa⁴/(Σa²)² at which `reach` is tabled


class Family(Enum):
    """The laws of noise."""

    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """Independent noises, each of this scale (Laplace) or standard deviation (Gaussian)."""

    family: Family
    scale: float

    @property
    def deviation(self) -> float:
        return self.scale * (2**0.5 if self.family is Family.LAPLACE else 1.0)


def width(law: NoiseLaw, weights: Floats, confidence: float) -> float:
    """A weighted sum of noises stays within this with at least this probability."""
    sizes = np.sort(np.abs(weights[weights != 0]))[::-1]
    if law.family is Family.GAUSSIAN:
        return _normal(confidence) * law.scale * float(np.sqrt(np.sum(sizes**2)))
    return law.scale * _laplace_width(tuple(sizes.tolist()), 1 - confidence)


def within(law: NoiseLaw, weights: Floats, values: Floats, confidence: float) -> Flags:
    """Whether noises with these weights (in the last axis) may be as large as the values."""
    if law.family is Family.GAUSSIAN:
        spread = law.scale * np.sqrt(np.sum(weights**2, axis=-1))
        return np.abs(values) <= _normal(confidence) * spread
    if values.size == 0:
        return np.ones(values.shape, np.bool_)
    used = np.any(weights != 0, axis=tuple(range(weights.ndim - 1)))
    scales = _apart(np.abs(weights[..., used]) * law.scale)
    squares = scales**2
    tail = np.zeros(values.shape)
    far, count = np.abs(values), scales.shape[-1]
    for j in range(count):
        share, square = np.exp(-far / scales[..., j]), squares[..., j]
        for other in (squares[..., i] for i in range(count) if i != j):
            share *= square / (square - other)
        tail += share
    return tail >= 1 - confidence


def farthest(accepted: Callable[[Floats], Flags], start: Floats, end: Floats) -> Floats:
    """From `start` (accepted) towards `end`: where acceptance ends, rounded outwards."""
    inside, outside = start.copy(), end.copy()
    accepts_end = accepted(end)
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        good = accepted(middle)
        inside, outside = np.where(good, middle, inside), np.where(good, outside, middle)
    return np.where(accepts_end, end, outside)


def fitting(
    accepted: Callable[[Floats], Flags], value: Floats, *, least: float, most: float
) -> tuple[Floats, Floats]:
    """The ends of the accepted numbers around a value; all of them where it is not accepted."""
    ends = np.stack([np.full(value.shape, least), np.full(value.shape, most)])
    ends_found = farthest(accepted, np.stack([value, value]), ends)  # both sides at once
    low, high = np.where(accepted(value), ends_found, ends)
    return low, high


def _normal(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _apart(scales: Floats) -> Floats:
    """Sorted scales, each raised to at least the next smaller one times 1 + APART."""
    ordered = np.sort(scales, axis=-1)
    ordered[..., 0] = np.maximum(ordered[..., 0], ordered[..., -1] * 1e-6)
    for j in range(1, ordered.shape[-1]):
        ordered[..., j] = np.maximum(ordered[..., j], ordered[..., j - 1] * (1 + APART))
    return ordered


@lru_cache(maxsize=1024)
def _laplace_width(sizes: tuple[float, ...], miss: float) -> float:
    """The width of a sum of Laplace noises, with as many digits as its terms need."""
    scales: list[Fraction] = []
    for size in sorted(Fraction(size) for size in sizes):
        scales.append(max(size, scales[-1] * (1 + NARROW)) if scales else size)
    with_shares = [(_share(s, scales[:j] + scales[j + 1 :]), s) for j, s in enumerate(scales)]
    widest = sum(scales, Fraction(0)) * (8 - Fraction(log(miss)))
    halved = partial(_bisect, with_shares, widest / 2**STEPS, miss)
    return float(widest * with_bits(halved, 128 + 64 * len(scales)) / 2**STEPS)


def _bisect(with_shares: list[tuple[Fraction, Fraction]], step: Fraction, miss: float) -> int:
    """The least number of steps beyond which the noise strays seldom enough."""
    terms = [(ball(share), ball(-step / scale)) for share, scale in with_shares]
    low, high = 0, 2**STEPS
    for _ in range(STEPS):
        middle = (low + high) // 2
        tail = sum((share * (rate * middle).exp() for share, rate in terms), ball(0))
        low, high = (middle, high) if upper(tail) > miss else (low, middle)
    return high


def _share(scale: Fraction, others: list[Fraction]) -> Fraction:
    return prod((scale**2 / (scale**2 - other**2) for other in others), start=Fraction(1))


def widths(law: NoiseLaw, weights: Floats, confidence: float) -> Floats:
    """Sums of noises, weighted along the last axis, stay within these with this probability."""
    if law.family is Family.GAUSSIAN:
        spread = np.sqrt(np.sum(weights**2, axis=-1))
        return _normal(confidence) * law.scale * spread
    largest = np.max(np.abs(weights), axis=-1)
    none = (largest == 0)[..., None]
    scaled = np.where(none, 1.0, weights) / np.where(none, 1.0, largest[..., None])
    squares = (scaled**2).reshape(-1, weights.shape[-1])
    blocks = np.array_split(squares, 1 + squares.size // BLOCK)
    found_widths = np.concatenate([_laplace(block, (1 - confidence) / 2) for block in blocks])
    return law.scale * largest * WIDER * found_widths.reshape(largest.shape)


def reach(family: Family, evenness: Floats, confidence: float) -> Floats:
    """How many deviations sums of noises stay within, by Σa⁴/(Σa²)² of their weights."""
    if confidence <= 0:
        return np.zeros(evenness.shape)
    if family is Family.GAUSSIAN:
        return np.full(evenness.shape, _normal(confidence))
    return np.interp(evenness, EVENNESS, _tabulate(confidence))


@lru_cache(maxsize=64)
def _tabulate(confidence: float) -> Floats:
    """The reach of 1/EVENNESS equal Laplace noises; infinitely many are a Gaussian one."""
    many = 1 / EVENNESS[1:]
    reached = _laplace(np.ones((many.size, 1)), (1 - confidence) / 2, many)
    normal = _normal(confidence)
    return np.concatenate([[normal], reached / np.sqrt(2 * many)])


def _laplace(squares: Floats, miss: float, many: Floats | float = 1.0) -> Floats:
    low = np.full(squares.shape[:-1], SMALLEST)
    high = np.full(squares.shape[:-1], LARGEST)
    for _ in range(TILT_STEPS):
        middle = (low + high) / 2
        above = _tail(squares, middle, many)[0] > miss
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return _tail(squares, high, many)[1]


def _tail(squares: Floats, tilt: Floats, many: Floats | float) -> tuple[Floats, Floats]:
    """The probability beyond the place that a tilt belongs to, and that place.

    `many` is how often the noises of a row are there, each time anew.
    """
    from scipy.special import ndtr  # slow to load

    remainder = 1 - squares * tilt[..., None] ** 2
    place = many * tilt * np.sum(2 * squares / remainder, axis=-1)
    curvature = many * np.sum(2 * squares * (2 - remainder) / remainder**2, axis=-1)
    root = np.sqrt(2 * (tilt * place + many * np.sum(np.log(remainder), axis=-1)))
    more = np.exp(-(root**2) / 2) / ROOT * (1 / (tilt * np.sqrt(curvature)) - 1 / root)
    return ndtr(-root) + more, place
