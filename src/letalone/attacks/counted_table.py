"""What the attacks read of a table: combinations of values, each with its number of rows.

One grouped pass on DuckDB; a missing value equals nothing, not even another one.

  Tested:   through the attacks, in tests/attacks
"""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from letalone.anonymity.value_cells import combine_codes
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.frames import arrow
from letalone.engines.frames.coded import FIRST, Coded, counts, encode_column
from letalone.engines.frames.counted import NUMBER_OF_ROWS
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem

Whole = NDArray[np.int64]
MISSING = -1


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Each combination of the columns once, and its rows."""

    columns: dict[str, Coded]
    rows: Whole

    @property
    def total(self) -> int:
        return int(self.rows.sum())

    def taken(self, places: NDArray[np.intp] | NDArray[np.bool_]) -> "Counted":
        columns = {
            name: replace(column, codes=column.codes[places])
            for name, column in self.columns.items()
        }
        return Counted(columns, self.rows[places])

    def known(self) -> "Counted":
        """Without what misses a value of some column."""
        is_known = [column.codes >= FIRST for column in self.columns.values()]
        return self.taken(np.logical_and.reduce(is_known))

    def as_frame(self) -> arrow.ArrowTable:
        columns = self.columns.items()
        return arrow.table_of([(name, column.taken(column.codes)) for name, column in columns])


def read(table: object, names: Sequence[str]) -> Counted:
    """The combinations of some columns of a file or a frame."""
    once = list(dict.fromkeys(names))
    with closing(open_duck(table)) as engine:
        cells = engine.counted(once)
    if not cells.num_rows:
        raise ParameterError("The table has no rows: there is nobody to find. Give one with rows.")
    columns = {
        name: encode_column(cells, str(place), called=name) for place, name in enumerate(once)
    }
    return Counted(columns, counts(cells, NUMBER_OF_ROWS))


def names_of(argument: str, given: Iterable[str]) -> list[str]:
    """Names of columns: one name alone is a list of one."""
    names = [given] if isinstance(given, str) else list(given)
    if not names or not all(isinstance(cast("object", name), str) for name in names):
        words = "must be a list of names of columns, such as ['zip', 'birth_date']."
        option = "--on" if argument == "quasi_identifiers" else f"--{argument.replace('_', '-')}"
        spelled = Spelled(f"{argument} {words}", f"{option} {words}")
        raise ParameterError(problem(Code.OTHER, words=spelled))
    return names


def truths(name: str, texts: list[str]) -> NDArray[np.float64]:
    """What each code of a column means; a missing value is a 0."""
    meaning = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0, "0.0": 0.0, "1.0": 1.0}
    if not {text.lower() for text in texts} <= set(meaning):
        raise ParameterError(f"Column {name!r} must hold 0 and 1, or false and true.")
    return np.array([0.0, 0.0, *(meaning[text.lower()] for text in texts)])


def joint_keys(one: Counted, other: Counted, names: Sequence[str]) -> tuple[Whole, Whole]:
    """A number for each combination in either table, equal where their texts are.

    Texts, so that a date in a frame meets the same date in a file; -1 where a value is missing.
    """
    pairs = [_joint_codes(one.columns[name], other.columns[name]) for name in names]
    codes_of_both = [np.concatenate(pair) for pair in pairs]
    keys = combine_codes(codes_of_both)
    keys[np.logical_or.reduce([codes == 0 for codes in codes_of_both])] = MISSING
    return keys[: len(one.rows)], keys[len(one.rows) :]


def _joint_codes(one: Coded, other: Coded) -> tuple[Whole, Whole]:
    """Codes that mean the same in both; 0 is a missing value, and NaN."""
    first, second = one.texts(), other.texts()
    _, inverse = np.unique(np.array([*first, *second]), return_inverse=True)
    new = np.concatenate([np.zeros(FIRST, np.int64), 1 + inverse.astype(np.int64)])
    second_codes = np.where(other.codes < FIRST, other.codes, other.codes + len(first))
    return new[one.codes], new[second_codes]
