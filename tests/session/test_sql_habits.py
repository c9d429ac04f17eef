"""What people type: with hardly any noise, the answers are those of DuckDB on the same rows."""

import math
import random
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import letalone as la
from letalone.errors import LetaloneError

EPSILON = 10**5  # noise of a count is 0 but with a chance below e^-10000
SCHEMA = la.Schema(
    "visits",
    (
        la.Column("patient", "text"),
        la.Column("ward", "text", keys=["A", "B", "C"]),
        la.Column("sex", "text", keys=["f", "m"]),
        la.Column("age", "integer", lower=0, upper=120),
        la.Column("cost", "number", lower=0, upper=1000),
        la.Column("day", "date"),
    ),
)
BOUNDS = {"n": (0, 20), "total": (0, 20000)}

OF_ROWS = (
    "SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1",
    "SELECT ward FROM visits GROUP BY ward HAVING COUNT(*) > 100",
    "SELECT ward, sex FROM visits GROUP BY ward, sex ORDER BY AVG(cost), ward",
    "SELECT DISTINCT ward FROM visits",
    "SELECT DISTINCT sex, ward FROM visits ORDER BY sex, ward",
    "SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ALL",
    "SELECT COUNT(*) AS n FROM visits GROUP BY ALL",
    "SELECT ward, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY 1",
    "SELECT ward, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS p FROM visits GROUP BY 1",
    "SELECT ward, sex, COUNT(*) AS n, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER (PARTITION BY ward) AS s"
    " FROM visits GROUP BY ward, sex",
    "SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM visits GROUP BY 1",
    "SELECT ward, COUNT(*) AS n, DENSE_RANK() OVER (ORDER BY ward) r FROM visits GROUP BY 1",
    "SELECT MONTH(day) AS month, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY MONTH(day)) AS total"
    " FROM visits GROUP BY 1 ORDER BY 1",
    "SELECT MONTH(day) AS month, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY MONTH(day)) AS more"
    " FROM visits GROUP BY 1 ORDER BY 1",
    "SELECT MONTH(day) AS month, AVG(COUNT(*)) OVER (ORDER BY MONTH(day) ROWS BETWEEN 2 PRECEDING"
    " AND CURRENT ROW) AS smooth FROM visits GROUP BY 1 ORDER BY 1",
    "SELECT MONTH(day) AS month, COUNT(*) AS n, LEAD(COUNT(*), 2) OVER (ORDER BY MONTH(day)) AS l"
    " FROM visits GROUP BY month ORDER BY month DESC",
    "SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex"
    " QUALIFY ROW_NUMBER() OVER (PARTITION BY ward ORDER BY COUNT(*) DESC) = 1",
    "SELECT ward, sex, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY ward ORDER BY COUNT(*) DESC)"
    " AS rn FROM visits GROUP BY ward, sex QUALIFY rn = 1 AND ward <> 'B'",
    "SELECT * FROM (SELECT ward, sex, COUNT(*) AS n, RANK() OVER (PARTITION BY ward ORDER BY"
    " COUNT(*) DESC) AS r FROM visits GROUP BY ward, sex) t WHERE r = 1",
    "SELECT COUNT(*) AS n FROM (SELECT * FROM visits)",
    "SELECT COUNT(*) AS n FROM (SELECT * FROM visits WHERE age > 30) t WHERE t.cost < 500",
    "SELECT t.ward, COUNT(*) AS n FROM (SELECT * FROM visits WHERE age > 30) t GROUP BY t.ward",
    "WITH old AS (SELECT ward, cost / 100 AS euros FROM visits WHERE age >= 65)"
    " SELECT ward, AVG(euros) AS a FROM old GROUP BY ward",
    "WITH a AS (SELECT * FROM visits WHERE age > 30), b AS (SELECT *, cost / 100 AS euros FROM a)"
    " SELECT sex, SUM(euros) AS s, COUNT(*) AS n FROM b WHERE euros > 2 GROUP BY sex",
    "WITH t AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)"
    " SELECT ward, n FROM t WHERE n > 60 ORDER BY n DESC",
    "WITH t AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) SELECT AVG(n) AS a FROM t",
    "SELECT AVG(n) AS a, MAX(n) AS b, MIN(n) AS c, SUM(n) AS s, COUNT(*) AS k FROM"
    " (SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex)",
    "SELECT MAX(n) - MIN(n) AS d FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) t",
    "SELECT AVG(n) AS a FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) WHERE n > 60",
    "SELECT ward, n, n / SUM(n) OVER () AS share FROM (SELECT ward, COUNT(*) AS n FROM visits"
    " GROUP BY ward) t ORDER BY share DESC LIMIT 2",
    "SELECT CASE WHEN age < 18 THEN 'child' ELSE 'adult' END AS who, COUNT(*) AS n,"
    " COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS percent FROM visits GROUP BY who",
    "SELECT ward, MAX(k) AS m, SUM(k) AS s FROM (SELECT ward, sex, COUNT(*) AS k FROM visits "
    "GROUP BY ward, sex) t GROUP BY ward",
    "SELECT t.ward, t.n, t.n * 100.0 / s.total AS pct FROM (SELECT ward, COUNT(*) AS n FROM "
    "visits GROUP BY ward) t CROSS JOIN (SELECT COUNT(*) AS total FROM visits) s",
    "SELECT (SELECT COUNT(*) FROM visits WHERE sex = 'f') * 100.0 / (SELECT COUNT(*) FROM visits)"
    " AS pct",
    "SELECT AVG(cost) - (SELECT AVG(cost) FROM visits) AS d FROM visits WHERE sex = 'f'",
    "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits WHERE sex = 'f') AS s FROM visits"
    " v WHERE v.sex = 'f' GROUP BY ward",
    "SELECT ward FROM visits GROUP BY ward HAVING AVG(cost) >= (SELECT AVG(cost) FROM visits)",
    "SELECT MODE(ward) AS ward FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE age % 2 = 1",
    "SELECT COUNT(*) AS n FROM visits WHERE NOT (age % 3 = 1)",
    "SELECT COUNT(*) AS n FROM visits WHERE ward ~ '^A'",
    "SELECT REGR_INTERCEPT(cost, age) AS i, POWER(AVG(age), 2) AS p, SQRT(COUNT(*)) AS r FROM "
    "visits",
    "SELECT COUNT(DISTINCT (ward, sex)) AS a, COUNT(DISTINCT ward || sex) AS b FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE day >= DATE '2024-12-31' - INTERVAL 2 MONTH",
    "SELECT COUNT(*) AS n FROM visits WHERE EXTRACT(dow FROM day) = 0",
    "SELECT EXTRACT(dow FROM day) AS d, COUNT(*) AS n FROM visits GROUP BY 1",
    "SELECT COUNT(*) AS n FROM visits WHERE (sex = 'f') IS NOT TRUE",
    "SELECT COUNT(*) AS n FROM visits WHERE age = '30' OR age IN ('31', '32') OR age BETWEEN '40'"
    " AND '41'",
    "SELECT SUM((sex = 'f')::INT) AS n, AVG(CAST(age AS DOUBLE)) AS a, CAST(AVG(cost) AS "
    "DECIMAL(10,2)) AS c FROM visits",
    "SELECT DISTINCT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC FETCH FIRST 1 ROWS ONLY",
)
OF_PEOPLE = (
    "SELECT COUNT(DISTINCT patient) AS n FROM visits WHERE patient IN (SELECT patient FROM visits"
    " WHERE ward = 'A')",
    "SELECT COUNT(DISTINCT patient) AS n FROM visits WHERE sex = 'f' AND patient IN (SELECT "
    "patient FROM visits WHERE ward = 'A')",
    "SELECT COUNT(DISTINCT patient) AS n FROM visits WHERE sex = 'f' AND patient NOT IN (SELECT "
    "patient FROM visits WHERE ward = 'A')",
    "SELECT COUNT(DISTINCT patient) AS n FROM visits WHERE patient IN (SELECT patient FROM visits"
    " GROUP BY patient HAVING SUM(cost) > 2000 AND COUNT(*) < 6)",
    "SELECT AVG(cost) AS a, COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY patient"
    " ORDER BY cost DESC) AS rn FROM visits) t WHERE rn = 1 AND age > 30",
    "SELECT ward, COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY "
    "cost) AS rn FROM visits WHERE sex = 'f') t WHERE rn = 1 GROUP BY ward",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient, ward FROM visits WHERE age > 10)",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient FROM visits WHERE ward = 'A') t",
    "SELECT COUNT(DISTINCT patient) FILTER (WHERE ward = 'A') AS a, COUNT(DISTINCT CASE WHEN sex "
    "= 'f' THEN patient END) AS b, COUNT(DISTINCT patient) AS c FROM visits",
    "SELECT sex, COUNT(DISTINCT patient) FILTER (WHERE ward = 'A') AS a FROM visits GROUP BY sex",
    "SELECT AVG(n) AS a FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)",
    "SELECT COUNT(*) AS k FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY 1) WHERE n > 3",
    "SELECT COUNT(*) AS k FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient"
    " HAVING COUNT(*) > 3)",
    "SELECT n, COUNT(*) AS k FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) t"
    " GROUP BY n ORDER BY n",
    "SELECT AVG(total) AS a FROM (SELECT patient, SUM(cost) AS total FROM visits WHERE age > 30"
    " GROUP BY patient) t",
    "WITH people AS (SELECT patient, MAX(age) AS age, COUNT(*) AS n FROM visits GROUP BY patient)"
    " SELECT AVG(n) AS a, AVG(age) AS b FROM people WHERE age >= 40",
    "SELECT COUNT(*) AS k FROM (SELECT patient FROM visits WHERE ward = 'A' GROUP BY patient)",
    "SELECT AVG(n) AS a FROM (SELECT patient, COUNT(*) FILTER (WHERE ward = 'A') AS n FROM visits"
    " GROUP BY patient)",
)
REFUSED = (
    "SELECT COUNT(*) OVER () FROM visits",
    "SELECT ward, AVG(cost) OVER (PARTITION BY ward) FROM visits GROUP BY ward",
    "SELECT ward, RANK() OVER () FROM visits GROUP BY ward",
    "SELECT ward, SUM(cost) OVER (ORDER BY ward) AS s, COUNT(*) FROM visits GROUP BY ward",
    "SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 10)",
    "SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM visits LIMIT 1) t",
    "SELECT AVG(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward LIMIT 1)",
    "SELECT sex FROM (SELECT ward FROM visits) t GROUP BY sex",
    "SELECT patient, COUNT(*) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)"
    " GROUP BY patient",
    "SELECT * FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)",
    "SELECT MAX(patient) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)",
    "SELECT COUNT(*) FROM (SELECT patient, MAX(patient) AS who FROM visits GROUP BY patient)"
    " WHERE who = 'p7'",
    "WITH RECURSIVE t AS (SELECT 1) SELECT COUNT(*) FROM t",
    # What would be answered with another meaning than SQL has.
    "SELECT COUNT(*) FROM (SELECT sex AS ward FROM visits) t JOIN wards USING (ward)",
    "SELECT SUM(cost) FROM (SELECT * REPLACE (cost / 100 AS cost) FROM visits)",
    "SELECT SUM(cost) FROM (SELECT * EXCLUDE (cost) FROM visits)",
    "SELECT SUM(cost) FROM (SELECT *, cost / 100 AS cost FROM visits)",
    "SELECT COUNT(*) FROM (SELECT ward AS w, sex AS w FROM visits) WHERE w = 'A'",
    "SELECT SUM(cost) FROM (SELECT age, cost FROM visits) t(cost, age)",
    "SELECT COUNT(*) FROM (SELECT UNNEST([1, 2, 3]) AS u FROM visits)",
    "SELECT AVG(k) FROM (SELECT ward, COUNT(*) AS k FROM visits GROUP BY ward) HAVING AVG(k) > 5",
    "SELECT ward, SUM(k) OVER () FROM (SELECT ward, COUNT(*) AS k, RANK() OVER (ORDER BY COUNT(*))"
    " AS r FROM visits GROUP BY ward) WHERE r <= 2",
    "SELECT ward, k FROM (SELECT ward, COUNT(*) AS k FROM visits GROUP BY ward ORDER BY k LIMIT 2)"
    " QUALIFY ROW_NUMBER() OVER (ORDER BY k) = 1",
    "SELECT ward FROM (SELECT DISTINCT ward, sex FROM visits)",
    "SELECT ward, AVG(k) FROM (SELECT ward, COUNT(*) AS k FROM visits GROUP BY ward)",
    "SELECT AVG(k) FROM (SELECT patient, COUNT(DISTINCT ward) FILTER (WHERE cost > 9) AS k FROM"
    " visits GROUP BY patient)",
    "SELECT ward, SUM(COUNT(*)) OVER (ORDER BY 2 DESC) FROM visits GROUP BY ward",
    "SELECT ward AS sex, sex AS ward, RANK() OVER (ORDER BY ward) FROM visits GROUP BY"
    " visits.ward, visits.sex",
    "SELECT ward, SUM(COUNT(*)) OVER () AS z, MAX(COUNT(*)) OVER () AS z FROM visits GROUP BY 1",
    "SELECT ward, COUNT(*) AS k, MAX(COUNT(*)) OVER () AS k_low FROM visits GROUP BY ward",
    "WITH t AS (SELECT * FROM visits) SELECT COUNT(*) FROM visits JOIN t USING (ward)",
    "SELECT COUNT(*) FROM (SELECT 1 UNION SELECT 2)",
    "SELECT AVG(m) FROM (SELECT ward, MAX(n) AS m FROM (SELECT ward, patient, COUNT(*) AS n FROM"
    " visits GROUP BY ward, patient) GROUP BY ward)",
)


