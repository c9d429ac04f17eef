"""`letalone convert`: a CSV file as spreadsheets read it becomes a Parquet file of text."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from screens import check_refusal, check_screen, offered

Letalone = Callable[..., Any]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def convert(letalone: Letalone, content: bytes) -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
    Path("my.csv").write_bytes(content)
    said = letalone("convert", "my.csv", "my.parquet", "--force", "--json").json()
    rows = pq.read_table("my.parquet").to_pylist()
    return said, [tuple(row.values()) for row in rows]


def test_cells_with_line_breaks_come_through_and_the_owner_is_told_what_is_odd(
    letalone: Letalone,
) -> None:
    content = (
        b'\xef\xbb\xbfid,"the\nnote"\r\n1,"two\r\nlines, and ""quotes"""\r\n\r\n2,plain\r\n'
        b"3\r\n4,a,b\r\n"
        b'5,\xff\r\n6,no"te\r\n7,"a\n\n\nb"\r\n8,""\r\n'
    )
    said, rows = convert(letalone, content)
    assert rows == [
        ("1", 'two\nlines, and "quotes"'),
        ("2", "plain"),
        ("3", None),
        ("4", "a"),
        ("6", 'no"te'),
        ("7", "a\n\n\nb"),
        ("8", None),
    ]
    assert pq.read_schema("my.parquet").names == ["id", "the\nnote"]
    del said["format"], said["command"]
    assert said == {
        "path": "my.parquet",
        "rows": 7,
        "rows_with_line_breaks": 2,
        "rows_uneven": 2,
        "rows_with_stray_quotes": 1,
        "rows_not_utf8": 1,
        "cells_not_read": {},
    }
    words = check_screen(letalone("convert", "my.csv", "other.parquet"))
    for part in ("Wrote 7 rows to other.parquet", "2 rows with a line break", "1 row left out"):
        assert part in words


def test_what_a_writer_of_csv_wrote_is_read_back(letalone: Letalone) -> None:
    """Python's own writer is the judge; texts of quotes, delimiters, blanks and line breaks."""
    draw = np.random.default_rng(5)
    letters = [*'ab",;\n |\t', '""', "é", "\n\n"]
    rows = [
        ["x" + "".join(draw.choice(letters, size)) for size in draw.integers(0, 9, 3)]
        for _ in range(200)
    ]
    for delimiter in ",;\t|":
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(
            [["id", "b", "c"], *rows]
        )
        said, found = convert(letalone, text.getvalue().encode())
        assert found == [tuple(row) for row in rows]
        assert said["rows_uneven"] == said["rows_with_stray_quotes"] == 0


def test_a_converted_file_goes_on_with_schema_file_and_budget_of_the_csv(
    letalone: Letalone,
) -> None:
    Path("visits.csv").write_text("pid,cost\n1,2\n2,3\n")
    letalone("init", "visits.csv", "--unit", "pid", "--yes")
    ask = ("SELECT COUNT(*) FROM visits", "--epsilon", "0.5", "--json")
    letalone("query", "visits.csv", *ask, "--budget", "2").json()
    letalone("convert", "visits.csv", "visits.parquet", "--json").json()
    again = letalone("query", "visits.parquet", *ask).json()
    assert again["ledger"] == "visits.letalone.db"


def test_a_decimal_comma_becomes_a_point_in_the_named_columns_and_nothing_else_changes(
    letalone: Letalone,
) -> None:
    Path("my.csv").write_text(
        "pid;cost;day;on;note\n1;1,5;08/06/2024;Yes;1,5\n2; -2,25 ;;no;a,b\n3;1.234,5;;;\n4;n,a\n"
    )
    ask = ("convert", "my.csv", "my.parquet", "--decimal-comma")
    words = check_refusal(letalone(*ask, "costs"), 2)
    assert "'costs' is not in table 'my'. Its columns are: pid, cost, day" in words
    assert not Path("my.parquet").exists()
    check_screen(letalone(*ask, "cost", "--decimal-comma", "day"))
    rows = [tuple(row.values()) for row in pq.read_table("my.parquet").to_pylist()]
    assert rows == [
        ("1", "1.5", "08/06/2024", "Yes", "1,5"),
        ("2", " -2.25 ", None, "no", "a,b"),
        ("3", "1234.5", None, None, None),
        ("4", "n,a", None, None, None),
    ]
    shown = letalone(*ask, "cost")
    (command,) = offered(shown.err)
    assert command[-3:] == ["--decimal-comma", "cost", "--force"]


