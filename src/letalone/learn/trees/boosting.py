"""Boosted trees of one feature each: an additive model that can be read, bin by bin.

`scores_` holds, for each feature, how much each of its bins speaks for a class (or adds to a
number); `counts_` about how many rows are in each bin. Both are noisy, and all that is published.

  Proven:   docs/explanation/proofs/boosting.md
  Tested:   tests/learn/test_boosting.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from sklearn.base import RegressorMixin

from letalone.exact.typed import EPSILON, Constraint, Number, refusal
from letalone.learn.account import Account
from letalone.learn.features.classes import read_classes
from letalone.learn.features.column_bounds import BoundsLike, ColumnBounds, read_bounds
from letalone.learn.scikit import fitted_rows
from letalone.learn.training import Labels, LikelyClass, PrivateEstimator, Released
from letalone.learn.trees.additive_trees import COUNTS, FeatureScores, Growth, grow_trees
from letalone.learn.trees.bins import Feature, Floats, Groups, read_features
from letalone.learn.trees.residuals import ManyClasses, NumberResiduals, Residuals, TwoClasses
from letalone.mechanisms import Gaussian
from letalone.privacy import ADD_REMOVE, Budget, GaussianDP, Privacy
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource

BINS = Constraint(
    "a whole number from 2 to 1024",
    lambda x: 2 <= x <= 1024 and x.denominator == 1,
    "64 is usual: bins with few rows are merged.",
    (0, 1, 2.5, 2000),
)
ROUNDS = Constraint(
    "a whole number from 1 to 10000",
    lambda x: 1 <= x <= 10_000 and x.denominator == 1,
    "Leave it out to let the noisy counts choose.",
    (0, -1, 1.5, 20_000),
)
TREES_DELTA = Constraint(
    "a number above 0 and below 1",
    lambda x: 0 < x < 1,
    "Trees add Gaussian noise, which needs a delta, such as 1e-6; LogisticRegression and"
    " GaussianNB work without one.",
    (0, -1e-9, 1, 2),
)


@dataclass(frozen=True, slots=True)
class TreePlan:
    """The plan: bins between bounds, counts, then trees."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    growth: Growth
    about: Json
    known: Released

    @property
    def privacy(self) -> Privacy:
        return GaussianDP(1 / self.growth.noise).with_neighbours(ADD_REMOVE)

    @property
    def words(self) -> tuple[str, ...]:
        rounds = self.growth.rounds or "as many as the noisy counts suggest"
        return (
            f"Trees of one of {len(self.growth.features)} features each; rounds: {rounds}",
            f"Gaussian noise; its split: counts of bins {float(COUNTS):.0%}, sums of residuals"
            f" {float(1 - COUNTS):.0%}",
        )

    def described(self) -> Json:
        return {
            "model": "boosted trees",
            "noise": str(self.growth.noise),
            "rounds": self.growth.rounds or 0,
            "features": [[feature.bins, *feature.columns] for feature in self.growth.features],
            "lower": [number.hex() for number in self.lower],
            "upper": [number.hex() for number in self.upper],
            **self.about,
        }

    def fitted(self, rows: Floats, labels: Labels | None, bits: BitSource) -> Released:
        """Counts and scores of bins; rows without a declared label are dropped."""
        goals = self.growth.residuals.goals(cast("Labels", labels))
        kept = goals >= 0
        lower, upper = np.array(self.lower), np.array(self.upper)
        codes = [feature.codes(rows[kept], lower, upper) for feature in self.growth.features]
        shapes, rounds = grow_trees(self.growth, codes, goals[kept], bits)
        intercept, scores = _centre_scores(shapes)
        return {
            "counts_": tuple(shape.counts for shape in shapes),
            "scores_": scores,
            "intercept_": intercept,
            "rounds_": rounds,
            "columns_": tuple(feature.columns for feature in self.growth.features),
            "lower_": lower,
            "upper_": upper,
            **self.known,
        }


