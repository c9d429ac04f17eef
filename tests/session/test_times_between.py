"""How long between two times, and which day of the week: as DuckDB, on files of two engines."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import letalone as la
from letalone.errors import LetaloneError
from letalone.errors.remedies import EditSql
from session.test_sql_habits import EPSILON, agree

SCHEMA = la.Schema(
    "stays",
    (la.Column("came", "timestamp"), la.Column("went", "timestamp"), la.Column("k", "text")),
)
CONDITIONS = (
    "went - came > INTERVAL '7 days'",
    "went - came <= INTERVAL 36 HOUR",
    "INTERVAL '3' DAY < went - came",
    "went > came + INTERVAL 90 MINUTE",
    "came + INTERVAL '2 weeks' >= went",
    "came < went - INTERVAL 20 SECOND",
    "DATE_DIFF('hour', came, went) > 24",
    "DATE_DIFF('minute', came, went) >= 1440",
    "DATE_DIFF('second', came, went) < 100000",
    "EXTRACT(EPOCH FROM (went - came)) / 3600 < 12.5",
    "SECOND(came) < 30 AND EXTRACT(SECOND FROM went) > 10",
)


def stays() -> pa.Table:
    draw = random.Random(5)
    came = [
        datetime(2024, 1, 1) + timedelta(seconds=draw.randrange(10**7), microseconds=500_000)
        for _ in range(400)
    ]
    went = [at + timedelta(seconds=draw.randrange(2 * 10**6)) for at in came]
    went = [None if draw.random() < 0.1 else at for at in went]
    return pa.table({"came": came, "went": went, "k": ["a"] * 400})


def by_duckdb(sql: str) -> list[dict[str, object]]:
    with duckdb.connect() as duck:
        duck.register("stays", stays())
        found = duck.sql(sql)
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def as_sqlite(folder: Path) -> Path:
    path = folder / "stays.sqlite"
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE stays (came TEXT, went TEXT, k TEXT)")
        rows = [
            [None if c is None else str(c) for c in row.values()] for row in stays().to_pylist()
        ]
        file.executemany("INSERT INTO stays VALUES (?, ?, ?)", rows)
        file.commit()
    return path


@pytest.fixture(scope="module", params=["duckdb", "sqlite"])
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[la.Session]:
    source: object = stays()
    if request.param == "sqlite":
        source = as_sqlite(tmp_path_factory.mktemp("stays"))
    with la.open(source, schema=SCHEMA, unit=la.ROW, budget=10**9, name="stays") as opened:
        yield opened


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.long  # others of this file stay
def test_conditions_on_how_long(session: la.Session, condition: str) -> None:
    sql = f"SELECT COUNT(*) AS n FROM stays WHERE {condition}"
    found = session.sql(sql).release(epsilon=EPSILON).rows()
    assert found[0]["n"] not in (0, 400), "the condition tells nothing"
    assert agree(found, by_duckdb(sql), sorted_=True)


def test_means_of_how_long_have_bounds_by_the_name_that_select_gives(session: la.Session) -> None:
    sql = "SELECT AVG(EXTRACT(EPOCH FROM went - came) / 3600) AS hours FROM stays"
    found = session.sql(sql, bounds={"hours": (0, 600)}).release(epsilon=EPSILON).rows()
    assert agree(found, by_duckdb(sql), sorted_=True)


@pytest.mark.parametrize(
    ("dialect", "call", "of_a_monday"),
    [
        ("duckdb", "DAYOFWEEK(came)", 1),
        ("duckdb", "WEEKDAY(came)", 1),
        ("spark", "DAYOFWEEK(came)", 2),
        ("spark", "EXTRACT(DOW FROM came)", 2),
        ("spark", "WEEKDAY(came)", 0),
        ("mysql", "DAYOFWEEK(came)", 2),
        ("mysql", "WEEKDAY(came)", 0),
        ("bigquery", "EXTRACT(DAYOFWEEK FROM came)", 2),
        (None, "EXTRACT(DOW FROM came)", 1),
    ],
)
@pytest.mark.long  # others of this file stay
def test_a_day_of_the_week_is_that_of_the_dialect_that_is_named(
    session: la.Session, dialect: str | None, call: str, of_a_monday: int
) -> None:
    sql = f"SELECT {call} AS d, COUNT(*) AS n FROM stays GROUP BY d"
    found = session.sql(sql, dialect=dialect).release(epsilon=EPSILON).rows()
    mondays = by_duckdb("SELECT COUNT(*) AS n FROM stays WHERE ISODOW(came) = 1")[0]["n"]
    assert {row["d"]: row["n"] for row in found}[of_a_monday] == mondays


@pytest.mark.parametrize("call", ["EXTRACT(WEEK FROM came)", "WEEK(came)", "WEEKOFYEAR(came)"])
def test_weeks_are_those_of_iso_8601(session: la.Session, call: str) -> None:
    sql = f"SELECT {call} AS w, COUNT(*) AS n FROM stays GROUP BY w HAVING COUNT(*) > 0 ORDER BY w"
    found = session.sql(sql).release(epsilon=EPSILON).rows()
    assert agree([row for row in found if row["n"]], by_duckdb(sql), sorted_=True)


@pytest.mark.parametrize(
    ("dialect", "call"),
    [
        ("mysql", "WEEK(came)"),
        ("mysql", "EXTRACT(WEEK FROM came)"),
        ("bigquery", "EXTRACT(WEEK FROM came)"),
    ],
)
def test_weeks_of_another_kind_are_refused(session: la.Session, dialect: str, call: str) -> None:
    with pytest.raises(LetaloneError, match="in its own way"):
        session.sql(f"SELECT COUNT(*) FROM stays WHERE {call} = 7", dialect=dialect)


def test_without_a_dialect_the_edit_means_what_duckdb_means(session: la.Session) -> None:
    sql = "SELECT COUNT(*) AS n FROM stays WHERE DAYOFWEEK(came) IN (0, 6)"
    with pytest.raises(LetaloneError, match="where Sunday is 0") as caught:
        session.sql(sql)
    (edit,) = [one for one in caught.value.problem.remedies if isinstance(one, EditSql)]
    edited = sql[: edit.span[0]] + edit.text + sql[edit.span[1] :]
    found = session.sql(edited).release(epsilon=EPSILON).rows()
    assert agree(found, by_duckdb(sql), sorted_=True)
