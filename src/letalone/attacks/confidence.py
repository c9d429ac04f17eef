"""How well a model fits a person's row: the higher, the likelier it was trained on it.

    log odds of the own label      models with predict_proba
    margin of the own label        models with decision_function
    − squared distance to a centre, − squared error of a reconstruction, − squared error of a
    prediction, − squared length of the scaled row

Whoever has a loss of their own gives it; its negative is used. Yeom, Giacomelli, Fredrikson, Jha:
Privacy risk in machine learning (2018), for the loss; Carlini and others: Membership inference
attacks from first principles (2022), for the log odds, which are nearly normal.

  Tested:   tests/attacks/test_membership.py
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError

Floats = NDArray[np.float64]
Labels = NDArray[Any]
Loss = Callable[[Any, Floats, Labels], Floats]
MIN_PROBABILITY = 1e-12  # probabilities are kept away from 0 and 1


def confidence(model: Any, rows: Floats, labels: Labels, *, loss: Loss | None = None) -> Floats:
    """A number for each row; higher where the model fits it better."""
    if loss is not None:
        scores = -np.asarray(loss(model, rows, labels), np.float64)
    else:
        scores = _fit_of(model, rows, labels)
    return np.nan_to_num(scores)


def likelihood(model: Any, rows: Floats, labels: Labels, *, error: float) -> Floats:
    """The logarithm of how likely the labels are: of their class, or by a normal error."""
    if hasattr(model, "predict_proba"):
        return np.log(_probability(model, rows, labels))
    return -((labels - _ask_model(model.predict, rows)) ** 2) / (2 * error**2)


def _fit_of(model: Any, rows: Floats, labels: Labels) -> Floats:
    if hasattr(model, "predict_proba"):
        likely = _probability(model, rows, labels)
        return np.log(likely) - np.log1p(-likely)
    if hasattr(model, "decision_function"):
        return _margin(_ask_model(model.decision_function, rows), _is_own_class(model, labels))
    if hasattr(model, "cluster_centers_"):
        apart = rows[:, None, :] - np.asarray(model.cluster_centers_, np.float64)[None]
        return -(apart**2).sum(axis=2).min(axis=1)
    if hasattr(model, "components_"):
        back = _ask_model(model.inverse_transform, model.transform(rows))
        return -((rows - back) ** 2).sum(axis=1)
    if hasattr(model, "predict"):
        return -((np.asarray(labels, np.float64) - _ask_model(model.predict, rows)) ** 2)
    if hasattr(model, "transform"):
        return -(_ask_model(model.transform, rows) ** 2).sum(axis=1)
    raise ParameterError(
        f"{type(model).__name__} has neither predict_proba nor another answer whose loss is known."
        " Give a loss: loss=lambda model, rows, labels: …"
    )


def _ask_model(ask: Callable[[Any], Any], rows: Any) -> Floats:
    return np.asarray(ask(rows), np.float64)


def _is_own_class(model: Any, labels: Labels) -> NDArray[np.bool_]:
    """Which class is that of each row; none where the model never saw it."""
    return np.asarray(labels)[:, None] == np.asarray(model.classes_)[None, :]


def _probability(model: Any, rows: Floats, labels: Labels) -> Floats:
    is_true_class = _is_own_class(model, labels)
    likely = np.where(is_true_class, _ask_model(model.predict_proba, rows), 0).sum(axis=1)
    return np.clip(likely, MIN_PROBABILITY, 1 - MIN_PROBABILITY)


def _margin(scores: Floats, own: NDArray[np.bool_]) -> Floats:
    """How far the score of the own class is above the best of the others."""
    if scores.ndim == 1:
        return np.where(own[:, 1], scores, -scores)
    return np.where(own, scores, -np.inf).max(axis=1) - np.where(own, -np.inf, scores).max(axis=1)