def test_a_german_file_is_asked_by_the_commands_that_are_printed(letalone: Letalone) -> None:
    """The refusal of a column of text names the command, as `init` does, with the encoding."""
    rows = (f"P{n};{n % 9 + 1}.234,50;{n % 28 + 1:02}.12.2024\n" for n in range(400))
    text = "Patient-ID;Kosten €;Datum\n" + "".join(rows) + "P1;viel;31.12.24\n"
    Path("my.csv").write_bytes(text.replace("P1;viel;31.12.24\n", "").encode("cp1252"))
    shown = letalone("init", "my.csv", "--unit", "Patient-ID", "--encoding", "cp1252", "--yes")
    whole = next(words for words in offered(shown.out) if words[0] == "convert")
    asked = ('SELECT AVG("Kosten €") a FROM my', "--epsilon", "8", "--bounds")
    asked = (*asked, "Kosten €=0:10000", "--budget", "8")
    refused = letalone("query", "my.csv", *asked)
    ((*command, kept),) = offered(refused.err)
    assert "1.234,50" in check_refusal(refused, 4)
    assert [*command, kept] == [
        *("convert", "my.csv", "my.parquet", "--decimal-comma", "Kosten €"),
        *("--encoding", "cp1252"),
    ]
    assert whole[:5] == [*command][:5]
    assert whole[5:7] == ["--date", "Datum=DD.MM.YYYY"]
    Path("my.csv").write_bytes(text.encode("cp1252"))
    words = " ".join(letalone(*whole).out.split())
    assert "1 cell of Kosten € could not be read" in words
    assert '[columns."Kosten €"] type = "number", [columns.Datum] type = "date"' in words
    schema = Path("my.letalone.toml")
    declared = schema.read_text().replace('€"]\ntype = "text"', '€"]\ntype = "number"')
    schema.write_text(declared.replace('Datum]\ntype = "text"', 'Datum]\ntype = "date"'))
    shown = letalone(*whole, "--force")
    assert (shown.code, "Declare" in shown.out) == (0, False)
    answer = letalone("query", "my.parquet", *asked, "--json").json()
    assert abs(answer["rows"][0]["a"] - 5_230) < 500


@pytest.mark.parametrize(
    ("cell", "how", "written"),
    [
        ("31.12.2024", "DD.MM.YYYY", "2024-12-31"),
        ("1/2/2024", "MM/DD/YYYY", "2024-01-02"),
        ("1.2.2024 14:05", "DD.MM.YYYY", "2024-02-01 14:05"),
        ("31.02.2024", "DD.MM.YYYY", "31.02.2024"),
        ("2024-02-01", "DD.MM.YYYY", "2024-02-01"),
    ],
)
def test_days_are_written_year_first_or_stay_as_they_are(
    letalone: Letalone, cell: str, how: str, written: str
) -> None:
    Path("my.csv").write_text(f"id,day\n1,{cell}\n")
    shown = letalone("convert", "my.csv", "my.parquet", "--date", f"day={how}")
    assert ("could not be read" in check_screen(shown)) == (cell == "31.02.2024")
    assert pq.read_table("my.parquet").to_pydict()["day"] == [written]


@pytest.mark.parametrize("word", ["day", "day=DD.MM", "day=31.12.2024"])
def test_an_order_of_days_that_is_not_understood_is_refused_with_one_that_is(
    letalone: Letalone, word: str
) -> None:
    Path("my.csv").write_text("id,day\n1,31.12.2024\n")
    words = check_refusal(letalone("convert", "my.csv", "my.parquet", "--date", word), 2)
    assert "day=DD.MM.YYYY" in words
    assert not Path("my.parquet").exists()


def test_the_command_that_follows_works_with_and_without_a_schema_file(letalone: Letalone) -> None:
    Path("my.csv").write_text("pid,cost\n1,2\n")
    for following in ("init", "describe"):
        shown = letalone("convert", "my.csv", "my.parquet", "--force")
        check_screen(shown)
        (command,) = offered(shown.out)
        assert command == [following, "my.parquet"]
        yes = ["--yes"] * (following == "init")
        check_screen(letalone(*command, *yes))


def test_a_quote_that_is_never_closed_is_named_by_its_line_and_nothing_is_written(
    letalone: Letalone,
) -> None:
    Path("my.csv").write_bytes(b'id,note\n1,x\n2,"y\n3,z\n')
    Path("my.parquet").write_text("mine")
    words = check_refusal(letalone("convert", "my.csv", "my.parquet", "--force"), 2)
    assert "Line 3 of my.csv opens a quote that is never closed" in words
    assert Path("my.parquet").read_text() == "mine"
    assert {path.name for path in Path().iterdir()} == {"my.csv", "my.parquet"}


