"""Features as numbers of bins: equal widths between declared bounds, or one bin for each value.

Columns that belong together (`groups`, as `TableEncoder.groups` says) are one category: its bin is
the column that holds the largest number above 0, and one more bin is for rows without any.

Theorem.  The bin of a row is a function of that row and of public numbers alone.
  Proven:   comparisons and single IEEE operations, element by element
  Tested:   tests/learn/test_boosting.py: rows alone and among others; odd numbers
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Groups = Sequence[Sequence[int]] | None
GOLDEN = (5**0.5 - 1) / 2  # the fractional parts of its multiples never come near each other


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of numbers, or several columns that are one category."""

    columns: tuple[int, ...]
    bins: int

    @property
    def is_ordered(self) -> bool:
        return len(self.columns) == 1

    def codes(self, rows: Floats, lower: Floats, upper: Floats) -> Codes:
        """The bin of each row; what is not finite counts as the middle."""
        if not self.is_ordered:
            return _largest(rows[:, list(self.columns)])
        column = self.columns[0]
        low, high = float(lower[column]), float(upper[column])
        numbers = rows[:, column]
        inside = np.clip(np.where(np.isfinite(numbers), numbers, (low + high) / 2), low, high)
        places = np.floor((inside - low) / (high - low) * self.bins)
        return np.minimum(places, self.bins - 1).astype(np.int64)


def read_features(groups: Groups, width: int, bins: int) -> tuple[Feature, ...]:
    """The features of so many columns; columns in no group are features of their own."""
    listed = _read_groups(groups, width)
    named = {column for group in listed for column in group}
    alone = [(column,) for column in range(width) if column not in named]
    column_groups = sorted([*listed, *alone])
    return tuple(
        Feature(columns, bins if len(columns) == 1 else len(columns) + 1)
        for columns in column_groups
    )


def merge_bins(counts: Floats, least: float) -> Codes:
    """For each bin the number of the wider bin it belongs to: neighbours with `least` together."""
    wider = np.zeros(len(counts), np.int64)
    number, held = 0, 0.0
    for place, count in enumerate(counts.tolist()):
        if held >= least:
            number, held = number + 1, 0.0
        wider[place] = number
        held += count
    if held < least and number > 0:
        wider[wider == number] = number - 1
    return wider


def leaves(bins: int, most: int, number: int) -> Codes:
    """The leaf of each bin: `most` runs of about equal length, which move on with each tree."""
    if bins <= most:
        return np.arange(bins, dtype=np.int64)
    moved = (number * GOLDEN) % 1
    cuts = np.floor((np.arange(most - 1) + moved + 0.5) * bins / most)
    return np.searchsorted(np.unique(np.clip(cuts, 1, bins - 1)), np.arange(bins), side="right")


def _largest(rows: Floats) -> Codes:
    finite: Floats = np.where(np.isfinite(rows), rows, 0.0)
    largest: Floats = np.max(finite, axis=1)
    places: Codes = np.argmax(finite, axis=1).astype(np.int64)
    places[largest <= 0] = rows.shape[1]
    return places


def _read_groups(groups: Groups, width: int) -> list[tuple[int, ...]]:
    try:
        listed = [tuple(int(column) for column in group) for group in groups or ()]
    except (TypeError, ValueError):
        listed = [cast("tuple[int, ...]", (-1,))]
    every = [column for group in listed for column in group]
    if len(set(every)) < len(every) or not all(0 <= column < width for column in every):
        raise ParameterError(
            f"groups must be lists of columns from 0 to {width - 1}, each in one list, such as"
            " TableEncoder.groups."
        )
    return [group for group in listed if group]
