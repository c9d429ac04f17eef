"""The sum of many losses near a point of interest, by a tilted Fourier transform.

For a tilt t >= 0 the laws p_j(l) e^(t l) / M_j(t) are probability laws, and the sum of n_j draws
of each has, tilted back, the law of the sum of the losses. Choosing t so that the tilted sum is
centred where the answer lies keeps every digit of a delta of 1e-30. In a window outside of
which the tilted sum has mass at most OUTSIDE (Chernoff), the law is an inverse transform of
a product of powers; what wraps around, what the transform rounds, and what the powers
round are bounded and charged.

  Proven:   docs/explanation/proofs/loss_distributions.md, section 5
  Tested:   against binomial sums, closed forms and a contour integral
  Assumed:  numpy's transform of N points is right to 16 · log2(N) · 2^-53 in the 2-norm
            (radix-2 theory, Higham 2002, section 24.1, gives less)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, expm1, floor, inf, log, log1p, log2, sqrt

import numpy as np

from letalone.privacy.loss.lattice_law import LatticeLaw
from letalone.privacy.loss.pairs import Floats

OUTSIDE = 1e-13
UNIT = 2.0**-53
MOST_POINTS = 1 << 23
STEEPEST = 600.0


class TooWide(Exception):  # noqa: N818
    """The window would not fit into memory at this step."""


Laws = Sequence[tuple[LatticeLaw, int]]


@dataclass(frozen=True)
class Moments:
    """The logarithm of the moment generating function of the sum, with two derivatives."""

    log: float
    mean: float
    variance: float


Points = Sequence[tuple[Floats, Floats, int]]  # losses, their logarithmic masses, how often


def points_of(laws: Laws, most: int) -> Points:
    """The laws as weighted points; groups of neighbours become one, at their mean."""
    return [(*_grouped(law, most), count) for law, count in laws]


def _grouped(law: LatticeLaw, most: int) -> tuple[Floats, Floats]:
    every = max(1, law.masses.size // most)
    starts = np.arange(0, law.masses.size, every)
    masses = np.add.reduceat(law.masses, starts)
    held = masses > 0
    means = np.add.reduceat(law.masses * law.losses(), starts)[held] / masses[held]
    return means, np.log(masses[held])


def moments(points: Points, tilt: float) -> Moments:
    """Those of the sum at this tilt."""
    total = np.zeros(3)
    for losses, logs, count in points:
        exponents = tilt * losses + logs
        peak = float(exponents.max())
        weights = np.exp(exponents - peak)
        whole = float(weights.sum())
        mean = float(weights @ losses) / whole
        spread = float(weights @ (losses - mean) ** 2) / whole
        total += count * np.array([peak + log(whole), mean, spread])
    return Moments(*total.tolist())


def _tilted(law: LatticeLaw, losses: Floats, tilt: float) -> tuple[Floats, float]:
    """The tilted law, which sums to 1, and how far its logarithms are from 0 on average."""
    with np.errstate(divide="ignore"):
        logs = np.log(law.masses)
    exponents = tilt * losses + logs
    weights = np.exp(exponents - exponents.max())
    weights /= weights.sum()
    sizes = np.where(weights > 0, np.abs(tilt * losses) + np.abs(logs), 0.0)
    return weights, float(weights @ sizes)


@dataclass(frozen=True)
class TiltedSum:
    """The tilted law of the sum on a window of the grid; entries are right to `error`."""

    step: float
    first: int
    masses: Floats
    error: float
    outside: float
    tilt: float
    log_moment: float
    infinite: float
    slack: float
    shift: float
    spread: float


def tilted_sum(laws: Laws, tilt: float) -> TiltedSum:
    """The tilted law of the sum around its mean."""
    step = float(laws[0][0].step)
    points = points_of(laws, 1 << 62)
    at = moments(points, tilt)
    low, high = _window(points, tilt, at)
    size = 1 << max(4, ceil(log2((high - low) / step + 4)))
    if size > MOST_POINTS:
        raise TooWide
    first = floor(low / step) - 1
    powers = np.zeros(size // 2 + 1, np.complex128)
    relative = np.zeros(size // 2 + 1)
    centre, slack = 0, 2.0**-38
    for law, count in laws:
        losses = law.losses()
        weights, size_of_logs = _tilted(law, losses, tilt)
        middle = round(float(weights @ losses) / step)
        folded = np.bincount((law.first - middle + np.arange(weights.size)) % size, weights, size)
        spectrum = np.fft.rfft(folded)
        wrong = _transform_error(size) * sqrt(size) * float(np.sqrt(weights @ weights)) + 4 * UNIT
        with np.errstate(divide="ignore", invalid="ignore"):
            powers += count * np.log(spectrum)
        relative += count * wrong / (np.abs(spectrum) + wrong)
        # Rounding of the tilts, the weights and their sum: relative, once a release.
        slack += count * (16 + 2 * size_of_logs) * UNIT * 4
        centre += count * middle
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.where(np.isfinite(powers.real), np.exp(powers), 0)
    length = np.abs(product)
    turns = 8 * UNIT * (1 + np.abs(np.where(np.isfinite(powers), powers, 0)))
    # (|F| + e)^n - |F|^n <= |F|^n (e^(n e / |F|) - 1); where F is lost in e, bound it by (2e)^n.
    bound = np.where(relative < 30, length * np.expm1(np.minimum(relative, 30)), 1e-30)
    bound += length * turns
    error = 2 * float(bound.sum()) / size
    error += _transform_error(size) * float(np.sqrt(length @ length * 2)) / sqrt(size)
    masses = np.fft.irfft(product, size)
    masses = np.roll(masses, -((first - centre) % size))
    return TiltedSum(
        step=step,
        first=first,
        masses=masses,
        error=error,
        outside=OUTSIDE,
        tilt=tilt,
        log_moment=at.log,
        infinite=_leak(laws),
        slack=slack,
        shift=sum(count * law.shift for law, count in laws),
        spread=sqrt(max(at.variance, 0.0)),
    )


def _leak(laws: Laws) -> float:
    """The probability that some loss is infinite."""
    return -expm1(sum(count * log1p(-min(law.infinite, 1 - 1e-16)) for law, count in laws))


def _transform_error(points: int) -> float:
    return 16 * log2(points) * UNIT


def _window(points: Points, tilt: float, at: Moments) -> tuple[float, float]:
    """Beyond these ends the tilted sum has mass at most OUTSIDE, by Chernoff's bound."""
    spread = sqrt(max(at.variance, 1e-300))
    low, high = -inf, inf
    reach = log(4 / OUTSIDE)
    for times in (1, 2, 4, 6, 8, 12):
        more = times / spread
        high = min(high, (moments(points, tilt + more).log - at.log + reach) / more)
        low = max(low, -(moments(points, tilt - more).log - at.log + reach) / more)
    return low, high


