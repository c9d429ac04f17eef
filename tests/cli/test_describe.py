"""`letalone describe`: what is public and what is left, and nothing about the data."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from letalone.ledger import Ledger
from letalone.sample.hospital import visits
from screens import check_refusal, check_screen, offered

Letalone = Callable[..., Any]
KEYS = {
    "format", "command", "file", "name", "version", "unit", "unit_declared", "neighbours",
    "schema_file", "columns", "ledger", "fingerprint", "data_set", "row_limit",
}  # fmt: skip
SCHEMA = """format = 1
name = "my"
version = 3
unit = "patient_id"
[columns.patient_id]
type = "integer"
[columns.ward]
type = "text"
keys = ["Cardiology", "Oncology"]
missing_is_a_key = true
[columns.cost]
type = "number"
lower = 0
upper = 1000.5
"""


@pytest.fixture
def my(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    visits(50).to_csv("my.csv")
    return tmp_path


def test_a_bare_file_is_described_with_the_way_to_go_on(letalone: Letalone, my: Path) -> None:
    shown = letalone("describe", "my.csv")
    words = check_screen(shown)
    for part in ("nobody yet", "patient_id text", "schema none", "budget none yet"):
        assert part in words
    (command,) = offered(shown.out)
    assert letalone(*command, "--yes").code == 0
    assert {path.name for path in my.iterdir()} == {"my.csv", "my.letalone.toml"}


def test_what_is_declared_and_what_is_left_are_shown(letalone: Letalone, my: Path) -> None:
    Path("my.letalone.toml").write_text(SCHEMA)
    question = ("query", "my.csv", "SELECT COUNT(*) FROM my", "--epsilon", "0.5")
    assert letalone(*question, "--budget", "2:1e-6", "--max-rows", "10").code == 0
    words = check_screen(letalone("describe", "my.csv"))
    for part in (
        "table 'my', version 3",
        "protects each patient_id (add or remove one)",
        "'Cardiology', 'Oncology', missing",
        "0 to 1000.5",
        "ε = 2, δ = 1e-6",
        "on 1 release",
        "my.letalone.db",
        Ledger.open("my.letalone.db").fingerprint,
    ):
        assert part in words
    found = letalone("describe", "my.csv", "--json").json()
    assert set(found) == KEYS
    assert found["columns"][2] == {
        "name": "cost",
        "type": "number",
        "lower": "0",
        "upper": "2001/2",
        "keys": None,
    }
    assert found["columns"][1]["keys"] == ["Cardiology", "Oncology", None]
    assert found["data_set"]["budget"] == {"epsilon": "2", "delta": "1/1000000"}
    assert found["data_set"]["releases"] == 1
    Ledger.open("my.letalone.db").freeze("my", "x")
    assert "frozen" in check_screen(letalone("describe", "my.csv"))


def test_nothing_changes_with_the_rows(letalone: Letalone, my: Path) -> None:
    Path("my.letalone.toml").write_text(SCHEMA)
    full = [letalone("describe", "my.csv", *more).out for more in ((), ("--json",))]
    header = Path("my.csv").read_text().splitlines()[0]
    Path("my.csv").write_text(header + "\n")
    assert full == [letalone("describe", "my.csv", *more).out for more in ((), ("--json",))]


def test_looking_makes_no_ledger_and_another_one_can_be_named(letalone: Letalone, my: Path) -> None:
    assert letalone("describe", "my.csv", "--ledger", "other.db", "--json").json()["ledger"] is None
    assert {path.name for path in my.iterdir()} == {"my.csv"}


def test_wrong_files_exit_2(letalone: Letalone, my: Path) -> None:
    for file in ("no.csv", "*.csv"):
        check_refusal(letalone("describe", file), 2)
    Path("my.letalone.toml").write_text("format = 1")
    check_refusal(letalone("describe", "my.csv"), 2)
    Path("my.letalone.toml").write_text(SCHEMA.replace("columns.cost", "columns.price"))
    assert "'price'" in check_refusal(letalone("describe", "my.csv"), 2)
