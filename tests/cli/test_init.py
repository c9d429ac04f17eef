"""`letalone init`: types are shown to the owner, confirmed, and written with room to fill in."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from letalone.engines.duckdb.csv_files import guess_csv
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from letalone.sample.hospital import visits
from screens import check_refusal, check_screen, offered

Letalone = Callable[..., Any]
TYPES = {
    "patient_id": "integer",
    "ward": "text",
    "zip": "text",
    "birth_date": "date",
    "gender": "text",
    "diagnosis": "text",
    "cost": "number",
}


@pytest.fixture
def my(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    visits(50).to_csv("my.csv")
    return tmp_path / "my.letalone.toml"


def test_guessed_types_are_written_only_when_they_are_confirmed(
    letalone: Letalone, my: Path
) -> None:
    shown = letalone("init", "my.csv")
    words = check_refusal(shown, 2)
    assert all(f"{name} {kind}" in words for name, kind in TYPES.items())
    assert not my.exists()
    assert letalone("init", "my.csv", "--json").error()["exit_code"] == 2
    (command,) = offered(shown.err)
    assert "cost number" in check_screen(letalone(*command))
    assert {c.name: c.type.value for c in Schema.read(my).columns} == TYPES


def test_the_file_declares_no_unit_and_no_bounds_but_has_room_for_them(
    letalone: Letalone, my: Path
) -> None:
    assert letalone("init", "my.csv", "--yes").code == 0
    schema, text = Schema.read(my), my.read_text("utf-8")
    assert (schema.name, schema.unit, schema.unit_declared) == ("my", None, False)
    assert all(column.lower is None and column.keys is None for column in schema.columns)
    for line in ("# unit = ", "# unit_is_row = true", "# lower = ", "# keys = "):
        assert line in text


def test_a_unit_is_written_where_it_is_named(letalone: Letalone, my: Path) -> None:
    assert letalone("init", "my.csv", "--yes", "--unit", "patient_id").code == 0
    assert Schema.read(my).unit == "patient_id"
    assert letalone("init", "my.csv", "--yes", "--unit", "row", "--force").code == 0
    schema = Schema.read(my)
    assert (schema.unit, schema.unit_declared) == (None, True)
    wrong = letalone("init", "my.csv", "--yes", "--unit", "patient", "--force")
    assert "Did you mean 'patient_id'?" in check_refusal(wrong, 2)


def test_nothing_is_written_over_without_force(letalone: Letalone, my: Path) -> None:
    my.write_text("mine")
    shown = letalone("init", "my.csv", "--yes")
    assert "was not changed" in check_refusal(shown, 2)
    assert my.read_text() == "mine"
    (command,) = offered(shown.err)
    assert letalone(*command, "--yes").code == 0
    assert Schema.read(my).name == "my"


def test_the_query_that_it_offers_is_answered(letalone: Letalone, my: Path) -> None:
    (command,) = offered(letalone("init", "my.csv", "--yes").out)
    assert "count" in check_screen(letalone(*command))


def test_a_budget_is_proposed_with_a_delta_and_what_that_is_for(
    letalone: Letalone, my: Path
) -> None:
    words = " ".join(letalone("init", "my.csv", "--yes").out.split())
    assert "δ = 1e-6 so that groups can be found (GROUP BY without --keys)" in words


def test_types_of_parquet_are_metadata_and_need_no_word(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = pa.table({"id": [1, 2], "odd name": ["x", "y"], "when": [None, None]})
    parquet.write_table(table, "t.parquet")
    found = letalone("init", "t.parquet", "--json").json()
    assert set(found) == {
        "format", "command", "path", "name", "unit", "unit_declared", "types_guessed", "remarks",
        "columns", "hints",
    }  # fmt: skip
    assert (found["path"], found["types_guessed"], found["unit"]) == (
        "t.letalone.toml",
        False,
        None,
    )
    columns = {column.name: column.type for column in Schema.read("t.letalone.toml").columns}
    assert columns["odd name"] is Type.TEXT


@pytest.mark.parametrize(
    ("spelling", "kind"),
    [
        ("%Y-%m-%d", "date"),
        ("%Y/%m/%d", "text"),
        ("%d/%m/%Y", "text"),
        ("%m/%d/%Y", "text"),
        ("%d.%m.%Y", "text"),
        ("%d-%m-%y", "text"),
    ],
)
def test_dates_that_would_be_misread_are_text_and_the_owner_is_told(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelling: str, kind: str
) -> None:
    """What is guessed to be a date is read as that very day by the engine."""
    monkeypatch.chdir(tmp_path)
    days = [date(2024, 1, 2) + timedelta(3 * number) for number in range(40)]
    Path("d.csv").write_text("id,day\n" + "".join(f"1,{day:{spelling}}\n" for day in days))
    words = check_refusal(letalone("init", "d.csv"), 2)
    why = "dates, but not written 2024-01-31"
    assert (why in words) is (kind == "text")
    assert (why in check_screen(letalone("init", "d.csv", "--yes"))) is (kind == "text")
    text = Path("d.letalone.toml").read_text("utf-8")
    assert f'type = "{kind}"' in text
    assert (f"# {why}" in text) is (kind == "text")
    if kind == "date":
        asked = ("query", "d.csv", "SELECT COUNT(*) n FROM d WHERE day >= '2024-02-01'")
        found = letalone(*asked, "--unit", "row", "--epsilon", "1000", "--budget", "1e4", "--json")
        assert found.json()["rows"][0]["n"] == sum(day >= date(2024, 2, 1) for day in days)


def test_a_type_that_the_reader_does_not_read_is_not_guessed(tmp_path: Path) -> None:
    """30 February looks like a date where nobody counts the days."""
    file = tmp_path / "x.csv"
    file.write_text("id,day,sum\n1,2024-02-28,1\n2,2024-02-30,2.5\n")
    kinds = {column.name: column.type for column in guess_csv(file).schema.columns}
    assert kinds == {"id": Type.INTEGER, "day": Type.TEXT, "sum": Type.NUMBER}


def test_many_columns_still_fit_one_screen(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"column_number_{number}" for number in range(60)]
    Path("wide.csv").write_text(",".join(names) + "\n" + ",".join("1" * 60) + "\n")
    assert "and 30 more" in check_refusal(letalone("init", "wide.csv"), 2)
    assert "and 50 more" in check_screen(letalone("init", "wide.csv", "--yes"))
    assert "and 50 more" in check_screen(letalone("describe", "wide.csv"))


def test_what_is_no_table_is_refused_and_nothing_is_written(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.csv").write_text("")
    Path("picture.gif").write_text("x")
    before = set(tmp_path.iterdir())
    for file in ("no.csv", "empty.csv", "picture.gif", "*.csv", "."):
        check_refusal(letalone("init", file, "--yes"), 2)
    assert set(tmp_path.iterdir()) == before


@pytest.mark.long
@pytest.mark.parametrize(("answer", "written"), [("y", True), ("n", False)])
def test_on_a_terminal_the_owner_is_asked(my: Path, answer: str, *, written: bool) -> None:
    ours, theirs = pty.openpty()
    call = [sys.executable, "-m", "letalone.cli", "init", "my.csv"]
    with subprocess.Popen(call, stdin=theirs, stdout=theirs, stderr=theirs, cwd=my.parent) as done:
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
    os.close(ours)
    assert "make them public?" in shown.decode()
    assert my.exists() is written
    assert done.returncode == (0 if written else 1)


def test_decimal_commas_are_named_with_a_command_that_mends_them(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text("pid;cost;note;n\n1;1,5;a;1\n2;2;b,c;2\n3;-3,25;;3\n")
    assert "decimal comma" in check_refusal(letalone("init", "my.csv"), 2)
    shown = letalone("init", "my.csv", "--yes")
    words = check_screen(shown)
    assert "cost text (numbers, but with a decimal comma)" in words
    assert "separated by semicolons" in words
    assert "cost would be a number if written 1.5" in words
    assert (
        'type = "text"  # numbers, but with a decimal comma' in Path("my.letalone.toml").read_text()
    )
    command = next(words for words in offered(shown.out) if words[0] == "convert")
    assert '[columns.cost] type = "number"' in check_screen(letalone(*command))
    assert parquet.read_table("my.parquet")["cost"].to_pylist() == ["1.5", "2", "-3.25"]


def test_a_parquet_file_of_text_is_looked_at_as_a_csv_is(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text("pid;cost;day;on;seen\n1;1,5;08/06/2024;Yes;2024-01-31\n2;2;;no;\n")
    letalone("convert", "my.csv", "my.parquet")
    assert "If everybody may know these types" in check_refusal(letalone("init", "my.parquet"), 2)
    assert not Path("my.letalone.toml").exists()
    shown = letalone("init", "my.parquet", "--yes")
    words = check_screen(shown)
    assert "cost text (numbers, but with a decimal comma)" in words
    assert "day text (dates, but not written 2024-01-31)" in words
    command = next(words for words in offered(shown.out) if words[0] == "convert")
    check_screen(letalone(*command))
    said = letalone("init", "my.parquet", "--yes", "--force", "--json").json()
    kinds = [column["type"] for column in said["columns"]]
    assert (said["types_guessed"], kinds) == (
        True,
        ["integer", "number", "date", "boolean", "date"],
    )


def test_a_parquet_file_with_types_of_its_own_keeps_them_unasked(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parquet.write_table(pa.table({"pid": [1, 2], "code": ["1", "2"]}), "my.parquet")
    said = letalone("init", "my.parquet", "--json").json()
    kinds = [column["type"] for column in said["columns"]]
    assert (said["types_guessed"], kinds) == (False, ["integer", "text"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pid,cost,ward\n1,1,5,A\n", "more cells than the first has names"),
        ("pid cost\n1 5\n", "Only one column was found."),
        ("pid,cost\n1,5\n2,6,\n", None),
        ('pid,cost\n1,"1,5"\n', "decimal comma"),
        ('pid,cost\n1,"1,234.5"\n', None),
    ],
)
def test_a_file_that_is_read_in_an_odd_way_is_spoken_of(
    letalone: Letalone,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    said: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text(text)
    words = check_screen(letalone("init", "my.csv", "--yes"))
    if said is None:
        assert letalone("init", "my.csv", "--yes", "--force", "--json").json()["hints"] == []
    else:
        assert said in words
