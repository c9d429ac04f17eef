"""A table in one grouped pass: each combination of values once, with its number of rows.

A group is one combination of quasi-identifiers. Groups are numbered in the order of their
values, so that nothing below depends on the order of the rows.

  Tested:   tests/anonymity/test_measure.py, row orders and indices among it
"""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from letalone.engines.coded import Coded, coded, counts
from letalone.engines.counted import NUMBER_OF_ROWS
from letalone.engines.duck import open_duck
from letalone.errors import ParameterError

Whole = NDArray[np.int64]
MOST_CODES = 2**62  # combinations of codes that one whole number can tell apart


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of a table: codes of each column, the group of each cell, its rows."""

    quasi_identifiers: tuple[Coded, ...]
    sensitive: tuple[Coded, ...]
    rows: Whole
    group: Whole
    sizes: Whole
    others: tuple[str, ...]

    @property
    def total(self) -> int:
        """How many rows there are."""
        return int(self.sizes.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How often each value occurs in each group: sorted by group, then by value."""

    group: Whole
    value: Whole
    count: Whole


def read_cells(
    table: object,
    *,
    quasi_identifiers: Iterable[str],
    sensitive: Iterable[str],
    table_name: str | None = None,
) -> Cells:
    """The cells of a file or a frame, on DuckDB."""
    quasi = _names("quasi_identifiers", quasi_identifiers)
    secret = _names("sensitive", sensitive, needed=False)
    if twice := sorted({name for name in quasi if name in secret}):
        raise ParameterError(
            f"{twice[0]!r} is both a quasi-identifier and sensitive, but must be one: what others"
            " may know of a person, or what they must not learn."
        )
    with closing(open_duck(table, table=table_name)) as engine:
        columns = [column.name for column in engine.schema().columns]
        found = engine.counted([*quasi, *secret])
    if not found.num_rows:
        raise ParameterError("The table has no rows, so there is no group. Give one with rows.")
    codes = [coded(found, str(n), called=name) for n, name in enumerate([*quasi, *secret])]
    others = tuple(name for name in columns if name not in (*quasi, *secret))
    return cells_of(codes[: len(quasi)], codes[len(quasi) :], counts(found, NUMBER_OF_ROWS), others)


def cells_of(
    quasi: Sequence[Coded], sensitive: Sequence[Coded], rows: Whole, others: tuple[str, ...] = ()
) -> Cells:
    """Cells in the order of their values, each with the number of its group."""
    order = np.argsort(combined([column.codes for column in (*quasi, *sensitive)]))
    first, second = ([_moved(one, order) for one in part] for part in (quasi, sensitive))
    key = combined([column.codes for column in first])
    starts, rows = _starts(key), rows[order]
    sizes = np.add.reduceat(rows, np.flatnonzero(starts))
    return Cells(tuple(first), tuple(second), rows, np.cumsum(starts) - 1, sizes, others)


def histogram(group: Whole, value: Whole, rows: Whole) -> Histogram:
    """The rows of each value in each group."""
    key = combined([group, value])
    if (key[1:] > key[:-1]).all():
        return Histogram(group, value, rows)
    order = np.argsort(key)
    places = np.flatnonzero(_starts(key[order]))
    first = order[places]
    return Histogram(group[first], value[first], np.add.reduceat(rows[order], places))


def combined(columns: Sequence[Whole]) -> Whole:
    """One whole number for each combination, in the order of the first column, then the next."""
    key, most = columns[0], int(columns[0].max()) + 1
    for column in columns[1:]:
        size = int(column.max()) + 1
        if most * size >= MOST_CODES:
            values, inverse = np.unique(key, return_inverse=True)
            key, most = inverse.astype(np.int64), len(values)
        key, most = key * size + column, most * size
    return key


def _moved(column: Coded, order: Whole) -> Coded:
    return Coded(column.name, column.codes[order], column.values)


def _starts(ordered: Whole) -> NDArray[np.bool_]:
    """Where another key begins."""
    return np.concatenate([[True], ordered[1:] != ordered[:-1]])


def _names(argument: str, given: Iterable[str], *, needed: bool = True) -> list[str]:
    """Names of columns: one name alone is a list of one."""
    names = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(cast("object", name), str) for name in names):
        raise ParameterError(f"{argument} must be a list of names of columns.")
    if needed and not names:
        raise ParameterError(
            f"{argument} is empty, but must name what others may know of a person, such as"
            " ['zip', 'birth', 'gender']."
        )
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ParameterError(f"{argument} names {twice[0]!r} twice. Name each column once.")
    return names
