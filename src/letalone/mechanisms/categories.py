"""The categories of a survey question: whole numbers from 0, or labels.

Answers are read as indices and reports are written in the kind that the answers had: a
bool for a bool, a label for a label, an array for an array. An answer that is none of the
categories is refused without repeating it; the person who typed it sees it anyway.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError
from letalone.exact.typed import Constraint

Indices = NDArray[np.int64]

MOST_CATEGORIES = 1 << 31
CATEGORIES = Constraint(
    "a whole number from 2 to 2^31, or a list of labels",
    lambda x: 2 <= x <= MOST_CATEGORIES and x.denominator == 1,
    "One category has nothing to hide.",
    (1, 0, -1, 2.5, MOST_CATEGORIES + 1, 1 << 62, 1 << 63, float("nan"), float("inf")),
)


@dataclass(frozen=True, slots=True)
class Categories:
    """How many categories there are, and their labels if they have any."""

    count: int
    labels: tuple[Hashable, ...] | None = None

    @classmethod
    def of(cls, categories: int | Sequence[Hashable]) -> "Categories":
        if isinstance(categories, str) or not isinstance(categories, Sequence):
            return cls(int(CATEGORIES.typed("categories", categories)))
        labels = tuple(categories)
        CATEGORIES.typed("the number of labels", len(labels))
        if len(_distinct(labels)) < len(labels):
            raise ParameterError("A label occurs twice, but labels must differ. Drop one.")
        return cls(len(labels), labels)

    def read(self, answers: object) -> Indices:
        """The answers as indices, in their shape."""
        indices = self._read_numbers(answers) if self.labels is None else self._read_labels(answers)
        if indices.size and not (indices.min() >= 0 and indices.max() < self.count):
            raise self._unknown()
        return indices

    def write(self, indices: Indices, like: object) -> Any:
        """Indices in the kind of the answers that they belong to."""
        if self.labels is not None:
            return _replace(indices.tolist(), self.labels)
        kind = np.bool_ if np.asarray(like).dtype.kind == "b" else np.int64
        reports = indices.astype(kind)
        return reports if isinstance(like, np.ndarray) or reports.ndim else reports.item()

    def _read_numbers(self, answers: object) -> Indices:
        try:
            array = np.asarray(answers)
        except ValueError:
            raise self._unknown() from None
        if array.size == 0:
            return array.astype(np.int64)
        if array.dtype.kind not in "biu" or (array.dtype.kind == "b" and self.count != 2):
            raise self._unknown()
        if array.dtype.kind == "u" and array.dtype.itemsize == 8:
            array = np.minimum(array, np.uint64(self.count))  # 2^63 and above would wrap
        return array.astype(np.int64)

    def _read_labels(self, answers: object) -> Indices:
        places = {label: place for place, label in enumerate(self.labels or ())}
        try:
            return np.array(_locate(answers, places), dtype=np.int64)
        except (TypeError, ValueError):
            raise self._unknown() from None

    def _unknown(self) -> ParameterError:
        if self.labels is not None:
            allowed = f"one of the labels {', '.join(map(repr, self.labels))}"[:200]
        else:
            bools = " or bools" if self.count == 2 else ""
            allowed = f"whole numbers from 0 to {self.count - 1}{bools}"
        return ParameterError(
            f"An answer is not one of the {self.count} categories. Answers must be {allowed},"
            " in rows of equal length."
        )


def _distinct(labels: tuple[Hashable, ...]) -> set[Hashable]:
    try:
        return set(labels)
    except TypeError:
        raise ParameterError(
            "A label is a list or another thing that can change, but labels must be words, numbers"
            " or tuples of them."
        ) from None


def _locate(answers: object, places: dict[Hashable, int]) -> Any:
    if isinstance(answers, list | np.ndarray) or (
        isinstance(answers, tuple) and answers not in places
    ):
        entries = cast("Sequence[object]", answers)
        return [_locate(entry, places) for entry in entries]
    return places.get(cast("Hashable", answers), -1)


def _replace(indices: Any, labels: tuple[Hashable, ...]) -> Any:
    if isinstance(indices, list):
        return [_replace(index, labels) for index in cast("list[Any]", indices)]
    return labels[indices]
