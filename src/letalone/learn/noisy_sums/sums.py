"""Noisy sums over rows: several kinds at once, each with its share of the noise.

A `Measure` is a vector of whole-number sums of which one row moves no more than `l1` and `l2`.
With a delta all of them get Gaussian noise, of variance l2² · s² / share, where s is the noise for
a sensitivity of 1; or, always without a delta, geometric noise that spends epsilon · share.

Theorem.  All measures together reveal at most `privacy`: GaussianDP(1 / s), or PureDP(epsilon).
A symmetric matrix of products x_i·x_j gets independent noise on and above its diagonal, that
above it smaller by √2, for the price of ‖x‖² ≤ l2.
  Proven:   docs/explanation/proofs/statistics_learners.md, sections 1 and 2
  Tested:   tests/learn/test_sums.py: against brute force over rows, and the law of the noise
  Assumed:  fewer than 2^28 rows, so that sums have 63 bits
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt, sqrt

import numpy as np

from letalone.exact.typed import DELTA, EPSILON, Number
from letalone.learn.noisy_sums.wholes import BITS, Floats, Wholes
from letalone.mechanisms import Gaussian, Geometric
from letalone.privacy import ADD_REMOVE, GaussianDP, Privacy, PureDP
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource

UNIT = 2**BITS  # the largest size of a coordinate, in steps
ROUNDING = 2**10  # a sum of 63 bits moves by less than this when it becomes a double
ROOT_BITS = 40


@dataclass(frozen=True, slots=True)
class Measure:
    """Whole-number sums, how far one row moves them, their weight in the split, how often asked."""

    name: str
    l1: int
    l2: Fraction
    weight: int = 1
    times: int = 1


@dataclass(frozen=True, slots=True)
class NoisySums:
    """The noise of all measures of one fit."""

    epsilon: Fraction
    delta: Fraction
    measures: tuple[Measure, ...]
    gaussian: bool

    @property
    def privacy(self) -> Privacy:
        """What all sums together reveal, each measure asked as often as it says."""
        curve = GaussianDP(1 / self._unit) if self.gaussian else PureDP(self.epsilon)
        return curve.with_neighbours(ADD_REMOVE)

    def release(self, name: str, sums: Wholes, bits: BitSource) -> Floats:
        return _add_noise(self._mechanism(name), sums, bits)

    def release_symmetric(self, name: str, products: Wholes, bits: BitSource) -> Floats:
        """A symmetric matrix with noise on its diagonal and, smaller by √2, above it."""
        above = np.triu_indices(len(products), 1)
        noisy = np.zeros(products.shape)
        noisy[above] = _add_noise(self._lighter(name), products[above], bits)
        noisy += noisy.T
        np.fill_diagonal(noisy, self.release(name, np.diagonal(products).copy(), bits))
        return noisy

    def deviation(self, name: str, *, symmetric: bool = False) -> float:
        """The standard deviation of the noise; of what lies above the diagonal if symmetric."""
        mechanism = self._lighter(name) if symmetric else self._mechanism(name)
        if isinstance(mechanism, Gaussian):
            return float(mechanism.sigma)
        decay = np.exp(-1 / float(mechanism.scale))
        return float(sqrt(2 * decay) / -np.expm1(-1 / float(mechanism.scale)))

    def described(self) -> Json:
        kept = [
            [measure.name, str(self._share(measure)), str(_scale(self._mechanism(measure.name)))]
            for measure in self.measures
        ]
        return {"noise": self.family, "measures": kept}

    @property
    def family(self) -> str:
        return "Gaussian" if self.gaussian else "geometric"

    @property
    def words(self) -> str:
        shares = [
            (measure.name, float(measure.times * self._share(measure))) for measure in self.measures
        ]
        parts = ", ".join(f"{name} {share:.0%}" for name, share in shares)
        return f"{self.family} noise; its split: {parts}"

    @property
    def _unit(self) -> Fraction:
        return Gaussian(epsilon=self.epsilon, delta=self.delta, sensitivity=1).sigma

    def _share(self, measure: Measure) -> Fraction:
        return Fraction(measure.weight, sum(other.weight * other.times for other in self.measures))

    def _mechanism(self, name: str) -> Gaussian | Geometric:
        measure = next(candidate for candidate in self.measures if candidate.name == name)
        share = self._share(measure)
        if not self.gaussian:
            return Geometric(epsilon=self.epsilon * share, sensitivity=measure.l1)
        return Gaussian(
            sigma=measure.l2 * self._unit * root_above(1 / share), sensitivity=measure.l2
        )

    def _lighter(self, name: str) -> Gaussian | Geometric:
        on_diagonal = self._mechanism(name)
        if isinstance(on_diagonal, Geometric):
            return on_diagonal
        return Gaussian(
            sigma=on_diagonal.sigma * root_above(Fraction(1, 2)),
            sensitivity=on_diagonal.sensitivity,
        )


def noisy_sums(measures: Sequence[Measure], *, epsilon: Number, delta: Number) -> NoisySums:
    """The family with less noise: its variances in units of what a row may add, added up."""
    price = EPSILON.typed("epsilon", epsilon), DELTA.typed("delta", delta)
    pure = NoisySums(*price, tuple(measures), gaussian=False)
    if price[1] == 0:
        return pure
    normal = NoisySums(*price, tuple(measures), gaussian=True)
    return min(pure, normal, key=_spread)


def root_above(number: Fraction | int) -> Fraction:
    """A rational at or above the root, by less than 2^-40."""
    scaled = Fraction(number) * 4**ROOT_BITS
    integer = -(-scaled.numerator // scaled.denominator)
    return Fraction(isqrt(integer - 1) + 1, 2**ROOT_BITS) if integer > 0 else Fraction(0)


def of_rows(weight: int = 1) -> Measure:
    """The number of rows."""
    return Measure("rows", 1, Fraction(1), weight)


def in_a_ball(name: str, width: int, *, degree: int, weight: int = 1) -> Measure:
    """Vectors of a norm of at most 2^17 steps, or of as much times a number of 2^17 steps."""
    largest = UNIT**degree
    slack = ROUNDING * root_above(width) if degree > 1 else 0
    return Measure(name, ceil(largest * root_above(width)), largest + Fraction(slack), weight)


def in_a_box(name: str, width: int, *, degree: int, weight: int = 1) -> Measure:
    """Vectors whose every entry is at most 2^17 steps, or 2^34 where the degree is 2."""
    largest = UNIT**degree + (ROUNDING if degree > 1 else 0)
    return Measure(name, width * UNIT**degree, largest * root_above(width), weight)


def products_in_a_ball(name: str, width: int, *, weight: int = 1) -> Measure:
    """Symmetric matrices of products, of vectors of a norm of at most 2^17 steps."""
    triangle = UNIT**2 // 2 * (width + 1)
    return Measure(name, triangle, Fraction(UNIT**2 + ROUNDING * width), weight)


def _spread(sums: NoisySums) -> float:
    return sum((sums.deviation(measure.name) / float(measure.l2)) ** 2 for measure in sums.measures)


def _scale(mechanism: Gaussian | Geometric) -> Fraction:
    return mechanism.sigma if isinstance(mechanism, Gaussian) else mechanism.scale


def _add_noise(mechanism: Gaussian | Geometric, sums: Wholes, bits: BitSource) -> Floats:
    if isinstance(mechanism, Gaussian):  # doubles, which are not clamped at 2^53
        return mechanism.release(sums.astype(np.float64), bits=bits)
    return mechanism.release(sums, bits=bits).astype(np.float64)
