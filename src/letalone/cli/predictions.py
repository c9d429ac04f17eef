"""Files of predictions: CSV or Parquet, with the predictions in the last column.

Tested:   tests/cli/test_train.py
"""

import csv
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from letalone.errors import ParameterError

SUFFIXES = (".csv", ".parquet")
MOST = 100_000  # characters of a first line


def check_suffix(out: Path) -> None:
    """Refuses a file that would hold something else than its name says."""
    if out.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"--out is {out}, but must end in {' or '.join(SUFFIXES)}.")


def check_new(out: Path, name: str) -> None:
    """Refuses a file that is there, unless its last column holds predictions of this name."""
    names = _names_in_parquet(out) if out.suffix.lower() == ".parquet" else _names_in_csv(out)
    if names[-1:] != [name]:
        raise ParameterError(f"{out} exists and is no file of such predictions. Write elsewhere.")


def write(out: Path, columns: Mapping[str, Sequence[object]]) -> None:
    """Writes the columns as the file's name ends."""
    try:
        if out.suffix.lower() == ".parquet":
            _write_parquet(out, columns)
        else:
            _write_csv(out, columns)
    except OSError as error:
        raise ParameterError(f"{out} cannot be written: {error.strerror}.") from None


def _write_csv(out: Path, columns: Mapping[str, Sequence[object]]) -> None:
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _write_parquet(out: Path, columns: Mapping[str, Sequence[object]]) -> None:
    pyarrow = cast("Any", import_module("pyarrow"))
    whole = pyarrow.table({name: list(cells) for name, cells in columns.items()})
    _parquet().write_table(whole, out)


def _parquet() -> Any:
    return import_module("pyarrow.parquet")


def _names_in_csv(out: Path) -> list[str]:
    try:
        with out.open(newline="", encoding="utf-8", errors="replace") as file:
            first = file.readline(MOST)
        return next(csv.reader([first]), list[str]())
    except (OSError, csv.Error):
        return []


def _names_in_parquet(out: Path) -> list[str]:
    try:
        return list(_parquet().read_schema(out).names)
    except (ValueError, OSError):  # ArrowInvalid is a ValueError
        return []
