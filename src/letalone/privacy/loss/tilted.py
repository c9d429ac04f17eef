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
from math import ceil, exp, expm1, floor, log, log1p, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from letalone.privacy.loss.lattice_law import LatticeLaw, TooWide
from letalone.privacy.loss.pairs import Floats

OUTSIDE = 1e-9
NEGLIGIBLE = -90.0  # e^-90 is below any rounding
UNIT = 2.0**-53
TINIEST = 1e-300
MOST_POINTS = 1 << 22  # of a window
STEEPEST = 600.0
ROUGH_POINTS = 2048
FAR_SPREADS = 4.0  # spreads
STEEP = 0.5  # a tilt
WIDE = 1000  # steps
RARELY = 16  # runs of one law up to which its power is a product
EXPONENTS = (0.5, 1, 2, 4, 6, 7, 9, 12)
MAX_SUMMED_LOSS = 300.0  # losses over which e^loss is safe to sum
HIGHEST = 700.0  # e^700 is a float


Laws = Sequence[tuple[LatticeLaw, int]]
Spectrum = NDArray[np.complex128]


@dataclass(frozen=True)
class TiltedMoments:
    """The logarithm of the moment generating function of the sum, with two derivatives."""

    log: float
    mean: float
    variance: float


@dataclass(frozen=True)
class Points:
    """Laws as weighted points, one after another: losses, logarithmic masses, how often each."""

    losses: Floats
    logs: Floats
    starts: NDArray[np.intp]
    sizes: NDArray[np.intp]
    counts: Floats


def points_of(laws: Laws, most: int) -> Points:
    """The laws as weighted points; groups of neighbours become one, at their mean."""
    losses, logs = zip(*(_group_points(law, most) for law, _ in laws), strict=True)
    sizes = np.array([points.size for points in losses])
    counts = np.array([float(count) for _, count in laws])
    return Points(
        np.concatenate(losses), np.concatenate(logs), np.cumsum(sizes) - sizes, sizes, counts
    )


