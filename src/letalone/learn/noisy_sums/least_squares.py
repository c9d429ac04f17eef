"""Least squares from noisy sums, with the standard error that the noise gives to coefficients.

    (A + λ) w = b,   A = Σ (x − x̄)(x − x̄)ᵀ,   b = Σ (x − x̄)(y − ȳ),   all from noisy sums

λ is at least what keeps the smallest eigenvalue of A + λ above the size of the noise in A. That
eigenvalue is read off the noisy matrix, so it costs nothing: it is post-processing. AdaSSP, whose
idea it is, pays for it with a third of epsilon.

  Proven:   docs/explanation/proofs/statistics_learners.md, section 5: A + λ is positive definite
            whatever the noise; errors are those of the first order in the noise
  Tested:   tests/learn/test_regression.py: errors against the spread of repeated fits
  Assumed:  nothing that privacy rests on

Wang: Revisiting differentially private linear regression: optimal and adaptive prediction and
estimation in unbounded domain (2018), algorithm 2.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from letalone.learn.noisy_sums.second_moments import Statistics
from letalone.learn.noisy_sums.sums import UNIT, NoisySums
from letalone.learn.noisy_sums.wholes import Floats

SAFETY = 1.0  # how many times the usual size of the noise λ + the least eigenvalue must be


@dataclass(frozen=True, slots=True)
class Line:
    """Weights and intercept, their standard errors, and the λ that was used."""

    weights: Floats
    intercept: float
    weight_errors: Floats
    intercept_error: float
    strength: float


@dataclass(frozen=True, slots=True)
class _Centred:
    products: Floats
    targets: Floats
    rows: float
    mean: Floats
    target: float


def solve_line(stats: Statistics, noise: NoisySums, *, strength: float, centred: bool) -> Line:
    """The line, in the units of the statistics; `strength` is the λ that was asked for."""
    system = _centre_sums(stats) if centred else _as_is(stats)
    values, vectors = np.linalg.eigh(system.products)
    size = SAFETY * noise_size(noise, len(values))
    used = max(strength, size - float(values[0]), 0.0)
    inverse = (vectors / (values + used)) @ vectors.T
    weights = inverse @ system.targets
    offset = system.target - float(system.mean @ weights)
    covariance = _covariance(system, noise, inverse, weights, offset, centred=centred)
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    return Line(weights, offset, errors[:-1], float(errors[-1]), used)


def noise_size(noise: NoisySums, width: int) -> float:
    """About the largest eigenvalue of the noise in the matrix of products."""
    return 2 * sqrt(width) * noise.deviation("products", symmetric=True) / UNIT**2


def _as_is(stats: Statistics) -> _Centred:
    nothing = np.zeros(len(stats.targets))
    return _Centred(stats.products, stats.targets, 1.0, nothing, 0.0)


def _centre_sums(stats: Statistics) -> _Centred:
    rows = max(stats.rows, 1.0)
    mean = stats.sums / rows
    mean = mean / max(1.0, float(np.linalg.norm(mean)))
    target = float(np.clip(stats.target / rows, -1.0, 1.0))
    products = stats.products - rows * np.outer(mean, mean)
    return _Centred(products, stats.targets - rows * mean * target, rows, mean, target)


def _covariance(
    found: _Centred,
    noise: NoisySums,
    inverse: Floats,
    weights: Floats,
    offset: float,
    *,
    centred: bool,
) -> Floats:
    """Of (weights, intercept), to the first order in the noise of all sums."""
    mean, width = found.mean, len(weights)
    spread = _of_products(noise, weights)
    spread += np.eye(width) * (noise.deviation("products with targets") / UNIT**2) ** 2
    onto = np.vstack([inverse, -mean @ inverse])
    total = onto @ spread @ onto.T
    if centred:
        names = ("sums", UNIT), ("targets", UNIT), ("rows", 1)
        sums, targets, rows = (noise.deviation(name) / unit for name, unit in names)
        intercept_alone = np.vstack([np.zeros((width, width)), -weights / found.rows])
        by_sums = onto @ (np.outer(mean, weights) - offset * np.eye(width)) + intercept_alone
        by_target = onto @ -mean + np.append(np.zeros(width), 1 / found.rows)
        total += sums**2 * by_sums @ by_sums.T
        total += (targets**2 + (offset * rows) ** 2) * np.outer(by_target, by_target)
    return total


def _of_products(noise: NoisySums, weights: Floats) -> Floats:
    """The covariance of E·w for the symmetric noise E of the products."""
    above = (noise.deviation("products", symmetric=True) / UNIT**2) ** 2
    diagonal = (noise.deviation("products") / UNIT**2) ** 2
    square = weights**2
    on_diagonal = diagonal * square + above * (np.sum(square) - square)
    spread = above * np.outer(weights, weights)
    np.fill_diagonal(spread, on_diagonal)
    return spread
