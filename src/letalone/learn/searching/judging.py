"""How well a model predicts rows, as a whole number of steps that one row moves by at most `steps`.

A class that is right counts all steps, one that is wrong none. A number counts the more the nearer
it is: none where it is off by the width of the declared bounds or more. Every cell counts: one that
is no class and no number is wrong, and makes no error.

Theorem.  (right, wrong) moves by `steps` in L1, and both by no less than 0, when a row is added.
  Proven:   a row adds a whole number r from 0 to steps to right, and steps − r to wrong
  Tested:   tests/learn/test_search.py, test_judging.py

Rows to predict for, in blocks of one shape, so that no row decides how another is rounded.

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

from letalone.learn.features import row_cells
from letalone.learn.features.classes import code_of
from letalone.learn.plan import Floats, Labels

STEPS_PER_ROW = 2**10
Places = NDArray[np.int64]
BLOCK_ROWS = 256  # rows of a block


@dataclass(frozen=True, slots=True)
class Score:
    """How predictions are compared; `bounds` are those of numbers, None for classes."""

    bounds: tuple[float, float] | None

    @property
    def steps(self) -> int:
        return 1 if self.bounds is None else STEPS_PER_ROW

    @property
    def words(self) -> str:
        if self.bounds is None:
            return "the share of rows whose class is right"
        return "1 − the mean distance, as a share of the width of the target's bounds"

    def counted(self, predicted: Labels, labels: Labels) -> tuple[int, int]:
        """The steps that are right, and those that are wrong, over all rows."""
        if self.bounds is None:
            pairs = zip(predicted.tolist(), labels.tolist(), strict=True)
            right = sum(code_of(label, {guess: 0}) == 0 for guess, label in pairs)  # as in training
        else:
            right = int(np.sum(self._near(_numbers(predicted), _numbers(labels))))
        return right, len(labels) * self.steps - right

    def _near(self, predicted: Floats, labels: Floats) -> NDArray[np.int64]:
        lower, upper = self.bounds or (0.0, 1.0)
        mine, other = (np.clip(values, lower, upper) for values in (predicted, labels))
        near = 1 - np.abs(mine / (upper - lower) - other / (upper - lower))
        return np.floor(np.clip(np.nan_to_num(near), 0.0, 1.0) * STEPS_PER_ROW).astype(np.int64)


def _numbers(values: Labels) -> Floats:
    """Values as doubles; what is none is NaN, which counts as wrong."""
    if values.dtype.kind not in "fiubO":
        return np.full(len(values), np.nan)
    return row_cells.numbers_of(values).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of rows; row i is at `places[i]` of block `numbers[i]`, and 0 fills the rest."""

    values: Floats
    numbers: Places
    places: Places

    @classmethod
    def of(cls, rows: Floats, places: Places) -> Self:
        """The rows at their places; at least one block, also of no rows."""
        numbers = _block_numbers(places)
        values = np.zeros((int(np.max(numbers, initial=0)) + 1, BLOCK_ROWS, rows.shape[1]))
        values[numbers, places] = rows
        return cls(values, numbers, places)

    def predicted(self, predict: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        """What is predicted for each row, in the order in which rows were given."""
        predictions = np.stack([predict(block) for block in self.values])
        return predictions[self.numbers, self.places]


def _block_numbers(places: Places) -> Places:
    """For each row, how many rows before it have the same place."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    numbers = np.empty(len(places), np.int64)
    numbers[order] = np.arange(len(places)) - np.searchsorted(ordered, ordered)
    return numbers
