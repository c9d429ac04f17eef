"""Who takes part in a step: every unit by a coin of its own, secret and new for each step.

The units that were drawn are thrown into bins, each by itself, and a bin is worked off in pieces of
a bounded size. So one unit more or less changes one bin, and rounding elsewhere stays what it was.

  Proven:   docs/explanation/proofs/deep_learning.md, sections 1 and 3
  Tested:   tests/deep_learning/test_sampling.py
  Assumed:  the bits are uniform and secret
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError
from letalone.randomness.bits import BitSource
from letalone.randomness.chance import Chance, sample_bernoullis

Places = NDArray[np.int64]
FILL = 0.75  # of a piece, on average: so that few bins need two
FEW = 4  # deviations above the average: larger pieces may be that full


@dataclass(frozen=True, slots=True)
class Units:
    """Which examples are whose: those of unit u are order[starts[u] : starts[u + 1]]."""

    order: Places
    starts: Places
    most: int  # so many examples of a unit take part in a step

    def __len__(self) -> int:
        return len(self.starts) - 1

    def drawn(self, unit: int, bits: BitSource) -> Places:
        """The unit's examples; where there are too many, some of them, drawn anew each time."""
        own = self.order[self.starts[unit] : self.starts[unit + 1]]
        if len(own) <= self.most:
            return own
        return own[np.argsort(_words(len(own), bits), kind="stable")[: self.most]]


@dataclass(frozen=True, slots=True)
class Piece:
    """Units that are worked on at once: the places of their examples, and which are real.

    doubles: its bin has more than one piece, so that sums need more than single precision.
    """

    places: Places
    real: NDArray[np.bool_]
    doubles: bool
    bin: int


def units_of(count: int, labels: Any, most: int) -> Units:
    """Each example a unit, or those with one label; without a label (NaN) it is nobody's."""
    if labels is None:
        return Units(np.arange(count), np.arange(count + 1), 1)
    column = _column(labels)
    if column.shape != (count,):
        raise ParameterError(
            "unit must be one column with a label for each example of the dataset, but has another"
            " shape."
        )
    known = np.flatnonzero(column == column)
    order = known[np.argsort(column[known], kind="stable")].astype(np.int64)
    ends = np.flatnonzero(column[order[1:]] != column[order[:-1]]) + 1
    inner = [0, *ends.tolist()] if len(order) else []
    return Units(order, np.array([*inner, len(order)], np.int64), most)


def _column(labels: Any) -> NDArray[Any]:
    """Labels that are equal only where they were: one odd cell changes no other's."""
    if not isinstance(labels, list | tuple):
        column = np.asarray(labels)
        if column.dtype != object or column.ndim != 1:
            return column
        labels = column.tolist()
    cells, known = cast("Sequence[object]", labels), dict[object, int]()
    keys = (cell if isinstance(cell, Hashable) else (repr, repr(cell)) for cell in cells)
    numbers = (None if _is_missing(k) else known.setdefault(k, len(known)) for k in keys)
    return np.array([np.nan if number is None else number for number in numbers], np.float64)


def _is_missing(cell: object) -> bool:
    """Whether a cell is no label: None, or not surely equal to itself (NaN, pandas' NA)."""
    try:
        return cell is None or not bool(cell == cell)
    except Exception:  # of whichever kind: what cells raise must refuse nobody
        return True


def draw_units(units: int, rate: Fraction, bits: BitSource) -> Places:
    """Each unit with probability `rate`, independently: there may be none."""
    return np.flatnonzero(sample_bernoullis(Chance(rate), units, bits)).astype(np.int64)


def pieces_of(
    drawn: Places, units: Units, *, bins: int, size: int, padded: bool, bits: BitSource
) -> Iterator[Piece]:
    """The drawn units in pieces of at most `size`; padded: of exactly that, the rest masked."""
    bin_of = _words(len(drawn), bits) % np.uint64(bins)
    for number in range(bins):
        inside = drawn[bin_of == number]
        for start in range(0, len(inside), size):
            part = inside[start : start + size]
            rows, doubles = size if padded else len(part), len(inside) > size
            yield Piece(*_places(part, units, rows, bits), doubles, number)


def bins_for(batch: int, size: int) -> int:
    """So many that most hold no more than a piece."""
    return max(1, ceil(batch / max(size * FILL, size - FEW * sqrt(size))))


def _places(
    part: Places, units: Units, rows: int, bits: BitSource
) -> tuple[Places, NDArray[np.bool_]]:
    own = [units.drawn(int(unit), bits) for unit in part]
    # Masked places have share 0. They hold a copy of the unit's own example: 0 times an odd one is
    # NaN, and whoever holds it counts for nothing. Rows of nobody hold anything.
    places = np.full((rows, units.most), own[0][0], np.int64)
    real = np.zeros((rows, units.most), np.bool_)
    for row, examples in enumerate(own):
        places[row] = examples[0]
        places[row, : len(examples)], real[row, : len(examples)] = examples, True
    return places, real


def _words(count: int, bits: BitSource) -> NDArray[np.uint64]:
    words = np.empty(count, np.uint64)
    bits.fill(words)
    return words