@dataclass(frozen=True)
class Curve:
    """delta(epsilon) over the window of a tilted sum, from one side."""

    losses: Floats
    told: Floats
    alarms: Floats
    anchor: float
    scale: float
    extra: float
    tilt: float
    infinite: float
    factor: float
    shift: float
    spread: float

    def holds(self, epsilon: float) -> bool:
        """Whether an epsilon lies where this curve is tight."""
        return abs(epsilon - self.anchor) <= 1.5 * self.spread

    def reaches(self, epsilon: float) -> bool:
        """Whether an epsilon lies in the window, or above it."""
        return float(self.losses[0]) + abs(self.shift) < epsilon

    def delta(self, epsilon: float) -> float:
        """The bound at an epsilon inside the window."""
        place = int(np.searchsorted(self.losses, epsilon, side="right"))
        if place >= self.losses.size:
            return self._extra(epsilon) + self.infinite
        return self._at(place, epsilon)

    def _at(self, place: int, epsilon: float) -> float:
        inside = self.told[place] - exp(epsilon - self.anchor) * self.alarms[place]
        bound = exp(self.scale) * max(float(inside), 0.0) * self.factor
        return max(0.0, bound + self._extra(epsilon) + self.infinite)

    def _on_grid(self) -> Floats:
        """The bound at every grid point."""
        with np.errstate(over="ignore"):
            rise = np.exp(np.minimum(self.losses - self.anchor, 700.0))
            inside = np.maximum(self.told[1:] - rise * self.alarms[1:], 0.0)
            extra = self.extra * np.exp(-self.tilt * (self.losses - self.anchor))
            return exp(self.scale) * (inside * self.factor + extra) + self.infinite

    def _extra(self, epsilon: float) -> float:
        return self.extra * exp(self.scale - self.tilt * (epsilon - self.anchor))

    def epsilon(self, delta: float) -> float | None:
        """Where the bound falls to delta; None if that is not in the window."""
        above = (self._on_grid() > delta).nonzero()[0]
        if not above.size or above[-1] == self.losses.size - 1:
            return None
        low = int(above[-1])
        high = low + 1
        # Between the two grid points the curve is a line in e^epsilon.
        left, right = float(self.losses[low]), float(self.losses[high])
        for _ in range(60):
            between = (left + right) / 2
            if self._at(high, between) <= delta:
                right = between
            else:
                left = between
        return right


def curve_of(total: TiltedSum, *, upper: bool) -> Curve:
    """The bound from above, or from below, on the curve of the sum."""
    places = np.arange(total.first, total.first + total.masses.size, dtype=np.float64)
    losses: Floats = places * total.step
    anchor = float(losses[int(np.argmax(total.masses))])
    near = (total.tilt + 1) * (anchor - losses) < STEEPEST
    losses, masses = losses[near], total.masses[near]
    sign = 1 if upper else -1
    masses = np.maximum(np.maximum(masses, 0.0) + sign * total.error, 0.0)
    told = _suffix(masses * np.exp(-total.tilt * (losses - anchor)))
    alarms = _suffix(masses * np.exp(-(total.tilt + 1) * (losses - anchor)))
    tilt = total.tilt
    peak = (tilt / (tilt + 1)) ** tilt / (tilt + 1) if tilt else 1.0
    return Curve(
        losses=losses,
        told=told,
        alarms=alarms,
        anchor=anchor,
        scale=total.log_moment - tilt * anchor,
        extra=sign * total.outside * peak,
        tilt=tilt,
        infinite=total.infinite,
        factor=1 + sign * total.slack,
        shift=total.shift,
        spread=total.spread,
    )


def _suffix(values: Floats) -> Floats:
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)


def _constant(delta: float) -> Curve:
    nothing = np.zeros(1)
    return Curve(
        losses=nothing,
        told=np.zeros(2),
        alarms=np.zeros(2),
        anchor=0.0,
        scale=0.0,
        extra=0.0,
        tilt=0.0,
        infinite=delta,
        factor=1.0,
        shift=0.0,
        spread=0.0,
    )


NOTHING_KNOWN, NOTHING_SHOWN = _constant(1.0), _constant(0.0)
