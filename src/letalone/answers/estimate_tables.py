"""An estimate as columns: a row for each label, its value, and the ends of its interval.

Tested:   tests/answers/test_estimate.py
"""

from collections.abc import Hashable, Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING, cast

import numpy as np

from letalone.answers.cell_operations import kind_of
from letalone.answers.columns import Cell, CellKind, KeyColumn, Output

if TYPE_CHECKING:
    from letalone.answers.estimate import Estimate

CELLS = frozenset({str, bool, int, float, date})
Columns = tuple[list[KeyColumn], Output]


def columns_of(estimate: "Estimate") -> Columns:
    """What the rows are called, and their numbers; a single number has no name."""
    shape = np.shape(estimate.value)
    keys = list(_keys(estimate.labels, shape))
    value, low, high = (
        tuple(float(cell) for cell in np.ravel(part))
        for part in (estimate.value, estimate.low, estimate.high)
    )
    return keys, Output("value", "estimate", "", CellKind.NUMBER, value, low, high)


def _keys(labels: Sequence[Hashable] | None, shape: tuple[int, ...]) -> Iterator[KeyColumn]:
    """The last axis runs over labels, one before it over several answers of a person."""
    places: list[tuple[int, ...]] = list(np.ndindex(shape))
    if len(shape) > 1:
        yield KeyColumn("answer", CellKind.INTEGER, tuple(place[0] for place in places))
    if shape:
        named = range(shape[-1]) if labels is None else labels
        cells = _cells(named)
        yield KeyColumn("label", _kind(cells), tuple(cells[place[-1]] for place in places))


def _cells(labels: Sequence[Hashable]) -> list[Cell]:
    """Labels as cells of one kind; those of several kinds, or of others, as texts."""
    listed = list(labels)
    kinds: set[type] = {type(label) for label in listed}
    known = len(kinds) == 1 and kinds <= CELLS
    return cast("list[Cell]", listed) if known else [str(label) for label in listed]


def _kind(cells: Sequence[Cell]) -> CellKind:
    return kind_of(cells[0]) if cells else CellKind.TEXT
