"""The tails of the loss of two mixtures of Gaussians: groups under Poisson sampling.

P = sum_i Bin(a, q)_i N(i mu, 1) and Q = sum_j Bin(b, q)_j N(-j mu, 1), as in `SampledGroup`.
The loss l(x) = ln(P / Q) rises with x. To give the tails at a loss, the x that has it is
found by Newton's method between points of a table; the tails at x are sums of normal tails. The
loss at that x is off by no more than a bound that is computed along with it (`misplaced`), and
below the loss asked for, but where the loss hardly changes.

  Proven:   docs/explanation/proofs/loss_distributions.md, section 7
  Tested:   T - e^l S against the certified curve; the inverse against the loss
  Assumed:  exp, log, log1p, expm1 and erfc of the platform are right to 2^-51
"""

from dataclasses import dataclass
from functools import lru_cache
from math import comb, erfc, inf, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from letalone.privacy.loss.pairs import Floats, LossTails

TABLE = 4096
REACH = 38.0  # beyond 38 standard deviations no float holds a tail
CHUNK = 1 << 14
MOST_STEPS = 80
CLOSE = 2.0**-52
LOW = -0.5
UNIT = 2.0**-53
TINIEST = 1e-300
MISS = 4.0  # a loss found is below the one asked for by at most four times its error


@dataclass(frozen=True)
class MixturePair:
    """The pair for a group with `first` records only in the one table, `second` in the other."""

    mu: float
    rate: float
    first: int
    second: int
    infinite: float = 0.0
    coarse: float = 0.0

    @property
    def misplaced(self) -> float:
        """How far `_inverse` may be from the loss asked for, over 1 + |l|."""
        return _table(self).misplaced

    @property
    def reach(self) -> float:
        """How far apart the centres of the Gaussians are."""
        return self.mu * (self.first + self.second)

    def tails(self, losses: Floats) -> LossTails:
        pieces = [self._tails(losses[k : k + CHUNK]) for k in range(0, losses.size, CHUNK)]
        return LossTails(*(np.concatenate(side) for side in zip(*pieces, strict=True)))

    @property
    def least_loss(self) -> float:
        """Below this is no loss: a ln(1 - q) where the group is only in the first table."""
        return self.first * log1p(-self.rate) if self.second == 0 else -inf

    @property
    def largest_loss(self) -> float:
        """Above this is no loss: -b ln(1 - q) where the group is only in the second table."""
        return -self.second * log1p(-self.rate) if self.first == 0 else inf

    def _tails(self, losses: Floats) -> LossTails:
        inside = self.tails_at(_inverse(self, losses))
        ends = [losses < self.least_loss, losses >= self.largest_loss]
        sides = zip(inside, (1.0, 1.0, 0.0, 0.0), strict=True)
        return LossTails(*(np.select(ends, [full, 1 - full], side) for side, full in sides))

    def tails_at(self, places: Floats) -> LossTails:
        """Of both mixtures at each x."""
        p, p_below = _mixed_tails(places, self.mu, weights(self.first, self.rate))
        q, q_below = _mixed_tails(places, -self.mu, weights(self.second, self.rate))
        return LossTails(p, q, p_below, q_below)

    def loss(self, places: Floats) -> tuple[Floats, Floats]:
        """The loss at each x, and its slope."""
        p = _log_mixture(places, self.mu, weights(self.first, self.rate))
        q = _log_mixture(-places, self.mu, weights(self.second, self.rate))
        return p[0] - q[0], self.mu * (p[1] + q[1])

    def error(self, places: Floats) -> Floats:
        """How far the floats of `loss` may be off at each x."""
        p = _error(places, self.mu, weights(self.first, self.rate))
        return p + _error(-places, self.mu, weights(self.second, self.rate))


@lru_cache(maxsize=256)
def weights(count: int, rate: float) -> Floats:
    """Bin(count, rate)."""
    rest = log1p(-rate)
    chances = [comb(count, i) * rate**i * np.exp((count - i) * rest) for i in range(count + 1)]
    return np.array(chances)


def _mixed_tails(places: Floats, shift: float, chances: Floats) -> tuple[Floats, Floats]:
    """P[x > t] and P[x <= t], each normal tail from the smaller side."""
    distances = places[:, None] - shift * np.arange(chances.size)
    flat = np.abs(distances * sqrt(0.5)).ravel().tolist()
    small = np.fromiter(map(erfc, flat), np.float64, distances.size).reshape(distances.shape) / 2
    above = np.where(distances > 0, small, 1 - small)
    return above @ chances, np.where(distances > 0, 1 - small, small) @ chances


