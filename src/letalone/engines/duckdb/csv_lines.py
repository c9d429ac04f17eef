"""A record of a CSV file is a line: one line never changes what another one holds.

Theorem.  Let two files differ in one line below the first. Then all other lines give the same
cells, in the same order, whatever the one line holds.
  Proven:   lines are cut at LF, before anything else is looked at. Each is judged and split by
            its own bytes: the fast path by positions within the line, the slow path by
            `split_line`, which is given the line alone. A quote that is open at the end of a line
            ends there
  Tested:   tests/engines/test_csv_lines.py, against a slow reader, at all sizes of blocks

The delimiter separates cells. A cell that begins with a quote (blanks before it aside) ends at the
next quote that is not doubled; two quotes in it are one; what follows the closing quote is kept,
but for blanks. A quote anywhere else is a letter. An empty cell is missing, also in quotes; so are
cells that are too few; further ones are left out. Carriage returns before
the line end are dropped, all of them; elsewhere they are letters. A line without letters is
skipped (in a file of one column it is a row whose cell is missing). A line that is no UTF-8, or is
longer than MAX_LINE_BYTES, is dropped.

The fast path is all lines whose quotes stand around whole cells, if there are any. Cells are
views of the block that was read (Arrow's string_view), so that nothing is copied in Python. A view
is sixteen bytes: the length, and the text itself if it has at most twelve bytes, else its first
four, the number of a buffer and the place in it.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from letalone.engines.duckdb.text_files import LETTER_BYTES, UTF8, open_bytes, to_utf8

MAX_LINE_BYTES = 1 << 23  # in bytes: no line decides how much memory is needed
BLOCK_BYTES = 1 << 20  # bytes that are read at a time
CELLS_AT_ONCE = 1 << 20  # that are handed on: many columns take no more memory
LF, CR, QUOTE = 0x0A, 0x0D, 0x22
INLINE = 12
PADDING = b"\0" * INLINE  # behind the last text, so that twelve bytes can be read anywhere
_FIRST_BYTES = np.frombuffer(  # masks that keep the first 0, 1, 2, 3, 4 bytes of a word
    b"".join(b"\xff" * n + b"\0" * (4 - n) for n in range(5)), np.uint32
)

Places = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class OddLines:
    """How many lines of a file are odd. It tells about rows: for the owner alone."""

    rows: int = 0
    not_text: int = 0
    too_long: int = 0
    uneven: int = 0  # cells too few or too many
    overfull: int = 0  # something is written in a cell beyond the last name
    open_quotes: int = 0

    def __add__(self, other: "OddLines") -> "OddLines":
        return OddLines(*(getattr(self, n) + getattr(other, n) for n in OddLines.__slots__))

    @property
    def dropped(self) -> int:
        """Lines that are in no answer."""
        return self.not_text + self.too_long


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of a block that are rows, and where the cells of the plain ones are."""

    block: bytes  # with some zeros behind the last line
    data: Bytes  # the same
    starts: Places
    ends: Places
    first: Places  # the number of a line's first cell in `begins`, `finishes` and `doubled`
    cells: Places
    odd: Flags  # lines that `split_line` has to read
    begins: Places
    finishes: Places
    doubled: Flags  # cells with two quotes that are one


def cell_pattern(delimiter: str) -> re.Pattern[bytes]:
    """A cell and what ends it. What was taken is not given back, so that time is linear."""
    other = b"[^" + re.escape(delimiter.encode()) + b"]"
    quoted = rb' *+"((?>[^"]++|"")*+)("?+)'
    return re.compile(b"(?:" + quoted + b")?+(" + other + b"*+)(.?)", re.DOTALL)


def split_line(
    line: bytes, pattern: re.Pattern[bytes], *, max_cells: int | None = None
) -> tuple[list[bytes], bool]:
    """The cells of one line by the rules above, and whether a quote is open at its end.

    `max_cells`: only the first ones.
    """
    cells: list[bytes] = []
    for match in islice(pattern.finditer(line), max_cells):
        quoted, closed, rest, more = match.groups()
        cells.append(rest if quoted is None else quoted.replace(b'""', b'"') + rest.strip(b" "))
        if not more:
            return cells, quoted is not None and not closed
    return cells, False