def visits() -> pa.Table:
    draw = random.Random(7)
    rows = 300
    return pa.table({
        "patient": [f"p{draw.randrange(80)}" for _ in range(rows)],
        "ward": draw.choices("ABC", [5, 3, 2], k=rows),
        "sex": draw.choices("fm", [2, 3], k=rows),
        "age": [draw.randrange(90) for _ in range(rows)],
        "cost": [draw.randrange(4000) / 4 for _ in range(rows)],
        "day": [date(2024, 1, 1) + timedelta(days=draw.randrange(365)) for _ in range(rows)],
    })  # fmt: skip


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> la.Session:
    return opened(tmp_path_factory.mktemp("rows"), unit=la.ROW)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> la.Session:
    return opened(tmp_path_factory.mktemp("people"), unit="patient")


def opened(folder: Path, unit: object) -> la.Session:
    budget = la.Budget(epsilon=10**9)
    return la.open(visits(), schema=SCHEMA, unit=unit, budget=budget, ledger=folder / "l.db")


def ask(session: la.Session, sql: str) -> list[dict[str, object]]:
    keys = {"n": list(range(12))} if "GROUP BY n" in sql else None
    of_people = "GROUP BY patient" in sql
    bounds = {name: ends for name, ends in BOUNDS.items() if of_people and f"({name})" in sql}
    return session.sql(sql, keys=keys, bounds=bounds or None).release(epsilon=EPSILON).rows()


