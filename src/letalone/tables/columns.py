"""What comes out: for each aggregate its values and the ends of their intervals, by key."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.plans.types import Key

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Wholes = NDArray[Any]  # whole numbers of any size


@dataclass(frozen=True, slots=True, eq=False)
class NoisyColumn:
    """Values with their intervals: one for each key, or a row of several for each key.

    `labels` names what the values count where that is an answer itself (the winners of
    top_k), in the shape of the values.
    """

    values: Floats
    low: Floats
    high: Floats
    labels: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class NoisyAnswer:
    """The answers by name, aligned to the keys (one empty key where nothing is grouped)."""

    keys: tuple[tuple[Key, ...], ...]
    answers: dict[str, NoisyColumn]
    confidence: float

    def __getitem__(self, name: str) -> NoisyColumn:
        return self.answers[name]


def rounded_by(*, whole: bool) -> float:
    """How much farther than its width an end of a count's interval may be from the count."""
    return 0.0 if whole else 0.5


def count_answer(values: Floats, width: float, *, whole: bool) -> NoisyColumn:
    """A count as a whole number; the ends, too, and not below 0.

    whole: the truth is a whole number; one of weights may lie between two.

    Of a number below 0 the interval is that of 0: it holds all that would be left of its own, so
    it is right as often, and no group looks better known because the noise took it further off.
    """
    rounded = np.floor(values + 0.5)
    low, high = values - width, np.maximum(values, 0.0) + width
    low, high = (np.ceil(low), np.floor(high)) if whole else (np.floor(low), np.ceil(high))
    low, high = np.minimum(low, rounded), np.maximum(high, rounded)
    return NoisyColumn(rounded, np.maximum(low, 0.0), np.maximum(high, 0.0))
