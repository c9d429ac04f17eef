"""Rows to predict for, in blocks of one shape, so that no row decides how another is rounded.

A product of matrices may round a row's sum by how many rows there are, and by where the row stands:
one row more would then move the predictions of others by an ulp, and a class with it. Here each
row has a place of its own, by coins of its own, and all blocks have one row for each place.
A row more is put behind those of its place: others change their block, never their place in it.

Theorem.  What is predicted for a row depends on that row, its place and the model alone.
  Proven:   docs/explanation/proofs/tuning.md, section 1
  Tested:   tests/learn/test_judging.py
  Assumed:  for blocks of one shape, a model's prediction at a place reads the row at that place
            and rounds in one fixed order; the coins are secret and fresh
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
SIZE = 256  # rows of a block


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of rows; row i is at `places[i]` of block `numbers[i]`, and 0 fills the rest."""

    values: Floats
    numbers: Places
    places: Places

    @classmethod
    def of(cls, rows: Floats, places: Places) -> Self:
        """The rows at their places; at least one block, also of no rows."""
        numbers = _numbers(places)
        values = np.zeros((int(np.max(numbers, initial=0)) + 1, SIZE, rows.shape[1]))
        values[numbers, places] = rows
        return cls(values, numbers, places)

    def predicted(self, predict: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        """What is predicted for each row, in the order in which rows were given."""
        whole = np.stack([predict(block) for block in self.values])
        return whole[self.numbers, self.places]


def _numbers(places: Places) -> Places:
    """For each row, how many rows before it have the same place."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    numbers = np.empty(len(places), np.int64)
    numbers[order] = np.arange(len(places)) - np.searchsorted(ordered, ordered)
    return numbers
