"""Columns made of an answer's other cells, and rows of UNION ALL: as DuckDB has them."""

from collections.abc import Iterator
from datetime import date

import pytest

import letalone as la
from letalone.errors import LetaloneError
from session.test_sql_habits import EPSILON, SCHEMA, agree, by_duckdb, visits

ANSWERED = (
    "SELECT ward, CASE WHEN COUNT(*) > 95 THEN 'large' ELSE 'small' END AS size FROM visits GROUP"
    " BY ward",
    "SELECT ward, CASE ward WHEN 'A' THEN 1 WHEN 'B' THEN 2 END AS k, COUNT(*) AS n FROM visits"
    " GROUP BY ward",
    "SELECT CASE WHEN sex = 'f' THEN 'women' ELSE 'men' END AS who, COUNT(*) AS n FROM visits GROUP"
    " BY sex",
    "SELECT ward, COUNT(*) > 95 AND ward <> 'B' AS large, ward IN ('A', 'C') AS i FROM visits GROUP"
    " BY ward",
    "SELECT ward, COUNT(*) BETWEEN 90 AND 95 AS b, COUNT(*) IS NULL AS m FROM visits GROUP BY ward",
    "SELECT 'ward ' || LOWER(ward) AS l, CONCAT(UPPER(ward), '-', sex) AS c, LENGTH(ward) AS k,"
    " COUNT(*) AS n FROM visits GROUP BY ward, sex",
    "SELECT GREATEST(COUNT(*) - 95, 0) AS g, LEAST(COUNT(*), 95) AS l FROM visits",
    "SELECT ward, TRUNC(AVG(cost), 1) AS t, COALESCE(SUM(cost), 0) AS s FROM visits GROUP BY ward",
    "SELECT ward, 100 * CASE WHEN SUM(cost) > 0 THEN 1 ELSE 0 END AS p FROM visits GROUP BY ward",
    "SELECT ward, IF(COUNT(*) > 95, NULL, AVG(age)) AS a FROM visits GROUP BY ward",
    "SELECT 'all' AS who, COUNT(*) AS n FROM visits",
    "SELECT 'x' AS who, ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY CASE ward WHEN 'C' THEN 1 ELSE 2"
    " END, ward",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY ALL",
    "SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ALL ORDER BY ALL DESC",
    "SELECT * FROM (SELECT ward, sex, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY ward ORDER BY"
    " COUNT(*) DESC) AS rn FROM visits GROUP BY ward, sex) WHERE rn <= 1 ORDER BY ward, rn",
    "SELECT ward, (AVG(cost) - (SELECT AVG(cost) FROM visits)) / (SELECT STDDEV(cost) FROM visits)"
    " AS z FROM visits GROUP BY ward",
    'SELECT "s"."ward" AS "ward", "s"."n" AS "n" FROM (SELECT "visits"."ward" AS "ward", COUNT(*)'
    ' AS "n" FROM "visits" GROUP BY "visits"."ward" ORDER BY "visits"."ward" ASC) AS "s" WHERE'
    ' "s"."n" > 60 LIMIT 2000',
    "SELECT ward FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC)",
    "SELECT ward FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 95)",
    "SELECT CAST(day AS DATE) AS d, COUNT(*) AS n FROM visits WHERE day >= '2024-03-01' AND day <"
    " '2024-03-15' GROUP BY CAST(day AS DATE) HAVING COUNT(*) > 0 ORDER BY CAST(day AS DATE)",
    "SELECT MAX(n) AS m FROM (SELECT MONTH(day) AS k, COUNT(*) AS n FROM visits GROUP BY k)",
    "SELECT MAX(n) AS m FROM (SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ALL)",
    "SELECT k FROM (SELECT ward, sex, COUNT(*) AS k FROM visits GROUP BY ALL)",
    "SELECT COUNT(*) AS n FROM visits WHERE (ward, sex) IN (('A', 'f'), ('B', 'm'))",
    "SELECT SUM(1) AS n FROM visits",
    "WITH t AS (SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward), a AS (SELECT AVG(cost) AS o"
    " FROM visits) SELECT t.ward, t.m - a.o AS d FROM t CROSS JOIN a",
    "SELECT 'women' AS who, COUNT(*) AS n, AVG(cost) AS a FROM visits WHERE sex = 'f' UNION ALL"
    " SELECT 'men', COUNT(*), AVG(cost) FROM visits WHERE sex = 'm' UNION ALL"
    " SELECT 'all', COUNT(*), AVG(cost) FROM visits",
    "SELECT 'old' AS who, COUNT(*) * 2 AS n FROM visits WHERE age >= 65 UNION ALL SELECT 'young',"
    " COUNT(*) FROM visits WHERE age < 18 ORDER BY n DESC, 1 LIMIT 1",
    "SELECT COUNT(*) FILTER (WHERE sex = 'f') AS n FROM visits WHERE ward = 'A' UNION ALL"
    " SELECT COUNT(*) FROM visits",
)
REFUSED = (
    "SELECT CASE WHEN COUNT(*) > 1 THEN cost END AS c FROM visits",
    "SELECT ward, CASE WHEN age > 3 THEN 1 ELSE 2 END AS c, COUNT(*) FROM visits GROUP BY ward",
    "SELECT UPPER(sex) AS s, COUNT(*) FROM visits GROUP BY ward",
    "SELECT ward, COUNT(*) > 'A' AS b FROM visits GROUP BY ward",
    "SELECT FLOOR(age / 10) AS d, COUNT(*) AS n FROM visits GROUP BY d ORDER BY CASE WHEN FLOOR(age"
    " / 10) > 3 THEN 1 ELSE 2 END",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY cost > 5",
    "SELECT ward, n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward LIMIT 2) QUALIFY"
    " ROW_NUMBER() OVER (ORDER BY n) = 1",
    "SELECT 'x' AS a FROM visits",
    "SELECT age FROM visits UNION ALL SELECT age FROM visits",
    "SELECT COUNT(*) FROM visits UNION ALL SELECT 1",
    "SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM cities",
    "SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*), 2 FROM visits",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward UNION ALL SELECT 'x', COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) AS n FROM visits UNION ALL SELECT COUNT(*) FROM visits ORDER BY cost",
)


