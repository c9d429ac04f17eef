"""Linear classifiers: `LogisticRegression` and `LinearSVC`.

    LogisticRegression(epsilon=1, delta=1e-6, data_norm=4, classes=["no", "yes"]).fit(X, y)

Rows are clipped to `data_norm` one by one; cells that are not finite count as 0; rows whose
label is no class are left out. Where no method is asked for it is objective perturbation, or
gradient perturbation where the rows are declared to be few beside the noise.

  Proven:   docs/explanation/proofs/convex.md
  Tested:   tests/learn/test_linear.py; the methods in files of their own
"""

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, DELTA, Constraint, Number, read_flag, refusal
from letalone.learn.account import Account
from letalone.learn.convex.classifier_plan import MODEL_EPSILON, ClassifierPlan, Recipe, read_choice
from letalone.learn.convex.losses import Loss, Margin, Softmax
from letalone.learn.convex.methods import ConvexSetting
from letalone.learn.noisy_sums.wholes import BITS
from letalone.learn.scikit import fitted_rows
from letalone.learn.training import Floats, LikelyClass, PrivateEstimator
from letalone.privacy import Budget

MethodName = Literal["auto", "objective", "output", "gradient"]
LossName = Literal["auto", "logistic", "shifted"]
HINGE = Margin(width=Fraction(1, 2), offset=Fraction(1))
# Cross-validated on the training part of Adult: better than 0 at every epsilon, most where it is
# small, since rows near the boundary pull with nearly the full slope that noise is made for.
SHIFTED = Margin(offset=Fraction(2))
LOSSES = {"auto": SHIFTED, "shifted": SHIFTED, "logistic": Margin()}
SCALE = Constraint(
    "a number from 0.001 to 1",
    lambda x: Fraction(1, 1000) <= x <= 1,
    "It is the size of the constant feature, in units of data_norm.",
    (0, -1, 2, float("nan"), float("inf")),
)
# Below 0.001 the roundings of very many rows could outweigh it in Newton's equations.
REGULARIZATION = Constraint(
    "a number from 0.001 to 10^9",
    lambda x: Fraction(1, 1000) <= x <= 10**9,
    "It is λ in (λ/2)‖w‖², for rows divided by data_norm; leave it out for a public rule.",
    (0, -1, float("nan"), float("inf")),
)


