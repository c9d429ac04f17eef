"""What has no private answer is refused in words, whatever is attached to what has one."""

import logging

import pytest

from letalone.errors import LetaloneError, UnsupportedQuery
from letalone.plans.expressions import col, same
from sql.schemas import condition, read

REFUSED = [
    "SELECT * FROM visits",
    "'' SUM(cost) FROM visits",
    "SELECT visits.* FROM visits",
    "SELECT ward FROM visits",
    "SELECT ward, COUNT(*) FROM visits",
    "SELECT COUNT(* EXCLUDE (ward)) FROM visits",
    "SELECT COUNT(DISTINCT ward, age) FROM visits",
    "SELECT SUM(DISTINCT cost) FROM visits",
    "SELECT SUM(cost ORDER BY age) FROM visits",
    "SELECT SUM('x') FROM visits",
    "SELECT SUM(*) FROM visits",
    "SELECT COUNT(*) OVER () FROM visits",
    "SELECT SUM(cost) OVER (PARTITION BY ward ORDER BY age ROWS 3 PRECEDING) FROM visits",
    "SELECT MAX(cost, 2) FROM visits",
    "SELECT whatever(cost) FROM visits",
    "SELECT 1 FROM visits",
    "SELECT 'x' FROM visits",
    "SELECT NULL FROM visits",
    "SELECT COUNT(*) + cost FROM visits",
    "SELECT (SELECT COUNT(*) FROM visits) FROM visits",
    "SELECT DISTINCT COUNT(*) FROM visits",
    "SELECT DISTINCT ON (ward) COUNT(*) FROM visits",
    "SELECT COUNT(*) INTO t FROM visits",
    "SELECT COUNT(*) FROM visits, visits",
    "SELECT COUNT(*) FROM visits, cities",
    "SELECT COUNT(*) FROM visits JOIN visits USING (ward)",
    "SELECT COUNT(*) FROM visits v JOIN visits w ON v.ward = w.ward",
    "SELECT COUNT(*) FROM visits RIGHT JOIN cities USING (city)",
    "SELECT COUNT(*) FROM visits FULL OUTER JOIN cities USING (city)",
    "SELECT COUNT(*) FROM visits CROSS JOIN cities",
    "SELECT COUNT(*) FROM visits SEMI JOIN cities USING (city)",
    "SELECT COUNT(*) FROM visits ASOF JOIN cities USING (city)",
    "SELECT COUNT(*) FROM visits JOIN cities ON visits.city < cities.city",
    "SELECT COUNT(*) FROM visits JOIN cities ON visits.city = visits.ward",
    "SELECT COUNT(*) FROM visits JOIN cities ON TRUE",
    "SELECT COUNT(*) FROM visits JOIN cities ON visits.city = cities.city OR TRUE",
    "SELECT COUNT(*) FROM read_csv('x.csv')",
    "SELECT COUNT(*) FROM range(10)",
    "SELECT COUNT(*) FROM visits, LATERAL (SELECT 1)",
    "SELECT COUNT(*) FROM visits v(a)",
    "SELECT COUNT(*) FROM visits@v1",
    "SELECT COUNT(*) FROM visits AS @v1",
    "SELECT COUNT(*) FROM visits ?",
    "SELECT COUNT(*) FROM visits $v",
    "SELECT COUNT(*) FROM visits JOIN cities@v1 USING (city)",
    "SELECT COUNT(*) AS @n FROM visits",
    "SELECT COUNT(*) FROM visits TABLESAMPLE 10%",
    "SELECT COUNT(*) FROM visits AT (VERSION => 3)",
    "SELECT COUNT(*) FROM visits GROUP BY ROLLUP (ward)",
    "SELECT COUNT(*) FROM visits GROUP BY CUBE (ward)",
    "SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((ward))",
    "SELECT COUNT(*) FROM visits GROUP BY ward, ()",
    "SELECT COUNT(*) AS n FROM visits GROUP BY n",
    "SELECT COUNT(*) FROM visits GROUP BY COUNT(*)",
    "SELECT COUNT(*) FROM visits GROUP BY 1",
    "SELECT COUNT(*) FROM visits GROUP BY 'x'",
    "SELECT COUNT(*) FROM visits GROUP BY FLOOR(refund / 10) * 10",
    "SELECT COUNT(*) FROM visits GROUP BY FLOOR(age / 10) * 5",
    "SELECT COUNT(*) FROM visits HAVING cost > 1",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING SUM(DISTINCT cost) > 1",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) > (SELECT 1)",
    "SELECT COUNT(*) FROM visits ORDER BY cost",
    "SELECT COUNT(*) FROM visits ORDER BY random()",
    "SELECT COUNT(*) FROM visits ORDER BY cost > 5",
    "SELECT CASE WHEN COUNT(*) > 1 THEN cost END FROM visits",
    "SELECT UPPER(ward), COUNT(*) FROM visits GROUP BY city",
    "SELECT COUNT(*) FROM visits LIMIT 10 PERCENT",
    "SELECT COUNT(*) FROM visits LIMIT (SELECT 1)",
    "SELECT COUNT(*) FROM visits LIMIT 1 + 1",
    "SELECT COUNT(*) FROM visits QUALIFY TRUE",
    "SELECT COUNT(*) FROM visits FOR UPDATE",
    "SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits",
    "WITH RECURSIVE t AS (SELECT 1) SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits;;DROP TABLE visits",
    "SELECT /*+ BROADCAST(visits) */ COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits /*+ INDEX(x) */ WHERE ok",
    "DROP TABLE visits",
    "CALL x()",
    "PRAGMA x",
    "COPY visits TO 'x'",
    "ATTACH 'x.db'",
    "SET threads = 1",
    "INSTALL httpfs",
    "VALUES (1)",
    "TABLE visits",
    "EXPLAIN DELETE FROM visits",
    "EXPLAIN EXPLAIN SELECT COUNT(*) FROM visits",
]
REFUSED_CONDITIONS = [
    "ward LIKE city",
    "ward LIKE 'a\\%'",
    "ward LIKE ANY ('A%', 'B%')",
    "ward LIKE 'a!b' ESCAPE '!'",
    "ward LIKE 'a' ESCAPE '!!'",
    "ward LIKE '%a_%b%'",
    "ward SIMILAR TO 'A%'",
    "ward ~ '[AB]'",
    "ward GLOB 'A*'",
    "STARTS_WITH(ward, city)",
    "SUBSTR(ward, 0, 2) = 'A'",
    "SUBSTR(ward, -2) = 'A'",
    "SUBSTR(ward, age) = 'A'",
    "SUBSTR(ward, 1, 0) = 'A'",
    "LEFT(ward, -1) = 'A'",
    "RIGHT(ward, 9999999) = 'A'",
    "TRIM(BOTH 'x' FROM ward) = 'A'",
    "CONCAT_WS('-', ward, city) = 'A'",
    "REPLACE(ward, 'a', 'b') = 'A'",
    "STRPOS(ward, 'A') > 0",
    "STRFTIME(day, '%W') = '1'",
    "STRFTIME(day, ward) = '1'",
    "STRFTIME(day, 'no part') = '1'",
    "TO_CHAR(day, 'Day') = 'Monday'",
    "DATE_DIFF('week', day, at) > 1",
    "DATE_DIFF(day, at, month) > 1",
    "AGE(day) > 1",
    "random() < 0.5",
    "age IN (SELECT 1)",
    "age IN (patient_id)",
    "age IN (1, NULL)",
    "age IN UNNEST([1])",
    "EXISTS (SELECT 1)",
    "age = (SELECT 1)",
    "age = NULL",
    "age BETWEEN SYMMETRIC 9 AND 1",
    "cost::INTEGER = 1",
    "TRY_CAST(ward AS INTEGER) = 1",
    "CAST('1' AS INTEGER) = age",
    "age // 2 = 1",
    "cost % 2 = 1",
    "age & 1 = 1",
    "day + INTERVAL 1 MONTH > day",
    "at > day + INTERVAL 1 DAY",
    "age = ?",
    "age = $name",
    "age = ANY([1])",
    "x'00' = ward",
    "COUNT(*) > 1",
    "1 = 1",
    "'ward' = 'A'",
    "rowid = 1",
    "BIN(age, 0, 100, 10) = 1",
    "DAYOFWEEK(day) = 1",
    "EXTRACT(epoch FROM at) > 1",
    "current_user = 'x'",
    "getenv('HOME') = 'x'",
    "nextval('s') = 1",
    "CLAMP(cost, age, 1) > 1",
    "CLAMP(cost, 5, 1) > 1",
    "day > '31.1.2024' AND DATE 'x' = day",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_not_translated_is_refused(sql: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(UnsupportedQuery, match=r"\.$"):
        read(sql)
    assert caplog.text == ""


@pytest.mark.parametrize("sql", REFUSED_CONDITIONS)
def test_what_is_not_translated_is_refused_in_a_condition(sql: str) -> None:
    with pytest.raises(LetaloneError, match=r"\.$"):
        condition(sql)


@pytest.mark.parametrize(
    "value",
    [
        ";",
        "a; DROP TABLE visits",
        "/*+ hint */",
        "--+ hint",
        "-- no comment",
        "/*",
        "CASE",
        "(" * 50,
    ],
)
def test_what_stands_in_quotes_is_a_value_and_no_statement_comment_or_hint(value: str) -> None:
    assert same(condition(f"ward = '{value}'"), col("ward") == value)
    both = condition(f"ward = '{value}' /* {'x' * 9}; */ AND ok -- ; 'and more'\n")
    assert same(both, (col("ward") == value) & col("ok"))


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        ("SELECT COUNT(*) FROM visits WHERE ward = ';'; SELECT 1", 45),
        ("SELECT COUNT(*) FROM visits WHERE ward = '/*+ a */' /*+ b */ AND ok", 53),
        ("SELECT COUNT(*) FROM visits WHERE ward = '--+' --+ b", 48),
        ("/*+ b */ SELECT COUNT(*) FROM visits", 1),
    ],
)
def test_the_statement_or_hint_beside_quotes_is_refused_at_its_place(sql: str, column: int) -> None:
    with pytest.raises(
        UnsupportedQuery, match=rf"(several statements|hint), at line 1, column {column}:"
    ) as it:
        read(sql)
    assert "^" in str(it.value)
