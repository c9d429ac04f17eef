"""Reads CSV files: cells are text until a type is declared, and no line can make reading fail.

The first line holds the names; it is metadata. Everything below is data, so nothing is guessed
from it. A record is a line: see csv_lines.py, which reads all of them, for questions and for the
owner's tools alike. A cell with a line break in it cannot be read from CSV; `letalone convert`
makes a Parquet file of such a file.

A private question drops a line that cannot be read in silence, since to say so would tell about a
row. The owner's own tools count people, and a row less can make a table look better than it is:
`check_odd_lines` is for them, and refuses.

`guess_csv` does guess, and so does `guess_parquet` of a Parquet file of text. They are for the
owner, who sees the guesses and makes them public by confirming them.

Files are copied into a table when first asked: weights belong to rows by their position.

  Tested:   tests/engines/test_csv_files.py
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from letalone.engines.core import syntax
from letalone.engines.core.stored_types import check_columns
from letalone.engines.duckdb import csv_lines
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.engines.duckdb.text_files import DAMAGED, UTF8, open_bytes
from letalone.engines.frames.arrow import parquet_columns
from letalone.engines.texts.spreadsheet_cells import has_commas, likely_order
from letalone.engines.texts.text_grammar import is_written_as
from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem
from letalone.errors.spelling import plural_rows
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.sources.files import stem_of, unreadable

DELIMITERS = ",;\t|"
MAX_HEADER_BYTES = 1 << 20
GUESSED_ROWS = 20_480  # rows
TRUTH_WORDS = re.compile("true|false|t|f|yes|no|y|n", re.IGNORECASE)
LEADING_ZERO = re.compile("[-+]?0[0-9]")  # of a code, such as 02139: a number would lose it
SOME_DAY = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T]\d{1,2}:\d{2}.*)?")


@dataclass(frozen=True, slots=True)
class Guess:
    """A proposal to the owner.

    `misread` are columns of dates that stay text, since they are not written year first, and
    would be missing if declared; `orders` has the likely order of their parts, where there is one.
    `commas` are columns of numbers with a decimal comma; `odd` counts lines that are read in
    another way than their writer may have meant. `from_cells`: types were guessed, so that they
    are not public yet.
    """

    schema: Schema
    misread: tuple[str, ...] = ()
    orders: tuple[tuple[str, str], ...] = ()
    delimiter: str = ","
    commas: tuple[str, ...] = ()
    odd: csv_lines.OddLines = csv_lines.OddLines()  # noqa: RUF009  (frozen)
    from_cells: bool = False


def guess_csv(path: str | Path, *, encoding: str = UTF8) -> Guess:
    """The columns with the types that their first values look like: a proposal to the owner."""
    file = Path(path).resolve()
    names, delimiter = csv_dialect(file, encoding)
    rows = csv_lines.csv_rows([file], names, delimiter, only=names, encoding=encoding)
    odd = csv_lines.odd_lines(file, len(names), delimiter, encoding)
    return replace(guess_types(stem_of(file), names, rows), delimiter=delimiter, odd=odd)


def guess_parquet(path: str | Path, schema: Schema) -> Guess:
    """The same of a Parquet file whose columns are all text."""
    names = [column.name for column in schema.columns]
    try:
        return guess_types(schema.name, names, parquet_columns([Path(path).resolve()], names))
    except (OSError, ValueError):  # of Arrow, with cells in its words
        pass
    raise ParameterError(f"{Path(path).name} cannot be read: it is damaged.")


def guess_types(table: str, names: Sequence[str], stream: object) -> Guess:
    """The types that the first rows of a stream of texts look like."""
    columns = csv_lines.first_rows(stream, max_rows=GUESSED_ROWS)
    kinds = [_looks_like(cells) for cells in columns]
    guesses = zip(names, columns, kinds, strict=True)
    texts = {name: cells for name, cells, kind in guesses if kind is Type.TEXT and cells}
    days = {
        name: likely_order(cells)
        for name, cells in texts.items()
        if all(map(SOME_DAY.fullmatch, cells))
    }
    return Guess(
        Schema(table, tuple(map(Column, names, kinds))),
        tuple(days),
        orders=tuple((name, order) for name, order in days.items() if order is not None),
        commas=tuple(name for name, cells in texts.items() if has_commas(cells)),
        from_cells=True,
    )


def _looks_like(cells: Sequence[str]) -> Type:
    """The first type that all cells are written as; text where there is none."""
    fitting = (kind for kind, fits in FITS.items() if cells and all(map(fits, cells)))
    return next(fitting, Type.TEXT)


def _is_number(cell: str) -> bool:
    return is_written_as(cell, Type.NUMBER) and LEADING_ZERO.match(cell.strip(" ")) is None


def _is_integer(cell: str) -> bool:
    plain = cell.strip(" ")
    return plain.lstrip("+-").isdigit() and _is_number(plain) and -(2**63) <= int(plain) < 2**63


def _is_timestamp(cell: str) -> bool:
    if not is_written_as(cell, Type.TIMESTAMP):
        return False
    year, month, rest = cell.strip(" ").split("-", 2)
    try:
        date(int(year), int(month), int(re.split("[ T]", rest)[0]))
    except ValueError:
        return False
    return True


FITS: dict[Type, Callable[[str], bool]] = {
    Type.BOOLEAN: lambda cell: TRUTH_WORDS.fullmatch(cell) is not None,
    Type.INTEGER: _is_integer,
    Type.NUMBER: _is_number,
    Type.DATE: lambda cell: ":" not in cell and _is_timestamp(cell),
    Type.TIMESTAMP: _is_timestamp,
}


def csv_dialect(path: Path, encoding: str = UTF8) -> tuple[list[str], str]:
    """The names in the first line, and what separates them: whichever of , ; tab | is there most.

    Only the first line is looked at: the others are data.
    """
    try:
        with open_bytes(path) as file:
            line = file.readline(MAX_HEADER_BYTES + 2).removesuffix(b"\n").rstrip(b"\r")
    except DAMAGED as error:
        raise unreadable(path, error) from None
    if len(line) > MAX_HEADER_BYTES:
        raise ParameterError(
            f"The first line of {path.name} is longer than 1 MiB, but holds the names of columns."
            " Begin the file with a line of names, and end lines with a line feed."
        )
    text = csv_lines.decode_text(line, "utf-8-sig" if encoding == UTF8 else encoding)
    if text is None:
        raise not_in(path.name, encoding)
    check_line_end(line, path.name)
    delimiter = max(DELIMITERS, key=text.count)
    cells, is_open = csv_lines.split_line(text.encode(), csv_lines.cell_pattern(delimiter))
    names = [cell.decode() for cell in cells] if text else []
    if is_open:
        raise ParameterError(
            f"The first line of {path.name} opens a quote and does not close it. A name or a cell"
            " with a line break needs Parquet: letalone convert"
            f" {path.name} {stem_of(path)}.parquet"
        )
    check_columns(names, f"The first line of {path.name}")
    return names, delimiter


def not_in(name: str, encoding: str) -> ParameterError:
    """The refusal of a first line that is not written in an encoding; it is metadata."""
    if encoding != UTF8:
        return ParameterError(
            f"The first line of {name} has bytes that are not letters in {encoding}. Name the"
            " encoding that the file was saved in, or save it as UTF-8."
        )
    what = f"The first line of {name} is not UTF-8."
    how = "for a file that Windows wrote. Or save the file as UTF-8."
    spelled = Spelled(
        f"{what} Name its encoding: encoding='cp1252' {how}",
        f"{what} Name its encoding: --encoding cp1252 {how}",
        http=f"{what} Save the file as UTF-8; spreadsheets call it CSV UTF-8.",
    )
    return ParameterError(problem(Code.OTHER, words=spelled))


def check_line_end(line: bytes, name: str) -> None:
    """Refuses a first line, without its end, that may be several."""
    if b"\r" in line:
        raise ParameterError(
            f"The first line of {name} has a carriage return in it. Lines end with a line feed (LF,"
            " or CR and LF). Save the file with such line ends."
        )


def load_csv(
    duck: LockedDuck,
    paths: Sequence[Path],
    into: str,
    *,
    only: Sequence[str] | None = None,
    encoding: str = UTF8,
) -> None:
    """Copies the rows of files with the same first line into a new table; `only`: some columns."""
    load_stream(duck, csv_stream(paths, only=only, encoding=encoding), into)


def csv_stream(
    paths: Sequence[Path], *, only: Sequence[str] | None = None, encoding: str = UTF8
) -> object:
    """A stream of the rows of files with the same first line."""
    names, delimiter = csv_dialect(paths[0], encoding)
    return csv_lines.csv_rows(paths, names, delimiter, only=only or names, encoding=encoding)


def load_stream(duck: LockedDuck, rows: object, into: str) -> None:
    """Copies a stream of rows into a new table."""
    lines = f"{into}_lines"
    duck.connection.register(lines, rows)
    try:
        duck.run(syntax.copy_table(syntax.table(lines), into))
    finally:
        duck.connection.unregister(lines)


def odd_lines_of(path: Path, encoding: str = UTF8) -> csv_lines.OddLines:
    """How many lines are read in another way than their writer may have meant. For the owner."""
    names, delimiter = csv_dialect(path, encoding)
    try:
        return csv_lines.odd_lines(path, len(names), delimiter, encoding)
    except DAMAGED as error:
        raise unreadable(path, error) from None


def check_odd_lines(name: str, odd: csv_lines.OddLines, encoding: str = UTF8) -> None:
    """Refuses a file with lines that are dropped. It tells about rows: for the owner alone."""
    if odd.not_text:
        raise ParameterError(
            f"{plural_rows(odd.not_text)} of {name} could not be read: what is written there is"
            f" not {encoding.upper()}. Save the file as UTF-8; spreadsheets call it CSV UTF-8."
        )
    if odd.too_long:
        raise ParameterError(
            f"{plural_rows(odd.too_long)} of {name} could not be read: the line is longer"
            " than 8 MiB. Shorten it, or convert the file to Parquet."
        )
