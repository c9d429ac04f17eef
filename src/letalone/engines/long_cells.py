"""Refuses files whose cells are too long for the memory that reads them, before they are read.

DuckDB takes 2,048 rows of all columns at a time, and what they hold does not count towards its
limit of memory. So that many rows with the longest cell of each column must fit into it.

  Tested:   tests/curator/test_import_limits.py
"""

from collections.abc import Generator, Iterable
from functools import lru_cache
from pathlib import Path
from threading import Lock

from letalone.engines.cell_lengths import LargePage, Lengths, cell_lengths
from letalone.engines.lockdown import VECTOR_ROWS, memory_of_room
from letalone.engines.sources import Files, find_files
from letalone.errors import ParameterError

ONE_AT_A_TIME = Lock()  # each takes memory
REMEMBERED_FILES = 256  # files
ANY_SIZE = 1 << 62


def check_cells(path: Path, names: Iterable[str], *, megabytes: int = ANY_SIZE) -> None:
    """Refuses a Parquet file whose named columns have cells too long for the memory of this room,
    or more millions of bytes altogether; a file that was looked at is not read again."""
    files = find_files(path)
    if files.kind == "parquet":
        with ONE_AT_A_TIME:
            _check(files, frozenset(names), memory_of_room(), megabytes)


@lru_cache(REMEMBERED_FILES)
def _check(files: Files, names: frozenset[str], memory: int, megabytes: int) -> None:
    longest: dict[str, int] = {}
    together, limit = 0, memory // VECTOR_ROWS
    for lengths in _lengths(files, names, memory, limit):
        if isinstance(lengths, LargePage):
            raise _large_page(lengths)
        longest[lengths.column] = max(lengths.longest, longest.get(lengths.column, 0))
        together += lengths.together
        if sum(longest.values()) > limit:
            raise _long_cells(longest, limit)
        if together // 10**6 > megabytes:
            raise ParameterError(
                f"The texts of the file have more than {megabytes:,} MB when they are read, the"
                " most that is imported here. Leave out what is not needed, or let the operator"
                " raise the limit: import_megabytes in the settings."
            )


def _lengths(
    files: Files, names: frozenset[str], memory: int, most: int
) -> Generator[Lengths | LargePage]:
    try:
        for path in files.paths:
            yield from cell_lengths(path, names, memory=memory, longest=most)
        return
    except (OSError, ValueError, RecursionError):
        pass  # raised below: the words could hold a piece of the file
    raise ParameterError(f"{files.paths[0].name} cannot be read: it is damaged.")


def _long_cells(longest: dict[str, int], most: int) -> ParameterError:
    column = max(longest, key=lambda name: longest[name])
    return ParameterError(
        f"Cells of the file are too long: the longest of each column that is read have together"
        f" {sum(longest.values()):,} bytes or more, of which {longest[column]:,} in {column!r}. At"
        f" most {most:,} are read here, so that {VECTOR_ROWS:,} rows fit into memory. Leave out"
        " columns that are not needed, shorten their cells, or let the operator give more memory"
        " (letalone serve --memory)."
    )


def _large_page(page: LargePage) -> ParameterError:
    return ParameterError(
        f"Column {page.column!r} has a page of {page.size:,} bytes when it is read, and at most"
        f" {page.limit:,} are read at a time here. Write the file with smaller pages"
        " and dictionaries, or let the operator give more memory (letalone serve --memory)."
    )
