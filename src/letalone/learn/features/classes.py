"""Labels as declared classes, and targets as numbers, label by label.

What a label becomes depends on that label and on the declaration alone. A label that is no
declared class is in no group; a target that is no number is the middle of its bounds.

  Tested:   tests/learn/test_naive_bayes.py, test_regression.py
"""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError
from letalone.exact.typed import refusal
from letalone.learn.features import row_cells
from letalone.mechanisms.containers import public_list

Classes = NDArray[Any]
EXACT = 2**53  # beyond, a column of doubles holds other numbers than one of integers
Floats = NDArray[np.float64]


def read_classes(classes: Sequence[object] | None) -> Classes:
    """The declared classes, in order, without repeats."""
    given = cast("Sequence[object]", need_declared("classes", classes, example="[0, 1]"))
    if isinstance(given, str):
        raise refusal("classes", given, "a list of labels, such as [0, 1]")
    listed = public_list("classes", given)
    if not all(_can_be_a_class(label) for label in listed):
        raise ParameterError(
            "classes must be text, truth values or numbers between -2^53 and 2^53: dates and others"
            " can be written as text."
        )
    if len({isinstance(label, str) for label in listed}) > 1:
        raise ParameterError("classes must be of one kind: all numbers or all text.")
    unique = np.unique(np.asarray(listed))
    if unique.ndim != 1 or len(unique) < 2 or len(unique) != len(listed):
        raise ParameterError("classes must be at least two different labels, such as [0, 1].")
    return unique


def need_declared(name: str, value: object, *, example: str) -> object:
    """A parameter that must be declared: it is never read off the data in silence."""
    if value is None:
        raise ParameterError(
            f"{name} is missing: it is never read off the data in silence, which would reveal it."
            f" Declare it, such as {name}={example}, or find it privately: {name}='private'."
        )
    return value


def _can_be_a_class(label: object) -> bool:
    if isinstance(label, str):
        return is_text(label)
    return isinstance(label, bool | Real) and abs(float(label)) < EXACT


def is_text(label: str) -> bool:
    """Whether it can be written down: half a surrogate cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in label)


def indicator(labels: NDArray[Any], classes: Classes) -> Floats:
    """A column for each class, 1 where a label is that class."""
    codes = codes_of(labels, classes)
    return (codes[:, np.newaxis] == np.arange(len(classes))).astype(np.float64)


def codes_of(labels: NDArray[Any], classes: Classes) -> NDArray[np.int64]:
    """The place of each label among the classes, −1 where it is none of them."""
    known = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([code_of(label, known) for label in labels.tolist()], np.int64)


def numbers_of(labels: NDArray[Any]) -> Floats:
    """Targets as doubles, NaN where a cell is no number."""
    return row_cells.numbers_of(labels).astype(np.float64)


def check_numbers(labels: NDArray[Any]) -> None:
    """Refuses a column of targets by its type: text, dates."""
    if labels.dtype.kind not in "fiubO":
        raise ParameterError("y must be numbers, but its type is that of text or of dates.")


def code_of(label: object, known: Mapping[object, int]) -> int:
    """The place of one label; any cell will do."""
    try:
        return known.get(label, -1)
    except Exception:  # a cell that cannot be looked up is no declared class
        return -1
