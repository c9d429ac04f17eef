"""Converts a CSV or an Excel file to a Parquet file of text: quotes may hold line breaks.

For the owner alone, who runs it and sees what was odd: here one line can change what becomes of
those below it, which a private question must never allow (csv_lines.py). A quote that is not
closed is refused with the number of its line, and nothing is written.

Cells, blank lines and what is missing are otherwise as in csv_lines.py. In columns that the owner
names, numbers with a decimal comma are written with a point, and dates with the year first; all
else stays as it is.

  Tested:   tests/cli/test_convert.py
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from letalone.engines.core.stored_types import check_columns
from letalone.engines.duckdb.csv_files import (
    DELIMITERS,
    check_line_end,
    not_in,
)
from letalone.engines.duckdb.csv_lines import cell_pattern, decode_text, has_stray_quote, split_line
from letalone.engines.duckdb.excel_files import excel_names, excel_rows, find_sheet
from letalone.engines.duckdb.text_files import DAMAGED, Utf8Lines, open_lines
from letalone.engines.frames.arrow import ParquetOfText, tuples_of
from letalone.engines.texts.spreadsheet_cells import ReadCell, Spellings
from letalone.errors import ParameterError
from letalone.plans.schema import unknown_column
from letalone.sources.files import EXCEL, UTF8, ending_of, stem_of, unreadable

AS_WRITTEN = Spellings()
MAX_RECORD_BYTES = 1 << 27  # in bytes: lines that questions leave out become cells here


@dataclass(slots=True)
class Converted:
    """What was written, and what was odd about it."""

    rows: int = 0
    with_line_breaks: int = 0
    uneven: int = 0
    stray_quotes: int = 0
    not_text: int = 0  # left out
    unread: dict[str, int] = field(default_factory=dict[str, int])  # cells by column


@dataclass(slots=True)
class _Record:
    cells: list[bytes] = field(default_factory=list[bytes])
    lines: int = 0
    has_stray_quote: bool = False


def convert_file(
    source: Path,
    target: Path,
    *,
    spellings: Spellings = AS_WRITTEN,
    encoding: str = UTF8,
    sheet: str | None = None,
    check: Callable[[Converted], None] | None = None,
) -> Converted:
    """Writes the Parquet file, with some columns respelled; it is there in whole or not at all.

    A link stays one. encoding: any that `name_of_encoding` knows. sheet: of an Excel file.
    check: raises where the file should not be written after all.
    """
    place = Path(os.path.realpath(target))
    if place == Path(os.path.realpath(source)):
        raise ParameterError(f"{target} is a link to {source}. Write to another file.")
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with source.open("rb"):  # or says why it cannot be read
            beside.touch(mode=0o600)  # nobody else reads it before it has the mode of the source
        if ending_of(source) in EXCEL:
            converted = _write_sheet(source, sheet, beside, spellings)
        else:
            with open_lines(source, encoding) as file:
                converted = _write_parquet(file, source, beside, spellings)
        if check is not None:
            check(converted)
        shutil.copymode(source, beside)
        os.replace(beside, place)  # noqa: PTH105  (also over a file that is there)
    except UnicodeError:
        failed = OSError(0, f"it is not written in {encoding}", str(source))
    except OSError as error:
        failed = error
    except DAMAGED:
        failed = OSError(0, "it is damaged", str(source))
    else:
        return converted
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    if failed.filename == str(source):
        raise unreadable(source, failed)
    raise ParameterError(f"{target} cannot be written: {failed.strerror or 'no reason given'}.")


def _write_sheet(source: Path, sheet: str | None, target: Path, spellings: Spellings) -> Converted:
    """The rows of a sheet, with the values that formulas had."""
    name = find_sheet(source, sheet)
    names = excel_names(source, name)
    converted = Converted()
    respell = _Respelling(names, _readers(spellings, names, name), converted)
    with ParquetOfText(target, names) as rows:
        for batch in excel_rows(source, name, formulas=True):
            for cells in tuples_of(batch):
                rows.add(respell.row(cells))
                converted.rows += 1
    return converted


def _write_parquet(file: Utf8Lines, source: Path, target: Path, spellings: Spellings) -> Converted:
    delimiter = _delimiter(file, source.name)
    records = _records(file, delimiter, source.name)
    names = _names(next(records, _Record()).cells, source.name)
    converted = Converted()
    respell = _Respelling(names, _readers(spellings, names, stem_of(source)), converted)
    with ParquetOfText(target, names) as rows:
        for record in records:
            if record.cells == [b""] and len(names) > 1:
                continue
            texts = [decode_text(cell) for cell in record.cells]
            if None in texts:
                converted.not_text += 1
                continue
            rows.add(respell.row(texts))
            converted.rows += 1
            converted.with_line_breaks += record.lines > 1
            converted.uneven += len(texts) != len(names)
            converted.stray_quotes += record.has_stray_quote
    return converted


def _delimiter(file: Utf8Lines, name: str) -> str:
    """As for questions: whichever is there most in the first line. A mark before it is passed."""
    first = file.first
    check_line_end(first.removesuffix(b"\n").rstrip(b"\r"), name)
    return max(DELIMITERS, key=lambda sign: first.count(sign.encode()))


def _names(cells: list[bytes], file: str) -> list[str]:
    names = [decode_text(cell) for cell in cells]
    if None in names:
        raise not_in(file, UTF8)
    known = [name or "" for name in names]
    check_columns(known, f"The first line of {file}")
    return known


def _readers(spellings: Spellings, names: Sequence[str], table: str) -> dict[int, ReadCell]:
    """By the place of a column: what reads its cells."""
    readers = spellings.readers()
    for name in readers:
        if name not in names:
            raise unknown_column(name, names, table=table)
    return {at: readers[name] for at, name in enumerate(names) if name in readers}


@dataclass(frozen=True, slots=True)
class _Respelling:
    """Rows as they are written; cells that cannot be read stay, and are counted."""

    names: Sequence[str]
    readers: Mapping[int, ReadCell]
    converted: Converted

    def row(self, texts: Sequence[str | None]) -> list[str | None]:
        return [self._cell(at, text) if text else None for at, text in enumerate(texts)]

    def _cell(self, at: int, text: str) -> str:
        read = self.readers.get(at)
        if read is None:
            return text
        cell = read(text)
        if cell is None:
            name, unread = self.names[at], self.converted.unread
            unread[name] = unread.get(name, 0) + 1
        return text if cell is None else cell


def _records(file: Utf8Lines, delimiter: str, name: str) -> Iterator[_Record]:
    """One after the other. Line breaks in cells are LF."""
    pattern = cell_pattern(delimiter)
    record, opened, size, number = _Record(), list[bytes](), 0, 0
    for number, line in enumerate(iter(lambda: file.readline(MAX_RECORD_BYTES), b""), 1):
        # A line within quotes is read as if the quote stood before it.
        plain = b'"' * bool(opened) + line.removesuffix(b"\n").rstrip(b"\r")
        cells, is_open = split_line(plain, pattern)
        record.lines, size = record.lines + 1, size + len(line)
        record.has_stray_quote |= b'"' in plain and has_stray_quote(plain, pattern)
        if size >= MAX_RECORD_BYTES:
            raise _never_closed(name, number - record.lines + 1)
        if opened:
            opened.append(cells.pop(0))
            if is_open and not cells:
                continue
            record.cells.append(b"\n".join(opened))
        record.cells += cells
        opened = [record.cells.pop()] if is_open else []
        if not opened:
            yield record
            record, size = _Record(), 0
    if opened:
        raise _never_closed(name, number - record.lines + 1)


def _never_closed(name: str, line: int) -> ParameterError:
    return ParameterError(
        f"Line {line:,} of {name} opens a quote that is never closed, or is longer than 128 MiB:"
        " all below it would become one cell. Nothing was written. Close the quote, or write it"
        ' twice ("") if it is a letter.'
    )
