"""Principal components of a noisy matrix of products.

Rows, less a declared centre, are clipped to `data_norm`; the matrix Σ x xᵀ gets symmetric noise,
its diagonal too. Eigenvectors, variances and whatever is made of them are post-processing.

Theorem.  For one row of norm 1 the noise above the diagonal may be smaller by √2 than that which
Analyze Gauss adds, at the same price.
  Proven:   docs/explanation/proofs/statistics_learners.md, section 2
  Tested:   tests/learn/test_components.py

Dwork, Talwar, Thakurta, Zhang: Analyze Gauss: optimal bounds for privacy-preserving principal
component analysis (2014).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, Number, refusal
from letalone.learn.account import Account
from letalone.learn.features import column_bounds
from letalone.learn.features.column_bounds import PRIVATE, Norm, SumsPlan
from letalone.learn.noisy_sums import second_moments
from letalone.learn.noisy_sums.sums import NoisySums, noisy_sums
from letalone.learn.noisy_sums.wholes import Floats, within_norm
from letalone.learn.scikit import fitted_rows
from letalone.learn.training import Labels, PrivateEstimator, Released
from letalone.privacy import Budget
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource


@dataclass(frozen=True, slots=True)
class Components(SumsPlan):
    """The plan: a noisy matrix of products about a centre."""

    number: int
    centre: tuple[float, ...] | None
    norm: Norm
    noise: NoisySums
    width: int
    _model: ClassVar[str] = "PCA"
    _declared: ClassVar[tuple[str, ...]] = ("norm",)

    def _how(self) -> tuple[str, ...]:
        return (f"Centre: {'noisy mean' if self.centre is None else 'declared'}",)

    def _facts(self) -> Json:
        centre = PRIVATE if self.centre is None else [number.hex() for number in self.centre]
        return {"components": self.number, "centre": centre}

    def fitted(self, rows: Floats, labels: Labels | None, bits: BitSource) -> Released:
        del labels
        centre = np.zeros(self.width) if self.centre is None else np.array(self.centre)
        away = np.where(np.isfinite(rows), rows - centre, 0.0)
        norm = self.norm.known(away, self.noise, bits)
        exact = second_moments.exact_sums(within_norm(away, norm), np.zeros((len(rows), 1)))
        sums, radius = second_moments.release_sums(self.noise, exact, bits), float(norm)
        mean, covariance = _covariance(sums, centred=self.centre is None)
        return _decompose(covariance * radius**2, centre + mean * radius, self.number)


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):
    """Principal components; `data_norm` is declared, or found with "private".

    `center` is where rows are measured from: one number, one for each feature, or "private" for
    the noisy mean. `components_`, `mean_` and the explained variances are noisy.
    """

    components_: Floats
    mean_: Floats

    def __init__(
        self,
        n_components: int | None = None,
        epsilon: Number = 1.0,
        delta: Number = 0,
        *,
        data_norm: Number | str | None = None,
        center: object = PRIVATE,
        budget: Budget | Account | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon, self.delta = epsilon, delta
        self.data_norm, self.center = data_norm, center
        self._keep(budget)

    def _plan(self, width: int) -> Components:
        norm, centre = column_bounds.read_norm(self.data_norm), _centre(self.center, width)
        moments = second_moments.second_moment_measures(
            width, centred=centre is None, targets=False
        )
        measures = column_bounds.with_purchases(moments, norm)
        noise = noisy_sums(measures, epsilon=self.epsilon, delta=self.delta)
        return Components(_number(self.n_components, width), centre, norm, noise, width)

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """Rows in the coordinates of the components."""
        return (fitted_rows(self, X, missing="mean_") - self.mean_) @ self.components_.T

    def inverse_transform(self, X: Any) -> Floats:  # noqa: N803
        """Rows from their coordinates."""
        return np.asarray(X, np.float64) @ self.components_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def _covariance(sums: second_moments.Statistics, *, centred: bool) -> tuple[Floats, Floats]:
    rows = max(sums.rows, 1.0)
    if not centred:
        return np.zeros(len(sums.products)), sums.products / rows
    mean = sums.sums / rows
    mean = mean / max(1.0, float(np.linalg.norm(mean)))
    return mean, sums.products / rows - np.outer(mean, mean)


def _decompose(covariance: Floats, mean: Floats, number: int) -> Released:
    values, vectors = np.linalg.eigh(covariance)
    variances = np.maximum(values[::-1], 0.0)
    components = vectors[:, ::-1].T[:number]
    largest = np.argmax(np.abs(components), axis=1)
    components = components * np.sign(components[np.arange(number), largest])[:, np.newaxis]
    total = float(np.sum(variances))
    return {
        "components_": components,
        "mean_": mean,
        "explained_variance_": variances[:number],
        "explained_variance_ratio_": variances[:number] / (total or 1.0),
        "n_components_": number,
    }


def _centre(center: object, width: int) -> tuple[float, ...] | None:
    if isinstance(center, str):
        if center != PRIVATE:
            raise refusal("center", center, "numbers or 'private'")
        return None
    return column_bounds.column_of_numbers("center", center, width)


def _number(components: int | None, width: int) -> int:
    if components is None:
        return width
    number = int(COUNT.typed("n_components", components))
    if number > width:
        raise ParameterError(
            f"n_components is {number}, but there are {width} features: give at most {width}."
        )
    return number