@pytest.fixture(scope="module")
def session() -> Iterator[la.Session]:
    with la.open(visits(), schema=SCHEMA, unit="patient", budget=10**9, name="visits") as opened:
        yield opened


@pytest.mark.parametrize("sql", ANSWERED)
def test_answers_are_those_of_duckdb(session: la.Session, sql: str) -> None:
    answer = session.sql(sql, max_rows=50).release(epsilon=8 * EPSILON).rows()
    ordered = sql.rfind("ORDER BY") > sql.rfind("FROM visits")
    theirs = by_duckdb(sql)
    ours = [{name: as_text(row[name]) for name in theirs[0]} for row in answer]  # in their order
    theirs = [{name: as_text(cell) for name, cell in row.items()} for row in theirs]
    assert agree(ours, theirs, sorted_=ordered)


def as_text(cell: object) -> object:
    """A day as text, else the cell."""
    return str(cell) if isinstance(cell, date) else cell


@pytest.mark.parametrize("sql", REFUSED)
def test_what_would_show_rows_or_compares_texts_with_numbers_is_refused(
    session: la.Session, sql: str
) -> None:
    with pytest.raises(LetaloneError):
        session.sql(sql, max_rows=50).release(epsilon=1)


def test_what_is_computed_is_a_free_repeat(session: la.Session) -> None:
    plain = "SELECT ward, COUNT(*) AS n FROM visits WHERE age > 12 GROUP BY ward"
    more = plain.replace("AS n", "AS n, CASE WHEN COUNT(*) > 5 THEN 'many' ELSE 'few' END AS k")
    first = session.sql(plain).release(epsilon=1)
    left = session.remaining
    second = session.sql(more).release(epsilon=1)
    assert session.remaining == left
    assert [row["n"] for row in second.rows()] == [row["n"] for row in first.rows()]
    assert "without a range: k" in str(second)


def test_rows_of_union_all_keep_their_ranges_and_share_epsilon(session: la.Session) -> None:
    sql = (
        "SELECT 'women' AS who, COUNT(*) AS n FROM visits WHERE sex = 'f'"
        " UNION ALL SELECT 'men', COUNT(*) FROM visits WHERE sex = 'm'"
    )
    before = session.spent.epsilon
    answer = session.sql(sql).release(epsilon=1)
    assert session.spent.epsilon - before == 1
    assert [row["who"] for row in answer.rows()] == ["women", "men"]
    assert all(row["n_low"] <= row["n"] <= row["n_high"] for row in answer.rows())
    assert "women" in str(answer)
    assert len(answer.to_arrow()) == 2


def test_ranges_are_shown_as_text_and_not_computed_with(session: la.Session) -> None:
    sql = "SELECT FLOOR(age / 10) AS d, LAG(FLOOR(age / 10)) OVER (ORDER BY COUNT(*)), COUNT(*)"
    with pytest.raises(LetaloneError, match="Ranges are shown as text"):
        session.sql(f"{sql} FROM visits GROUP BY d")
