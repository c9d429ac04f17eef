"""Queries as warehouses model them and dashboards generate them: as DuckDB answers them."""

import duckdb
import pyarrow as pa
import pytest

import letalone as la
from letalone.errors import LetaloneError
from letalone.errors.remedies import EditSql
from session.test_sql_habits import EPSILON, SCHEMA, agree, visits

WARDS = pa.table({"ward": ["A", "B", "C", "D"], "name": ["Ash", "Birch", "Cedar", "Dill"]})
OF_ROWS = (
    "WITH v AS (SELECT *, cost / 100 AS euros FROM public.visits), w AS (SELECT ward, SUM(euros) AS"
    " s FROM v GROUP BY ward), r AS (SELECT *, RANK() OVER (ORDER BY s DESC) AS place FROM w)"
    " SELECT ward, s FROM r WHERE place <= 2 ORDER BY place",
    'SELECT "public"."visits"."ward" AS "ward", COUNT(*) AS "n" FROM "public"."visits" GROUP BY'
    ' "public"."visits"."ward"',
    "WITH f AS (SELECT 'f' AS who, SUM(cost) AS s FROM visits WHERE sex = 'f'), m AS (SELECT 'm' AS"
    " who, SUM(cost) AS s FROM visits WHERE sex = 'm'), u AS (SELECT * FROM f UNION ALL SELECT *"
    " FROM m) SELECT * FROM u",
    "WITH a AS (SELECT ward, COUNT(*) AS n FROM visits WHERE sex = 'f' GROUP BY ward), b AS (SELECT"
    " ward, COUNT(*) AS n FROM visits WHERE sex = 'm' GROUP BY 1) SELECT COALESCE(a.ward, b.ward)"
    " AS ward, a.n AS f, b.n AS m, a.n - b.n AS more FROM a FULL OUTER JOIN b ON a.ward = b.ward",
    "WITH a AS (SELECT ward, AVG(cost) AS c FROM visits GROUP BY ward), b AS (SELECT ward, SUM("
    "age) AS k FROM visits GROUP BY ward) SELECT ward, c, k FROM a JOIN b USING (ward)",
    "SELECT w.name, s.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) s JOIN wards w"
    " ON s.ward = w.ward WHERE w.name <> 'Birch'",
    "SELECT s.ward, w.name, s.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) s LEFT"
    " JOIN wards w ON s.ward = w.ward",
    "SELECT v.ward, w.name, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY"
    " v.ward, w.name HAVING w.name IN ('Ash', 'Cedar')",
    "WITH t AS (SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward), o AS (SELECT SUM(cost) AS"
    " a, COUNT(*) AS k FROM visits) SELECT ward, s / a AS share, s / k AS each FROM t, o",
    "WITH v AS (SELECT * FROM visits), w AS (SELECT * FROM wards), j AS (SELECT v.*, w.name FROM v"
    " LEFT JOIN w ON v.ward = w.ward) SELECT name, COUNT(*) AS n, AVG(cost) AS c FROM j GROUP BY"
    " name",
    "WITH f AS (SELECT ward AS station, cost * 2 AS twice FROM visits WHERE sex = 'f') SELECT name,"
    " AVG(twice) AS c, COUNT(*) AS n FROM f JOIN wards w ON f.station = w.ward GROUP BY name",
    "WITH v AS (SELECT * FROM visits WHERE age > 30), w AS (SELECT ward, name FROM wards) SELECT"
    " name, COUNT(*) AS n FROM v JOIN w USING (ward) GROUP BY name",
    "WITH s AS (SELECT AVG(cost) AS mu, STDDEV(cost) AS sd FROM visits) SELECT COUNT(*) AS n FROM"
    " visits, s WHERE cost > s.mu + sd",
    "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) AS share FROM visits GROUP BY ward"
    " HAVING share > 0.25",
    "WITH t AS (SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward) SELECT w.name, t.m AS c FROM"
    " t JOIN wards w ON w.ward = t.ward WHERE t.m > (SELECT AVG(cost) FROM visits)",
    "SELECT ward AS sex, COUNT(*) AS n FROM (SELECT sex AS ward, ward AS sex FROM visits) GROUP BY"
    " ward ORDER BY sex",
    "SELECT sex, AVG(cost) AS cost FROM (SELECT ward AS sex, age AS cost FROM visits WHERE cost >"
    " 100) WHERE cost > 20 GROUP BY 1 ORDER BY cost",
    "SELECT MAKE_DATE(YEAR(day), MONTH(day), 1) AS m, COUNT(*) AS n FROM visits WHERE YEAR(day) ="
    " 2024 GROUP BY 1",
    "SELECT COUNT(*) AS n FROM visits WHERE day >= DATE_TRUNC('month', DATE '2024-03-15') AND day <"
    " DATE_TRUNC('month', DATE '2024-03-15') + INTERVAL '1 month'",
    "SELECT REGR_COUNT(cost, age) AS n, REGR_AVGX(cost, age) AS x, REGR_AVGY(cost, age) AS y FROM"
    " visits",
    "SELECT DATE_TRUNC('quarter', day)::DATE AS q, COUNT(*) AS n FROM visits WHERE day >="
    " '2024-01-01' AND day < '2025-01-01' GROUP BY 1",
)
OF_PEOPLE = (
    "SELECT s.n, COUNT(*) AS k FROM (SELECT v.patient AS patient, COUNT(cost) AS n FROM visits v"
    " GROUP BY v.patient) s GROUP BY s.n ORDER BY s.n",
    "WITH f AS (SELECT patient AS p, MIN(day) AS first FROM visits GROUP BY patient), c AS (SELECT"
    " p, MONTH(first) AS m FROM f) SELECT m, COUNT(DISTINCT p) AS k FROM c GROUP BY m ORDER BY m",
    "WITH f AS (SELECT patient, DATE_DIFF('day', MIN(day), MAX(day)) AS span, CASE WHEN COUNT(*) >"
    " 3 THEN 'many' ELSE 'few' END AS often, MAX(cost) - MIN(cost) AS d FROM visits GROUP BY 1)"
    " SELECT often, COUNT(*) AS k, AVG(d) AS a FROM f WHERE span > 30 GROUP BY often",
    "SELECT AVG(worst) AS a, COUNT(*) AS k FROM (SELECT patient, MAX(cost) FILTER (WHERE sex = 'f')"
    " AS worst, MIN(age) FROM visits GROUP BY patient HAVING COUNT(age) > 2)",
    "SELECT AVG(c) AS a FROM (SELECT patient, FIRST(cost ORDER BY age DESC) AS c FROM (SELECT"
    " patient, cost, cost AS age FROM visits WHERE sex = 'f') GROUP BY patient)",
    "SELECT AVG(c) AS a FROM (SELECT patient, LAST(cost ORDER BY cost) AS c FROM visits GROUP BY"
    " 1)",
    "SELECT COUNT(*) AS k FROM (SELECT patient, COUNT(DISTINCT ward) AS w FROM visits GROUP BY"
    " patient) WHERE w > 1",
    "SELECT AVG(w) AS a FROM (SELECT patient, COUNT(DISTINCT v.ward) AS w FROM visits v GROUP BY"
    " patient HAVING COUNT(DISTINCT sex) = 2)",
    "WITH l AS (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient ORDER BY age"
    " DESC) = 1) SELECT AVG(age) AS a, COUNT(*) AS k FROM l",
    "WITH r AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY cost) AS place FROM"
    " visits), l AS (SELECT cost AS c FROM r WHERE place = 1) SELECT AVG(c) AS a FROM l",
    "WITH r AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY cost DESC) AS place FROM"
    " visits), l AS (SELECT patient AS p, cost AS c FROM r WHERE place = 1) SELECT COUNT(DISTINCT"
    " p) AS k, AVG(c) AS a FROM l WHERE c > 500",
    "SELECT AVG(cost) AS a FROM (SELECT DISTINCT ON (patient) * FROM visits ORDER BY patient, cost"
    " DESC) t",
)
# What other dialects call it, and what DuckDB is asked for the same.
ELSEWHERE = (
    (
        "SELECT STR_TO_DATE(CONCAT(DATE_FORMAT(day, '%Y-%m'), '-01'), '%Y-%m-%d') AS m, COUNT(*) AS"
        " n FROM visits WHERE YEAR(day) = 2024 GROUP BY 1",
        "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits GROUP BY 1",
    ),
    (
        "SELECT DATEADD(month, DATEDIFF(month, 0, day), 0) AS m, COUNT(*) AS n FROM [dbo].[visits]"
        " WHERE YEAR(day) = 2024 GROUP BY DATEADD(month, DATEDIFF(month, 0, day), 0)",
        "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits GROUP BY 1",
    ),
    (
        "SELECT CONVERT(varchar(7), day, 120) AS m, COUNT(*) AS n FROM visits WHERE YEAR(day) ="
        " 2024 GROUP BY CONVERT(varchar(7), day, 120)",
        "SELECT STRFTIME(day, '%Y-%m') AS m, COUNT(*) AS n FROM visits GROUP BY 1",
    ),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE DATE_PART('year', AGE(day, '1990-07-01')) = 33",
        "SELECT COUNT(*) AS n FROM visits WHERE DATESUB('year', DATE '1990-07-01', day) = 33",
    ),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE TIMESTAMPDIFF(YEAR, day, '1990-07-01') = -33",
        "SELECT COUNT(*) AS n FROM visits WHERE DATESUB('year', day, DATE '1990-07-01') = -33",
    ),
    (
        "SELECT ((FLOOR(((visits.age - 5.0) / 10.0)) * 10) + 5.0) AS a, COUNT(*) AS n FROM visits"
        " GROUP BY 1",
        "SELECT '[' || CAST(lo AS INT) || ', ' || CAST(lo + 10 AS INT) || ')' AS a, COUNT(*) AS n"
        " FROM (SELECT FLOOR((age - 5) / 10) * 10 + 5 AS lo FROM visits) GROUP BY 1",
    ),
    (
        "SELECT ROUND((age + 10) / 20) * 20 AS a, COUNT(*) AS n FROM visits GROUP BY 1",
        "SELECT '[' || CAST(lo AS INT) || ', ' || CAST(lo + 20 AS INT) || ')' AS a, COUNT(*) AS n"
        " FROM (SELECT ROUND((age + 10) / 20) * 20 - 10 AS lo FROM visits) GROUP BY 1",
    ),
    ("SELECT HISTOGRAM(ward) FROM visits", "SELECT ward, COUNT(*) AS count FROM visits GROUP BY 1"),
)
# What is refused, and what its edit asks.
EDITED = (
    ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward)", "GROUP BY ward"),
    ("SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex WITH ROLLUP", "GROUP BY sex"),
    ("SELECT COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((ward), (sex))", "BY ward, sex"),
    ("SELECT MIN(day), MAX(day) FROM visits", "MAX(CLAMP(YEAR(day), 1900, 2100))"),
    ("SELECT EXTRACT(DAYOFWEEK FROM day) AS d, COUNT(*) FROM visits GROUP BY d", "EXTRACT(DOW"),
    ("SELECT DATEPART(weekday, day) AS d, COUNT(*) FROM visits GROUP BY 1", "DATEPART(DOW"),
    ("SELECT COUNT(*) FROM visits WHERE day > DATEADD(day, -30, GETDATE())", "-30, DATE '"),
    ("SELECT COUNT(*) FROM visits WHERE day > DATE_SUB(CURDATE(), INTERVAL 1 DAY)", "(DATE '"),
    ("SELECT EOMONTH(day) AS m, COUNT(*) FROM visits GROUP BY EOMONTH(day)", "DATE_TRUNC('month'"),
)
REFUSED = (
    ("SELECT AVG(LN(cost + 1)) FROM visits", "a root or a logarithm"),
    ("SELECT SKEWNESS(cost) FROM visits", "QUANTILE_CONT"),
    ("SELECT MD5(ward), COUNT(*) FROM visits GROUP BY 1", "column itself"),
    (
        "SELECT NTILE(4) OVER (ORDER BY cost) AS q, COUNT(*) FROM visits GROUP BY q",
        "QUANTILE_CONT",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT day, LAG(day) OVER (PARTITION BY patient ORDER BY day) AS b"
        " FROM visits) WHERE DATE_DIFF('day', b, day) <= 30",
        "another row of the same person",
    ),
    (
        "SELECT p, n FROM (SELECT patient AS p, COUNT(*) AS n FROM visits GROUP BY patient)",
        "",
    ),
    (
        "SELECT p FROM (SELECT patient AS p, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day)"
        " AS place FROM visits) WHERE place = 1",
        "",
    ),
    ("SELECT * FROM (SELECT patient, ward FROM visits UNION ALL SELECT 'a', 'b' FROM visits)", ""),
    (
        "SELECT a.ward, b.sex, a.n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a"
        " JOIN (SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex) b ON a.n = b.n",
        "",
    ),
    (
        "SELECT w.name, s.patient, s.n FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY"
        " patient) s JOIN wards w ON w.ward = s.patient",
        "",
    ),
)


