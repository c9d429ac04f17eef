"""Words what the owner of an external source has to change: the service does not write there.

For a file it is words, which name the one row by its place and by all of its values, and the new
values; for a table on Spark and a view on a server the same, but their rows have no place; for a
table on a server a statement to run. They are private: for the steward and the owner, and kept
nowhere but in the steward's own draft of the page that shows them, encrypted and for some hours.

  Tested:   tests/curator/test_subjects.py, tests/curator/test_sources_on_servers.py,
            tests/on_spark/test_curator.py
"""

from datetime import date
from pathlib import Path

from letalone.curator.data_sets.open_sessions import RowsLocation
from letalone.curator.subjects.unit_rows import Changes, rows_of_unit
from letalone.engines.postgres.postgres_person import (
    lie_here,
    rows_of_one,
    write_delete,
    write_update,
)
from letalone.plans.schema import Schema
from letalone.sources.resolve import in_words
from letalone.sources.spark_names import is_spark_address


def erase_statement(source: RowsLocation, unit_id: str, *, rows: int) -> str:
    """Which rows are to be removed: words for a file, a statement for a server."""
    which = f"in which {source.schema.unit!r} is {unit_id!r}"
    if rows == 0:
        return f"Nothing is to be removed: {_name_place(source.place)} has no rows {which}."
    server = _server_address(source.place)
    if server is not None:
        run = write_delete(server, source.schema, unit_id)
        return f"On {_name_place(source.place)}, run: {run} It must say DELETE {rows}."
    return f"In {_name_place(source.place)}, remove every row {which}: {_rows(rows)}."


def correct_statement(
    source: RowsLocation, unit_id: str, *, row: int, changes: Changes
) -> str | None:
    """Which values of which row are to be written anew; None where there is no such row."""
    server = _server_address(source.place)
    if server is not None and lie_here(server):
        return _update_statement(server, source.schema, unit_id, row=row, changes=changes)
    rows = rows_of_unit(source.place, source.schema, unit_id)
    if not 0 <= row < len(rows):
        return None
    values = ", ".join(f"{name!r} is {_value(value)}" for name, value in rows[row].items())
    new = " and ".join(f"{_value(value)} into {name!r}" for name, value in changes.items())
    place = f"number {row + 1} of the {_rows(len(rows))} of this person, from the top"
    if isinstance(source.place, str):
        place = f"one of the {_rows(len(rows))} of this person; if two are equal, either"
    if len(rows) == 1:
        place = "the only row of this person"
    return (
        f"In {_name_place(source.place)}, find the row in which {values} ({place}). Write"
        f" {new}. Leave all other rows as they are."
    )


def _update_statement(
    address: str, schema: Schema, unit_id: str, *, row: int, changes: Changes
) -> str | None:
    rows = rows_of_one(address, schema, unit_id)
    if not 0 <= row < len(rows):
        return None
    run = write_update(address, rows[row], changes)
    return (
        f"On {_name_place(address)}, run: {run} It must say UPDATE 1; if it says UPDATE 0, the row"
        " has been changed since, and another statement is needed."
    )


def _server_address(place: Path | str) -> str | None:
    """The address that takes statements. Of Spark's tables few can be changed row by row."""
    return place if isinstance(place, str) and not is_spark_address(place) else None


def _name_place(place: Path | str) -> str:
    if isinstance(place, str):
        return f"the table {in_words(place)!r}"
    return f"the file {place.name!r}"


def _rows(number: int) -> str:
    return f"{number} row{'s' * (number != 1)}"


def _value(value: object) -> str:
    if value is None:
        return "nothing (a missing value)"
    if isinstance(value, float):
        return f"{value:.17g}" if float(f"{value:g}") != value else f"{value:g}"
    return str(value) if isinstance(value, int | date) else repr(value)