def by_duckdb(sql: str) -> list[dict[str, object]]:
    with duckdb.connect() as duck:
        duck.register("visits", visits())
        found = duck.sql(sql)
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def equal(ours: object, theirs: object) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    if isinstance(theirs, str):
        return ours == theirs
    return math.isclose(float(ours), float(theirs), rel_tol=1e-3, abs_tol=0.01)  # pyright: ignore


def agree(ours: list[dict[str, object]], theirs: list[dict[str, object]], *, sorted_: bool) -> bool:
    names = list(theirs[0]) if theirs else []
    if not sorted_:
        ours, theirs = (sorted(found, key=lambda row: str(row)) for found in (ours, theirs))
    return len(ours) == len(theirs) and all(
        equal(mine[name], other[name])
        for mine, other in zip(ours, theirs, strict=True)
        for name in names
    )


@pytest.mark.parametrize("sql", OF_ROWS)
def test_questions_about_rows(rows: la.Session, sql: str) -> None:
    assert agree(ask(rows, sql), by_duckdb(sql), sorted_=sql.rfind("ORDER BY") > sql.rfind(")"))


@pytest.mark.parametrize("sql", OF_PEOPLE)
def test_questions_about_people(people: la.Session, sql: str) -> None:
    by_number = "GROUP BY n" in sql
    theirs = [row for row in by_duckdb(sql) if not by_number or row["n"] in range(12)]
    ours = [row for row in ask(people, sql) if row.get("k") != 0]
    assert agree(ours, theirs, sorted_=by_number)


