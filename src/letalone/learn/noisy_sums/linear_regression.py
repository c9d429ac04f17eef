"""Linear regression: `LinearRegression` and `Ridge`.

Rows are clipped to `data_norm` and targets to `target_bounds`. By the method "statistics" the sums
that least squares needs get noise once, and the line is computed from them: the mean of targets,
unbiased, but d² noisy numbers. The convex methods "objective", "output" and "gradient" minimise a
pseudo-Huber loss instead, with noise in d numbers.

Least squares from noisy sums, with the standard error that the noise gives to coefficients:

    (A + λ) w = b,   A = Σ (x − x̄)(x − x̄)ᵀ,   b = Σ (x − x̄)(y − ȳ),   all from noisy sums

λ is at least what keeps the smallest eigenvalue of A + λ above the size of the noise in A. That
eigenvalue is read off the noisy matrix, so it costs nothing: it is post-processing. AdaSSP, whose
idea it is, pays for it with a third of epsilon.

  Proven:   docs/explanation/proofs/statistics_learners.md, sections 1, 2 and 5: A + λ is
            positive definite whatever the noise; errors are those of the first order in the noise
  Tested:   tests/learn/test_regression.py: errors against the spread of repeated fits
  Assumed:  of least squares, nothing that privacy rests on

Wang: Revisiting differentially private linear regression: optimal and adaptive prediction and
estimation in unbounded domain (2018), algorithm 2.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, ClassVar, Literal, cast

import numpy as np
from sklearn.base import RegressorMixin

from letalone.exact.typed import COUNT, DELTA, EPSILON, Constraint, Number, read_flag, refusal
from letalone.learn.account import Account
from letalone.learn.convex.methods import ConvexSetting
from letalone.learn.convex.robust_lines import (
    AUTO,
    CONSTANT,
    LOSS,
    METHODS,
    RobustLine,
    robust_line,
)
from letalone.learn.features import column_bounds
from letalone.learn.features.classes import numbers_of
from letalone.learn.features.column_bounds import BoundsLike, ColumnBounds, Norm, SumsPlan
from letalone.learn.noisy_sums.second_moments import (
    Statistics,
    exact_sums,
    release_sums,
    second_moment_measures,
)
from letalone.learn.noisy_sums.sums import UNIT, NoisySums, noisy_sums
from letalone.learn.noisy_sums.wholes import Floats, within_bounds, within_norm
from letalone.learn.scikit import fitted_rows
from letalone.learn.training import Labels, PrivateEstimator, Released
from letalone.privacy import Budget
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource

MethodName = Literal["auto", "statistics", "objective", "output", "gradient"]
PRECISE = 0.01  # noise of this share of the usual eigenvalue hardly matters
STRENGTH = Constraint(
    "a number that is 0 or more",
    lambda x: 0 <= x < Fraction(10) ** 100,
    "It is what squares of coefficients cost next to the sum of squared errors.",
    (-1, float("nan"), float("inf")),
)
SAFETY = 1.0  # how many times the usual size of the noise λ + the least eigenvalue must be


@dataclass(frozen=True, slots=True)
class LeastSquaresPlan(SumsPlan):
    """The plan: noisy sums of products, and the line that they give."""

    norm: Norm
    target: ColumnBounds
    noise: NoisySums
    strength: Fraction
    intercept: bool
    _model: ClassVar[str] = "least squares"
    _declared: ClassVar[tuple[str, ...]] = ("norm", "target")

    def _how(self) -> tuple[str, ...]:
        return ("statistics: sums of products get noise, and the regularisation follows from them",)

    def _facts(self) -> Json:
        return {"strength": str(self.strength), "intercept": int(self.intercept)}

    def fitted(self, rows: Floats, labels: Labels | None, bits: BitSource) -> Released:
        targets = numbers_of(cast("Labels", labels))[:, np.newaxis]
        norm = self.norm.known(rows, self.noise, bits)
        lower, upper = self.target.known(targets, self.noise, bits)
        middle, half = self._scale(lower, upper)
        exact = exact_sums(
            within_norm(rows, norm), within_bounds(targets, middle - half, middle + half)
        )
        radius = float(norm)
        strength = float(self.strength) / radius**2
        sums = release_sums(self.noise, exact, bits)
        line = solve_line(sums, self.noise, strength=strength, centred=self.intercept)
        unit = float(half[0])
        return {
            "coef_": line.weights * unit / radius,
            "intercept_": float(middle[0]) + unit * line.intercept if self.intercept else 0.0,
            "coef_error_": line.weight_errors * unit / radius,
            "intercept_error_": unit * line.intercept_error if self.intercept else 0.0,
            "regularization_": line.strength * radius**2,
        }

    def _scale(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """The middle and half width of targets; without an intercept the middle is 0."""
        if self.intercept:
            return lower / 2 + upper / 2, upper / 2 - lower / 2
        return np.zeros(1), np.maximum(np.abs(lower), np.abs(upper))


class LinearRegression(RegressorMixin, PrivateEstimator):
    """Least squares; `data_norm` and `target_bounds` are declared, or found with "private".

    `method` is "statistics", or "objective", "output" or "gradient", which need less noise and are
    less drawn by outlying targets; "auto" is "objective", or "statistics" where `rows`, a public
    guess of how many rows there are, is so large that its noise hardly matters. With "statistics"
    (and "output") `coef_error_` and `intercept_error_` are the standard errors that the noise
    adds, to the first order; `regularization_` is the λ that the noise made necessary.
    """

    _needs_labels = True
    coef_: Floats
    intercept_: float

    def __init__(
        self,
        epsilon: Number = 1.0,
        delta: Number = 0,
        *,
        data_norm: Number | str | None = None,
        target_bounds: BoundsLike = None,
        method: MethodName = "auto",
        rows: int | None = None,
        fit_intercept: bool = True,
        budget: Budget | Account | None = None,
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.data_norm, self.target_bounds = data_norm, target_bounds
        self.method, self.rows = method, rows
        self.fit_intercept = fit_intercept
        self._keep(budget)

    def _plan(self, width: int) -> LeastSquaresPlan | RobustLine:
        if self.method not in (AUTO, "statistics", *METHODS):
            names = "'auto', 'statistics', 'objective', 'output' or 'gradient'"
            raise refusal("method", self.method, names)
        if self.method in METHODS:
            return self._robust(width)
        squares = self._least_squares(width)
        if self.method != AUTO or self._is_precise(squares, width):
            return squares
        return self._robust(width)

    def _is_precise(self, squares: LeastSquaresPlan, width: int) -> bool:
        """Whether the noise in sums of products hardly matters, by the declared number of rows."""
        if squares.strength and squares.norm.declared is None:
            return True  # what alpha means is known only where the norm is
        rows = 0 if self.rows is None else int(COUNT.typed("rows", self.rows))
        usual = rows / (4 * width)  # an eigenvalue of the matrix, in units of the norm
        return noise_size(squares.noise, width) <= PRECISE * usual

    def _robust(self, width: int) -> RobustLine:
        setting = ConvexSetting(
            LOSS,
            width,
            CONSTANT if read_flag("fit_intercept", self.fit_intercept) else Fraction(0),
            EPSILON.typed("epsilon", self.epsilon),
            DELTA.typed("delta", self.delta),
            None if self.rows is None else int(COUNT.typed("rows", self.rows)),
        )
        return robust_line(
            self.method,
            norm=column_bounds.read_norm(self.data_norm),
            target=column_bounds.read_bounds(self.target_bounds, 1, name="target_bounds"),
            setting=setting,
            strength=self._strength(),
        )

    def _least_squares(self, width: int) -> LeastSquaresPlan:
        norm = column_bounds.read_norm(self.data_norm)
        target = column_bounds.read_bounds(self.target_bounds, 1, name="target_bounds")
        intercept = read_flag("fit_intercept", self.fit_intercept)
        moments = second_moment_measures(width, centred=intercept, targets=True)
        measures = column_bounds.with_purchases(moments, norm, target)
        noise = noisy_sums(measures, epsilon=self.epsilon, delta=self.delta)
        return LeastSquaresPlan(norm, target, noise, self._strength(), intercept)

    def _strength(self) -> Fraction:
        return Fraction(0)

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """The line at each row."""
        return fitted_rows(self, X) @ self.coef_ + self.intercept_


class Ridge(LinearRegression):
    """Least squares where `alpha` times the squares of coefficients is added to the sum."""

    def __init__(
        self,
        epsilon: Number = 1.0,
        delta: Number = 0,
        *,
        alpha: Number = 1.0,
        data_norm: Number | str | None = None,
        target_bounds: BoundsLike = None,
        method: MethodName = "auto",
        rows: int | None = None,
        fit_intercept: bool = True,
        budget: Budget | Account | None = None,
    ) -> None:
        super().__init__(
            epsilon,
            delta,
            data_norm=data_norm,
            target_bounds=target_bounds,
            method=method,
            rows=rows,
            fit_intercept=fit_intercept,
            budget=budget,
        )
        self.alpha = alpha

    def _strength(self) -> Fraction:
        return STRENGTH.typed("alpha", self.alpha)


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
