"""Public tables in SQL: with hardly any noise, the answers are those of DuckDB on the same rows."""

from collections.abc import Iterator
from datetime import date
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest

import letalone as la
from letalone.errors import LetaloneError
from session.test_sql_habits import EPSILON, SCHEMA, agree, visits

WARDS = pa.table({
    "code": ["A", "B", "D"],
    "name": ["Ada", "Bea", "Dot"],
    "building": ["north", "south", "north"],
    "beds": [10, 20, 30],
    "opened": [date(2001, 5, 1), date(2010, 1, 1), date(2020, 1, 1)],
})  # fmt: skip
BUILDINGS = pa.table({"building": ["north", "south"], "name": ["N", "S"], "age": [50, 7]})
GRADES = pa.table({"ward": ["A", "B", "C"], "grade": ["x", "x", "y"]})
TABLES = {"wards": WARDS, "buildings": BUILDINGS, "grades": GRADES}

ANSWERED = (
    # Any order of tables, keys in WHERE, conditions in ON.
    "SELECT COUNT(*) AS n FROM wards w JOIN visits v ON v.ward = w.code",
    "SELECT COUNT(*) AS n FROM visits v, wards w WHERE v.ward = w.code AND w.beds > 10",
    "SELECT COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.code AND w.beds > 10",
    "SELECT SUM(v.cost) AS s FROM wards w, visits v, buildings b WHERE b.building = w.building"
    " AND w.code = v.ward AND b.name = 'N'",
    "SELECT COUNT(*) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.code",
    "SELECT COUNT(w.beds) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.code",
    "SELECT COUNT(*) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.code WHERE w.beds IS NULL",
    "SELECT w.building, COUNT(*) AS n FROM visits v LEFT OUTER JOIN wards w ON v.ward = w.code"
    " GROUP BY w.building",
    "SELECT COUNT(*) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.code WHERE w.code IS NULL",
    "SELECT SUM(cost) AS s FROM visits v LEFT JOIN wards w ON v.ward = w.code WHERE w.code IS NOT"
    " NULL",
    # Tables joined to tables, and names that several have.
    "SELECT b.name AS b, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.code JOIN buildings"
    " b ON w.building = b.building GROUP BY b.name",
    "SELECT w.name AS w, b.name AS b, SUM(v.cost) AS s FROM visits v JOIN wards w ON v.ward ="
    " w.code JOIN buildings b USING (building) GROUP BY w.name, b.name HAVING COUNT(*) > 9",
    "SELECT AVG(v.age) AS a, AVG(b.age) AS b FROM visits v JOIN wards w ON v.ward = w.code JOIN"
    " buildings b ON w.building = b.building",
    # Bounds of public numbers are those of the table.
    "SELECT AVG(w.beds) AS a, SUM(v.cost * w.beds) AS s FROM visits v JOIN wards w ON v.ward ="
    " w.code",
    # Columns that follow from the groups.
    "SELECT w.name AS w, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.code WHERE"
    " w.code <> 'D' GROUP BY v.ward, w.name",
    "SELECT v.ward AS ward, w.name AS w, w.beds AS beds, COUNT(*) AS n, COUNT(*) / w.beds AS share"
    " FROM visits v JOIN wards w ON v.ward = w.code GROUP BY v.ward, w.name, w.beds ORDER BY"
    " w.name DESC",
    # Joined on all names that both have, and what is the same in each row of a group.
    "SELECT grade, COUNT(*) AS n FROM visits NATURAL JOIN grades GROUP BY grade",
    "SELECT v.ward, MAX(w.building) AS b, ANY_VALUE(w.beds) AS k, COUNT(*) AS n FROM visits v JOIN"
    " wards w ON v.ward = w.code WHERE w.code <> 'D' GROUP BY v.ward",
    # Numbers of all rows of a public table, equal ones, too.
    "SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT AVG(beds) FROM wards)",
    "SELECT SUM(cost) / (SELECT SUM(beds) FROM wards WHERE building = 'north') AS s FROM visits",
    "SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM wards) AS s FROM visits",
    "SELECT COUNT(*) * 1.0 / (SELECT COUNT(building) FROM wards) AS s FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT code FROM wards WHERE beds >= (SELECT"
    " AVG(beds) FROM wards))",
    # Queries within the query.
    "SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT code FROM wards WHERE beds > 10)",
    "SELECT COUNT(*) AS n FROM visits WHERE ward NOT IN (SELECT code FROM wards WHERE beds > 10)",
    "SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT code FROM wards WHERE beds > 99)",
    "SELECT COUNT(*) AS n FROM visits WHERE ward NOT IN (SELECT code FROM wards WHERE beds > 99)",
    "SELECT COUNT(*) AS n FROM visits WHERE ward = (SELECT code FROM wards WHERE name = 'Bea')",
    "SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT MAX(age) FROM buildings)",
    "SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT * FROM wards w WHERE w.code = v.ward"
    " AND w.building = 'north')",
    "SELECT COUNT(*) AS n FROM visits v WHERE NOT EXISTS (SELECT 1 FROM wards w WHERE v.ward ="
    " w.code)",
    "SELECT COUNT(*) AS n FROM visits WHERE day > (SELECT MIN(opened) FROM wards) AND ward IN"
    " (SELECT code FROM wards WHERE opened > '2005-01-01')",
)
REFUSED = (
    "SELECT COUNT(*) FROM wards w LEFT JOIN visits v ON v.ward = w.code",
    "SELECT COUNT(*) FROM visits WHERE ward = (SELECT code FROM wards)",
    "SELECT COUNT(*) FROM visits WHERE ward IN (SELECT code, name FROM wards)",
    "SELECT COUNT(*) FROM visits WHERE ward IN (SELECT code FROM wards LIMIT 1)",
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM wards w WHERE w.beds > v.age)",
    "SELECT COUNT(*) FROM visits WHERE patient IN (SELECT code FROM wards)",
    "SELECT COUNT(*) FROM visits v JOIN wards w ON v.ward = w.code GROUP BY w.name, nowhere",
    "SELECT w.name, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.code GROUP BY v.sex",
)


