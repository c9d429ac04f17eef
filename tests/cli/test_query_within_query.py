"""`letalone query` with a query within the query, and with groups of a public table."""

import json
from pathlib import Path

import pytest

from letalone.cli.app import run

ROWS = "patient,ward,cost\n" + "".join(
    f"p{row % 40},{'ABC'[row % 3]},{row % 50}\n" for row in range(400)
)
ASK = ("--unit", "patient", "--epsilon", "1000", "--budget", "100000", "--json")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(ROWS)
    (tmp_path / "wards.csv").write_text("ward,building\nA,North\nB,North\nC,South\n")
    assert run(["init", str(tmp_path / "visits.csv"), "--unit", "patient", "--yes"]) == 0
    return tmp_path / "visits.csv"


def ask(visits: Path, capsys: pytest.CaptureFixture[str], sql: str, *options: str) -> list[object]:
    capsys.readouterr()
    code = run(["query", str(visits), sql, *ASK, *options])
    out, err = capsys.readouterr()
    assert code == 0, err
    return json.loads(out)["rows"]


def test_bounds_of_what_is_added_up_for_each_person(visits, capsys) -> None:
    """Each of 40 patients has ten rows, whose costs add up to what DuckDB would say, too."""
    sql = "SELECT AVG(total) AS a FROM (SELECT patient, SUM(cost) AS total FROM visits GROUP BY 1)"
    typed = ("--bounds", "cost=0:50", "--bounds", "total=0:600")
    (row,) = ask(visits, capsys, sql, *typed)
    assert row["a"] == pytest.approx(sum(row % 50 for row in range(400)) / 40, abs=0.5)


def test_without_bounds_they_are_asked_for_by_name(visits, capsys) -> None:
    sql = "SELECT AVG(total) FROM (SELECT patient, SUM(cost) AS total FROM visits GROUP BY 1)"
    assert run(["query", str(visits), sql, *ASK]) == 2
    assert "No bounds are given for cost" in capsys.readouterr().err


def test_keys_of_a_public_table_need_not_be_listed(visits, capsys) -> None:
    sql = "SELECT building, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY building"
    rows = ask(visits, capsys, sql, "--public", f"wards={visits.parent / 'wards.csv'}")
    assert [(row["building"], row["n"]) for row in rows] == [("North", 267), ("South", 133)]


def test_keys_of_both_tables(visits, capsys) -> None:
    sql = "SELECT building, ward, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY ALL"
    public = ("--public", f"wards={visits.parent / 'wards.csv'}")
    rows = ask(visits, capsys, sql, *public, "--keys", "ward=A,C")
    counts = {(row["building"], row["ward"]): row["n"] for row in rows}
    # The building follows from the ward: no other pairs are asked about.
    assert counts == {("North", "A"): 134, ("South", "C"): 133}
