"""Refuses files whose cells are too long for the memory that reads them, before they are read.

DuckDB takes 2,048 rows of all columns at a time, and what they hold does not count towards its
limit of memory. So that many rows with the longest cell of each column must fit into it.

A dictionary of one long word and a run of a million equal numbers take a few hundred bytes in a
file, and an engine multiplies the word by the rows that it has at hand. So words and numbers are
measured here as they are stored, some rows at a time.

Theorem.  What is read here takes at most about three times `memory` bytes, whatever a file holds.
  Proven:   a page that is larger when not compressed is refused by its header. A dictionary is one
            page, and its words are not multiplied. Other pages hold their cells themselves, and
            one in which they are too long on average is refused by its header, too; so many rows
            are taken together as could take a share of `memory`. Cells that are written as what
            differs from the one before (DELTA_BYTE_ARRAY) are at most as long as a page, and so
            few are taken together that this is enough.
  Tested:   tests/engines/test_cell_lengths.py, tests/curator/test_import_limits.py
  Assumed:  Arrow holds one page, one dictionary and one batch of a column, and copies of them
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from letalone.engines.duckdb.lockdown import VECTOR_ROWS, memory_of_room
from letalone.engines.duckdb.page_headers import BY_NUMBER, DELTA_BYTE_ARRAY, Page, pages_of
from letalone.errors import ParameterError
from letalone.sources.files import Files, find_files

ONE_AT_A_TIME = Lock()  # each takes memory
REMEMBERED_FILES = 256  # files
ANY_SIZE = 1 << 62
MAX_ROWS_AT_ONCE = 1 << 16  # at a time
COPIES = 4  # that Arrow makes of a dictionary, or of cells, and a bit more
BUFFER_BYTES = 1 << 20
# At most so many bytes of a cell in a page are beside its letters; all of a dictionary's index.
INDEX_BYTES = 16
BYTES, FIXED_BYTES = "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"


@dataclass(frozen=True, slots=True)
class Lengths:
    """Of some rows of a column: bytes of the longest cell (or fewer), and of all together."""

    column: str
    longest: int
    together: int


@dataclass(frozen=True, slots=True)
class LargePage:
    """A page of a column has this many bytes when read, more than there is memory for."""

    column: str
    size: int
    limit: int


Measured = Generator[Lengths | LargePage]


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
    for lengths in _in_files(files, names, memory, limit):
        if isinstance(lengths, LargePage):
            raise ParameterError(
                f"Column {lengths.column!r} has a page of {lengths.size:,} bytes when it is read,"
                f" and at most {lengths.limit:,} are read at a time here. Write the file with"
                " smaller pages and dictionaries, or let the operator give more memory (letalone"
                " serve --memory)."
            )
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


def _in_files(files: Files, names: frozenset[str], memory: int, most: int) -> Measured:
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


def cell_lengths(path: Path, names: Iterable[str], *, memory: int, longest: int) -> Measured:
    """Of the named columns of text or bytes, some rows at a time. For the owner.

    After a page that is too large, or whose cells are longer than `longest`, do not go on.
    OSError or ValueError where the file cannot be read.
    """
    footer = pq.read_metadata(path)
    wanted = set(names)
    leaves = [footer.schema.column(n) for n in range(footer.num_columns)]
    paths = [leaf.path for leaf in leaves]
    for number, leaf in enumerate(leaves):
        if leaf.path not in wanted:
            continue
        if paths.count(leaf.path) > 1:
            raise ValueError("two columns of one name")
        if leaf.physical_type == FIXED_BYTES:
            yield Lengths(leaf.path, leaf.length, leaf.length * footer.num_rows)
        elif leaf.physical_type == BYTES and leaf.logical_type.type != "DECIMAL":
            for group in range(footer.num_row_groups):
                chunk = footer.row_group(group).column(number)
                if chunk.num_values:
                    yield from _of_chunk(path, chunk, group, memory, longest)


def _of_chunk(path: Path, chunk: Any, group: int, memory: int, longest: int) -> Measured:
    """Of one column in one row group: first what the headers say, then what is in the pages."""
    name, pages = chunk.path_in_schema, list[Page]()
    starts = (chunk.dictionary_page_offset, chunk.data_page_offset)
    with path.open("rb") as file:
        for page in pages_of(file, min(offset for offset in starts if offset), chunk.num_values):
            if _mean(page) > longest + INDEX_BYTES:
                yield Lengths(name, _mean(page) - INDEX_BYTES, page.size)
            limit = memory // COPIES if page.is_dictionary else memory
            if page.size > limit:
                yield LargePage(name, page.size, limit)
            pages.append(page)
    cells = [page for page in pages if not page.is_dictionary]
    by_number = all(page.encoding in BY_NUMBER for page in cells)
    bound = INDEX_BYTES if by_number else _longest_on_average(path, name, group, pages)
    at_once = max(1, min(MAX_ROWS_AT_ONCE, memory // COPIES // bound))
    for batch in _batches(path, name, group, at_once, as_stored=by_number):
        yield Lengths(name, *_of_cells(batch.column(0)))


def _longest_on_average(path: Path, name: str, group: int, pages: Sequence[Page]) -> int:
    """So long cells are, at most, on average among many; they are read with their words, since
    Arrow would gather all cells of plain pages in one dictionary."""
    cells = [page for page in pages if not page.is_dictionary]
    multiplied = [page.size for page in cells if page.encoding == DELTA_BYTE_ARRAY]
    if len(cells) < len(pages):
        if cells[0].encoding in BY_NUMBER:
            first = next(_batches(path, name, group, 1, as_stored=True)).column(0)
            multiplied.append(int(_lengths(first.dictionary).max(initial=0)))
        else:
            multiplied += [page.size for page in pages if page.is_dictionary]
    return max([INDEX_BYTES, *map(_mean, cells), *multiplied])


def _batches(path: Path, name: str, group: int, rows: int, *, as_stored: bool) -> Generator[Any]:
    """A column of a row group; `as_stored`: words once, in a dictionary."""
    words = [name] if as_stored else []
    file = pq.ParquetFile(path, read_dictionary=words, buffer_size=BUFFER_BYTES)
    yield from file.iter_batches(rows, [group], [name], use_threads=False)


def _mean(page: Page) -> int:
    """The mean bytes of a page's cells, where they are in it."""
    if page.is_dictionary or page.encoding in (*BY_NUMBER, DELTA_BYTE_ARRAY):
        return INDEX_BYTES
    return -(-page.size // max(1, page.values))


def _of_cells(cells: Any) -> tuple[int, int]:
    """The longest cell and all together; words are counted as often as rows have them."""
    if pa.types.is_dictionary(cells.type):
        lengths = _lengths(cells.dictionary)[cells.indices.drop_null().to_numpy()]
    else:
        lengths = _lengths(cells.drop_null())
    return int(lengths.max(initial=0)), int(lengths.sum())


def _lengths(words: Any) -> NDArray[np.int64]:
    return np.asarray(cast("Any", pc).binary_length(words).to_numpy(zero_copy_only=False), np.int64)
