"""Months and days of times with a time zone are those of UTC, and the answer says so."""

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import letalone as la
from letalone.session.notes import unusual_notes

AT = la.col("at")
SAID = "times of at with a time zone are counted in UTC, and so are their days and months"
IF_SO = "if times of at have a time zone, they are counted in UTC, and so are their days and months"
NEW_YEAR = pd.to_datetime(["2024-01-01 00:00"] * 90)
SQL = (
    "SELECT COUNT(*) AS n FROM t WHERE EXTRACT(MONTH FROM at) = 12",
    "SELECT COUNT(*) AS n FROM t WHERE DATE_TRUNC('month', at) = DATE '2023-12-01'",
    "SELECT COUNT(*) AS n FROM t WHERE CAST(at AS DATE) = DATE '2023-12-31'",
    "SELECT COUNT(*) AS n FROM t WHERE STRFTIME(at, '%Y-%m') = '2023-12'",
    "SELECT COUNT(*) AS n FROM (SELECT MIN(at) AS f FROM t GROUP BY u) s WHERE MONTH(f) = 12",
)


def visits(zone: str | None = "Europe/Berlin") -> pd.DataFrame:
    return pd.DataFrame({"u": range(90), "at": NEW_YEAR.tz_localize(zone)})


def stored(tmp_path: Path, zone: str | None = "Europe/Berlin") -> Path:
    visits(zone).to_parquet(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


@pytest.mark.parametrize("kind", ["pandas", "polars", "parquet"])
def test_new_year_in_berlin_is_in_december_and_the_answer_says_why(
    kind: str, tmp_path: Path
) -> None:
    made = {"pandas": visits, "polars": lambda: pl.from_pandas(visits())}
    source = made.get(kind, lambda: stored(tmp_path))()
    with la.open(source, unit="u", budget=1000, name="t") as session:
        asked = session.bound(max_rows=1).group_by(m=AT.month()).agg(n=la.count())
        answer = asked.release(epsilon=100)
        assert {row["m"]: row["n"] for row in answer.rows()}[12] == 90
        said = IF_SO if kind == "pandas" else SAID  # in pandas it follows from the cells
        assert said in answer.notes
        assert f"Warning: {said}." in " ".join(str(answer).split())
        # What a client of a service shows of the notes that come with an answer.
        assert said in unusual_notes(answer.notes, asked.plan)


@pytest.mark.parametrize("sql", SQL)
def test_every_way_to_take_a_date_says_so(sql: str, tmp_path: Path) -> None:
    with la.open(stored(tmp_path), unit="u", budget=1000, name="t") as session:
        answer = session.sql(sql).release(epsilon=100)
        assert answer.rows()[0]["n"] == pytest.approx(90, abs=5), "noise of a found row limit"
        assert answer.notes.count(SAID) == 1


def test_a_column_that_is_declared_a_date_says_so(tmp_path: Path) -> None:
    with la.open(stored(tmp_path), unit="u", budget=9, types={"at": "date"}) as session:
        assert SAID in session.where(AT == "2023-12-31").agg(n=la.count()).release(epsilon=1).notes


def test_nothing_is_said_where_no_zone_matters(tmp_path: Path) -> None:
    with la.open(stored(tmp_path), unit="u", budget=9) as session:
        there = session.where(~AT.is_null()).agg(n=la.count())
        assert SAID not in there.release(epsilon=1).notes
    with la.open(stored(tmp_path, None), unit="u", budget=9, name="naive") as session:
        assert SAID not in session.group_by(m=AT.month()).agg(n=la.count()).release(epsilon=1).notes


def test_of_a_pandas_frame_the_cells_do_not_decide_what_is_said() -> None:
    """One person's cell without a zone makes the column one of objects."""
    mixed = visits().astype({"at": object})
    mixed.loc[0, "at"] = pd.Timestamp("2024-01-01")
    said = []
    for number, frame in enumerate((visits(), mixed, visits(None))):
        types = {"at": "timestamp"}
        with la.open(frame, unit="u", budget=9, types=types, name=f"t{number}") as session:
            said.append(session.group_by(m=AT.month()).agg(n=la.count()).release(epsilon=1).notes)
    assert said[0] == said[1] == said[2]
    assert IF_SO in said[0]
