"""How large a file may be when it is read, however small it is: owners import, all share a service.

A megabyte of Parquet can be sixty million rows, and a short CSV file can have a hundred thousand
columns. What the footer or the first line says is held against declared limits before anything
else is read; the lines of a CSV file are counted first. A footer does not say how often a word of
a dictionary is used: the lengths of cells are read before the cells (letalone.engines.long_cells),
as often as rows have them. All else ends where memory and the room for spilling end, which are
declared, too.

  Tested:   tests/curator/test_import_limits.py
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from letalone.engines.arrow import size_of_parquet
from letalone.engines.csv_files import DELIMITERS
from letalone.engines.long_cells import check_cells
from letalone.engines.sources import PARQUET
from letalone.errors import ParameterError
from letalone.plans.schema import Schema

CHUNK = 1 << 20
HEADER = 1 << 20


@dataclass(frozen=True, slots=True)
class ImportLimits:
    """The most rows, columns, and millions of bytes of a file when it is not compressed."""

    rows: int
    columns: int
    megabytes: int

    def check(self, path: Path, schema: Schema | None = None) -> None:
        """Refuses a file that is too large; one that cannot be read is refused by its reader.

        Given a schema, its columns are about to be read, and the lengths of cells count, too.
        """
        self._check_size(path)
        if schema is not None:
            names = [column.name for column in schema.columns]
            check_cells(path, names, megabytes=self.megabytes)

    def _check_size(self, path: Path) -> None:
        try:
            found = size_of_parquet(path) if path.suffix.lower() in PARQUET else _of_lines(path)
        except (OSError, ValueError):
            return
        for name, number, most in zip(("columns", "rows", "MB"), found, self._most, strict=True):
            if number > most:
                raise ParameterError(
                    f"The file has {number:,} {name}, and at most {most:,} are imported here."
                    f" Leave out what is not needed, or let the operator raise the limit:"
                    f" import_{SETTING[name]} in the settings."
                )

    @property
    def _most(self) -> tuple[int, int, int]:
        return self.columns, self.rows, self.megabytes


SETTING = {"columns": "columns", "rows": "rows", "MB": "megabytes"}


def _of_lines(path: Path) -> tuple[int, int, int]:
    """Columns, rows and megabytes of a CSV file: names in the first line, and line ends."""
    with path.open("rb") as file:
        first = file.readline(HEADER)
    columns = 1 + max(first.count(one.encode()) for one in DELIMITERS)
    lines = sum(part.count(b"\n") for part in _parts(path))
    return columns, max(0, lines - 1), path.stat().st_size // 10**6


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from iter(partial(file.read, CHUNK), b"")
