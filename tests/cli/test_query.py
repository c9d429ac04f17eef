"""`letalone query`: answers, prices, refusals that help, and nothing that tells on the data."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from io import StringIO
from pathlib import Path
from shutil import copy
from typing import Any

import duckdb
import pytest

from letalone.cli.app import run
from letalone.cli.offered import to_type
from letalone.cli.screen import program_name, progress_bar
from letalone.ledger import Ledger, verify_receipt
from letalone.sample.hospital import HospitalVisits, visits
from screens import check_refusal, check_screen, offered

Letalone = Callable[..., Any]
COUNT = "SELECT COUNT(DISTINCT patient_id) AS n FROM my"
PATIENTS = 2000
ASK = ("--unit", "patient_id", "--epsilon", "1", "--budget", "4:1e-3")
ANSWER_KEYS = {
    "format", "command", "data_set", "question", "unit", "neighbours", "epsilon", "delta",
    "confidence", "columns", "rows", "notes", "private_bounds", "row_limit", "first", "repeated",
    "budget", "remaining", "more_like_this", "ledger", "out", "plot", "receipt",
}  # fmt: skip
PREVIEW_KEYS = {
    "format", "command", "dry_run", "question", "first", "unit", "epsilon", "delta", "confidence",
    "parts", "budget", "remaining", "fits", "warnings",
}  # fmt: skip


@pytest.fixture(scope="module")
def table() -> HospitalVisits:
    return visits(PATIENTS)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, table: HospitalVisits) -> Path:
    folder = tmp_path_factory.mktemp("made")
    table.to_csv(folder / "my.csv")
    assert run(["init", str(folder / "my.csv"), "--yes"]) == 0
    return folder


@pytest.fixture
def my(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    monkeypatch.chdir(tmp_path)
    for file in ("my.csv", "my.letalone.toml"):
        copy(made / file, file)
    capsys.readouterr()
    return tmp_path


def test_a_count_is_near_the_truth_and_its_price_is_what_was_typed(
    letalone: Letalone, my: Path
) -> None:
    """Noise of scale 1 passes 50 once in e^50 (5·10^21) runs."""
    found = letalone("query", "my.csv", COUNT, *ASK, "--json").json()
    assert set(found) == ANSWER_KEYS
    (row,) = found["rows"]
    assert abs(row["n"] - PATIENTS) < 50
    assert row["n_low"] <= row["n"] <= row["n_high"]
    assert (found["epsilon"], found["delta"], found["unit"]) == (1, 0, "patient_id")
    assert found["columns"] == ["n", "n_low", "n_high"]
    assert found["budget"] == {"epsilon": "4", "delta": "1/1000"}
    assert found["remaining"]["epsilon"] == "3"
    assert found["more_like_this"] == 3
    assert Ledger.open("my.letalone.db").data_set("my").releases == 1


def test_groups_come_in_the_order_of_their_keys_with_zero_for_unknown_ones(
    letalone: Letalone, my: Path, table: HospitalVisits
) -> None:
    """Each of 10 rows of a patient may move a count: scale 10, so 400 once in e^40 runs."""
    sql = "SELECT ward, COUNT(*) n, SUM(cost) FROM my WHERE cost < 1000 GROUP BY ward"
    keys = ("--keys", "ward=Psychiatry,Nowhere,Cardiology", "--bounds", "cost=0:1000")
    found = letalone("query", "my.csv", sql, *ASK, *keys, "--json").json()
    assert [row["ward"] for row in found["rows"]] == ["Psychiatry", "Nowhere", "Cardiology"]
    true = int(((table.ward == "Cardiology") & (table.cost < 1000)).sum())
    _, nowhere, heart = (row["n"] for row in found["rows"])
    assert abs(nowhere) < 800
    assert true / 2 - 800 < heart < true + 800, "at most ten rows of each patient count"
    assert "sum_cost" in found["columns"]
    assert len(found["notes"]) == len([note for note in found["notes"] if ".bound" not in note])


def test_keys_are_found_privately_where_a_delta_is_given(letalone: Letalone, my: Path) -> None:
    sql = "SELECT ward, COUNT(*) FROM my GROUP BY ward"
    refused = letalone("query", "my.csv", sql, *ASK)
    check_refusal(refused, 2)
    listed, private = offered(refused.err)
    assert "--keys" in listed
    assert "--delta" in private
    words = check_screen(letalone(*private))
    assert "Cardiology" in words
    assert "Rare groups are not listed." in words
    assert "A 0" not in words


def test_declared_bounds_keys_and_unit_need_no_options(letalone: Letalone, my: Path) -> None:
    file = Path("my.letalone.toml")
    text = file.read_text().replace("# unit =", "unit =", 1).replace("# keys =", "keys =")
    cost = text.index("[columns.cost]")
    file.write_text(
        text[:cost] + text[cost:].replace("# lower", "lower").replace("# upper", "upper")
    )
    sql = "SELECT ward, AVG(cost) FROM my GROUP BY ward"
    found = letalone("query", "my.csv", sql, "--epsilon", "1", "--budget", "4", "--json").json()
    assert [row["ward"] for row in found["rows"]] == ["A", "B"]
    assert "clamped to [0, 100]" in found["question"]
    wrong = letalone("query", "my.csv", COUNT, "--epsilon", "1", "--unit", "ward")
    assert "my.letalone.toml says that the unit is patient_id" in check_refusal(wrong, 2)
    (command,) = offered(wrong.err)
    assert letalone(*command).code == 0


def test_bounds_are_bought_with_a_fifth_and_the_whole_price_is_charged(
    letalone: Letalone, my: Path
) -> None:
    sql = "SELECT AVG(cost) a, SUM(cost) s, COUNT(*) n FROM my"
    asked = ("query", "my.csv", sql, *ASK, "--private-bounds", "--max-rows", "10", "--json")
    found = letalone(*asked).json()
    ((lower, upper),) = found["private_bounds"].values()
    assert Fraction(lower) < Fraction(upper)
    assert (found["epsilon"], found["remaining"]["epsilon"]) == (1, "3")
    entries = Ledger.open("my.letalone.db").entries("my")
    charged = [entry.body["privacy"] for entry in entries if "privacy" in entry.body]
    assert len(charged) == 2
    again = letalone(*asked).json()
    assert again["repeated"]
    assert (again["rows"], again["remaining"]) == (found["rows"], found["remaining"])


@pytest.mark.long  # session/test_notes.py: a column that is read from text
def test_the_screen_says_that_cells_may_be_unreadable_and_speaks_no_python(
    letalone: Letalone, my: Path
) -> None:
    asked = ("query", "my.csv", "SELECT AVG(cost) FROM my", *ASK, "--bounds", "cost=0:3000")
    assert "cannot be read" not in check_screen(letalone(*asked))
    words = check_screen(letalone(*asked, "--explain"))
    assert "are not numbers" in words
    assert "cannot be read" not in check_screen(letalone("query", "my.csv", COUNT, *ASK))
    sql = "SELECT COUNT(DISTINCT patient_id) a, COUNT(*) b, SUM(cost) c FROM my"
    for more in ((), ("--json",)):
        shown = letalone("query", "my.csv", sql, *ASK, "--bounds", "cost=0:3000", *more)
        assert not re.search(r" \.[a-z]", shown.out)


@pytest.mark.long  # session/test_rows_beyond.py: test_one_row_of_each_unit_is_enough
def test_bounds_are_bought_from_one_row_of_each_unit_whatever_the_answer_takes(
    letalone: Letalone, my: Path
) -> None:
    """The bounding of their plan says so, and their error is that of one row."""
    asked = ("query", "my.csv", "SELECT SUM(cost) FROM my", *ASK, "--private-bounds")
    assert letalone(*asked, "--max-rows", "7").code == 0
    plans = [entry.body["plan"] for entry in Ledger.open("my.letalone.db").entries("my")
             if "plan" in entry.body]  # fmt: skip
    bounding = [plan["bounding"]["max_rows"] for plan in plans]
    assert bounding == [1, 7]
    found = letalone(*asked, "--max-rows", "7", "--dry-run", "--json").json()
    alone = letalone(*asked, "--max-rows", "1", "--dry-run", "--json").json()
    assert found["parts"][0] == alone["parts"][0]
    assert found["parts"][1] != alone["parts"][1]


@pytest.mark.long  # session/test_remedies.py: test_bounds_are_bought_in_one_call_and_hold_zero
def test_bounds_that_are_bought_hold_zero_and_come_with_a_warning(
    letalone: Letalone, my: Path
) -> None:
    """2,000 patients at ε = 0.2: 160 may lie beyond each end, so that 1,700 must be there."""
    asked = ("query", "my.csv", "SELECT AVG(cost) FROM my", *ASK, "--private-bounds")
    for more in (("--dry-run",), ()):
        words = check_screen(letalone(*asked, *more))
        assert "Warning: about 161 patient_id may be outside each bound" in words
        assert "With fewer than 1,700 patient_id, do not use this answer." in words
    ((lower, upper),) = letalone(*asked, "--json").json()["private_bounds"].values()
    assert (lower, int(upper).bit_count()) == ("0", 1)


@pytest.mark.long  # session/test_remedies.py: a row that says "Nothing was spent"
def test_bounds_are_not_bought_at_an_epsilon_that_cannot_buy_them(
    letalone: Letalone, my: Path
) -> None:
    asked = ("query", "my.csv", "SELECT AVG(cost) FROM my", "--private-bounds")
    refused = letalone(*asked, *ASK[:2], *ASK[4:], "--epsilon", "0.1")
    assert "too small to find bounds of cost" in check_refusal(refused, 2)
    assert not Path("my.letalone.db").exists()
    declared, dearer = offered(refused.err)
    assert "--bounds" in declared
    assert "--private-bounds" not in declared
    assert dearer[dearer.index("--epsilon") + 1] == "0.17"
    check_screen(letalone(*dearer))
    cheaper = [*dearer]
    cheaper[dearer.index("--epsilon") + 1] = "0.16"
    check_refusal(letalone(*cheaper), 2)


@pytest.mark.long  # session/test_remedies.py: a count below zero
def test_a_screen_shows_no_count_below_zero_and_no_mean_of_nobody(
    letalone: Letalone, my: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """40 wards in which nobody is: all noisy counts are above 0 once in 2^40 runs."""
    sql = "SELECT ward, COUNT(*) n, AVG(cost) c FROM my GROUP BY ward"
    keys = ("--keys", f"ward={','.join(f'none{number}' for number in range(40))}")
    asked = ("query", "my.csv", sql, *ASK, *keys, "--bounds", "cost=0:3000")
    found = letalone(*asked, "--json").json()
    assert min(row["n"] for row in found["rows"]) < 0
    assert all(row["c"] is not None for row in found["rows"])
    assert any("before any are cut off at 0" in one for one in found["notes"])
    monkeypatch.setattr("letalone.cli.screen.is_terminal", lambda: True)
    words = check_screen(letalone(*asked))
    assert re.search(r"none\d+ 0 \[0, \d+\] unknown \[0, 3,000\]", words)
    assert not re.search(r"(?<!\d)-\d", words)  # dates have these signs, too
    assert "unknown: there are too few rows for this much noise" in words
    assert "Cells of cost that cannot be read as the declared type count as missing" in words
    full = letalone("query", "my.csv", COUNT, *ASK)
    assert "unknown" not in full.out.lower()


@pytest.mark.long  # test_query_two_steps.py: test_both_fit_or_none_is_charged
def test_bounds_are_not_bought_where_nothing_would_be_left_for_the_answer(
    letalone: Letalone, my: Path
) -> None:
    assert letalone("query", "my.csv", COUNT, *ASK[:2], "--epsilon", "1", "--budget", "2").code == 0
    sql = ("query", "my.csv", "SELECT AVG(cost) FROM my", "--private-bounds", "--epsilon")
    refused = letalone(*sql, "1.1")
    assert "Bounds and answer cost (ε = 1.1) together" in check_refusal(refused, 3)
    with Ledger.open("my.letalone.db") as ledger:
        assert ledger.data_set("my").spent.epsilon == 1
        assert ledger.entries("my")[-1].kind.value == "refused"
    (command,) = offered(refused.err)
    assert letalone(*command).code == 0
    assert letalone(*command, "--json").json()["repeated"], "a repeat is free to the very end"


@pytest.mark.parametrize("more", [("--private-bounds",), ("--bounds", "cost=0:1000")])
@pytest.mark.parametrize(
    ("sql", "epsilon", "words"),
    [
        ("SELECT QUANTILE_CONT(cost, 0.3333333333333333333333) FROM my", "1", "six digits"),
        ("SELECT MEDIAN(cost) FROM my", "1e-16", "would not fit into 64 bits"),
    ],
)
def test_ranks_that_64_bits_do_not_hold_are_refused_before_bounds_are_bought(
    letalone: Letalone, my: Path, sql: str, epsilon: str, words: str, more: tuple[str, ...]
) -> None:
    refused = letalone("query", "my.csv", sql, *ASK, "--epsilon", epsilon, *more)
    assert words in check_refusal(refused, 2)
    assert not Path("my.letalone.db").exists()


def test_a_dry_run_spends_nothing_and_says_the_price(letalone: Letalone, my: Path) -> None:
    sql = "SELECT ward, COUNT(*) n, AVG(cost) FROM my GROUP BY ward"
    asked = ("query", "my.csv", sql, "--unit", "patient_id", "--epsilon", "0.5", "--keys", "ward=A")
    for more in (("--bounds", "cost=0:10"), ("--private-bounds",)):
        words = check_screen(letalone(*asked, *more, "--dry-run"))
        assert "This would spend ε = 0.5 for each patient_id (add or remove one)" in words
        found = letalone(*asked, *more, "--dry-run", "--json").json()
        assert set(found) == PREVIEW_KEYS
        assert (found["epsilon"], found["fits"]) == (0.5, None)
    assert not Path("my.letalone.db").exists()
    assert letalone("query", "my.csv", COUNT, *ASK).code == 0
    assert letalone(*asked, *more, "--dry-run", "--json").json()["fits"] is True
    words = check_screen(letalone(*asked, *more, "--dry-run", "--epsilon", "3.5"))
    assert "It does not fit" in words
    assert Ledger.open("my.letalone.db").data_set("my").releases == 1


@pytest.mark.long  # session/test_no_data.py; the screen: test_planted_secrets below
def test_what_is_said_beforehand_does_not_depend_on_the_rows(letalone: Letalone, my: Path) -> None:
    """Previews and refusals are the same for a full and an empty table."""
    lines = [
        ("SELECT ward, AVG(cost) FROM my GROUP BY ward", "--keys", "ward=A", "--private-bounds"),
        ("SELECT ward, AVG(cost) FROM my GROUP BY ward", "--bounds", "cost=0:1"),
        ("SELECT SUM(ward) FROM my",),
        ("SELECT COUNT(*) FROM my WHERE wrad = 'A'",),
        ("SELECT COUNT(*) FROM my", "--max-rows", "0"),
        ("SELECT MAX(cost) FROM my",),
    ]

    def shown() -> list[Any]:
        return [letalone("query", "my.csv", *line, *ASK, "--dry-run") for line in lines]

    full = shown()
    header = Path("my.csv").read_text().splitlines()[0]
    Path("my.csv").write_text(header + "\n")
    assert shown() == full
    assert letalone("query", "my.csv", COUNT, *ASK).code == 0


WRONG = [
    (2, "SELECT AVG(csot) FROM my WHERE wrad = 'x'", ()),
    (2, "SELECT AVG(cost) FROM my.csv", ()),
    (2, 'SELECT COUNT(*) FROM "my', ()),
    (2, "SELECT COUNT(*)", ()),
    (4, "SELECT STRING_AGG(ward, ',') FROM my", ()),
    (4, "SELECT * FROM my", ()),
    (4, "DROP TABLE my", ()),
    (4, "SELECT COUNT(*) FROM my ORDER BY cost", ()),
    (4, "SELECT SUM(DISTINCT cost) FROM my", ()),
    (4, "SELECT SUM(ward) FROM my", ()),
    (2, "SELECT COUNT(*) FROM my GROUP BY cost", ("--keys", "cost=1.5,2")),
    (2, "SELECT COUNT(*) FROM my WHERE birth_date = 'yesterday'", ()),
    (2, "SELECT COUNT(*) FROM my GROUP BY ward", ("--keys", "ward=A,A")),
    (2, "SELECT COUNT(*) FROM my GROUP BY ward", ("--keys", "ward")),
    (2, "SELECT COUNT(*) FROM my", ("--keys", "ward=A")),
    (2, "SELECT COUNT(*) FROM my", ("--bounds", "costs=0:1000")),
    (4, "SELECT COUNT(*) FROM my GROUP BY patient_id", ("--delta", "1e-6")),
    (4, "SELECT COUNT(*) FROM my GROUP BY patient_id", ()),
    (2, "SELECT AVG(cost) FROM my", ("--bounds", "cost=1000")),
    (2, "SELECT AVG(cost) FROM my", ("--bounds", "cost=9:1")),
    (2, "SELECT AVG(cost) FROM my", ("--bounds", "price=0:1")),
    (2, "SELECT COUNT(*) n, SUM(cost) AS n_low FROM my", ("--bounds", "cost=0:1")),
    (2, "SELECT COUNT(*) FROM my", ("--epsilon", "-1")),
    (2, "SELECT COUNT(*) FROM my", ("--epsilon", "nan")),
    (2, "SELECT COUNT(*) FROM my", ("--delta", "2")),
    (2, "SELECT COUNT(*) FROM my", ("--max-rows", "0")),
    (2, "SELECT COUNT(*) FROM my", ("--confidence", "95")),
    (2, "SELECT COUNT(*) FROM my", ("--unit", "patient")),
    (2, "SELECT COUNT(*) FROM my", ("--budget", "much")),
    (3, "SELECT COUNT(*) FROM my", ("--budget", "0.5")),
    (2, "SELECT COUNT(*) FROM my", ("--plot", "x.gif")),
]

NOTHING_LIKE_IT = {
    'SELECT COUNT(*) FROM "my',
    "SELECT COUNT(*)",
    "SELECT STRING_AGG(ward, ',') FROM my",
    "DROP TABLE my",
    "SELECT SUM(DISTINCT cost) FROM my",
    "SELECT SUM(ward) FROM my",
    "SELECT COUNT(*) FROM my GROUP BY cost",
    "SELECT COUNT(*) FROM my WHERE birth_date = 'yesterday'",
    "SELECT COUNT(*) FROM my GROUP BY patient_id",
    "SELECT COUNT(*) n, SUM(cost) AS n_low FROM my",
}


@pytest.mark.long
@pytest.mark.parametrize(("code", "sql", "more"), WRONG)
def test_every_refusal_opens_no_ledger_and_offers_a_command_that_is_answered(
    letalone: Letalone, my: Path, code: int, sql: str, more: tuple[str, ...]
) -> None:
    error = letalone("query", "my.csv", sql, *ASK, *more, "--json").error()
    assert error["exit_code"] == code
    assert error["error"] in {"ParameterError", "UnsupportedQuery", "BudgetExceeded"}
    assert not Path("my.letalone.db").exists()
    commands = offered(error["message"])
    if sql in NOTHING_LIKE_IT:  # a count that nobody asked for is not offered
        assert [words for words in commands if words[0] != "convert"] == []
        return
    command = commands[0]
    if "--dry-run" in command:  # it has examples to fill in
        assert letalone(*command).json()["dry_run"]
        command.remove("--dry-run")
    assert letalone(*command).json()["rows"]


def test_near_names_are_put_right_in_the_command_that_is_offered(
    letalone: Letalone, my: Path
) -> None:
    refused = letalone("query", "my.csv", "SELECT AVG(csot) FROM my.csv WHERE wrad = 'it''s $1'")
    (command,) = offered(refused.err)
    assert command[2] == "SELECT AVG(cost) FROM my WHERE ward = 'it''s $1'"


def test_a_shell_reads_an_offered_command_word_for_word() -> None:
    words = [
        "it's $HOME",
        'say "x"',
        "both ' and \"",
        "`id`",
        "a!b's",
        "back\\slash's",
        "$(id)",
        "",
    ]
    line = to_type("query", *words).strip().removeprefix(program_name())
    read = subprocess.run(
        ["sh", "-c", f"printf '%s\\0' {line}"], capture_output=True, text=True, check=True
    )
    assert read.stdout.split("\0")[:-1] == ["query", *words]


@pytest.mark.parametrize("missing", ["--unit", "--epsilon", "--budget"])
def test_what_is_missing_is_named_and_filled_in(letalone: Letalone, my: Path, missing: str) -> None:
    place = ASK.index(missing)
    refused = letalone("query", "my.csv", COUNT, *ASK[:place], *ASK[place + 2 :])
    assert missing in check_refusal(refused, 2)
    (command,) = offered(refused.err)
    assert missing in command
    check_screen(letalone(*command))


def test_a_csv_without_a_schema_file_counts_and_says_how_to_get_types(
    letalone: Letalone, my: Path
) -> None:
    Path("my.letalone.toml").unlink()
    refused = letalone("query", "my.csv", "SELECT AVG(cost) FROM my", *ASK)
    assert "are text until a schema file declares their types" in check_refusal(refused, 4)
    (command,) = offered(refused.err)
    assert command == ["init", "my.csv", "--unit", "patient_id"]
    check_screen(letalone("query", "my.csv", "SELECT COUNT(*) FROM my WHERE ward = 'A'", *ASK))


def test_the_budget_is_named_once_and_another_is_refused(letalone: Letalone, my: Path) -> None:
    assert letalone("query", "my.csv", COUNT, *ASK).code == 0
    refused = letalone("query", "my.csv", COUNT, "--epsilon", "0.5", "--budget", "9")
    assert "named once and stays" in check_refusal(refused, 2)
    (command,) = offered(refused.err)
    assert letalone(*command).code == 0
    refused = letalone("query", "my.csv", COUNT, "--epsilon", "0.5", "--unit", "row")
    assert "protects each patient_id" in check_refusal(refused, 4)
    (command,) = offered(refused.err)
    assert letalone(*command, "--json").json()["repeated"]


def test_a_frozen_table_exits_5_and_a_changed_ledger_6(letalone: Letalone, my: Path) -> None:
    assert letalone("query", "my.csv", COUNT, *ASK).code == 0
    Ledger.open("my.letalone.db").freeze("my", "x")
    check_refusal(letalone("query", "my.csv", COUNT, "--epsilon", "0.25"), 5)
    Path("other.db").write_text("no ledger\n" * 500)
    check_refusal(letalone("query", "my.csv", COUNT, *ASK, "--ledger", "other.db"), 2)


def test_other_files_and_ledgers(letalone: Letalone, my: Path) -> None:
    with duckdb.connect("two.duckdb") as db:
        db.execute("CREATE TABLE a AS SELECT range AS id, range % 2 AS half FROM range(100)")
        db.execute("CREATE TABLE b AS SELECT 1 AS id")
    asked = ("query", "two.duckdb", "SELECT half, COUNT(*) FROM a GROUP BY half")
    more = ("--keys", "half=0,1", "--unit", "row", "--epsilon", "1", "--budget", "2")
    other = ("query", "two.duckdb", "SELECT COUNT(*) FROM c", "--unit", "row", "--epsilon", "1")
    check_refusal(letalone(*other), 2)
    found = letalone(*asked, *more, "--table", "a", "--ledger", "here.db", "--json").json()
    again = letalone(*asked, *more, "--ledger", "here.db", "--json").json()
    assert again["repeated"], "FROM names the table as --table does"
    assert [row["half"] for row in found["rows"]] == [0, 1]
    assert (found["unit"], found["ledger"]) == ("row", "here.db")
    assert Path("here.db").exists()
    for file in ("no.csv", "*.csv"):
        check_refusal(letalone("query", file, COUNT, *ASK), 2)


def test_a_name_says_which_data_set_of_a_shared_ledger_a_file_is(
    letalone: Letalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("one", "two"):
        Path(folder).mkdir()
        Path(folder, "my.csv").write_text("pid\n1\n2\n")
    ask = ("--epsilon", "1", "--unit", "pid", "--ledger", "shared.db", "--json")
    count = "SELECT COUNT(*) FROM my"
    letalone("query", "one/my.csv", count, *ask, "--budget", "4").json()
    refused = letalone("query", "two/my.csv", count, *ask).error()
    assert "letalone query … --name my" in refused["message"]
    other = letalone(
        "query",
        "two/my.csv",
        "SELECT COUNT(*) FROM other",
        *ask,
        "--name",
        "other",
        "--budget",
        "3",
    ).json()
    assert (other["data_set"], other["budget"]["epsilon"]) == ("other", "3")
    moved = letalone("query", "two/my.csv", count, *ask, "--name", "my").json()
    assert (moved["data_set"], moved["repeated"]) == ("my", True)


def test_a_receipt_and_a_picture_are_written_and_the_receipt_is_explained(
    letalone: Letalone, my: Path
) -> None:
    asked = ("query", "my.csv", "SELECT ward, AVG(cost) FROM my GROUP BY ward", *ASK)
    more = ("--keys", "ward=Oncology", "--bounds", "cost=0:2000")
    words = check_screen(letalone(*asked, *more, "--receipt", "x.json", "--plot", "x.svg"))
    assert "x.json" in words
    assert "<svg" in Path("x.svg").read_text()
    assert verify_receipt(Path("x.json").read_bytes()).body["data_set"] == "my"
    words = check_screen(letalone("explain", "x.json"))
    for part in (
        "mean of cost clamped to [0, 2000]",
        "at the price of ε = 1.0",
        "Anyone who sees this answer",
        Ledger.open("my.letalone.db").fingerprint,
    ):
        assert part in words
    for path in ("--plot", "--receipt"):
        check_refusal(letalone(*asked, *more, path, "no/folder/x.svg"), 2)


def test_explain_checks_the_receipt_first(letalone: Letalone, my: Path) -> None:
    assert letalone("query", "my.csv", COUNT, *ASK, "--receipt", "x.json").code == 0
    found = letalone("explain", "x.json", "--json").json()
    assert letalone("--json", "explain", "receipt", "x.json").json() == found
    assert (found["command"], found["epsilon"], found["compared"]) == (
        "explain receipt",
        "1.0",
        False,
    )
    assert found["paragraph"].startswith("Anyone who sees this answer")
    assert 0.73 < found["best_guess"] < 0.74, "e / (1 + e) for ε = 1"
    own = ("--key", found["fingerprint"])
    assert letalone("explain", "x.json", *own, "--json").json()["compared"]
    assert letalone("explain", "x.json", "--key", "0" * 32).code == 6
    file = Path("x.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"signature": "00" * 64}))
    check_refusal(letalone("explain", "x.json"), 6)
    check_refusal(letalone("explain", "no.json"), 2)
    letalone("ledger", "export", "my.letalone.db", "all.json")
    assert "exported ledger" in check_refusal(letalone("explain", "all.json"), 2)
    assert letalone("explain", "nothing").code == 2
    check_screen(letalone("explain", "epsilon"))


@pytest.mark.long  # session/test_secrets.py
def test_planted_secrets_are_in_no_screen_and_no_error(
    letalone: Letalone, my: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret, number = "Zaphod-Beeblebrox", "271828182845"
    rows = f"{number},{secret},{secret},1999-12-31,F,{secret},{number}\n"
    with Path("my.csv").open("a") as file:
        file.write(rows)
    Path("my.letalone.toml").unlink()
    lines = [
        ("init", "my.csv"),
        ("init", "my.csv", "--yes"),
        ("describe", "my.csv"),
        ("query", "my.csv", "SELECT ward, AVG(cost) a, COUNT(*) FROM my GROUP BY ward", *ASK,
         "--delta", "1e-5", "--private-bounds", "--max-rows", "1"),
        ("query", "my.csv", "SELECT SUM(ward) FROM my", *ASK),
        ("query", "my.csv", "SELECT ward FROM my", *ASK),
        ("query", "my.csv", "SELECT AVG(cost) FROM my", *ASK, "--bounds", "cost=0:1"),
        ("ledger", "show", "my.letalone.db"),
    ]  # fmt: skip
    for words in lines:
        for more in ((), ("--json",)):
            shown = letalone(*words, *more)
            assert secret not in shown.out + shown.err, words
            assert number not in shown.out + shown.err, words
    assert secret not in caplog.text


def test_the_screens_of_help_fit(letalone: Letalone) -> None:
    for line in ("init", "describe", "explain", "explain receipt"):
        check_screen(letalone(*line.split(), "--help"))


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with progress_bar() as progress:
        assert progress is None
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress_bar() as progress:
        assert progress is not None
        assert "Drawing" not in terminal.getvalue(), "it appears with the first call"
        progress(0.3)
    assert "Drawing random ranks" in terminal.getvalue()
    assert "30%" in terminal.getvalue()


@pytest.mark.long
def test_progress_stays_out_of_standard_output(my: Path) -> None:
    ours, theirs = pty.openpty()
    call = [sys.executable, "-m", "letalone.cli", "query", "my.csv", "SELECT COUNT(*) FROM my"]
    done = subprocess.run(
        [*call, *ASK, "--json"], stdout=subprocess.PIPE, stderr=theirs, check=True
    )
    os.close(theirs)
    os.close(ours)
    assert json.loads(done.stdout)["rows"]


@pytest.mark.long  # session/test_sql.py
def test_sql_in_full_is_answered_arranged_and_joined_to_public_files(
    letalone: Letalone, my: Path
) -> None:
    Path("wards.csv").write_text("ward,floor\nA,1\nB,2\n")
    sql = (
        "SELECT floor, COUNT(*) AS n, SUM(cost) / COUNT(*) AS each FROM my"
        " JOIN wards USING (ward) GROUP BY floor ORDER BY floor DESC LIMIT 1"
    )
    public = ("--public", "wards=wards.csv", "--bounds", "cost=0:100", "--keys", "floor=1,2")
    words = check_screen(letalone("query", "my.csv", sql, *ASK, *public))
    assert "sorted by floor downwards; at most 1 of them" in words
    again = letalone("query", "my.csv", sql, *ASK, *public, "--json").json()
    assert again["repeated"]
    assert [row["floor"] for row in again["rows"]] == [2]
    for wrong in (("--public", "wards"), ("--public", "wards=none.csv")):
        check_refusal(letalone("query", "my.csv", sql, *ASK, *public, *wrong), 2)


def test_explain_spends_nothing_and_asks_for_no_budget(letalone: Letalone, my: Path) -> None:
    sql = "EXPLAIN SELECT MEDIAN(cost) FROM my"
    asked = ("query", "my.csv", sql, "--epsilon", "1", "--unit", "patient_id", "--private-bounds")
    words = check_screen(letalone(*asked))
    assert "Nothing was spent" in words
    assert not Path("my.letalone.db").exists()


def test_a_refusal_shows_the_place(letalone: Letalone, my: Path) -> None:
    shown = letalone("query", "my.csv", "SELECT COUNT(*) FROM my WHERE random() < 1", *ASK)
    check_refusal(shown, 4)
    assert "\n  SELECT COUNT(*) FROM my WHERE random() < 1\n" in shown.err
    assert "\n                                ^^^^^^\n" in shown.err


@pytest.mark.parametrize("command", [("init",), ("describe",), ("query", COUNT)])
def test_two_tables_are_refused_before_a_spark_is_started(
    letalone: Letalone, my: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr("letalone.engines.spark.spark_start.spark_session", None)
    name, *rest = command
    refused = letalone(name, "spark:clinic.visits", *rest, "--table", "other")
    assert "and so does --table. Leave one out." in check_refusal(refused, 2)
