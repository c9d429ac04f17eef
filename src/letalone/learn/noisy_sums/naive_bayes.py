"""Naive Bayes with normal features: counts, means and variances of classes, in one release.

Proven:   docs/explanation/proofs/statistics_learners.md, sections 1 and 4
Tested:   tests/learn/test_naive_bayes.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from letalone.exact.typed import Number
from letalone.learn.account import Account
from letalone.learn.features.classes import Classes, indicator, read_classes
from letalone.learn.features.column_bounds import (
    FARTHEST,
    BoundsLike,
    ColumnBounds,
    SumsPlan,
    read_bounds,
)
from letalone.learn.noisy_sums.group_moments import exact_moments, moment_noise, released_moments
from letalone.learn.noisy_sums.sums import NoisySums
from letalone.learn.noisy_sums.wholes import Floats
from letalone.learn.scikit import fitted_rows
from letalone.learn.training import Labels, LikelyClass, PrivateEstimator, Released
from letalone.privacy import Budget
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource


@dataclass(frozen=True, slots=True)
class ClassMoments(SumsPlan):
    """The plan: moments of every declared class."""

    bounds: ColumnBounds
    noise: NoisySums
    classes: Classes
    _model: ClassVar[str] = "GaussianNB"

    def _facts(self) -> Json:
        return {"classes": [repr(name) for name in self.classes.tolist()]}

    def fitted(self, rows: Floats, labels: Labels | None, bits: BitSource) -> Released:
        """Rows of other classes are dropped."""
        groups = indicator(cast("Labels", labels), self.classes)
        lower, upper = self.bounds.known(rows, self.noise, bits)
        exact = exact_moments(rows, groups, lower=lower, upper=upper)
        moments = released_moments(self.noise, exact, bits)
        means, variances = moments.in_units(lower, upper)
        size = moments.counts + 1.0  # so that no class is impossible
        return {
            "classes_": self.classes,
            "class_count_": moments.counts,
            "class_prior_": size / size.sum(),
            "theta_": means,
            "var_": variances,
        }


class GaussianNB(LikelyClass, PrivateEstimator):
    """Naive Bayes; `bounds` and `classes` are declared, or bounds found with "private".

    `class_count_`, `class_prior_`, `theta_` and `var_` are noisy.
    """

    _needs_labels = True
    class_prior_: Floats
    theta_: Floats
    var_: Floats

    def __init__(
        self,
        epsilon: Number = 1.0,
        delta: Number = 0,
        *,
        bounds: BoundsLike = None,
        classes: Sequence[object] | None = None,
        budget: Budget | Account | None = None,
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.bounds, self.classes = bounds, classes
        self._keep(budget)

    def _plan(self, width: int) -> ClassMoments:
        bounds = read_bounds(self.bounds, width)
        noise = moment_noise(bounds, epsilon=self.epsilon, delta=self.delta)
        return ClassMoments(bounds, noise, read_classes(self.classes))

    def predict_log_proba(self, X: Any) -> Floats:  # noqa: N803
        """The logarithm of each class's probability; what is missing speaks for none."""
        rows = fitted_rows(self, X, missing=np.nan)
        joint = np.tile(np.log(self.class_prior_), (len(rows), 1))
        for place, (mean, variance) in enumerate(zip(self.theta_, self.var_, strict=True)):
            away = np.clip(rows, -FARTHEST, FARTHEST) - mean
            places = np.clip(away / np.sqrt(variance), -FARTHEST, FARTHEST)
            terms = places**2 + np.log(2 * np.pi * variance)
            joint[:, place] -= 0.5 * np.nansum(terms, axis=1)
        joint -= np.max(joint, axis=1, keepdims=True)  # before they add up: far out they are huge
        return joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