@pytest.fixture(scope="module")
def session() -> Iterator[la.Session]:
    with la.open(visits(), schema=SCHEMA, unit="patient", budget=10**9, name="visits") as opened:
        yield opened


def by_duckdb(sql: str) -> list[dict[str, object]]:
    with duckdb.connect() as duck:
        for name, frame in {"visits": visits(), **TABLES}.items():
            duck.register(name, frame)
        found = duck.sql(sql)
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


@pytest.mark.parametrize("sql", ANSWERED)
def test_answers_are_those_of_duckdb(session: la.Session, sql: str) -> None:
    question = session.sql(sql, tables=TABLES, max_rows=50)
    found = question.release(epsilon=EPSILON).rows()
    ours = [row for row in found if row.get("n") != 0 or "GROUP BY" not in sql]
    assert agree(ours, by_duckdb(sql), sorted_="ORDER BY" in sql)


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_not_known_or_names_people_is_refused(session: la.Session, sql: str) -> None:
    with pytest.raises(LetaloneError):
        session.sql(sql, tables=TABLES).release(epsilon=1, delta=1e-6)


def test_python_joins_keep_rows_and_go_on_from_a_public_table(session: la.Session) -> None:
    wards = session.join(WARDS.select(["code", "building"]), on={"ward": "code"}, how="left")
    both = wards.join(BUILDINGS.select(["building", "age"]).rename_columns(["building", "years"]),
                      on="building", how="left")  # fmt: skip
    asked = both.agg(n=la.count(), years=la.count(la.col("years"))).bound(max_rows=50)
    (row,) = asked.release(epsilon=EPSILON).rows()
    there = sum(ward != "C" for ward in visits()["ward"].to_pylist())
    assert (row["n"], row["years"]) == (300, there)


def test_a_left_join_is_another_question_and_older_ones_keep_their_digest() -> None:
    from letalone.plans.clauses import PublicJoin
    from letalone.plans.records import fields_to_stored

    inner, outer = (PublicJoin("w", (("a", "b"),), (), "0" * 64, kept) for kept in (False, True))
    assert "outer" not in fields_to_stored(inner)
    assert fields_to_stored(outer)["outer"] is True


def test_the_price_does_not_depend_on_the_number_of_public_rows(session: la.Session) -> None:
    asked = session.sql(ANSWERED[5], tables=TABLES, max_rows=3)
    assert asked.preview(epsilon=1).epsilon == Fraction(1)