def _log_mixture(places: Floats, mu: float, chances: Floats) -> tuple[Floats, Floats]:
    """ln sum_i w_i e^(x_i) for x_i = i mu (x - i mu / 2), and the mean of i there."""
    if chances.size == 1:
        return np.zeros(places.size), np.zeros(places.size)
    counts = np.arange(chances.size)
    exponents = (counts * mu) * (places[:, None] - counts * (mu / 2))
    top = exponents.max(axis=1)
    shares = np.exp(exponents - top[:, None]) * chances
    total = shares.sum(axis=1)
    value = top + np.log(total)
    near = (top < 1.0) & (value > LOW)
    if near.any():  # the logarithm of 1 + a small number keeps its digits
        value[near] = np.log1p(np.expm1(exponents[near]) @ chances)
    return value, shares @ counts / total


def _error(places: Floats, mu: float, chances: Floats) -> Floats:
    """What the floats of `_log_mixture` can lose: each x_i is right to three units of its size
    and one of what was subtracted, each weight to its count of factors.
    """
    counts = np.arange(chances.size)
    exponents = (counts * mu) * (places[:, None] - counts * (mu / 2))
    rounded = 4 * np.abs(exponents) + (counts * mu) ** 2 / 2
    top = exponents.max(axis=1)
    shares = np.exp(exponents - top[:, None]) * chances
    total = shares.sum(axis=1)
    value: Floats = top + np.log(total)
    far: Floats = (shares * rounded).sum(axis=1) / total + chances.size + 16 + np.abs(top)
    moved = np.abs(np.expm1(np.minimum(exponents, 1.0))) * (chances.size + 16)
    size: Floats = (moved + np.exp(np.minimum(exponents, 1.0)) * rounded) @ chances
    near: Floats = 2 * size / np.exp(np.minimum(value, 0.0))
    return UNIT * (np.where((top < 1.0) & (value > LOW), near, far) + 4 * np.abs(value))


@dataclass(frozen=True)
class _Table:
    """The loss at even steps of x, with its slope and its error up to the next step."""

    places: Floats
    losses: Floats
    slopes: Floats
    errors: Floats
    misplaced: float


@lru_cache(maxsize=256)
def _table(pair: MixturePair) -> _Table:
    ends = -REACH - pair.second * pair.mu, REACH + pair.first * pair.mu
    places = np.linspace(*ends, TABLE)
    losses, slopes = pair.loss(places)
    error = pair.error(places)
    # Between two points of the table the error is less than twice the larger of theirs.
    errors = 2 * np.maximum(error[1:], error[:-1])
    misplaced = MISS * float((errors / (1 + np.abs(losses[1:]))).max())
    return _Table(places, np.maximum.accumulate(losses), slopes, errors, misplaced)


def _inverse(pair: MixturePair, losses: Floats) -> Floats:
    """An x for each loss, at which the loss is it or hardly less."""
    table = _table(pair)
    cell = np.clip(np.searchsorted(table.losses, losses), 1, TABLE - 1)
    low, high = table.places[cell - 1].copy(), table.places[cell].copy()
    places, error = _guess(table, cell, losses), table.errors[cell - 1]
    met = np.zeros(losses.size, np.bool_)
    for _ in range(MOST_STEPS):
        losses_there, slope = pair.loss(places)
        gap = losses - error - losses_there
        low, high = np.where(gap >= 0, places, low), np.where(gap >= 0, high, places)
        met = (gap >= 0) & (gap <= 2 * error)
        if (met | (high - low <= CLOSE * (1 + np.abs(places)))).all():
            break
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = places + (gap - error) / slope
        inside = (step > low) & (step < high)
        places = np.where(met, places, np.where(inside, step, (low + high) / 2))
    return np.where(met, places, low)


def _guess(table: _Table, cell: NDArray[np.int64], losses: Floats) -> Floats:
    """Hermite's cubic through both ends of the cell; nothing depends on it but speed."""
    before, after = table.losses[cell - 1], table.losses[cell]
    width = np.maximum(after - before, TINIEST)
    at = np.clip((losses - before) / width, 0.0, 1.0)
    low, high = table.places[cell - 1], table.places[cell]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        start, end = width / table.slopes[cell - 1], width / table.slopes[cell]
        bend = at * (1 - at) * ((1 - at) * (start - (high - low)) - at * (end - (high - low)))
    straight = low + at * (high - low)
    return np.clip(np.where(np.isfinite(bend), straight + bend, straight), low, high)