@pytest.mark.parametrize("sql", REFUSED)
def test_what_would_show_rows_or_is_not_known_is_refused(people: la.Session, sql: str) -> None:
    with pytest.raises(LetaloneError):
        ask(people, sql)


def test_a_share_is_the_same_question(rows: la.Session) -> None:
    """Windows look at what was released: the second question is a free repeat of the first."""
    plain = "SELECT ward, COUNT(*) AS n FROM visits WHERE age > 11 GROUP BY ward"
    share = plain.replace("AS n", "AS n, 100 * COUNT(*) / SUM(COUNT(*)) OVER () AS share")
    first = rows.sql(plain).release(epsilon=1)
    spent = rows.remaining
    second = rows.sql(share).release(epsilon=1)
    assert rows.remaining == spent
    assert [row["n"] for row in second.rows()] == [row["n"] for row in first.rows()]


def test_what_cannot_be_computed_is_missing_and_no_error_after_the_charge(rows: la.Session) -> None:
    sql = "SELECT ward, ward * 100000000000000 + SUM(COUNT(*)) OVER () AS x FROM visits GROUP BY 1"
    assert [row["x"] for row in ask(rows, sql)] == [None] * 3
    large = "SELECT ward, AVG(COUNT(*)" + " * 1000000000000000000" * 18 + ") OVER () AS x"
    assert [row["x"] for row in ask(rows, large + " FROM visits GROUP BY ward")] == [None] * 3


