"""Rows of the training data that are in the model itself, for whoever opens its file.

A kernel machine predicts by comparing with some of the rows that it learnt from: the support
vectors *are* people. So do nearest neighbours and Gaussian processes. A linear model has a number
for each feature, however many people there were.

  Tested:   tests/attacks/test_inversion.py
"""

import pickle
from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
ASKED = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
DEPTH = 4  # a model in a step of a pipeline in a search


def rows_in_model(model: Any, rows: Any) -> Truths:
    """For each row, whether it is in the model as a file would keep it, bit by bit."""
    if isinstance(model, type) or not any(callable(getattr(model, name, None)) for name in ASKED):
        raise ParameterError(
            f"The model has the type {_kind(model)}, but must be one that was trained, with a"
            " method such as predict."
        )
    wanted = np.asarray(rows, np.float64) + 0.0  # -0 is 0
    if wanted.ndim != 2:
        raise ParameterError("The rows must be numbers, one row for each person: [[1.0, 2.0], …].")
    opened = pickle.loads(pickle.dumps(model))  # of our own making
    known = {row.tobytes() for part in _arrays(opened, DEPTH) for row in _rows(part, wanted)}
    return np.array([row.tobytes() in known for row in wanted], np.bool_)


def _kind(model: object) -> str:
    return f"class {model.__name__}" if isinstance(model, type) else type(model).__name__


def _rows(part: NDArray[Any], wanted: Floats) -> Floats:
    """The rows of an array that has the right width; none of any other."""
    if part.ndim != 2 or part.shape[1] != wanted.shape[1] or part.dtype.kind not in "fiub":
        return np.empty((0, wanted.shape[1]))
    return np.ascontiguousarray(part, np.float64) + 0.0


def _arrays(thing: object, depth: int) -> Iterator[NDArray[Any]]:
    """The arrays in an object, in its attributes, and in theirs."""
    if isinstance(thing, np.ndarray):
        yield cast("NDArray[Any]", thing)
    elif depth:
        for part in _parts(thing):
            yield from _arrays(part, depth - 1)


def _parts(thing: object) -> list[object]:
    if isinstance(thing, Mapping):
        return list(cast("Mapping[object, object]", thing).values())
    if isinstance(thing, list | tuple):
        return list(cast("list[object]", thing))
    return list(getattr(thing, "__dict__", {}).values())
