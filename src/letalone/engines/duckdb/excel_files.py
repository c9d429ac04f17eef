"""Reads sheets of Excel workbooks (.xlsx): the first row holds the names, each row below is a row.

A cell is text until a type is declared: a number as its digits, a day as 2024-01-31, a truth value
as true or false. Errors (#N/A) are missing. So are formulas: they may look at other people's rows
(=C2/SUM(C:C)), and what they were worth is no longer only their row's. The owner may convert the
file, which takes their values (`letalone convert`). Rows without a cell are skipped.

Theorem.  What is read of a row depends on that row alone, and the columns on the first row alone.
  Proven:   rows are read one after the other; a cell by its own value and format. What the file
            says of its size is not asked, and cells beyond the last name are left out
  Tested:   tests/engines/test_excel_files.py
  Assumed:  the workbook is what a spreadsheet program writes; one that is damaged cannot be read
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingModuleSource=false

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import pyarrow as pa

from letalone.engines.core.stored_types import check_columns
from letalone.engines.duckdb.csv_files import Guess, guess_types
from letalone.errors import ParameterError
from letalone.errors.installing import not_installed
from letalone.errors.problem import Result, without_context
from letalone.sources.files import TablePlace, tables_named, which_table

ROWS_AT_ONCE = 1 << 12  # that are handed on
DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, SyntaxError)  # also of XML
FORMULA, ERROR = "f", "e"  # what openpyxl calls them
MOST_COLUMNS = 1 << 14  # of a sheet


def sheets_of(path: Path) -> list[TablePlace]:
    """The sheets of a workbook, as the tables of a database."""
    with _open_book(path) as book:
        return [("main", sheet.title) for sheet in book.worksheets]


def find_sheet(path: Path, sheet: str | None) -> str:
    """The sheet that is meant; the only one needs no name."""
    sheets = sheets_of(path)
    wanted = tables_named(sheets, sheet)
    if len(wanted) != 1:
        raise which_table(path.name, [name for _, name in sheets], sheet)
    return wanted[0][1]


def excel_names(path: Path, sheet: str) -> list[str]:
    """The names of the columns: the first row, up to its last cell."""
    with _open_book(path) as book:
        first = _next(_cells(book[sheet], MOST_COLUMNS), 1)[0:1]
        names = [_text(cell, formulas=False) or "" for row in first for cell in row]
    while names and not names[-1]:
        names.pop()
    check_columns(names, f"The first row of {path.name}, sheet {sheet!r},")
    return names


def excel_rows(path: Path, sheet: str, *, formulas: bool = False) -> Any:
    """A stream of the rows of a sheet, every cell as text.

    formulas: take the values that they had when the workbook was saved. For the owner alone.
    """
    names = excel_names(path, sheet)
    fields = pa.schema([pa.field(name, pa.large_string()) for name in names])
    batches = _batches(path, sheet, fields, formulas=formulas)
    return pa.RecordBatchReader.from_batches(fields, batches)


def guess_excel(path: str | Path, sheet: str | None) -> Guess:
    """The columns with the types that their first values look like: a proposal to the owner."""
    file = Path(path).resolve()
    name = find_sheet(file, sheet)
    names = excel_names(file, name)
    return _hide_words(file, lambda: guess_types(name, names, excel_rows(file, name)))


def count_formulas(path: Path, sheet: str) -> int:
    """How many cells are formulas. It tells about rows: for the owner alone."""
    width = len(excel_names(path, sheet))
    formulas = 0
    with _open_book(path) as book:
        rows = _cells(book[sheet], width)
        while some := _next(rows, ROWS_AT_ONCE):
            formulas += sum(cell.data_type == FORMULA for row in some for cell in row)
    return formulas


def _batches(path: Path, sheet: str, fields: Any, *, formulas: bool) -> Iterator[Any]:
    with _open_book(path, values=formulas) as book:
        rows, width = _cells(book[sheet], len(fields)), len(fields)
        _next(rows, 1)
        while some := _next(rows, ROWS_AT_ONCE):
            texts = [[_text(cell, formulas=formulas) for cell in row] for row in some]
            full = [_of_length(row, width) for row in texts if any(c is not None for c in row)]
            columns = zip(*full, strict=True) if full else [()] * width
            arrays = [pa.array(cells, pa.large_string()) for cells in columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=fields)


def _of_length(row: list[str | None], width: int) -> list[str | None]:
    return row + [None] * (width - len(row))


def _cells(sheet: Any, width: int) -> Iterator[Sequence[Any]]:
    sheet.reset_dimensions()  # what the file says of its size
    return iter(sheet.iter_rows(max_col=width))


def _next(rows: Iterator[Sequence[Any]], most: int) -> list[Sequence[Any]]:
    """The next rows; warnings of the library name cells."""
    with catch_warnings():
        simplefilter("ignore")
        return list(islice(rows, most))


def _text(cell: Any, *, formulas: bool) -> str | None:
    if cell.data_type == ERROR or (cell.data_type == FORMULA and not formulas):
        return None
    match cell.value:
        case bool() as truth:
            return "true" if truth else "false"
        case int() as number:
            return str(number)
        case float() as number:
            return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
        case datetime() as when:
            return str(when.date()) if when.time() == time() else when.isoformat(" ")
        case date() | time() as when:
            return when.isoformat()
        case str() as text:
            return text or None
        case _:
            return None


@contextmanager
def _open_book(path: Path, *, values: bool = False) -> Generator[Any]:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ParameterError(
            not_installed(f"Reading {path.name}", "openpyxl", "excel")
            + " Or save the sheet as a CSV file (CSV UTF-8)."
        ) from None

    def load() -> Any:
        with catch_warnings():
            simplefilter("ignore")
            return load_workbook(path, read_only=True, data_only=values)

    book = _hide_words(path, load)
    try:
        yield book
    finally:
        book.close()


def _hide_words(path: Path, run: Callable[[], Result]) -> Result:
    """What `run` returns; of a damaged file, no words of the library, which may hold a cell."""
    from zipfile import BadZipFile

    failed = ParameterError(f"{path.name} cannot be read: it is damaged, or no Excel file.")
    return without_context(run, *DAMAGED, BadZipFile, error=failed)