def test_values_beside_each_person_are_not_taken_as_keys(people: la.Session) -> None:
    """A public table joined on the unit may name people: its values must not stand in questions."""
    beside = pa.table({"patient": ["p1", "p2"], "called": ["Ann", "Ben"]})
    sql = "SELECT called, COUNT(*) AS n FROM visits JOIN w USING (patient) GROUP BY called"
    with pytest.raises(LetaloneError, match="No keys are given"):
        people.sql(sql, tables={"w": beside}).release(epsilon=1)


def test_an_answer_says_what_was_computed(rows: la.Session) -> None:
    sql = "SELECT ward, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM visits GROUP BY ward"
    found = rows.sql(sql).release(epsilon=1)
    assert "Computed from the noisy numbers, without a range: place" in str(found)


def test_a_number_in_every_row_is_refused_with_the_query_of_one_a_person(
    people: la.Session,
) -> None:
    """MAX OVER a person has a row for each of their rows; their mean would be another one."""
    sql = "SELECT AVG(x) AS a FROM (SELECT MAX(cost) OVER (PARTITION BY patient) AS x FROM visits)"
    with pytest.raises(LetaloneError, match="into every row") as refused:
        ask(people, sql)
    assert "(SELECT patient, MAX(cost) AS x FROM … GROUP BY patient)" in str(refused.value)
    meant = "SELECT AVG(x) AS a FROM (SELECT patient, MAX(cost) AS x FROM visits GROUP BY patient)"
    assert agree(ask(people, meant), by_duckdb(meant), sorted_=False)
