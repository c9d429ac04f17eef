"""Sheets of Excel: a row is read by itself, and no cell decides a column or what others count."""

import re
import warnings
import zipfile
from datetime import date, datetime, time
from pathlib import Path

import openpyxl
import pytest

from letalone.engines.core.measures import GridSum, Rows, RowScope, RowsWith
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.duckdb.excel_files import count_formulas, excel_rows, guess_excel, sheets_of
from letalone.errors import ParameterError
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding
from letalone.plans.types import Type
from letalone.sources.files import WhichTable
from stages import pick


def write(path: Path, **sheets: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def rewrite(path: Path, pattern: str, new: str) -> None:
    """Changes what is written of the first sheet."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    part = "xl/worksheets/sheet1.xml"
    text, found = re.subn(pattern, new, parts[part].decode())
    assert found
    with zipfile.ZipFile(path, "w") as file:
        for name, content in (parts | {part: text.encode()}).items():
            file.writestr(name, content)


def rows_of(path: Path, sheet: str = "Visits", **options: bool) -> list[tuple[object, ...]]:
    stream = excel_rows(path, sheet, **options)
    return [tuple(row.values()) for batch in stream for row in batch.to_pylist()]


def measured(path: Path, **types: Type) -> list[list[int]]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine = open_duck(path, types=types)
        scope = RowScope(engine.schema(), None, (), (), (), None, Bounding())
        found = engine.measure(scope, [Rows(), RowsWith(col("n")), GridSum(col("n"), 0, 100, 0)])
        engine.close()
    return found


CELLS = {
    2: "2",
    0.1: "0.1",
    1e22: "1e+22",
    -3.5: "-3.5",
    True: "true",
    "Größe": "Größe",
    " 7 ": " 7 ",
    date(2024, 1, 31): "2024-01-31",
    datetime(2024, 1, 31, 12, 30): "2024-01-31 12:30:00",
    time(12, 30): "12:30:00",
    "#N/A": None,
    "=1/0": None,
    "=SUM(A:A)": None,
    None: None,
}


@pytest.mark.parametrize("cell", pick([2, "=SUM(A:A)", None], list(CELLS)), ids=str)
def test_one_odd_cell_is_read_by_itself_and_all_others_stay(cell: object, tmp_path: Path) -> None:
    rows = [["id", "n", "t"], ["a", 1, "x"], ["b", cell, "y"], ["c", 3, None]]
    path = write(tmp_path / "x.xlsx", Visits=rows)
    assert rows_of(path) == [("a", "1", "x"), ("b", CELLS[cell], "y"), ("c", "3", None)]
    rows_found, there, total = measured(path, n=Type.INTEGER)
    whole = {2: 2, " 7 ": 7}.get(cell) if not isinstance(cell, bool) else None
    if cell not in (0.1, 1e22, -3.5):  # which are rounded, or beyond what fits
        assert (rows_found, there, total) == ([3], [2 + (whole is not None)], [4 + (whole or 0)])


@pytest.mark.long
@pytest.mark.parametrize("serial", ["99999999999", "-1e9", "2958466"])
def test_a_day_beyond_the_calendar_is_missing_without_a_word(serial: str, tmp_path: Path) -> None:
    rows = [["n", "day"], [1, date(2024, 1, 31)], [2, date(2024, 2, 29)], [3, date(2024, 3, 31)]]
    path = write(tmp_path / "x.xlsx", Visits=rows)
    rewrite(path, '(<c r="B3"[^>]*><v>)[^<]*', rf"\g<1>{serial}")
    assert [row for row in rows_of(path) if row[0] != "2"] == [
        ("1", "2024-01-31"),
        ("3", "2024-03-31"),
    ]
    assert measured(path, n=Type.INTEGER, day=Type.DATE) == [[3], [3], [6]]


def test_what_the_file_says_of_its_size_decides_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "x.xlsx", Visits=[["n"], [1], [2], [3]])
    rewrite(path, '<dimension ref="[^"]*"', '<dimension ref="A1:A2"')
    assert rows_of(path) == [("1",), ("2",), ("3",)]


@pytest.mark.long
def test_a_cell_far_away_is_left_out_or_a_row_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    book = openpyxl.Workbook()
    book.active.title = "Visits"
    for place, value in {"A1": "n", "A2": 1, "XFD2": 9, "A30000": 3, "C5": 4}.items():
        book.active[place] = value
    book.save(path)
    assert rows_of(path) == [("1",), ("3",)]


def test_formulas_are_missing_and_counted_for_the_owner_who_may_take_their_values(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "x.xlsx", Visits=[["n", "f"], [1, "=A2/SUM(A:A)"], [2, "plain"]])
    rewrite(path, "<f>A2/SUM\\(A:A\\)</f>(<v ?/>|<v></v>)", "<f>A2/SUM(A:A)</f><v>0.25</v>")
    assert rows_of(path) == [("1", None), ("2", "plain")]
    assert count_formulas(path, "Visits") == 1
    assert rows_of(path, formulas=True) == [("1", "0.25"), ("2", "plain")]


def test_sheets_are_tables_and_their_types_are_guessed_for_the_owner(tmp_path: Path) -> None:
    visits = [["id", "cost", "day"], ["a", 1.5, date(2024, 1, 31)], ["b", None, None]]
    path = write(tmp_path / "x.xlsx", Visits=visits, People=[["id"], [1]])
    assert sheets_of(path) == [("main", "Visits"), ("main", "People")]
    with pytest.raises(WhichTable) as refused:
        open_duck(path)
    assert refused.value.tables == ("Visits", "People")
    guess = guess_excel(path, "Visits")
    kinds = [(column.name, column.type) for column in guess.schema.columns]
    assert kinds == [("id", Type.TEXT), ("cost", Type.NUMBER), ("day", Type.DATE)]
    assert (guess.schema.name, guess.from_cells) == ("Visits", True)


@pytest.mark.parametrize(
    ("rows", "words"),
    [([], "has no columns"), ([["a", None, "b"]], "without a name"), ([["a", "A"]], "case of")],
)
def test_a_first_row_that_holds_no_names_is_refused(
    rows: list[list[object]], words: str, tmp_path: Path
) -> None:
    with pytest.raises(ParameterError, match=words):
        open_duck(write(tmp_path / "x.xlsx", Visits=rows))


def test_what_is_no_workbook_is_refused_without_the_librarys_words(tmp_path: Path) -> None:
    for content in (b"", b"id\nsecret\n", b"PK\x03\x04secret"):
        (tmp_path / "x.xlsx").write_bytes(content)
        with pytest.raises(ParameterError, match="no Excel file") as refused:
            open_duck(tmp_path / "x.xlsx")
        assert refused.value.__context__ is None