class _LinearClassifier(ClassifierMixin, PrivateEstimator):
    """What both classifiers share."""

    _needs_labels = True

    classes_: NDArray[Any]
    coef_: Floats
    intercept_: Floats

    def _takes_knots(self) -> bool:
        return True

    def __init__(
        self,
        epsilon: Number = 1.0,
        delta: Number = 0,
        *,
        data_norm: Number | Literal["private"] | None = None,
        classes: Sequence[object] | Literal["private"] | None = None,
        method: MethodName = "auto",
        regularization: Number | None = None,
        fit_intercept: bool = True,
        intercept_scale: Number = 0.25,
        rows: int | None = None,
        budget: Budget | Account | None = None,
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.data_norm, self.classes = data_norm, classes
        self.method, self.regularization = method, regularization
        self.fit_intercept, self.intercept_scale = fit_intercept, intercept_scale
        self.rows = rows
        self._keep(budget)

    def _plan(self, width: int) -> ClassifierPlan:
        return read_choice(self._recipe(width), data_norm=self.data_norm, classes=self.classes)

    def _recipe(self, width: int) -> Recipe:
        constant = read_flag("fit_intercept", self.fit_intercept)
        # On the grid of rows, so that doubles hold it exactly.
        scale = floor(SCALE.typed("intercept_scale", self.intercept_scale) * 2**BITS)
        given = self.regularization
        facts = ConvexSetting(
            HINGE,  # in place of the loss, which follows from the classes
            width,
            Fraction(scale if constant else 0, 2**BITS),
            MODEL_EPSILON.typed("epsilon", self.epsilon),
            DELTA.typed("delta", self.delta),
            None if self.rows is None else int(COUNT.typed("rows", self.rows)),
            None if given is None else REGULARIZATION.typed("regularization", given),
        )
        return Recipe(self.method, facts, self._loss)

    @abstractmethod
    def _loss(self, classes: int) -> Loss:
        """The loss for so many classes; ParameterError where there is none."""

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """The score of each class, or for two classes that of the second."""
        scores = fitted_rows(self, X) @ self.coef_.T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The class of each row."""
        scores = self.decision_function(X)
        if len(self.classes_) == 0:
            raise ParameterError(
                "No label was frequent enough to be published as a class. Declare the classes, or"
                " spend more."
            )
        if len(self.classes_) == 1:
            return np.full(len(scores), self.classes_[0])
        best = scores > 0 if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[np.asarray(best, np.int64)]


class LogisticRegression(_LinearClassifier, LikelyClass):
    """Private logistic regression, for two classes or more.

    Parameters: `epsilon` and `delta` are what a fit reveals at most; with a delta of 0 the noise
    is pure. `data_norm` is the L2 norm that rows are clipped to, and `classes` the list of labels;
    either can be "private", and is then bought with a part of epsilon. `method` is "objective",
    "output" or "gradient" perturbation, or "auto". `regularization` is λ in (λ/2)‖w‖², for rows
    divided by data_norm. `rows`, a public guess of how many rows there are, makes methods "output"
    and "gradient" choose better, and lets "auto" choose between "gradient" and "objective".
    `intercept_scale` is the size of the constant feature, in units of data_norm.

    `loss`, for two classes: "logistic", whose coefficients are log odds; or "shifted", the default,
    the logistic loss of a margin less 2. Under noise it tells classes apart better, the more so
    the smaller epsilon is; but its coefficients are scores only, and its probabilities, right where
    the scores can follow the data, are coarser where log odds are linear.
    """

    def __init__(
        self,
        epsilon: Number = 1.0,
        delta: Number = 0,
        *,
        data_norm: Number | Literal["private"] | None = None,
        classes: Sequence[object] | Literal["private"] | None = None,
        method: MethodName = "auto",
        loss: LossName = "auto",
        regularization: Number | None = None,
        fit_intercept: bool = True,
        intercept_scale: Number = 0.25,
        rows: int | None = None,
        budget: Budget | Account | None = None,
    ) -> None:
        super().__init__(
            epsilon,
            delta,
            data_norm=data_norm,
            classes=classes,
            method=method,
            regularization=regularization,
            fit_intercept=fit_intercept,
            intercept_scale=intercept_scale,
            rows=rows,
            budget=budget,
        )
        self.loss = loss

    def _loss(self, classes: int) -> Loss:
        if self.loss not in LOSSES:
            raise refusal("loss", self.loss, "'auto', 'logistic' or 'shifted'")
        return LOSSES[self.loss] if classes <= 2 else Softmax(classes)

    def predict_log_proba(self, X: Any) -> Floats:  # noqa: N803
        """The logarithm of the probability of each class."""
        scores = self.decision_function(X)
        if len(self.classes_) < 2:
            return np.zeros((len(scores), len(self.classes_)))
        if scores.ndim == 1:
            scores = LOSSES[self.loss].log_slopes(np.stack([-scores, scores], axis=1))
        return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


class LinearSVC(_LinearClassifier):
    """A private linear support vector machine for two classes: the hinge loss, smoothed.

    Parameters are those of `LogisticRegression`; `classes` must be declared.
    """

    def _loss(self, classes: int) -> Loss:
        if classes != 2:
            raise ParameterError(
                f"LinearSVC was given {classes} classes, but separates two. For more classes use"
                " LogisticRegression."
            )
        return HINGE

    def _plan(self, width: int) -> ClassifierPlan:
        if isinstance(self.classes, str):
            raise refusal("classes", self.classes, "two declared labels, such as [0, 1]")
        return super()._plan(width)

    def __sklearn_tags__(self) -> Any:
        tags = cast("Any", super()).__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
