"""Converts a CSV file to a Parquet file of text, as spreadsheets read it: quotes may hold breaks.

For the owner alone, who runs it and sees what was odd: here one line can change what becomes of
those below it, which a private question must never allow (csv_lines.py). A quote that is not
closed is refused with the number of its line, and nothing is written.

Cells, blank lines and what is missing are otherwise as in csv_lines.py. In columns that the owner
names, numbers with a decimal comma are written with a point; all else stays as it is.

  Tested:   tests/cli/test_convert.py
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from letalone.engines.core.stored_types import check_columns
from letalone.engines.duckdb.csv_files import (
    DELIMITERS,
    MAX_HEADER_BYTES,
    WITH_COMMA,
    check_line_end,
)
from letalone.engines.duckdb.csv_lines import cell_pattern, decode_text, has_stray_quote, split_line
from letalone.engines.frames.arrow import ParquetOfText
from letalone.errors import ParameterError
from letalone.plans.schema import unknown_column
from letalone.sources.files import unreadable

BYTE_ORDER_MARK = "\ufeff".encode()
MAX_RECORD_BYTES = 1 << 27  # in bytes: lines that questions leave out become cells here


@dataclass(slots=True)
class Converted:
    """What was written, and what was odd about it."""

    rows: int = 0
    with_line_breaks: int = 0
    uneven: int = 0
    stray_quotes: int = 0
    not_text: int = 0  # left out


@dataclass(slots=True)
class _Record:
    cells: list[bytes] = field(default_factory=list[bytes])
    lines: int = 0
    has_stray_quote: bool = False


def convert_csv(source: Path, target: Path, *, decimal_comma: Sequence[str] = ()) -> Converted:
    """Writes the Parquet file, with points in some columns; it is there in whole or not at all.

    A link stays one.
    """
    place = Path(os.path.realpath(target))
    if place == Path(os.path.realpath(source)):
        raise ParameterError(f"{target} is a link to {source}. Write to another file.")
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with source.open("rb") as file:
            beside.touch(mode=0o600)  # nobody else reads it before it has the mode of the source
            converted = _write_parquet(file, source, beside, decimal_comma)
        shutil.copymode(source, beside)
        os.replace(beside, place)  # noqa: PTH105  (also over a file that is there)
    except OSError as error:
        failed = error
    else:
        return converted
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    if failed.filename == str(source):
        raise unreadable(source, failed)
    raise ParameterError(f"{target} cannot be written: {failed.strerror or 'no reason given'}.")


def _write_parquet(
    file: IO[bytes], source: Path, target: Path, decimal_comma: Sequence[str]
) -> Converted:
    delimiter = _delimiter(file, source.name)
    records = _records(file, delimiter, source.name)
    names = _names(next(records, _Record()).cells, source.name)
    points = _places(decimal_comma, names, source.stem)
    converted = Converted()
    with ParquetOfText(target, names) as rows:
        for record in records:
            if record.cells == [b""] and len(names) > 1:
                continue
            texts = [decode_text(cell) for cell in record.cells]
            if None in texts:
                converted.not_text += 1
                continue
            rows.add([_as_cell(text, point=at in points) for at, text in enumerate(texts)])
            converted.rows += 1
            converted.with_line_breaks += record.lines > 1
            converted.uneven += len(texts) != len(names)
            converted.stray_quotes += record.has_stray_quote
    return converted


def _delimiter(file: IO[bytes], name: str) -> str:
    """As for questions: whichever is there most in the first line. A mark before it is passed."""
    first = file.readline(MAX_HEADER_BYTES)
    check_line_end(first.removesuffix(b"\n").rstrip(b"\r"), name)
    file.seek(len(BYTE_ORDER_MARK) if first.startswith(BYTE_ORDER_MARK) else 0)
    return max(DELIMITERS, key=lambda sign: first.count(sign.encode()))


def _names(cells: list[bytes], file: str) -> list[str]:
    names = [decode_text(cell) for cell in cells]
    if None in names:
        raise ParameterError(
            f"The first line of {file} is no list of names in UTF-8. Save the file as UTF-8."
        )
    known = [name or "" for name in names]
    check_columns(known, f"The first line of {file}")
    return known


def _places(wanted: Sequence[str], names: Sequence[str], table: str) -> set[int]:
    for name in wanted:
        if name not in names:
            raise unknown_column(name, names, table=table)
    return {at for at, name in enumerate(names) if name in wanted}


def _as_cell(text: str | None, *, point: bool) -> str | None:
    """What is written; nothing is missing, and a decimal comma may become a point."""
    if point and text and WITH_COMMA.fullmatch(text):
        return text.replace(",", ".")
    return text or None


def _records(file: IO[bytes], delimiter: str, name: str) -> Iterator[_Record]:
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
