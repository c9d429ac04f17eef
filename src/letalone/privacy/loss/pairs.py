"""The two laws that are hardest to tell apart, as tails of their privacy loss.

For laws P and Q the loss is L = ln(dP/dQ). A `Pair` gives Pr[L > l] and Pr[L <= l] under
both, for many l at once, each right to a relative 2^-44. That is all the accountant needs.

  Proven:   docs/explanation/proofs/loss_distributions.md, section 2
  Tested:   T - e^l S against each curve's certified delta
  Assumed:  exp, log, expm1 and erfc of the platform are right to 2^-46 (they are to 2^-51)
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import erfc, exp, expm1, inf, log, log1p, sqrt
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ACCURACY = 2.0**-44
MAX_EXPONENT = 700.0


class LossTails(NamedTuple):
    """Pr[L > l] under P and under Q, and Pr[L <= l] under both."""

    p: Floats
    q: Floats
    p_below: Floats
    q_below: Floats

    def reversed(self) -> "LossTails":
        """The tails of the pair (Q, P) at -l; atoms at l itself must not exist."""
        return LossTails(self.q_below, self.p_below, self.q, self.p)


class Pair(Protocol):
    """The tails of the loss of two laws.

    Upper tails are right to a relative 2^-44, lower ones to that and an absolute `coarse`.
    """

    @property
    def infinite(self) -> float:
        """Pr[L = infinity] under P."""
        ...

    @property
    def coarse(self) -> float:
        """The absolute error of lower tails."""
        ...

    @property
    def misplaced(self) -> float:
        """The tails at l may be those at another loss, off by this times 1 + |l|."""
        ...

    def tails(self, losses: Floats) -> LossTails:
        """The tails at these losses."""
        ...


def _normal_tails(x: Floats) -> tuple[Floats, Floats]:
    """Pr[Z > x] and Pr[Z <= x]: the smaller one by erfc, the other is the rest."""
    sizes = (np.abs(x) * sqrt(0.5)).tolist()
    small = np.fromiter(map(erfc, sizes), np.float64, x.size) / 2
    above = x > 0
    return np.where(above, small, 1 - small), np.where(above, 1 - small, small)


@dataclass(frozen=True)
class GaussianPair:
    """N(mu, 1) and N(0, 1): the loss is N(mu^2/2, mu^2) under P."""

    mu: float
    infinite: float = 0.0
    coarse: float = 0.0
    misplaced: float = 0.0

    def tails(self, losses: Floats) -> LossTails:
        p, p_below = _normal_tails(losses / self.mu - self.mu / 2)
        q, q_below = _normal_tails(losses / self.mu + self.mu / 2)
        return LossTails(p, q, p_below, q_below)


@dataclass(frozen=True)
class LaplacePair:
    """Laplace laws at distance `ratio`: atoms at both ends, an exponential between."""

    ratio: float
    infinite: float = 0.0
    coarse: float = 0.0
    misplaced: float = 0.0

    def tails(self, losses: Floats) -> LossTails:
        """1 - e^((l - r)/2)/2 and e^(-(r + l)/2)/2 between -r and r."""
        r, inside = self.ratio, np.clip(losses, -self.ratio, self.ratio)
        falling, rising = np.exp((inside - r) / 2) / 2, np.exp(-(r + inside) / 2) / 2
        p, q_below = 1 - falling, 1 - rising
        low, high = losses < -r, losses >= r
        for side, at_low in ((p, 1.0), (rising, 1.0), (falling, 0.0), (q_below, 0.0)):
            side[low] = at_low
            side[high] = 1 - at_low
        return LossTails(p, rising, falling, q_below)


@dataclass(frozen=True)
class MirroredPair:
    """A pair whose curve is the same in both orders, from its tails at l >= 0."""

    upper: Callable[[Floats], tuple[Floats, Floats]]
    infinite: float = 0.0
    coarse: float = 2.0**-50
    misplaced: float = 0.0
    end: float = inf  # the largest loss

    def tails(self, losses: Floats) -> LossTails:
        """At l < 0 the tails are those of the other order, seen from the other side."""
        p, q = self.upper(np.abs(losses))
        above = losses >= 0
        return LossTails(
            np.where(above, p, 1 - q),
            np.where(above, q, 1 - p),
            np.where(above, 1 - p, q),
            np.where(above, 1 - q, p),
        )


def bounded_range_pair(epsilon: float) -> MirroredPair:
    """The worst exponential mechanism: see `BoundedRange`."""

    def upper(loss: Floats) -> tuple[Floats, Floats]:
        # T = (e^e - e^((e+l)/2)) / (e^e - 1), S = (e^((e-l)/2) - 1) / (e^e - 1)
        inside = np.minimum(loss, epsilon)
        scale = -np.expm1(-epsilon)
        p = -np.expm1((inside - epsilon) / 2) / scale
        # Beyond an epsilon of some 1400 there is no number, which `tilted` finds too wide.
        with np.errstate(over="ignore", invalid="ignore"):
            q = np.expm1((epsilon - inside) / 2) * exp(-epsilon) / scale
        return np.where(loss >= epsilon, 0.0, p), np.where(loss >= epsilon, 0.0, q)

    return MirroredPair(upper, end=epsilon)


@dataclass(frozen=True, eq=False)
class Atoms:
    """Finitely many losses with their probabilities under P, each right to 2^-44 relative.

    Losses are whole multiples of a unit where there is one, right to `unit_error` each, and
    else right to a relative 2^-44.
    """

    losses: Floats
    masses: Floats
    infinite: float = 0.0
    unit: Fraction | None = None
    unit_error: float = 0.0


Losses = Pair | Atoms


@dataclass(frozen=True)
class PoissonPair:
    """A record that is used with probability `rate`: ((1-rate) Q + rate P, Q), or its reverse.

    `base` is the pair (with the record, without it). If `removed`, P' is the mixture.
    """

    base: Pair
    rate: float
    removed: bool

    @property
    def coarse(self) -> float:
        return self.base.coarse

    @property
    def misplaced(self) -> float:
        return _rounded_away(self.rate)

    @property
    def infinite(self) -> float:
        """The record must be used, and the base must leak."""
        return self.rate * self.base.infinite if self.removed else 0.0

    def tails(self, losses: Floats) -> LossTails:
        """The loss is ln(1 - rate + rate e^L), or its negative."""
        base = self.base.tails(_unmix_losses(losses if self.removed else -losses, self.rate))
        mixed = LossTails(
            self._mix(base.p, base.q),
            base.q,
            self._mix(base.p_below, base.q_below),
            base.q_below,
        )
        return mixed if self.removed else mixed.reversed()

    def _mix(self, one: Floats, other: Floats) -> Floats:
        return (1 - self.rate) * other + self.rate * one


def _unmix_losses(losses: Floats, rate: float) -> Floats:
    """The l with 1 - rate + rate e^l = e^loss; -inf where there is none."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shifted = np.expm1(losses) / rate  # e^l - 1
        unmixed = np.where(shifted > 1e15, losses - np.log(rate), np.log1p(shifted))
    return np.where(shifted <= -1, -inf, unmixed)