@pytest.fixture(scope="module")
def rows() -> la.Session:
    return opened(la.ROW)


@pytest.fixture(scope="module")
def people() -> la.Session:
    return opened("patient")


def opened(unit: object) -> la.Session:
    budget = la.Budget(epsilon=10**9, delta=0.1)
    return la.open(visits(), schema=SCHEMA, unit=unit, budget=budget, name="visits")


def ask(session: la.Session, sql: str) -> list[dict[str, object]]:
    return session.sql(sql, tables={"wards": WARDS}).release(epsilon=EPSILON, delta=1e-9).rows()


def by_duckdb(sql: str, **tables: pa.Table) -> list[dict[str, object]]:
    with duckdb.connect() as duck:
        for name, table in ({"visits": visits(), "wards": WARDS} | tables).items():
            duck.register(name, table)
        found = duck.sql(sql.replace('"public".', "").replace("public.", ""))
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def met(found: list[dict[str, object]]) -> list[dict[str, object]]:
    """Without groups that are listed and that nobody is in, and days as text."""
    kept = [row for row in found if row.get("n") != 0 and row.get("k") != 0]
    days = ("m", "q")
    return [{n: str(v)[:10] if n in days else v for n, v in row.items()} for row in kept]


@pytest.mark.parametrize("sql", OF_ROWS)
def test_models_and_dashboards_about_rows(rows: la.Session, sql: str) -> None:
    in_order = sql.rfind("ORDER BY") > sql.rfind(")")
    assert agree(met(ask(rows, sql)), met(by_duckdb(sql)), sorted_=in_order)


