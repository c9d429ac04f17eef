"""A table in one grouped pass: each combination of values once, with its number of rows.

A group is one combination of quasi-identifiers. Groups are numbered in the order of their
values, so that nothing below depends on the order of the rows. With a unit, the person is one of
the values of a cell.

  Tested:   tests/anonymity/test_measure.py, row orders and indices among it
"""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.frames.coded import MISSING, NAN, Coded, counts, encode_column
from letalone.engines.frames.counted import NUMBER_OF_ROWS
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem

Whole = NDArray[np.int64]
MAX_CODES = 2**62  # combinations of codes that one whole number can tell apart


@dataclass(frozen=True, slots=True, eq=False)
class ValueCells:
    """The cells of a table: codes of each column, the group of each cell, its rows.

    `unit` is the column that identifies a person; None where a row is a person.
    """

    quasi_identifiers: tuple[Coded, ...]
    sensitive: tuple[Coded, ...]
    rows: Whole
    group: Whole
    groups: int
    others: tuple[str, ...]
    unit: Coded | None = None

    @property
    def total(self) -> int:
        return int(self.rows.sum())

    @property
    def person(self) -> Whole | None:
        """The person of each cell; None where a row is a person."""
        return None if self.unit is None else self.unit.codes

    @property
    def people(self) -> int:
        return self.total if self.unit is None else len(np.unique(self.unit.codes))


@dataclass(frozen=True, slots=True, eq=False)
class ValueHistogram:
    """How often each value occurs in each group: sorted by group, then by value."""

    group: Whole
    value: Whole
    count: Whole


def read_cells(
    table: object,
    *,
    quasi_identifiers: Iterable[str],
    sensitive: Iterable[str],
    unit: str | None = None,
    table_name: str | None = None,
) -> ValueCells:
    """The cells of a file or a frame, on DuckDB."""
    quasi = _names("quasi_identifiers", quasi_identifiers)
    secret = _names("sensitive", sensitive, needed=False)
    person = _person(unit, [*quasi, *secret])
    if twice := sorted({name for name in quasi if name in secret}):
        raise ParameterError(
            f"{twice[0]!r} is both a quasi-identifier and sensitive, but must be one: what others"
            " may know of a person, or what they must not learn."
        )
    with closing(open_duck(table, table=table_name)) as engine:
        columns = [column.name for column in engine.schema().columns]
        counted = engine.counted([*quasi, *secret, *person])
    if not counted.num_rows:
        raise ParameterError("The table has no rows, so there is no group. Give one with rows.")
    names = [*quasi, *secret, *person]
    codes = [encode_column(counted, str(n), called=name) for n, name in enumerate(names)]
    others = tuple(name for name in columns if name not in (*quasi, *secret))
    first, second = len(quasi), len(quasi) + len(secret)
    # Neither NaN nor a missing unit says who it is: together they are one person.
    units = [replace(u, codes=np.where(u.codes == NAN, MISSING, u.codes)) for u in codes[second:]]
    rows = counts(counted, NUMBER_OF_ROWS)
    last = units[0] if units else None
    return cells_of(codes[:first], codes[first:second], rows, others, unit=last)


def cells_of(
    quasi: Sequence[Coded],
    sensitive: Sequence[Coded],
    rows: Whole,
    others: tuple[str, ...] = (),
    *,
    unit: Coded | None = None,
) -> ValueCells:
    """Cells in the order of their values, each with the number of its group."""
    person = [] if unit is None else [unit]
    order = np.argsort(combine_codes([column.codes for column in (*quasi, *sensitive, *person)]))
    first, second, third = (
        tuple(replace(column, codes=column.codes[order]) for column in part)
        for part in (quasi, sensitive, person)
    )
    starts = _starts(combine_codes([column.codes for column in first]))
    group = np.cumsum(starts) - 1
    last = third[0] if third else None
    return ValueCells(first, second, rows[order], group, int(starts.sum()), others, last)


def histogram(group: Whole, value: Whole, rows: Whole) -> ValueHistogram:
    """The rows of each value in each group."""
    key = combine_codes([group, value])
    if (key[1:] > key[:-1]).all():
        return ValueHistogram(group, value, rows)
    order = np.argsort(key)
    places = np.flatnonzero(_starts(key[order]))
    first = order[places]
    return ValueHistogram(group[first], value[first], np.add.reduceat(rows[order], places))


def combine_codes(columns: Sequence[Whole]) -> Whole:
    """One whole number for each combination, in the order of the first column, then the next."""
    key, codes = columns[0], int(columns[0].max()) + 1
    for column in columns[1:]:
        size = int(column.max()) + 1
        if codes * size >= MAX_CODES:
            values, inverse = np.unique(key, return_inverse=True)
            key, codes = inverse.astype(np.int64), len(values)
        key, codes = key * size + column, codes * size
    return key


def _starts(ordered: Whole) -> NDArray[np.bool_]:
    return np.concatenate([[True], ordered[1:] != ordered[:-1]])


def _person(unit: object, named: Sequence[str]) -> list[str]:
    """The column of the unit in a list, which is empty where a row is a person."""
    if unit is None:
        return []
    if not isinstance(unit, str):
        raise ParameterError(
            "unit must be the name of one column: the one that identifies a person."
        )
    if unit in named:
        raise ParameterError(
            f"{unit!r} is the unit, so it cannot be a quasi-identifier or sensitive too: it"
            " identifies people and is not used otherwise."
        )
    return [unit]


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
        words = f"names {twice[0]!r} twice. Name each column once."
        option = f"--{argument.replace('_', '-')}"
        spelled = Spelled(f"{argument} {words}", f"{option} {words}")
        raise ParameterError(problem(Code.OTHER, words=spelled))
    return names