def _rounded_away(rate: float) -> float:
    """e^l - 1 is right to three roundings, and dl = (1 - e^-l) times that (proof, section 2)."""
    return 2.0**-50 * (1 / (1 - rate) + log(1 / rate))


@dataclass(frozen=True)
class SplicedPair:
    """A batch of fixed size without replacement, under replace: symmetric about 0."""

    base: Pair
    rate: float
    coarse: float = 2.0**-50

    @property
    def misplaced(self) -> float:
        return _rounded_away(self.rate)

    @property
    def infinite(self) -> float:
        """The record must be used, and the base must leak."""
        return self.rate * self.base.infinite

    def tails(self, losses: Floats) -> LossTails:
        """At l >= 0 that of Poisson sampling, mirrored below."""
        return MirroredPair(self._upper).tails(losses)

    def _upper(self, losses: Floats) -> tuple[Floats, Floats]:
        at = PoissonPair(self.base, self.rate, removed=True).tails(losses)
        return at.p, at.q


def accuracy_of(pair: Pair) -> float:
    """How far tails above FAR_OUT may be off, as a share; a Gaussian's places are rounded."""
    match pair:
        case GaussianPair():
            return ACCURACY * max(1.0, pair.mu / 8)
        case PoissonPair() | SplicedPair():
            return accuracy_of(pair.base)
        case _:  # mixtures of Gaussians reach farther
            return ACCURACY * max(1.0, getattr(pair, "reach", 0.0) / 8)


def ends_of(pair: Pair) -> tuple[float, float]:
    """Losses between which all lie; right to a few roundings, for choosing grids by."""
    match pair:
        case LaplacePair():
            return -pair.ratio, pair.ratio
        case MirroredPair():
            return -pair.end, pair.end
        case PoissonPair():
            low, high = (_mix_loss(end, pair.rate) for end in ends_of(pair.base))
            return (low, high) if pair.removed else (-high, -low)
        case SplicedPair():
            high = _mix_loss(ends_of(pair.base)[1], pair.rate)
            return -high, high
        case _:
            return -inf, inf


def _mix_loss(loss: float, rate: float) -> float:
    return inf if loss > MAX_EXPONENT else log1p(rate * expm1(loss))