@pytest.mark.parametrize("sql", OF_PEOPLE)
def test_models_and_dashboards_about_people(people: la.Session, sql: str) -> None:
    assert agree(met(ask(people, sql)), met(by_duckdb(sql)), sorted_=False)


@pytest.mark.parametrize(("sql", "meant"), ELSEWHERE)
def test_other_dialects(rows: la.Session, sql: str, meant: str) -> None:
    assert agree(met(ask(rows, sql)), met(by_duckdb(meant)), sorted_=False)


@pytest.mark.parametrize(("sql", "edited"), EDITED)
def test_a_refusal_offers_an_edit_that_is_read(rows: la.Session, sql: str, edited: str) -> None:
    with pytest.raises(LetaloneError) as refused:
        ask(rows, sql)
    problem = refused.value.problem
    assert problem is not None
    edits = [remedy for remedy in problem.remedies if isinstance(remedy, EditSql)]
    start, end = edits[0].span
    mended = sql[:start] + edits[0].text + sql[end:]
    assert edited in mended
    assert ask(rows, mended)


@pytest.mark.parametrize(("sql", "words"), REFUSED)
def test_what_looks_at_others_or_shows_people_is_refused(
    people: la.Session, sql: str, words: str
) -> None:
    with pytest.raises(LetaloneError) as refused:
        ask(people, sql)
    assert words in str(refused.value)


@pytest.mark.long
def test_named_queries_that_grow_without_end_are_refused(rows: la.Session) -> None:
    """Each name stands twice in the next one: 2^20 queries."""
    parts = ["q0 AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)"]
    parts += [
        f"q{n} AS (SELECT a.ward, a.n FROM q{n - 1} a JOIN q{n - 1} b USING (ward))"
        for n in range(1, 21)
    ]
    with pytest.raises(LetaloneError, match="too deeply"):
        rows.sql(f"WITH {', '.join(parts)} SELECT ward, n FROM q20")
