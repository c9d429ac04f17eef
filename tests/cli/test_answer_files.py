"""All of an answer leaves: into a pipe, as CSV, and into files of four kinds; and nothing is lost.

Reproduces what people did: 25 months were asked, 12 were shown, into a file too.
"""

import csv
import json
from collections.abc import Callable
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook

from letalone.cli import screen
from letalone.ledger import Ledger
from screens import check_refusal, offered

Letalone = Callable[..., Any]
MONTHS = [date(2023 + n // 12, n % 12 + 1, 1) for n in range(25)]
CSV = "pid,day,ward,kept\n" + "".join(
    f"{n},{MONTHS[n % 25]},{'=1+1' if n % 2 else 'B'},{str(n % 3 == 0).lower()}\n"
    for n in range(200)
)
SCHEMA = """format = 1
name = "my"
unit = "pid"
[columns.pid]
type = "integer"
[columns.day]
type = "date"
[columns.ward]
type = "text"
[columns.kept]
type = "boolean"
"""
BY_MONTH = "SELECT day, COUNT(*) AS n FROM my GROUP BY day"
KEYS = ("--keys", "day=" + ",".join(map(str, MONTHS)))
ASK = ("query", "my.csv", BY_MONTH, *KEYS, "--epsilon", "1", "--budget", "9")
WARDS = (
    "query", "my.csv", "SELECT ward, kept, COUNT(*) AS n FROM my GROUP BY ward, kept",
    "--keys", "ward==1+1,B", "--keys", "kept=true,false", "--epsilon", "1", "--budget", "9",
)  # fmt: skip


@pytest.fixture
def on_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "is_terminal", lambda: True)


def releases() -> int:
    return Ledger.open("my.letalone.db").data_set("my").releases


def months_in(text: str) -> list[str]:
    return [str(month) for month in MONTHS if str(month) in text]


def test_a_pipe_has_every_row(letalone: Letalone, my: Path) -> None:
    found = letalone(*ASK)
    assert months_in(found.out) == [str(month) for month in MONTHS]
    assert "more rows" not in found.out


@pytest.mark.usefixtures("on_a_screen")
@pytest.mark.parametrize(
    ("more", "shown"), [((), 12), (("--rows", "20"), 20), (("--rows", "all"), 25)]
)
def test_a_screen_has_as_many_rows_as_are_wanted(
    letalone: Letalone, my: Path, more: tuple[str, ...], shown: int
) -> None:
    found = letalone(*ASK, *more)
    assert len(months_in(found.out)) == shown
    rest = f"and {25 - shown} more rows: --rows all shows them"
    assert (rest in found.out) == (shown < 25)


@pytest.mark.parametrize("rows", ["0", "-1", "few", "1.5"])
def test_a_wrong_number_of_rows_is_refused_before_anything_is_spent(
    letalone: Letalone, my: Path, rows: str
) -> None:
    refused = letalone(*ASK, "--rows", rows)
    assert (refused.code, refused.out) == (2, "")
    assert "a whole number such as 50, or all" in refused.err
    assert not Path("my.letalone.db").exists()


def test_csv_is_all_that_a_program_reads_and_the_words_go_to_who_typed(
    letalone: Letalone, my: Path
) -> None:
    found = letalone(*ASK, "--csv")
    rows = list(csv.DictReader(StringIO(found.out)))
    assert [row["day"] for row in rows] == [str(month) for month in MONTHS]
    assert list(rows[0]) == ["day", "n", "n_low", "n_high"]
    assert "ε = 1" in found.err
    same = letalone(*ASK, "--json").json()["rows"]
    assert [int(row["n"]) for row in rows] == [row["n"] for row in same]


@pytest.mark.parametrize("other", ["--json", "--dry-run"])
def test_csv_does_not_go_with_what_is_no_table(letalone: Letalone, my: Path, other: str) -> None:
    refused = letalone(*ASK, "--csv", other)
    assert refused.code == 2
    assert other in refused.err


@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx", "json"])
def test_a_file_holds_the_answer_that_json_prints(letalone: Letalone, my: Path, kind: str) -> None:
    path = Path(f"answer.{kind}")
    assert f"Written to {path}" in letalone(*WARDS, "--out", str(path)).out
    printed = letalone(*WARDS, "--json").json()
    columns, rows = printed["columns"], [list(row.values()) for row in printed["rows"]]
    assert rows[0][:2] == ["=1+1", True]
    assert read_table(path) == [columns, *rows]


def read_table(path: Path) -> list[list[object]]:
    match path.suffix:
        case ".csv":
            lines = list(csv.reader(path.read_text().splitlines()))
            cells = [[ward, kept == "true", *map(int, more)] for ward, kept, *more in lines[1:]]
            return [lines[0], *cells]
        case ".parquet":
            table = pq.read_table(path)
            return [table.column_names, *(list(row.values()) for row in table.to_pylist())]
        case ".xlsx":
            sheet = load_workbook(path)["answer"]
            assert {cell.data_type for cell in sheet["A"]} == {"s"}, "a formula"
            return [list(row) for row in sheet.values]
        case _:
            content = json.loads(path.read_text())
            return [content["columns"], *(list(row.values()) for row in content["rows"])]


def test_a_sheet_says_what_was_asked_and_what_it_spent(letalone: Letalone, my: Path) -> None:
    letalone(*WARDS, "--out", "answer.xlsx")
    about = dict(list(load_workbook("answer.xlsx")["about"].values)[:6])
    assert (about["data_set"], about["epsilon"], about["unit"]) == ("my", 1, "pid")


def test_a_file_is_written_over_only_if_that_is_said(letalone: Letalone, my: Path) -> None:
    Path("answer.csv").write_text("mine")
    refused = letalone(*ASK, "--out", "answer.csv")
    assert "answer.csv is there already" in check_refusal(refused, 2)
    assert Path("answer.csv").read_text() == "mine"
    assert not Path("my.letalone.db").exists(), "nothing was spent"
    (over,) = offered(refused.err)
    assert letalone(*over).code == 0
    assert len(Path("answer.csv").read_text().splitlines()) == 26


@pytest.mark.parametrize("place", ["my.csv", "there/is/none.csv", "closed/x.csv", "x.txt"])
@pytest.mark.long  # others of this file stay
def test_a_place_that_will_not_do_is_refused_before_anything_is_spent(
    letalone: Letalone, my: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("closed").mkdir()
    if place.startswith("closed"):
        from letalone.cli.tables import answer_files

        def refuse(**given: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(answer_files, "NamedTemporaryFile", refuse)
    refused = letalone(*ASK, "--out", place, "--force")
    check_refusal(refused, 2)
    assert Path("my.csv").read_text() == CSV
    assert not Path("my.letalone.db").exists()
    monkeypatch.undo()
    monkeypatch.chdir(my)
    (elsewhere,) = offered(refused.err)
    assert letalone(*elsewhere).code == 0
    assert releases() > 0


def test_the_ledger_is_never_written_over(letalone: Letalone, my: Path) -> None:
    assert letalone(*ASK, "--ledger", "book.json").code == 0
    before = Path("book.json").read_bytes()
    refused = letalone(*ASK, "--ledger", "book.json", "--out", "book.json", "--force")
    assert "which the question itself needs" in check_refusal(refused, 2)
    assert Path("book.json").read_bytes() == before


def test_without_openpyxl_the_words_say_how_to_get_it(
    letalone: Letalone, my: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from letalone.cli.tables import answer_files

    monkeypatch.setattr(answer_files, "find_spec", lambda _: None)
    refused = letalone(*ASK, "--out", "answer.xlsx")
    assert "[excel]'" in check_refusal(refused, 2)
    assert not Path("my.letalone.db").exists()


def test_a_pipe_has_every_number_of_an_answer_without_groups(letalone: Letalone, my: Path) -> None:
    sql = "SELECT COUNT(*) AS n, COUNT(DISTINCT day) AS people FROM my"
    for more in ((), ("--rows", "all")):
        shown = letalone("query", "my.csv", sql, *more, "--epsilon", "1", "--budget", "9")
        assert "people" in shown.out
        assert "more rows" not in shown.out