def has_stray_quote(line: bytes, pattern: re.Pattern[bytes]) -> bool:
    """Whether a quote is a letter, or letters stand behind a closing one."""
    for match in pattern.finditer(line):
        quoted, _, rest, more = match.groups()
        if b'"' in rest or (quoted is not None and rest.strip(b" ")):
            return True
        if not more:
            break
    return False


def decode_text(line: bytes, encoding: str = "utf-8") -> str | None:
    """The text that bytes are; None where they are none."""
    try:
        return line.decode(encoding)
    except UnicodeDecodeError:
        return None


def csv_rows(
    paths: Sequence[Path],
    names: Sequence[str],
    delimiter: str,
    *,
    only: Sequence[str],
    encoding: str = UTF8,
) -> Any:
    """A stream of the rows below the first lines, some columns of them, every cell as text. Total:
    nothing in a line makes it fail."""
    fields = pa.schema([pa.field(name, pa.string_view()) for name in only])
    batches = _batches(paths, names, delimiter, fields, encoding)
    return pa.RecordBatchReader.from_batches(fields, batches)


def first_rows(stream: Any, *, max_rows: int) -> list[list[str]]:
    """The cells of the first rows of a stream, column by column, without the missing ones."""
    rows, columns = 0, [list[str]() for _ in stream.schema]
    for batch in stream:
        for cells, column in zip(columns, batch.slice(0, max_rows - rows).columns, strict=True):
            cells += [cell for cell in column.to_pylist() if cell is not None]
        rows += batch.num_rows
        if rows >= max_rows:
            break
    return columns


def odd_lines(path: Path, number: int, delimiter: str, encoding: str = UTF8) -> OddLines:
    """Counts the odd lines below the first."""
    odd = OddLines()
    for block, too_long in blocks_of(path, encoding):
        lines, not_text = _lines(block, number, delimiter)
        odd += _count_odd(lines, number, delimiter)
        odd += OddLines(not_text=not_text, too_long=too_long)
    return odd


