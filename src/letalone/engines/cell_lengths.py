"""Measures how long the cells of a Parquet file's columns are, before an engine reads them.

A dictionary of one long word and a run of a million equal numbers take a few hundred bytes in a
file. An engine multiplies the word by the rows that it has at hand, and DuckDB does not count this
towards its limit. So words and numbers are read here as they are stored, some rows at a time.

Theorem.  What is read here takes at most about three times `memory` bytes, whatever a file holds.
  Proven:   a page that is larger when not compressed is refused by its header. A dictionary is one
            page, and its words are not multiplied. Other pages hold their cells themselves, and
            one in which they are too long on average is refused by its header, too; so many rows
            are taken together as could take a share of `memory`. Cells that are written as what
            differs from the one before (DELTA_BYTE_ARRAY) are at most as long as a page, and so
            few are taken together that this is enough.
  Tested:   tests/engines/test_cell_lengths.py
  Assumed:  Arrow holds one page, one dictionary and one batch of a column, and copies of them
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from letalone.engines.page_headers import BY_NUMBER, DELTA_BYTE_ARRAY, Page, pages_of

MAX_ROWS_AT_ONCE = 1 << 16  # at a time
COPIES = 4  # that Arrow makes of a dictionary, or of cells, and a bit more
BUFFER_BYTES = 1 << 20
INDEX_BYTES = (
    16  # bytes, at most, of a cell in a page beside its letters; all of a dictionary's index
)
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


def cell_lengths(
    path: Path, names: Iterable[str], *, memory: int, longest: int
) -> Generator[Lengths | LargePage]:
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


def _of_chunk(
    path: Path, chunk: Any, group: int, memory: int, longest: int
) -> Generator[Lengths | LargePage]:
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
    file = pq.ParquetFile(
        path, read_dictionary=[name] if as_stored else [], buffer_size=BUFFER_BYTES
    )
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