def test_a_file_that_is_there_is_written_over_only_by_force(letalone: Letalone) -> None:
    Path("my.csv").write_text("id\n1\n")
    Path("my.csv").chmod(0o640)
    Path("my.parquet").write_text("mine")
    shown = letalone("convert", "my.csv", "my.parquet")
    assert "was not changed" in check_refusal(shown, 2)
    assert Path("my.parquet").read_text() == "mine"
    (command,) = offered(shown.err)
    assert "Wrote 1 row" in check_screen(letalone(*command))
    assert Path("my.parquet").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_one_and_the_file_that_it_points_to_is_written(letalone: Letalone) -> None:
    Path("my.csv").write_text("id\n1\n")
    Path("there").mkdir()
    Path("my.parquet").symlink_to(Path("there", "rows.parquet"))
    for _ in range(2):
        check_screen(letalone("convert", "my.csv", "my.parquet", "--force"))
        assert Path("my.parquet").is_symlink()
        assert pq.read_table("there/rows.parquet").to_pydict() == {"id": ["1"]}
        Path("there/rows.parquet").write_text("mine")


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        ("no.csv", "my.parquet", "There is no file 'no.csv'"),
        ("my.csv", "my.csv", "must end in one of .parquet, .pq"),
        ("my.parquet", "my.parquet", "must end in one of .csv"),
        ("my.csv", "no/my.parquet", "cannot be written: No such file"),
        ("empty.csv", "my.parquet", "has no columns"),
        ("twice.csv", "my.parquet", "differ in nothing but the case"),
        ("latin.csv", "my.parquet", "is not UTF-8"),
        ("returns.csv", "my.parquet", "has a carriage return in it"),
        ("my.csv", "linked.parquet", "linked.parquet is a link to my.csv"),
    ],
)
def test_what_cannot_be_converted_is_said_in_words(
    letalone: Letalone, source: str, target: str, words: str
) -> None:
    Path("my.csv").write_text("id\n1\n")
    Path("empty.csv").write_text("")
    Path("twice.csv").write_text("a,A\n1,2\n")
    Path("latin.csv").write_bytes(b"\xe9\n1\n")
    Path("returns.csv").write_bytes(b"a,b\r1,2\r3,4\r")
    Path("linked.parquet").symlink_to("my.csv")
    before = {path.name for path in Path().iterdir()}
    assert words in check_refusal(letalone("convert", source, target, "--force"), 2)
    assert Path("my.csv").read_text() == "id\n1\n"
    assert {path.name for path in Path().iterdir()} == before


def test_init_names_the_command_where_a_quote_is_open_at_the_end_of_a_line(
    letalone: Letalone,
) -> None:
    Path("my.csv").write_text('id,note\n1,"two\nlines"\n2,x\n')
    shown = letalone("init", "my.csv", "--yes")
    assert "1 row with a quote that is not closed in its line" in check_screen(shown)
    command = next(words for words in offered(shown.out) if words[0] == "convert")
    assert "1 row with a line break" in check_screen(letalone(*command))
    (hint,) = letalone("init", "my.csv", "--yes", "--force", "--json").json()["hints"]
    assert "letalone convert my.csv my.parquet" in hint


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-8", "shift_jis"])
def test_text_of_another_encoding_comes_through(letalone: Letalone, encoding: str) -> None:
    text = (
        'id;Größe\n1;"weiß\nblau"\n2;rot\n' if encoding != "shift_jis" else "id;値段\n1;円\n2;a\n"
    )
    Path("my.csv").write_bytes(text.encode(encoding))
    said = letalone("convert", "my.csv", "my.parquet", "--encoding", encoding, "--json").json()
    assert (said["rows"], said["rows_not_utf8"]) == (2, 0)
    name, first = ("Größe", "weiß\nblau") if encoding != "shift_jis" else ("値段", "円")
    assert pq.read_table("my.parquet").to_pylist()[0] == {"id": "1", name: first}


def test_a_file_in_another_encoding_than_was_said_is_refused_or_its_rows_are_counted(
    letalone: Letalone,
) -> None:
    Path("my.csv").write_bytes("id\nä\nb\n".encode("cp1252"))
    words = check_screen(letalone("convert", "my.csv", "my.parquet"))
    assert "1 row left out: not UTF-8" in words
    assert "--encoding cp1252" in words
    refused = letalone("convert", "my.csv", "my.parquet", "--force", "--encoding", "utf-16")
    assert "not written in utf-16" in check_refusal(refused, 2)