def _batches(
    paths: Sequence[Path], names: Sequence[str], delimiter: str, fields: Any, encoding: str
) -> Iterator[Any]:
    place = {name: number for number, name in enumerate(names)}
    places, size = [place[name] for name in fields.names], max(1, CELLS_AT_ONCE // len(fields))
    for path in paths:
        for block, _ in blocks_of(path, encoding):
            lines, _ = _lines(block, len(names), delimiter)
            for start in range(0, len(lines.starts), size):
                columns = _columns(lines, slice(start, start + size), places, delimiter)
                yield pa.RecordBatch.from_arrays(columns, schema=fields)


def blocks_of(
    path: Path, encoding: str = UTF8, *, below_names: bool = True
) -> Iterator[tuple[bytes, int]]:
    """Whole lines below the first, each with its LF; and how many were left out as too long.

    A line that goes on in the next block is by itself, so that none but it is longer than a block:
    in another encoding, blocks are read so small that they fit in UTF-8, too.
    """
    size = BLOCK_BYTES if encoding == UTF8 else BLOCK_BYTES // LETTER_BYTES
    for block, lost in _stored_blocks(path, size, below_names=below_names):
        yield to_utf8(block, encoding), lost


def _stored_blocks(path: Path, size: int, *, below_names: bool) -> Iterator[tuple[bytes, int]]:
    """The same as they are written."""
    with open_bytes(path) as file:
        if below_names:
            file.readline()
        line, lost = bytearray(), False
        while part := file.read(size):
            first, last = part.find(b"\n") + 1, part.rfind(b"\n") + 1
            line += part[: first or None]
            if lost or len(line) > MAX_LINE_BYTES + bool(first):
                lost, line = True, bytearray()
            if first:
                yield bytes(line), int(lost)
                yield part[first:last], 0
                line, lost = bytearray(part[last:]), False
        if line or lost:
            yield bytes(line) + b"\n" * bool(line), int(lost)


def _lines(block: bytes, number: int, delimiter: str) -> tuple[_Lines, int]:
    """The rows of a block, and how many lines were dropped since they are no UTF-8."""
    if len(block) > BLOCK_BYTES:
        return _one_line(block, number)
    padded = block + PADDING
    data = np.frombuffer(padded, np.uint8)[: len(block)]
    places = np.flatnonzero((data == LF) | (data == ord(delimiter)) | (data == QUOTE))
    kinds = data[places]
    at = places[kinds == LF]
    starts = _after_each(at)
    stops = places.copy()  # where what stands before them ends
    stops[kinds == LF] = ends = _without_returns(data, starts, at)
    odd, doubled, separates = _look_at_quotes(places, stops, kinds)
    begins, finishes = _after_each(places[separates]), stops[separates]
    last = np.flatnonzero(kinds[separates] == LF)
    first = _after_each(last)
    broken = _no_text(block, data, starts, at)
    rows = np.flatnonzero(~broken & ((starts < ends) | (number == 1)))
    line = (starts[rows], ends[rows], first[rows], (last - first + 1)[rows], odd[rows])
    contents = np.frombuffer(padded, np.uint8)
    return _Lines(padded, contents, *line, begins, finishes, doubled), int(broken.sum())


def _one_line(block: bytes, number: int) -> tuple[_Lines, int]:
    """A long line, which may have so many cells that their places would need much memory."""
    start, end = np.zeros(1, np.int64), np.array([len(block[:-1].rstrip(b"\r"))])
    rows = slice(0, int(_is_text(block) and (end[0] > 0 or number == 1)))
    data, yes = np.frombuffer(block + PADDING, np.uint8), np.ones(1, np.bool_)
    line = (start[rows], end[rows], start[rows], end[rows] * 0 + 1, yes[rows])
    return _Lines(block, data, *line, start, end, ~yes), int(not _is_text(block))


def _after_each(ends: Places) -> Places:
    """Where things begin that end at these places, one after the other."""
    return np.concatenate((np.zeros(min(1, len(ends)), np.int64), ends[:-1] + 1))


def _without_returns(data: Bytes, starts: Places, at: Places) -> Places:
    """Where lines end without the carriage returns at their end."""
    ends = at - ((at > starts) & (data[at - 1] == CR))
    for line in np.flatnonzero((ends < at) & (ends > starts) & (data[ends - 1] == CR)):
        more = data[starts[line] : ends[line]].tobytes()
        ends[line] = starts[line] + len(more.rstrip(b"\r"))
    return ends


def _look_at_quotes(places: Places, stops: Places, kinds: Bytes) -> tuple[Flags, Flags, Flags]:
    """Which lines are odd, which cells have two quotes that are one, and what separates cells.

    A line is odd unless its quotes are even in number, every first one of two stands at the start
    of a cell or right behind another quote, and every second one at the end or right before one.
    In a line that is not odd, what stands behind an odd number of quotes is in a quoted cell.
    """
    quote, line_end = kinds == QUOTE, kinds == LF
    lines = int(line_end.sum())
    if not quote.any():
        return np.zeros(lines, np.bool_), np.zeros(len(places), np.bool_), ~quote
    line_ends = np.flatnonzero(line_end)
    sizes = np.diff(line_ends, prepend=-1)
    upto = np.cumsum(quote)
    before = np.concatenate(([0], upto[line_ends[:-1]]))
    behind_odd = (upto - np.repeat(before, sizes)) % 2 == 1  # with the quote itself
    adjoins = np.diff(places, prepend=-1) == 1  # the one before, which may be a line's end
    ends_here = np.append(stops[1:] - places[:-1] == 1, np.True_)
    wrong = quote & ~np.where(behind_odd, adjoins, ends_here)
    odd = (np.add.reduceat(wrong, line_ends - sizes + 1) > 0) | behind_odd[line_ends]
    separates = line_end | (~quote & ~behind_odd)
    second = quote & behind_odd & adjoins & np.append(np.False_, quote[:-1])
    doubled = np.zeros(int(separates.sum()), np.bool_)
    doubled[np.cumsum(separates)[second]] = True
    return odd, doubled, separates


def _no_text(block: bytes, data: Bytes, starts: Places, at: Places) -> Flags:
    broken = np.zeros(len(starts), np.bool_)
    if not _is_text(block):
        for line in np.flatnonzero(np.bitwise_or.reduceat(data, starts) >= 0x80):
            broken[line] = not _is_text(block[starts[line] : at[line]])
    return broken


def _is_text(line: bytes) -> bool:
    return decode_text(line) is not None


def _columns(lines: _Lines, rows: slice, places: list[int], delimiter: str) -> list[Any]:
    first, counts = lines.first[rows], lines.cells[rows]
    odd = np.flatnonzero(lines.odd[rows])
    max_cells = max(places) + 1
    split = [cells for cells, _ in _split_odd(lines, rows, delimiter, max_cells=max_cells)]
    columns: list[Any] = []
    for place in places:
        cell = first + place * (place < counts)
        starts = lines.begins[cell]
        lengths = (lines.finishes[cell] - starts) * (place < counts)
        quoted = (lines.data[starts] == QUOTE) & (lengths > 1)
        starts, lengths = starts + quoted, lengths - 2 * quoted
        doubled = np.flatnonzero(lines.doubled[cell] & (lengths > 0) & ~lines.odd[rows])
        spans = zip(starts[doubled].tolist(), lengths[doubled].tolist(), strict=True)
        rewritten = [lines.block[s : s + size].replace(b'""', b'"') for s, size in spans]
        rewritten += [cells[place] if place < len(cells) else b"" for cells in split]
        where = np.concatenate((doubled, odd))
        columns.append(_text_column(lines.data, starts, lengths, where, rewritten))
    return columns


def _text_column(
    data: Bytes, starts: Places, lengths: Places, where: Places, others: list[bytes]
) -> Any:
    """A column of text: views of the data, but for other texts at some rows; none where empty."""
    views = _views(data, starts, lengths, 0)
    extra = np.frombuffer(b"".join(others) + PADDING, np.uint8)
    sizes = np.array([len(text) for text in others], np.int64)
    views[where] = _views(extra, np.cumsum(sizes) - sizes, sizes, 1)
    present = np.packbits(views[:, 0] > 0, bitorder="little")
    buffers = [pa.py_buffer(part) for part in (present, views, data, extra)]
    return pa.Array.from_buffers(pa.string_view(), len(starts), buffers)


def _views(data: Bytes, starts: Places, lengths: Places, buffer: int) -> NDArray[np.uint32]:
    """Arrow's views: the length and the letters, or the first four, the buffer and the place."""
    words = np.ndarray((len(data) - 3,), np.uint32, buffer=data.data, strides=(1,))
    views = np.zeros((len(starts), 4), np.uint32)
    views[:, 0] = lengths
    longest = int(lengths.max(initial=0))
    for part in range(min(3, -(-longest // 4))):
        mask = _FIRST_BYTES[np.clip(lengths - 4 * part, 0, 4)]
        views[:, 1 + part] = words[starts + 4 * part] & mask
    if longest > INLINE:
        long = np.flatnonzero(lengths > INLINE)
        views[long, 2], views[long, 3] = buffer, starts[long]
    return views


def _split_odd(
    lines: _Lines, rows: slice, delimiter: str, *, max_cells: int | None = None
) -> Iterator[tuple[list[bytes], bool]]:
    """The cells of each odd line, and whether a quote in it is open."""
    pattern = cell_pattern(delimiter)
    odd = lines.odd[rows]
    spans = (places[rows][odd].tolist() for places in (lines.starts, lines.ends))
    for start, end in zip(*spans, strict=True):
        yield split_line(lines.block[start:end], pattern, max_cells=max_cells)


def _count_odd(lines: _Lines, number: int, delimiter: str) -> OddLines:
    cells, last = lines.cells.copy(), np.minimum(lines.first + number, lines.first + lines.cells)
    overfull = (cells > number) & (lines.ends - lines.finishes[last - 1] > cells - number)
    opened = 0
    for row, (split, is_open) in zip(
        np.flatnonzero(lines.odd), _split_odd(lines, slice(None), delimiter), strict=True
    ):
        cells[row], overfull[row] = len(split), any(split[number:])
        opened += is_open
    uneven, beyond = int((cells != number).sum()), int(overfull.sum())
    return OddLines(len(cells), uneven=uneven, overfull=beyond, open_quotes=opened)
