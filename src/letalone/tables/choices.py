"""The parts of an answer that are chosen, not noised: what they have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.engines.measures import Measure
from letalone.mechanisms import Exponential
from letalone.privacy import Privacy
from letalone.randomness.bits import BitSource
from letalone.tables.columns import Answer
from letalone.tables.sensitivity import Contribution

Wholes = NDArray[Any]
Integers = NDArray[np.int64]


class ChoicePart(ABC):
    """A choice for each key, paid with one epsilon."""

    names: tuple[str, ...]
    unit: Contribution

    @property
    @abstractmethod
    def measures(self) -> tuple[Measure, ...]:
        """What an engine must measure."""

    @property
    @abstractmethod
    def weight(self) -> float:
        """The error to expect at ε = 1, in rows."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The mechanism and the shares within the part."""

    @abstractmethod
    def privacy(self, epsilon: Fraction) -> Privacy:
        """What the choices of all groups reveal together."""

    @abstractmethod
    def answers(
        self, exact: list[Wholes], epsilon: Fraction, *, confidence: float, bits: BitSource
    ) -> dict[str, Answer]:
        """The choices, with their intervals."""

    @abstractmethod
    def error(self, epsilon: Fraction, *, confidence: float) -> float:
        """The error to expect, in rows."""


def choose_rank(
    mechanism: Exponential, cells: Integers, target: int, *, scale: int, bits: BitSource
) -> int:
    """A cell at whose place the rank target / scale lies; −1: below all, len(cells): above.

    The utility of a cell is −scale times the number of rows by which the target is missed:
    −max(0, scale·#{x < cell} − target, target − scale·#{x ≤ cell}). Some cell, or one of the
    two places beyond them, has utility 0.
    """
    counted = scale * np.cumsum(cells)
    total = counted[-1]
    below = np.concatenate(([target], [0], counted)) - target
    above = target - np.concatenate(([0], counted, [max(target, total)]))
    utilities = -np.maximum(0, np.maximum(below, above))
    return mechanism.choose_index(utilities, bits=bits) - 1


def by_key(exact: Wholes) -> Iterator[Integers]:
    """The cells of each key as 64-bit numbers."""
    for row in exact:
        yield np.asarray(row, dtype=np.int64)
