"""`letalone query` with a number of the same table in it: two questions, both told and charged."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from letalone.cli.app import run
from letalone.ledger import Ledger

ABOVE = "SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT AVG(age) FROM visits)"
INNER = "SELECT AVG(age) FROM visits"
ASK = ("--epsilon", "1", "--bounds", "age=0:100", "--max-rows", "4")
ROWS = "patient,ward,age\n" + "".join(
    f"p{row % 300},{'ABC'[row % 3]},{20 + row % 60}\n" for row in range(1200)
)


@pytest.fixture
def visits(tmp_path: Path, monkeypatch, capsys) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text(ROWS)
    assert run(["init", "visits.csv", "--unit", "patient", "--yes"]) == 0
    capsys.readouterr()
    return tmp_path / "visits.csv"


def spent() -> float:
    with Ledger.open("visits.letalone.db") as ledger:
        known = ledger.data_set("visits")
    return float(known.budget.epsilon - known.remaining.epsilon)


def test_both_are_told_and_charged_and_free_again_when_nothing_is_left(visits, capsys) -> None:
    assert run(["query", "visits.csv", ABOVE, *ASK, "--budget", "1"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"First: {INNER} is " in shown
    assert "for ε = 0.25." in shown
    assert "Spent ε = 1 per patient" in shown
    assert spent() == 1
    assert run(["query", "visits.csv", ABOVE, *ASK]) == 0
    again = " ".join(capsys.readouterr().out.split())
    assert "Same question, same answer, nothing spent" in again
    assert again.split(" Same question")[0] == shown.split(" Spent ε")[0]
    assert spent() == 1


@pytest.mark.long
def test_json_has_both(visits, capsys) -> None:
    dear = ("--epsilon", "4000", "--bounds", "age=0:100", "--max-rows", "4", "--yes")
    assert run(["query", "visits.csv", ABOVE, *dear, "--budget", "9000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (first,) = found["first"]
    assert (first["sql"], first["epsilon"], first["repeated"]) == (INNER, 1000, False)
    assert first["low"] <= first["value"] <= first["high"]
    assert first["value"] == pytest.approx(49.5, abs=0.1)
    assert found["rows"][0]["n"] == 600
    assert (found["epsilon"], found["repeated"]) == (4000, False)


@pytest.mark.long
def test_a_first_question_that_was_answered_before_is_not_paid_again(visits, capsys) -> None:
    alone = ("--epsilon", "0.25", "--bounds", "age=0:100", "--max-rows", "4")
    assert run(["query", "visits.csv", INNER, *alone, "--budget", "2"]) == 0
    capsys.readouterr()
    assert run(["query", "visits.csv", ABOVE, *ASK, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["epsilon"], found["first"][0]["repeated"]) == (0.75, True)
    assert spent() == 1


def test_a_preview_says_how_epsilon_is_split_and_reads_no_row(visits, capsys) -> None:
    run(["query", "visits.csv", ABOVE, *ASK, "--dry-run"])
    shown = capsys.readouterr().out
    words = " ".join(shown.split())
    assert f"These are two questions: first {INNER}, with ε = 0.25." in words
    assert "the rest, ε = 0.75" in words
    assert "This would spend ε = 1 " in words
    assert not Path("visits.letalone.db").exists()
    visits.write_text(ROWS.splitlines()[0] + "\np1,A,30\n")
    assert run(["query", "visits.csv", ABOVE, *ASK, "--dry-run"]) == 0
    assert capsys.readouterr().out == shown
    assert run(["query", "visits.csv", ABOVE, *ASK, "--dry-run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["first"], found["epsilon"]) == ([{"sql": INNER, "epsilon": 0.25}], 1)
    assert sum(Fraction(part["share"]) for part in found["parts"]) == 1


def test_nothing_is_charged_where_both_do_not_fit(visits, capsys) -> None:
    count = ("SELECT COUNT(*) FROM visits", "--epsilon", "1", "--max-rows", "4")
    assert run(["query", "visits.csv", ABOVE, *ASK, "--budget", "0.9"]) == 3
    assert not Path("visits.letalone.db").exists()
    assert run(["query", "visits.csv", *count, "--budget", "1.9"]) == 0
    capsys.readouterr()
    assert run(["query", "visits.csv", ABOVE, *ASK]) == 3
    assert "Both questions cost ε = 1 together" in capsys.readouterr().err
    assert spent() == 1


@pytest.mark.long
@pytest.mark.guarded
def test_the_whole_epsilon_needs_a_second_word(visits, capsys) -> None:
    """Neither 3 nor 9 would; 12 does."""
    dear = ("--epsilon", "12", *ASK[2:], "--budget", "100")
    assert run(["query", "visits.csv", ABOVE, *dear]) == 2
    assert "This costs ε = 12" in capsys.readouterr().err
    assert not Path("visits.letalone.db").exists()
    assert run(["query", "visits.csv", ABOVE, *dear, "--yes"]) == 0
    assert spent() == 12


def test_bounds_that_the_first_question_lacks_are_asked_for_by_a_command(visits, capsys) -> None:
    assert run(["query", "visits.csv", ABOVE, "--epsilon", "1", "--budget", "2"]) == 2
    error = capsys.readouterr().err
    assert error.count("No bounds are given for age") == 1
    assert "--bounds age=0:1000" in error


@pytest.mark.long
def test_keys_are_those_of_the_outer_question_and_a_row_limit_is_found(visits, capsys) -> None:
    sql = ABOVE.replace("SELECT COUNT", "SELECT ward, COUNT", 1) + " GROUP BY ward"
    typed = ("--epsilon", "1", "--bounds", "age=0:100", "--keys", "ward=A,B", "--json")
    assert run(["query", "visits.csv", sql, *typed, "--budget", "1"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert [row["ward"] for row in first["rows"]] == ["A", "B"]
    assert (first["epsilon"], spent()) == (1, 1)
    assert run(["query", "visits.csv", sql, *typed]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["rows"], again["repeated"]) == (first["rows"], True)


@pytest.mark.long
def test_the_shell_answers_it(visits, capsys, monkeypatch) -> None:
    lines = iter([f"{ABOVE};"])
    monkeypatch.setattr("builtins.input", lambda _="": next(lines, None) or _end())
    assert run(["shell", "visits.csv", *ASK[:4], "--budget", "2"]) == 0
    assert f"First: {INNER} is " in " ".join(capsys.readouterr().out.split())


def _end() -> str:
    raise EOFError
