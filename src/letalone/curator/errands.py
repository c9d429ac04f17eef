"""What the owner of an external file is to change, in words: the curator does not write there.

The words name the file, the one row by its place and by all of its values, and the new values.
They are private: for the steward and the owner, and kept nowhere.

  Tested:   tests/curator/test_subjects.py
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from letalone.curator.sessions import Source


@dataclass(frozen=True, slots=True)
class Errand:
    """What is to be done, about how many rows, and how."""

    what: str
    rows: int
    statement: str


def to_erase(source: Source, unit_id: str, *, rows: int) -> str:
    """Which rows are to be removed from the file."""
    which = f"in which {source.schema.unit!r} is {unit_id!r}"
    if rows == 0:
        return f"Nothing is to be removed: the file {source.place.name!r} has no rows {which}."
    return f"In the file {source.place.name!r}, remove every row {which}: {_rows(rows)}."


def to_correct(
    source: Source,
    rows: Sequence[Mapping[str, object]],
    *,
    row: int,
    changes: Mapping[str, object],
) -> str:
    """Which values of which row are to be written anew."""
    values = ", ".join(f"{name!r} is {_value(value)}" for name, value in rows[row].items())
    new = " and ".join(f"{_value(value)} into {name!r}" for name, value in changes.items())
    place = f"number {row + 1} of the {_rows(len(rows))} of this person, from the top"
    if len(rows) == 1:
        place = "the only row of this person"
    return (
        f"In the file {source.place.name!r}, find the row in which {values} ({place}). Write"
        f" {new}. Leave all other rows as they are."
    )


def _rows(number: int) -> str:
    return f"{number} row{'s' * (number != 1)}"


def _value(value: object) -> str:
    """A value as one would write it into the file."""
    if value is None:
        return "nothing (a missing value)"
    if isinstance(value, float):
        return f"{value:.17g}" if float(f"{value:g}") != value else f"{value:g}"
    return str(value) if isinstance(value, int | date) else repr(value)