class _BoostedTrees(PrivateEstimator):
    """What both kinds share: the plan, and the sum of scores."""

    _needs_labels = True
    bounds: BoundsLike
    groups: Groups
    rounds: int | None
    bins: int
    scores_: tuple[Floats, ...]
    counts_: tuple[Floats, ...]
    intercept_: Floats
    rounds_: int
    columns_: tuple[tuple[int, ...], ...]
    lower_: Floats
    upper_: Floats

    def _trees(self, width: int, residuals: Residuals, *, about: Json, known: Released) -> TreePlan:
        epsilon = EPSILON.typed("epsilon", self.epsilon)
        delta = TREES_DELTA.typed("delta", self.delta)
        rounds = None if self.rounds is None else int(ROUNDS.typed("rounds", self.rounds))
        features = read_features(self.groups, width, int(BINS.typed("bins", self.bins)))
        noise = Gaussian(epsilon=epsilon, delta=delta, sensitivity=1).sigma
        lower, upper = self._declared_bounds(width)
        growth = Growth(features, residuals, noise, rounds)
        growth.check()
        return TreePlan(lower, upper, growth, about, known)

    def _declared_bounds(self, width: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        if self.bounds is None or isinstance(self.bounds, str):
            raise refusal(
                "bounds",
                self.bounds,
                "(lower, upper) of the features",
                "They are declared, never read off the data: (-1, 1) for what TableEncoder makes.",
            )
        return _ends(read_bounds(self.bounds, width))

    def _summed(self, X: Any) -> Floats:  # noqa: N803
        """The intercept and the scores of each row's bins, added up."""
        rows = fitted_rows(self, X, missing=np.nan)
        parts = [
            scores[Feature(tuple(columns), len(scores)).codes(rows, self.lower_, self.upper_)]
            for columns, scores in zip(self.columns_, self.scores_, strict=True)
        ]
        return self.intercept_ + np.sum(parts, axis=0)


class BoostedTreesClassifier(LikelyClass, _BoostedTrees):
    """Boosted trees for two or more declared classes; needs a delta.

    `bounds` are those of the features, (lower, upper) for all or with one for each; (−1, 1) for
    what `TableEncoder` makes. Values beyond are clamped. `groups` lists the
    columns that belong together, as `TableEncoder.groups` does: each group is one category.
    """

    def __init__(
        self,
        epsilon: Number = 1.0,
        delta: Number = 0,
        *,
        bounds: BoundsLike = None,
        groups: Groups = None,
        classes: Sequence[object] | None = None,
        rounds: int | None = None,
        bins: int = 64,
        budget: Budget | Account | None = None,
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.bounds, self.groups, self.classes = bounds, groups, classes
        self.rounds, self.bins = rounds, bins
        self._keep(budget)

    def _plan(self, width: int) -> TreePlan:
        classes = read_classes(self.classes)
        two = len(classes) == 2
        residuals = TwoClasses(classes) if two else ManyClasses(classes)
        about: Json = {"classes": [repr(label) for label in classes.tolist()]}
        return self._trees(width, residuals, about=about, known={"classes_": classes})

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Log-odds of the second class; with more than two classes, a score for each."""
        scores = self._summed(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_log_proba(self, X: Any) -> Floats:  # noqa: N803
        """The logarithm of each class's probability."""
        scores = self._summed(X)
        if len(self.classes_) == 2:
            scores = np.hstack([np.zeros_like(scores), scores])
        return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


class BoostedTreesRegressor(RegressorMixin, _BoostedTrees):
    """Boosted trees for a number between declared `target_bounds`; needs a delta.

    `bounds` and `groups` are as in `BoostedTreesClassifier`.
    """

    target_bounds_: Floats

    def __init__(
        self,
        epsilon: Number = 1.0,
        delta: Number = 0,
        *,
        bounds: BoundsLike = None,
        groups: Groups = None,
        target_bounds: BoundsLike = None,
        rounds: int | None = None,
        bins: int = 64,
        budget: Budget | Account | None = None,
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.bounds, self.groups, self.target_bounds = bounds, groups, target_bounds
        self.rounds, self.bins = rounds, bins
        self._keep(budget)

    def _plan(self, width: int) -> TreePlan:
        if isinstance(self.target_bounds, str):
            raise refusal("target_bounds", self.target_bounds, "(lower, upper)")
        ends = _ends(read_bounds(self.target_bounds, 1, name="target_bounds"))
        lower, upper = ends[0][0], ends[1][0]
        about: Json = {"target": [lower.hex(), upper.hex()]}
        known = {"target_bounds_": np.array([lower, upper])}
        return self._trees(width, NumberResiduals(lower, upper), about=about, known=known)

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """The expected number, within the bounds of the target."""
        places = np.clip(self._summed(X)[:, 0], -1.0, 1.0)
        lower, upper = self.target_bounds_ / 2
        return (lower + upper) + places * (upper - lower)


def _ends(bounds: ColumnBounds) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return cast("tuple[float, ...]", bounds.lower), cast("tuple[float, ...]", bounds.upper)


def _centre_scores(shapes: Sequence[FeatureScores]) -> tuple[Floats, tuple[Floats, ...]]:
    """Scores with a mean of 0 over the noisy counts, and what was taken from them."""
    weights = [np.maximum(shape.counts, 1.0)[:, np.newaxis] for shape in shapes]
    pairs = list(zip(shapes, weights, strict=True))
    means = [np.sum(shape.scores * weight, axis=0) / np.sum(weight) for shape, weight in pairs]
    scores = tuple(shape.scores - mean for shape, mean in zip(shapes, means, strict=True))
    return np.sum(means, axis=0), scores
