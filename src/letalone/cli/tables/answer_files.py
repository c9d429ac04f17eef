"""Writes an answer as a table: CSV, Parquet or Excel, or the JSON object that `--json` prints.

All rows and columns are written, and the noisy numbers as they were drawn: those can be added up.
A place is checked before anything is spent: the file can be made there, and nothing is lost by it.
It is written beside its place and then moved, so there is never half a file.
"""

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, cast

from letalone.answers.release import ReleaseRecord
from letalone.cli.places import check_place
from letalone.cli.screen import json_text
from letalone.errors import ParameterError
from letalone.errors.installing import not_installed

FORMATS = (".csv", ".parquet", ".xlsx", ".json")
MOST_ROWS_OF_A_SHEET = 2**20 - 1  # below the names
Facts = Mapping[str, object]


def check_answer_file(option: str, path: Path, *, kept: Iterable[Path]) -> None:
    """Refuses a place where the answer cannot be written.

    `kept` are files that are never written over: the table, its schema file, its ledger.
    """
    if path.suffix.lower() not in FORMATS:
        raise ParameterError(f"{option} is {path}, but must end in {', '.join(FORMATS)}.")
    if path.suffix.lower() == ".xlsx" and find_spec("openpyxl") is None:
        raise ParameterError(
            not_installed(f"Writing {path}", "openpyxl", "excel")
            + " A .csv file needs nothing more."
        )
    check_writable(option, path)
    if path.exists() and any(path.samefile(file) for file in kept if file.exists()):
        raise ParameterError(f"{option} is {path}, which the question itself needs. Name another.")


def check_writable(option: str, path: Path) -> None:
    """Refuses, before anything is spent, a place where no file can be made."""
    check_place(option, path)
    try:
        with NamedTemporaryFile(dir=path.absolute().parent, prefix=".letalone."):
            pass
        if path.exists():
            with path.open("ab"):
                pass
    except OSError as error:
        raise ParameterError(
            f"{option} is {path}, but nothing can be written there: {error.strerror}."
        ) from None


def write_answer(path: Path, release: ReleaseRecord, facts: Facts) -> None:
    """Write the answer; `facts` is what `--json` prints with it."""
    beside = path.absolute().with_name(f".{path.name}.{os.getpid()}")
    try:
        match path.suffix.lower():
            case ".csv":
                with beside.open("w", newline="", encoding="utf-8") as file:
                    write_csv(file, release)
            case ".parquet":
                import pyarrow.parquet as pq

                cast("Any", pq).write_table(release.to_arrow(), beside)
            case ".xlsx":
                _write_sheets(beside, release, facts)
            case _:
                beside.write_text(json_text("query", facts) + "\n", encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_csv(file: IO[str], release: ReleaseRecord) -> None:
    """The names, then a line for each group; a number that is missing is an empty cell."""
    write_lines(file, release.columns, (row.values() for row in release.rows()))


def write_lines(file: IO[str], names: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Names and rows as CSV; truth values are written as SQL does."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_csv_cell(cell) for cell in row] for row in rows)


def _csv_cell(cell: object) -> object:
    return str(cell).lower() if isinstance(cell, bool) else cell


def _write_sheets(path: Path, release: ReleaseRecord, facts: Facts) -> None:
    """A sheet with the numbers, and one with what they are and what they spent."""
    from openpyxl import Workbook

    book: Any = Workbook()
    answer, about = book.active, book.create_sheet("about")
    answer.title = "answer"
    rows = release.rows()[:MOST_ROWS_OF_A_SHEET]
    _fill(answer, [release.columns, *(row.values() for row in rows)])
    answer.freeze_panes = "A2"
    _fill(about, _about(release, facts))
    book.save(path)


def _about(release: ReleaseRecord, facts: Facts) -> list[tuple[object, ...]]:
    names = ("data_set", "question", "unit", "epsilon", "delta", "confidence")
    notes = cast("Sequence[object]", facts.get("notes", ()))
    missing = len(release.rows()) - MOST_ROWS_OF_A_SHEET
    cut = [("note", f"{missing:,} rows do not fit into a sheet")] if missing > 0 else []
    return [*((name, facts[name]) for name in names), *(("note", note) for note in notes), *cut]


def _fill(sheet: Any, rows: Iterable[Iterable[object]]) -> None:
    """Cells one by one: a text that begins with = stays a text and never becomes a formula."""
    for line, row in enumerate(rows, 1):
        for place, value in enumerate(row, 1):
            cell = sheet.cell(line, place, value=_sheet_value(value))
            if isinstance(value, str):
                cell.data_type = "s"


def _sheet_value(value: object) -> object:
    """A text without the signs that a sheet cannot hold."""
    if not isinstance(value, str):
        return value
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    return cast("Any", ILLEGAL_CHARACTERS_RE).sub("?", value)
