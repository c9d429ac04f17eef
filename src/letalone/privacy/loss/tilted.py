"""The sum of many losses near a point of interest, by a tilted Fourier transform.

For a tilt t >= 0 the laws p_j(l) e^(t l) / M_j(t) are probability laws, and the sum of n_j draws
of each has, tilted back, the law of the sum of the losses. Choosing t so that the tilted sum is
centred where the answer lies keeps every digit of a delta of 1e-30. In a window outside of
which the tilted sum has mass at most OUTSIDE (Chernoff), the law is an inverse transform of
a product of powers; what wraps around, what the transform rounds, and what the powers
round are bounded and charged.

  Proven:   docs/explanation/proofs/loss_distributions.md, section 5
  Tested:   against binomial sums, closed forms and a contour integral
  Assumed:  numpy's transform of N points, N being 2^a, 3·2^a or 5·2^a, is right to
            16 · log2(N) · 2^-53 in the 2-norm (radix-2 theory, Higham 2002, section 24.1,
            gives less)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, exp, expm1, floor, inf, log, log1p, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from letalone.privacy.loss.lattice_law import LatticeLaw, TooWide
from letalone.privacy.loss.pairs import Floats

OUTSIDE = 1e-11
NEGLIGIBLE = -90.0  # e^-90 is below any rounding
UNIT = 2.0**-53
MOST_POINTS = 1 << 22  # of a window
STEEPEST = 600.0
ROUGH_POINTS = 2048
EXPONENTS = (0.5, 1, 2, 4, 6, 7, 9, 12)


Laws = Sequence[tuple[LatticeLaw, int]]
Spectrum = NDArray[np.complex128]


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
    if not held.any():  # all of it is beyond the grid
        raise TooWide
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


@dataclass(frozen=True)
class TiltedSum:
    """The tilted law of the sum on a window of the grid; entries are right to `error`."""

    step: float
    first: int
    origin: float
    masses: Floats
    error: float
    outside: float
    tilt: float
    log_moment: float
    infinite: float
    slack: float
    shift: float
    spread: float


@dataclass(frozen=True)
class _Tilted:
    """A law ready to be tilted: its losses, the logarithms of its masses, how often it is run."""

    law: LatticeLaw
    losses: Floats
    logs: Floats
    count: int

    def log_moment(self, tilt: float) -> float:
        """ln E[e^(tilt L)]."""
        return _log_sum(tilt * self.losses + self.logs)

    def weights(self, tilt: float) -> Floats:
        """The tilted law, which sums to 1."""
        exponents = tilt * self.losses + self.logs
        weights = np.exp(exponents - exponents.max())
        return weights / weights.sum()

    def size_of_logs(self, weights: Floats, tilt: float) -> float:
        """How far the logarithms are from 0 on average: what rounding is relative to."""
        finite = np.where(weights > 0, self.logs, 0.0)
        return float(weights @ (np.abs(tilt * self.losses) + np.abs(finite)))


def _log_sum(exponents: Floats) -> float:
    peak = float(exponents.max())
    return peak + log(float(np.exp(exponents - peak).sum()))


def _ready(laws: Laws) -> list[_Tilted]:
    with np.errstate(divide="ignore"):
        return [_Tilted(law, law.losses(), np.log(law.masses), count) for law, count in laws]


def tilted_sum(laws: Laws, tilt: float) -> TiltedSum:
    """The tilted law of the sum around its mean."""
    step = float(laws[0][0].step)
    ready = _ready(laws)
    all_weights = [one.weights(tilt) for one in ready]
    spread = _spread(ready, all_weights)
    log_moment = sum(one.count * one.log_moment(tilt) for one in ready)
    low, high = _window(laws, ready, tilt, log_moment, spread)
    size = _transform_size((high - low) / step + 4)
    origin = sum(count * law.origin for law, count in laws)
    first = floor((low - origin) / step) - 1
    spectrum = _Spectrum(size)
    centre, slack = 0, 2.0**-38
    for one, weights in zip(ready, all_weights, strict=True):
        middle = round((float(weights @ one.losses) - one.law.origin) / step)
        spectrum.multiply(weights, one.law.first - middle, one.count)
        # Rounding of the tilts, the weights and their sum: relative, once a release.
        slack += one.count * (16 + 2 * one.size_of_logs(weights, tilt)) * UNIT * 4
        centre += one.count * middle
    masses, error = spectrum.inverted()
    return TiltedSum(
        step=step,
        first=first,
        origin=origin,
        masses=np.roll(masses, -((first - centre) % size)),
        error=error,
        outside=OUTSIDE,
        tilt=tilt,
        log_moment=log_moment,
        infinite=_leak(laws),
        slack=slack,
        shift=sum(count * law.shift for law, count in laws),
        spread=spread,
    )


def _spread(ready: list[_Tilted], all_weights: list[Floats]) -> float:
    variance = 0.0
    for one, weights in zip(ready, all_weights, strict=True):
        mean = float(weights @ one.losses)
        variance += one.count * float(weights @ (one.losses - mean) ** 2)
    return sqrt(max(variance, 1e-300))


def _transform_size(points: float) -> int:
    """The next 2^a, 3·2^a or 5·2^a."""
    if points > MOST_POINTS:
        raise TooWide
    power = max(4, ceil(log2(points)))
    return next(n for n in (5 << power - 3, 3 << power - 2, 1 << power) if n >= points)


class _Spectrum:
    """A product of powers of transforms, with a bound on its error at each frequency."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.sizes = np.zeros(size // 2 + 1)  # ln |product|
        self.most = np.zeros(size // 2 + 1)  # ln of a bound on |product|
        self.relative = np.zeros(size // 2 + 1)
        self.factors: list[tuple[Spectrum, int]] = []

    def multiply(self, weights: Floats, first: int, count: int) -> None:
        """By the transform of these weights, to this power."""
        folded = np.zeros(self.size)
        for start in range(0, weights.size, self.size):
            part = weights[start : start + self.size]
            folded[: part.size] += part
        factor = np.fft.rfft(np.roll(folded, first % self.size))
        lengths = np.abs(factor)
        norm = float(np.sqrt(weights @ weights))
        wrong = _transform_error(self.size) * sqrt(self.size) * norm + 4 * UNIT
        with np.errstate(divide="ignore"):
            self.sizes += count * np.log(lengths)
        self.most += count * np.log(lengths + wrong)
        self.relative += count * wrong / (lengths + wrong)
        self.factors.append((factor, count))

    def inverted(self) -> tuple[Floats, float]:
        """The product transformed back, and a bound on the error of each entry."""
        kept = (self.most > NEGLIGIBLE) & (self.sizes > -inf)
        powers = np.zeros(int(kept.sum()), np.complex128)
        for factor, count in self.factors:
            powers += count * np.log(factor[kept])
        product = np.zeros(self.size // 2 + 1, np.complex128)
        product[kept] = np.exp(powers)
        length = np.abs(product[kept])
        turns = 8 * UNIT * (1 + np.abs(powers))
        relative = self.relative[kept]
        # (|F| + e)^n - |F|^n <= |F|^n (e^(n e / |F|) - 1), and at most (|F| + e)^n.
        lost = np.exp(self.most[kept])
        bound = np.where(relative < 30, length * np.expm1(np.minimum(relative, 30)), 2 * lost)
        total = float((bound + length * turns).sum()) + float(np.exp(self.most[~kept]).sum())
        error = 2 * total / self.size
        error += _transform_error(self.size) * float(np.sqrt(2 * length @ length / self.size))
        return np.fft.irfft(product, self.size), error


def _leak(laws: Laws) -> float:
    """The probability that some loss is infinite."""
    return -expm1(sum(count * log1p(-min(law.infinite, 1 - 1e-16)) for law, count in laws))


def _transform_error(points: int) -> float:
    return 16 * log2(points) * UNIT


def _window(
    laws: Laws, ready: list[_Tilted], tilt: float, log_moment: float, spread: float
) -> tuple[float, float]:
    """Beyond these ends the tilted sum has mass at most OUTSIDE, by Chernoff's bound.

    Any exponent gives a bound; which one is best is found on rougher laws.
    """
    reach = log(4 / OUTSIDE)
    rough = points_of(laws, ROUGH_POINTS)

    def at_most(log_of: Callable[[float], float], more: float) -> float:
        return (log_of(tilt + more) - log_moment + reach) / more

    def best(sign: int) -> float:
        sizes = [times / spread for times in EXPONENTS] + [tilt / 4, tilt / 2, tilt]
        tried = (sign * size for size in sizes)
        return min(tried, key=lambda more: sign * at_most(lambda t: moments(rough, t).log, more))

    def certain(at: float) -> float:
        return sum(one.count * one.log_moment(at) for one in ready)

    return at_most(certain, best(-1)), at_most(certain, best(1))


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
        most = min(1.5 * self.spread, 3 / max(self.tilt, 1e-9))
        return -1.5 * self.spread <= epsilon - self.anchor <= most

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
        inside = self.told[place] - exp(min(epsilon - self.anchor, 700.0)) * self.alarms[place]
        bound = exp(self.scale) * max(float(inside), 0.0) * self.factor
        return max(0.0, bound + self._extra(epsilon) + self.infinite)

    def _extra(self, epsilon: float) -> float:
        return self.extra * exp(self.scale - self.tilt * (epsilon - self.anchor))

    def epsilon(self, delta: float) -> float | None:
        """Where the bound falls to delta; None if that is not in the window."""
        low, high = self._around(delta)
        if low < 0 or high >= self.losses.size:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._on_grid(middle) > delta else (low, middle)
        # Between the two grid points the curve is a line in e^epsilon.
        left, right = float(self.losses[low]), float(self.losses[high])
        for _ in range(60):
            between = (left + right) / 2
            if self._at(high, between) <= delta:
                right = between
            else:
                left = between
        return right

    def _around(self, delta: float) -> tuple[int, int]:
        """Places with the bound above delta and at most delta, found from the anchor outwards."""
        last = self.losses.size - 1
        low = high = min(int(np.searchsorted(self.losses, self.anchor)), last)
        reach = 1
        if self._on_grid(low) > delta:
            while high <= last and self._on_grid(high) > delta:
                low, high, reach = high, high + reach, 2 * reach
            return low, (high if high <= last or self._on_grid(last) > delta else last)
        while low >= 0 and self._on_grid(low) <= delta:
            low, high, reach = low - reach, low, 2 * reach
        return (low if low >= 0 or self._on_grid(0) <= delta else 0), high

    def _on_grid(self, place: int) -> float:
        return self._at(place + 1, float(self.losses[place]))


def curve_of(total: TiltedSum, *, upper: bool) -> Curve:
    """The bound from above, or from below, on the curve of the sum."""
    places = np.arange(total.first, total.first + total.masses.size, dtype=np.float64)
    losses: Floats = total.origin + places * total.step
    anchor = float(losses[int(np.argmax(total.masses))])
    near = (total.tilt + 1) * (anchor - losses) < STEEPEST
    losses, masses = losses[near], total.masses[near]
    if not losses.size:
        raise TooWide
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