def _group_points(law: LatticeLaw, most: int) -> tuple[Floats, Floats]:
    every = max(1, law.masses.size // most)
    starts = np.arange(0, law.masses.size, every)
    masses = np.add.reduceat(law.masses, starts)
    held = masses > 0
    if not held.any():  # all of it is beyond the grid
        raise TooWide
    means = np.add.reduceat(law.masses * law.losses(), starts)[held] / masses[held]
    return means, np.log(masses[held])


def moments(points: Points, tilt: float) -> TiltedMoments:
    """Those of the sum at this tilt."""
    losses, starts, counts = points.losses, points.starts, points.counts
    exponents = tilt * losses + points.logs
    peaks = np.maximum.reduceat(exponents, starts)
    weights = np.exp(exponents - np.repeat(peaks, points.sizes))
    wholes = np.add.reduceat(weights, starts)
    means = np.add.reduceat(weights * losses, starts) / wholes
    away = losses - np.repeat(means, points.sizes)
    spreads = np.add.reduceat(weights * away**2, starts) / wholes
    logs = peaks + np.log(wholes)
    return TiltedMoments(float(counts @ logs), float(counts @ means), float(counts @ spreads))


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

    def losses(self, start: int) -> Floats:
        places = np.arange(self.first + start, self.first + self.masses.size, dtype=np.float64)
        return self.origin + places * self.step

    @property
    def reach(self) -> float:
        """How far below the middle a curve is kept; a smaller tilt shows what is farther."""
        steep = STEEPEST / (self.tilt + 1)
        wide = self.tilt > STEEP and self.spread > WIDE * self.step
        return min(steep, FAR_SPREADS * self.spread) if wide else steep

    def from_loss(self, loss: float) -> int:
        """The first place of the window with more than this loss."""
        place = floor((loss - self.origin) / self.step) + 1 - self.first
        return min(max(place, 0), self.masses.size)


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


def tilted_sum(laws: Laws, tilt: float) -> TiltedSum:
    """The tilted law of the sum around its mean."""
    step = float(laws[0][0].step)
    with np.errstate(divide="ignore"):
        ready = [_Tilted(law, law.losses(), np.log(law.masses), count) for law, count in laws]
    all_weights = [law.weights(tilt) for law in ready]
    slack = _slack(ready, all_weights, tilt)
    spread = _spread(ready, all_weights)
    log_moment = sum(law.count * law.log_moment(tilt) for law in ready)
    low, high = _window(laws, ready, tilt, log_moment, spread)
    size = _transform_size((high - low) / step + 4)
    origin = sum(count * law.origin for law, count in laws)
    first = floor((low - origin) / step) - 1
    spectrum = _Spectrum(size)
    centre = 0
    for law, weights in zip(ready, all_weights, strict=True):
        middle = round((float(weights @ law.losses) - law.law.origin) / step)
        spectrum.multiply(weights, law.law.first - middle, law.count)
        centre += law.count * middle
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


def _slack(ready: list[_Tilted], all_weights: list[Floats], tilt: float) -> float:
    """Rounding of the tilts, the weights and their sum: relative, once a release."""
    slack = 2.0**-38
    for law, weights in zip(ready, all_weights, strict=True):
        slack += law.count * (16 + 2 * law.size_of_logs(weights, tilt)) * UNIT * 4
    if slack > 1:  # from there on relative errors multiply, and a window may be off
        raise TooWide
    return slack


def _spread(ready: list[_Tilted], all_weights: list[Floats]) -> float:
    variance = 0.0
    for law, weights in zip(ready, all_weights, strict=True):
        mean = float(weights @ law.losses)
        variance += law.count * float(weights @ (law.losses - mean) ** 2)
    return sqrt(max(variance, 1e-300))


def _transform_size(points: float) -> int:
    """The next 2^a, 3·2^a or 5·2^a."""
    if not points <= MOST_POINTS:  # also where losses so large left no number
        raise TooWide
    power = max(4, ceil(log2(points)))
    return next(n for n in (5 << power - 3, 3 << power - 2, 1 << power) if n >= points)


class _Spectrum:
    """A product of powers of transforms, with a bound on its error at each frequency.

    Frequencies where the product is certainly below any rounding are dropped on the way, and
    what they may hold is charged.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.kept = np.arange(size // 2 + 1)
        self.most = np.zeros(self.kept.size)  # ln of a bound on |product|
        self.relative = np.zeros(self.kept.size)  # ln of that bound over the length computed
        self.product = np.ones(self.kept.size, np.complex128)  # of those that are run rarely
        self.powers = np.zeros(self.kept.size, np.complex128)  # ln of the others' product
        self.turned = np.zeros(self.kept.size)  # the sizes of the terms of `powers`, added up
        self.rarely = 0
        self.dropped = 0.0
        self.growth = 0.0  # how far the logarithm of a dropped one may have grown since

    def multiply(self, weights: Floats, first: int, count: int) -> None:
        """By the transform of these weights, to this power."""
        factor = np.fft.rfft(_wrap_around(weights, first, self.size))
        factor = factor if factor.size == self.kept.size else factor[self.kept]
        norm = float(np.sqrt(weights @ weights))
        wrong = _transform_error(self.size) * sqrt(self.size) * norm + 4 * UNIT
        self.growth += count * wrong
        squares = factor.real**2 + factor.imag**2
        held = squares >= max(self._too_small(count) - wrong, 0.0) ** 2
        self._keep(held)
        self._times(factor[held], np.sqrt(squares[held]), wrong, count)
        self._keep(self.most > NEGLIGIBLE)

    def _too_small(self, count: int) -> float:
        """A length whose power makes any product negligible."""
        highest = float(self.most.max(initial=NEGLIGIBLE))
        return exp((NEGLIGIBLE - highest) / count)

    def _times(self, factor: Spectrum, lengths: Floats, wrong: float, count: int) -> None:
        self.most += count * np.log(lengths + wrong)
        self.relative += count * np.log1p(wrong / np.maximum(lengths, TINIEST))
        if count <= RARELY:
            self.product *= factor**count
            self.rarely += count
        else:
            power = count * np.log(factor)
            self.powers += power
            self.turned += np.abs(power)

    def _keep(self, held: NDArray[np.bool_]) -> None:
        gone = held.size - int(held.sum())
        if not gone:
            return
        self.dropped += 2 * gone * exp(NEGLIGIBLE)
        self.kept, self.most, self.relative = self.kept[held], self.most[held], self.relative[held]
        self.product, self.powers = self.product[held], self.powers[held]
        self.turned = self.turned[held]

    def inverted(self) -> tuple[Floats, float]:
        """The product transformed back, and a bound on the error of each entry."""
        if self.growth > HIGHEST:  # e^growth is no float
            raise TooWide
        values = self.product * np.exp(self.powers)
        length = np.abs(values)
        turns = 8 * UNIT * (1 + self.rarely + self.turned)
        # (|F| + e)^n - |F|^n = |F|^n (e^(n ln(1 + e / |F|)) - 1), and at most (|F| + e)^n.
        lost = 2 * np.exp(self.most)
        grown = length * np.expm1(np.minimum(self.relative, 30))
        bound = np.where(self.relative < 30, grown, lost) + length * turns
        total = float(bound.sum()) + self.dropped * exp(self.growth)
        error = 2 * total / self.size
        error += _transform_error(self.size) * float(np.sqrt(2 * length @ length / self.size))
        product = np.zeros(self.size // 2 + 1, np.complex128)
        product[self.kept] = values
        return np.fft.irfft(product, self.size), error


def _wrap_around(weights: Floats, first: int, size: int) -> Floats:
    """The weights on a circle of this size, from place `first` on."""
    start = first % size
    rounds = -(-(start + weights.size) // size)
    spread = np.zeros(rounds * size)
    spread[start : start + weights.size] = weights
    return spread.reshape(rounds, size).sum(axis=0) if rounds > 1 else spread


def _leak(laws: Laws) -> float:
    """The probability that some loss is infinite."""
    if any(law.infinite >= 1 for law, _ in laws):
        return 1.0
    return -expm1(sum(count * log1p(-law.infinite) for law, count in laws))


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
        return sum(law.count * law.log_moment(at) for law in ready)

    return at_most(certain, best(-1)), at_most(certain, best(1))


@dataclass(frozen=True)
class LossCurve:
    """delta(epsilon) over the window of a tilted sum, from one side."""

    losses: Floats
    hits: Floats  # the weight from each place on
    values: Floats  # the curve at each place
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
        reach = min(1.5 * self.spread, 3 / max(self.tilt, 1e-9))
        return -1.5 * self.spread <= epsilon - self.anchor <= reach

    def reaches(self, epsilon: float) -> bool:
        """Whether an epsilon lies in the window, or above it."""
        return float(self.losses[0]) + abs(self.shift) < epsilon

    def delta(self, epsilon: float) -> float:
        """The bound at an epsilon inside the window."""
        return self._at(int(np.searchsorted(self.losses, epsilon, side="right")), epsilon)

    def _at(self, place: int, epsilon: float) -> float:
        """A line in e^epsilon up to the place, the first one above epsilon."""
        bound = exp(min(self.scale, HIGHEST)) * self._inside(place, epsilon) * self.factor
        extra = self.extra * exp(min(self.scale - self.tilt * (epsilon - self.anchor), HIGHEST))
        return max(0.0, bound + extra + self.infinite)

    def _inside(self, place: int, epsilon: float) -> float:
        if place >= self.losses.size:
            return 0.0
        before = min(epsilon - float(self.losses[place]), 0.0)
        return float(-expm1(before) * self.hits[place] + exp(before) * self.values[place])

    def epsilon(self, delta: float) -> float | None:
        """Where the bound falls to delta; None if that is not in the window."""
        low, high = self._around(delta)
        if low < 0 or high >= self.losses.size:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._on_grid(middle) > delta else (low, middle)
        # Between the two grid points the curve is a line in e^epsilon.
        low_end, high_end = float(self.losses[low]), float(self.losses[high])
        for _ in range(60):
            between = (low_end + high_end) / 2
            if self._at(high, between) <= delta:
                high_end = between
            else:
                low_end = between
        return high_end

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


def curve_of(total: TiltedSum, *, upper: bool) -> LossCurve:
    """The bound from above, or from below, on the curve of the sum."""
    peak_at = int(np.argmax(total.masses))
    anchor = total.origin + (total.first + peak_at) * total.step
    start = total.from_loss(anchor - total.reach)
    masses = total.masses[start:]
    losses = total.losses(start)
    if not losses.size:
        raise TooWide
    sign = 1 if upper else -1
    masses = np.maximum(np.maximum(masses, 0.0) + sign * total.error, 0.0)
    past = np.arange(start - peak_at, start - peak_at + masses.size) * -(total.tilt * total.step)
    masses *= np.exp(past, out=past)
    hits = _suffix(masses)
    # Suffix sums of positive terms, twice, and exponents (proof, section 5).
    rounded = (16 + 4 * total.step) * masses.size * UNIT + 2.0**-38
    tilt = total.tilt
    peak = (tilt / (tilt + 1)) ** tilt / (tilt + 1) if tilt else 1.0
    return LossCurve(
        losses=losses,
        hits=hits,
        values=_values(hits, total.step, tilt),
        anchor=anchor,
        scale=total.log_moment - tilt * anchor,
        extra=sign * total.outside * peak,
        tilt=tilt,
        infinite=total.infinite,
        factor=1 + sign * (total.slack + rounded),
        shift=total.shift + 4 * UNIT * (abs(total.origin) + float(np.abs(losses[[0, -1]]).max())),
        spread=total.spread,
    )


def _suffix(values: Floats) -> Floats:
    return np.cumsum(values[::-1])[::-1]


def _values(hits: Floats, step: float, tilt: float) -> Floats:
    """The curve at each place: v_i = (1 - e^-h) told_(i+1) + e^-h v_(i+1), from the right.

    No term is negative, so no digits cancel. In blocks over which no factor is tiny.
    """
    values = np.zeros(hits.size)
    block = max(1, int(MAX_SUMMED_LOSS / ((tilt + 1) * step)))
    for stop in range(hits.size - 1, 0, -block):
        start = max(0, stop - block)
        largest = float(hits[start + 1])
        if largest > 0:
            falling = np.exp(np.arange(stop - start) * -step)  # from the first of the block on
            inner = _suffix(hits[start + 1 : stop + 1] / largest * falling) * (
                -expm1(-step) * largest
            )
            values[start:stop] = (inner + falling[-1] * exp(-step) * values[stop]) / falling
    return values


_FLAT = {"anchor": 0.0, "scale": 0.0, "extra": 0.0, "tilt": 0.0, "shift": 0.0, "spread": 0.0}
NOTHING_KNOWN, NOTHING_SHOWN = (
    LossCurve(np.zeros(1), np.zeros(1), np.zeros(1), infinite=delta, factor=1.0, **_FLAT)
    for delta in (1.0, 0.0)
)
