"""What newcomers typed and were refused, typed again: each is answered, with DuckDB's numbers."""

import json
from pathlib import Path

import duckdb
import pytest

import letalone as la
from letalone.cli.app import run

ROWS = "patient_id,ward,diagnosis,bill,visit_date,left_on\n" + "".join(
    f"p{n % 40},{'ABC'[n % 3]},{'IJK'[n % 3]}{n % 7}0.{n % 9},{n * 37 % 5000},2024-0{1 + n % 9}-01,"
    f"2024-0{1 + n % 9}-1{n % 9}\n"
    for n in range(400)
)
ASK = ("--epsilon", "1000", "--delta", "1e-6", "--budget", "100000:0.01", "--json")
TEXT_AND_DATES = (
    "SELECT COUNT(*) AS n FROM visits WHERE diagnosis LIKE 'I3%'",
    "SELECT COUNT(*) AS n FROM visits WHERE STARTS_WITH(diagnosis, 'I')",
    "SELECT COUNT(*) AS n FROM visits WHERE UPPER(ward) = 'A'",
    "SELECT SUBSTR(diagnosis, 1, 1) AS k, COUNT(*) AS n FROM visits GROUP BY 1",
    "SELECT LEFT(diagnosis, 1) AS k, COUNT(*) AS n FROM visits GROUP BY k",
    "SELECT quarter(visit_date) AS k, COUNT(*) AS n FROM visits GROUP BY ALL",
    "SELECT dayname(visit_date) AS k, COUNT(*) AS n FROM visits GROUP BY 1",
    "SELECT strftime(visit_date, '%Y-%m') AS k, COUNT(*) AS n FROM visits GROUP BY 1",
    "SELECT COUNT(*) AS n FROM visits WHERE left_on - visit_date > 12",
)
OVER_ANSWERS = (
    "SELECT ward AS k, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS n FROM visits GROUP BY ward",
    "SELECT ward AS k, 100.0 * COUNT(*) / (SELECT COUNT(*) FROM visits) AS n FROM visits GROUP BY"
    " 1",
    "WITH t AS (SELECT ward AS k, COUNT(*) AS n FROM visits GROUP BY ward) SELECT k, n FROM t",
    "SELECT MAX(n) AS n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)",
)


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("newcomer")
    (folder / "visits.csv").write_text(ROWS)
    (folder / "ward_info.csv").write_text("ward,building\nA,North\nB,North\nC,South\n")
    assert run(["init", str(folder / "visits.csv"), "--unit", "patient_id", "--yes"]) == 0
    return folder / "visits.csv"


def ask(visits: Path, capsys: pytest.CaptureFixture[str], sql: str, *options: str) -> dict:
    capsys.readouterr()
    code = run(["query", str(visits), sql, *ASK, *options])
    out, err = capsys.readouterr()
    assert code == 0, err
    return {row.get("k"): row["n"] for row in json.loads(out)["rows"] if row["n"] > 0.1}


def by_duckdb(visits: Path, sql: str) -> dict:
    with duckdb.connect() as duck:
        found = duck.sql(sql.replace("FROM visits", f"FROM '{visits}'"))
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
    return {row.get("k"): pytest.approx(float(row["n"]), abs=1) for row in rows}


@pytest.mark.parametrize("sql", [TEXT_AND_DATES[0], pytest.param(TEXT_AND_DATES[3])])
def test_texts_are_asked_about(visits, capsys, sql) -> None:
    assert ask(visits, capsys, sql) == by_duckdb(visits, sql)


@pytest.mark.long
@pytest.mark.parametrize("sql", [*TEXT_AND_DATES, *OVER_ANSWERS])
def test_texts_dates_shares_and_queries_within_queries_are_asked_about(visits, capsys, sql) -> None:
    assert ask(visits, capsys, sql) == by_duckdb(visits, sql)


def test_groups_of_a_lookup_table_are_not_asked_for(visits, capsys) -> None:
    sql = (
        "SELECT building AS k, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY building"
    )
    lookup = visits.parent / "ward_info.csv"
    found = ask(visits, capsys, sql, "--public", f"wards={lookup}")
    assert found == {"North": pytest.approx(267, abs=1), "South": pytest.approx(133, abs=1)}


def test_a_lookup_file_is_joined_in_python(visits) -> None:
    lookup = visits.parent / "ward_info.csv"
    ledger = visits.parent / "another.db"
    with la.open(visits, unit="patient_id", budget=10**6, ledger=ledger) as session:
        joined = session.join(str(lookup), on="ward").where(la.col("building") == "South")
        (row,) = joined.agg(n=la.count()).release(epsilon=1000).rows()
    assert row["n"] == pytest.approx(133, abs=1)


def test_bounds_that_are_typed_are_the_ends_of_ranges(visits, capsys) -> None:
    sql = "SELECT floor(bill / 500) * 500 AS k, COUNT(*) AS n FROM visits GROUP BY 1"
    found = ask(visits, capsys, sql, "--bounds", "bill=0:5000")
    truth = by_duckdb(visits, sql)
    assert {f"[{int(k)}, {int(k) + 500})": n for k, n in truth.items()} == found


def test_ranges_without_ends_name_the_column_and_how_to_give_them(visits, capsys) -> None:
    sql = "SELECT floor(bill / 500) * 500 AS k, COUNT(*) AS n FROM visits GROUP BY 1"
    assert run(["query", str(visits), sql, *ASK]) == 4
    assert "--bounds bill=0:100" in capsys.readouterr().err


def test_months_of_times_with_a_zone_are_said_to_be_those_of_utc(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "t.parquet"
    rows = "SELECT range AS u, TIMESTAMPTZ '2024-01-01 00:00:00+01' AS at FROM range(90)"
    duckdb.sql(f"COPY ({rows}) TO '{file}'")
    sql = "SELECT EXTRACT(MONTH FROM at) AS m, COUNT(*) AS n FROM t GROUP BY 1"
    options = ("--unit", "u", "--epsilon", "1", "--budget", "9", "--ledger", f"{tmp_path}/b.db")
    assert run(["query", str(file), sql, *options]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Note: times of at with a time zone are counted in UTC" in told
