"""What the attacks read of a table: combinations of values, each with its number of rows.

One grouped pass on DuckDB; a missing value equals nothing, not even another one.

  Tested:   through the attacks, in tests/attacks
"""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from letalone.anonymity.cells import combined
from letalone.engines import arrow
from letalone.engines.coded import FIRST, Coded, coded, counts
from letalone.engines.counted import NUMBER_OF_ROWS
from letalone.engines.duck import open_duck
from letalone.errors import ParameterError

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
            name: Coded(one.name, one.codes[places], one.values)
            for name, one in self.columns.items()
        }
        return Counted(columns, self.rows[places])

    def as_frame(self) -> arrow.Table:
        """An Arrow table with a row for each combination."""
        columns = self.columns.items()
        return arrow.table_of([(name, one.taken(one.codes)) for name, one in columns])


def read(table: object, names: Sequence[str], *, table_name: str | None = None) -> Counted:
    """The combinations of some columns of a file or a frame."""
    once = list(dict.fromkeys(names))
    with closing(open_duck(table, table=table_name)) as engine:
        found = engine.counted(once)
    if not found.num_rows:
        raise ParameterError("The table has no rows: there is nobody to find. Give one with rows.")
    columns = {name: coded(found, str(place), called=name) for place, name in enumerate(once)}
    return Counted(columns, counts(found, NUMBER_OF_ROWS))


def names_of(argument: str, given: Iterable[str]) -> list[str]:
    """Names of columns: one name alone is a list of one."""
    names = [given] if isinstance(given, str) else list(given)
    if not names or not all(isinstance(cast("object", name), str) for name in names):
        raise ParameterError(
            f"{argument} must be a list of names of columns, such as ['zip', 'birth_date']."
        )
    return names


def joint_keys(one: Counted, other: Counted, names: Sequence[str]) -> tuple[Whole, Whole]:
    """A number for each combination in either table, equal where their texts are.

    Texts, so that a date in a frame meets the same date in a file; -1 where a value is missing.
    """
    pairs = [_joint_codes(one.columns[name], other.columns[name]) for name in names]
    whole = [np.concatenate(pair) for pair in pairs]
    found = combined(whole)
    found[np.logical_or.reduce([codes == 0 for codes in whole])] = MISSING
    return found[: len(one.rows)], found[len(one.rows) :]


def _joint_codes(one: Coded, other: Coded) -> tuple[Whole, Whole]:
    """Codes that mean the same in both; 0 is a missing value, and NaN."""
    first, second = one.texts(), other.texts()
    _, inverse = np.unique(np.array([*first, *second]), return_inverse=True)
    new = np.concatenate([np.zeros(FIRST, np.int64), 1 + inverse.astype(np.int64)])
    second_codes = np.where(other.codes < FIRST, other.codes, other.codes + len(first))
    return new[one.codes], new[second_codes]
