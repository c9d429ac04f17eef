"""Scalers: columns with a mean of 0 and a variance of 1, or between 0 and 1.

`StandardScaler` buys the moments of every column in one release. `MinMaxScaler` takes declared
bounds, which is free, or buys them. Neither counts rows exactly.

  Proven:   docs/explanation/proofs/statistics_learners.md, sections 1, 3 and 4
  Tested:   tests/learn/test_scaling.py
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from letalone.errors import ParameterError
from letalone.exact.typed import Number, read_flag
from letalone.learn.account import Account
from letalone.learn.features import column_bounds
from letalone.learn.features.column_bounds import FARTHEST, BoundsLike, ColumnBounds, SumsPlan
from letalone.learn.noisy_sums.group_moments import exact_moments, moment_noise, released_moments
from letalone.learn.noisy_sums.sums import NoisySums, noisy_sums
from letalone.learn.noisy_sums.wholes import Floats
from letalone.learn.scikit import fitted_rows
from letalone.learn.training import FitPlan, Labels, PrivateEstimator, Released
from letalone.privacy import ADD_REMOVE, Budget, Privacy, compose
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource

NOTHING = compose().with_neighbours(ADD_REMOVE)  # what declared bounds reveal


@dataclass(frozen=True, slots=True)
class ColumnMoments(SumsPlan):
    """The plan: moments of all columns."""

    bounds: ColumnBounds
    noise: NoisySums
    _model: ClassVar[str] = "StandardScaler"

    def fitted(self, rows: Floats, labels: Labels | None, bits: BitSource) -> Released:
        del labels
        lower, upper = self.bounds.known(rows, self.noise, bits)
        exact = exact_moments(rows, np.ones((len(rows), 1)), lower=lower, upper=upper)
        mean, variance = released_moments(self.noise, exact, bits).in_units(lower, upper)
        return {"mean_": mean[0], "var_": variance[0], "scale_": np.sqrt(variance[0])}


class StandardScaler(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):
    """Columns less their noisy mean (`with_mean`), over their noisy deviation (`with_std`).

    `bounds` are declared, or found with "private". There is no `n_samples_seen_`: the number of
    rows is private.
    """

    mean_: Floats
    scale_: Floats

    def __init__(
        self,
        epsilon: Number = 1.0,
        delta: Number = 0,
        *,
        bounds: BoundsLike = None,
        with_mean: bool = True,
        with_std: bool = True,
        budget: Budget | Account | None = None,
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.bounds, self.with_mean, self.with_std = bounds, with_mean, with_std
        self._keep(budget)

    def _plan(self, width: int) -> ColumnMoments:
        read_flag("with_mean", self.with_mean)
        read_flag("with_std", self.with_std)
        bounds = column_bounds.read_bounds(self.bounds, width)
        noise = moment_noise(bounds, epsilon=self.epsilon, delta=self.delta)
        return ColumnMoments(bounds, noise)

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """Rows in units of the deviation; what is missing becomes the mean."""
        rows = np.clip(fitted_rows(self, X, missing="mean_"), -FARTHEST, FARTHEST)
        away = rows - self.mean_ if self.with_mean else rows
        return away / self.scale_ if self.with_std else away

    def inverse_transform(self, X: Any) -> Floats:  # noqa: N803
        """Rows in their own units."""
        scaled = np.asarray(X, np.float64)
        away = scaled * self.scale_ if self.with_std else scaled
        return away + self.mean_ if self.with_mean else away


@dataclass(frozen=True, slots=True)
class Extent(SumsPlan):
    """The plan: bounds, for nothing where they are declared."""

    bounds: ColumnBounds
    noise: NoisySums
    _model: ClassVar[str] = "MinMaxScaler"

    @property
    def privacy(self) -> Privacy:
        return self.noise.privacy if self.noise.measures else NOTHING

    @property
    def words(self) -> tuple[str, ...]:
        return (self.bounds.words, self.noise.words if self.noise.measures else "no noise")

    def fitted(self, rows: Floats, labels: Labels | None, bits: BitSource) -> Released:
        del labels
        lower, upper = self.bounds.known(rows, self.noise, bits)
        middle, extent = lower / 2 + upper / 2, upper - lower
        return {
            "data_min_": lower,
            "data_max_": upper,
            "data_range_": extent,
            "data_middle_": middle,
        }


class MinMaxScaler(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):
    """Columns between 0 and 1, values beyond the bounds clipped if `clip`.

    With declared `bounds` nothing is read off the data and nothing is charged, and epsilon is not
    needed; `bounds="private"` buys them.
    """

    data_min_: Floats
    data_range_: Floats

    def __init__(
        self,
        epsilon: Number = 0,
        delta: Number = 0,
        *,
        bounds: BoundsLike = None,
        feature_range: tuple[Number, Number] = (0, 1),
        clip: bool = True,
        budget: Budget | Account | None = None,
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.bounds, self.feature_range, self.clip = bounds, feature_range, clip
        self._keep(budget)

    def _plan(self, width: int) -> Extent:
        self._range()
        read_flag("clip", self.clip)
        bounds = column_bounds.read_bounds(self.bounds, width)
        if not bounds.purchase:
            return Extent(bounds, NoisySums(Fraction(0), Fraction(0), (), gaussian=False))
        return Extent(bounds, noisy_sums(bounds.purchase, epsilon=self.epsilon, delta=self.delta))

    def _paid(self, plan: FitPlan, work: Callable[[], Released]) -> tuple[Released, Json | None]:
        """Declared bounds are not charged."""
        return (work(), None) if plan.privacy == NOTHING else super()._paid(plan, work)

    def _range(self) -> tuple[float, float]:
        low, high = column_bounds.column_of_numbers("feature_range", self.feature_range, 2)
        if not low < high:
            raise ParameterError("feature_range must have its smaller number first.")
        return low, high

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """Rows between the ends of the range; what is missing becomes its middle."""
        low, high = self._range()
        rows = np.clip(fitted_rows(self, X, missing="data_middle_"), -FARTHEST, FARTHEST)
        share = (rows - self.data_min_) / self.data_range_
        return (np.clip(share, 0.0, 1.0) if self.clip else share) * (high - low) + low

    def inverse_transform(self, X: Any) -> Floats:  # noqa: N803
        """Rows in their own units."""
        low, high = self._range()
        share = (np.asarray(X, np.float64) - low) / (high - low)
        return share * self.data_range_ + self.data_min_
