"""The page "What SQL works", made from the translator's own tables; its examples are run.

    python docs/what_sql_works.py

Every kind of node that is translated stands in an example, and everything that is refused by
name has one: the tests compare.

  Tested:   tests/sql/test_page.py
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

from letalone.plans.aggregates.features import PerUnit
from letalone.plans.clauses import PublicJoin
from letalone.plans.plan import make_plan, units_of
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.sql.from_clause import JOINS
from letalone.sql.names import PublicSelect
from letalone.sql.question import read_question
from letalone.sql.refusals import (
    CLAUSES,
    DISTINCT,
    OTHER_ROW,
    REFUSED,
    REFUSED_CALLS,
    TILES,
    SqlRefusal,
)
from letalone.sql.text import DIALECTS, MAX_SQL_LENGTH

PAGE = Path(__file__).parent / "reference" / "sql.md"
VISITS = Schema(
    "visits",
    (
        Column("patient_id", Type.INTEGER),
        Column("ward", Type.TEXT, keys=("A", "B", "C")),
        Column("city", Type.TEXT),
        Column("age", Type.INTEGER, Fraction(0), Fraction(120)),
        Column("cost", Type.NUMBER, Fraction(0), Fraction(1000)),
        Column("refund", Type.NUMBER),
        Column("day", Type.DATE),
        Column("at", Type.TIMESTAMP),
        Column("left_at", Type.TIMESTAMP),
        Column("icu", Type.BOOLEAN),
    ),
    unit="patient_id",
)
CITIES = Schema(
    "cities",
    (Column("city", Type.TEXT), Column("region", Type.TEXT), Column("size", Type.NUMBER)),
)
AGGREGATES = (
    "COUNT(*)",
    "COUNT(refund)",
    "COUNT(DISTINCT patient_id)",
    "COUNT(DISTINCT city)",
    "COUNT(DISTINCT (ward, city))",
    "COUNT(DISTINCT patient_id) FILTER (WHERE icu)",
    "COUNT(DISTINCT CASE WHEN icu THEN patient_id END)",
    "APPROX_COUNT_DISTINCT(city)",
    "COUNT_IF(icu)",
    "COUNT(*) FILTER (WHERE icu)",
    "SUM(cost)",
    "SUM(CASE WHEN icu THEN cost ELSE 0 END)",
    "SUM(CLAMP(refund, 0, 500))",
    "SUM(GREATEST(0, LEAST(refund, 500)))",
    "AVG(cost)",
    "MEAN(cost)",
    "MIN(age)",
    "MAX(age)",
    "MEDIAN(age)",
    "QUANTILE_CONT(age, 0.9)",
    "QUANTILE_CONT(age, [0.25, 0.5, 0.75])",
    "QUANTILE_DISC(age, 0.9)",
    "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age)",
    "PERCENTILE(age, 0.9)",
    "APPROX_QUANTILE(age, 0.9)",
    "APPROX_PERCENTILE(age, 0.9)",
    "VAR_POP(cost)",
    "VAR_SAMP(cost)",
    "VARIANCE(cost)",
    "STDDEV_POP(cost)",
    "STDDEV_SAMP(cost)",
    "STDDEV(cost)",
    "COVAR_POP(age, cost)",
    "COVAR_SAMP(age, cost)",
    "CORR(age, cost)",
    "REGR_SLOPE(cost, age)",
    "TOTAL(cost)",
    "FSUM(cost)",
    "STD(cost)",
    "STDEV(cost)",
    "STDEVP(cost)",
    "VAR(cost)",
    "VARP(cost)",
)
FORMULAS = (
    "SUM(cost) / COUNT(*)",
    "SUM(cost) / NULLIF(COUNT(*), 0)",
    "SUM(cost) / COUNT(cost)",
    "100 * AVG(cost)",
    "SUM(cost) - SUM(CLAMP(refund, 0, 500))",
    "ROUND(AVG(cost) + 0.5, 1)",
    "ABS(-AVG(cost))",
    "(SUM(cost))",
    "SAFE_DIVIDE(SUM(cost), COUNT(*))",
    "STDDEV(cost) / SQRT(COUNT(*))",
    "EXP(AVG(age) / 100) + LN(AVG(cost))",
    "FLOOR(AVG(cost)) + CEIL(AVG(age))",
    "CAST(AVG(cost) AS DECIMAL(10, 2))",
    "TRY_CAST(COUNT(*) AS DOUBLE)",
    "REGR_INTERCEPT(cost, age)",
    "REGR_R2(cost, age)",
    "REGR_COUNT(cost, age)",
    "REGR_AVGX(cost, age)",
    "POWER(AVG(age), 2)",
    "(SELECT COUNT(*) FROM visits WHERE icu) / COUNT(*)",
    "COALESCE(SUM(cost), 0)",
)
CONDITIONS = (
    "age = 65",
    "age <> 65",
    "age < 65",
    "age <= 65",
    "age > 65",
    "age >= 65",
    "age BETWEEN 18 AND 65",
    "ward IN ('A', 'B')",
    "icu AND NOT (age < 18)",
    "icu = TRUE OR cost > 100",
    "cost IS NOT NULL",
    "day >= '2024-01-31'",
    "day >= DATE '2024-01-31'",
    "at < TIMESTAMP '2024-01-31 10:30:00'",
    "cost + 1 > -refund * 2",
    "cost - refund > age / 2",
    "SAFE_DIVIDE(cost, age) > 1",
    "COALESCE(refund, 0) > 0",
    "NULLIF(refund, 0) > 1",
    "ABS(refund) > 1",
    "GREATEST(cost, refund) > 10",
    "LEAST(cost, refund) > 10",
    "CLAMP(refund, 0, 500) = 500",
    "IF(icu, cost, refund) > 10",
    "YEAR(day) = 2024",
    "MONTH(day) = 1",
    "DAY(day) = 31",
    "DAYOFMONTH(day) = 31",
    "HOUR(at) < 12",
    "EXTRACT(ISODOW FROM day) = 1",
    "ISODOW(day) = 1",
    "DATE_PART('year', day) = 2024",
    "DATE_TRUNC('quarter', at) = DATE '2024-04-01'",
    "QUARTER(day) = 1",
    "DAYOFYEAR(day) <= 31",
    "EXTRACT(WEEK FROM day) = 53",
    "WEEK(day) <= 2 OR WEEKOFYEAR(day) >= 52",
    "MINUTE(at) = 0",
    "DATEPART('quarter', day) = 1",
    "DATE(at) = '2024-01-31'",
    "at::DATE = '2024-01-31'",
    "DAYNAME(day) = 'Monday'",
    "MONTHNAME(day) = 'January'",
    "STRFTIME(day, '%Y-%m') = '2024-01'",
    "TO_CHAR(day, 'YYYY-MM') = '2024-01'",
    "DATE_FORMAT(day, 'yyyy-MM') = '2024-01'",
    "FORMAT_DATE('%A', day) = 'Monday'",
    "day - DATE '2024-01-31' > 7",
    "DATE_DIFF('day', day, at) > 7",
    "DATE_DIFF('month', day, at) > 1",
    "DATE_DIFF('hour', at, left_at) > 12",
    "TIMESTAMPDIFF(DAY, at, left_at) <= 3",
    "TIMESTAMPDIFF(YEAR, day, DATE '2024-01-31') >= 10",
    "EXTRACT(YEAR FROM AGE(DATE '2024-01-31', day)) >= 10",
    "left_at - at > INTERVAL '7 days'",
    "left_at > at + INTERVAL 90 MINUTE",
    "EXTRACT(EPOCH FROM left_at - at) / 3600 < 24",
    "SECOND(at) = 0",
    "city LIKE 'New %'",
    "city NOT LIKE '%50!%%' ESCAPE '!'",
    "city ILIKE '%burg'",
    "regexp_matches(city, '^New')",
    "STARTS_WITH(city, 'New ')",
    "PREFIX(city, 'New ')",
    "ENDS_WITH(city, 'burg')",
    "SUFFIX(city, 'burg')",
    "CONTAINS(city, 'a')",
    "SUBSTR(city, 2, 3) = 'erl'",
    "LEFT(city, 1) = 'B'",
    "RIGHT(city, 4) = 'burg'",
    "UPPER(city) = 'BERLIN'",
    "LOWER(TRIM(city)) = 'berlin'",
    "LTRIM(BTRIM(city)) = 'Berlin'",
    "CONCAT(ward, '-', age) = 'A-65'",
    "ward || '/' || city = 'A/Berlin'",
    "LENGTH(city) > 10",
    "icu IS TRUE",
    "age IS DISTINCT FROM 65",
    "age IS NOT DISTINCT FROM 65",
    "age = '65'",
    "ISNULL(refund, 0) > 0",
    "EXTRACT(DOW FROM day) = 0",
    "day >= DATE '2024-12-31' - INTERVAL '30 days'",
    "day >= DATE '2024-12-31' - 30",
    "day >= DATE_TRUNC('month', DATE '2024-12-31')",
    "day >= DATE_SUB(DATE '2024-12-31', INTERVAL 1 MONTH)",
    "day >= DATE_ADD(DATE '2024-12-31', INTERVAL 1 MONTH)",
    "DATE(at) > day + INTERVAL 7 DAY",
    "icu::INT = 1",
    "icu = 1",
    "(ward, icu) IN (('A', TRUE), ('B', FALSE))",
    "TRY_CAST(age AS DOUBLE) > 1",
    "city IN (SELECT city FROM cities WHERE region = 'North')",
    "city = (SELECT MIN(city) FROM cities)",
    "age > (SELECT COUNT(city) FROM cities)",
    "EXISTS (SELECT 1 FROM cities c WHERE c.city = visits.city AND c.region = 'North')",
)
QUERIES = (
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT ward AS unit, COUNT(*) FROM visits GROUP BY 1",
    "SELECT YEAR(day) AS year, MONTH(day) AS month, COUNT(*) FROM visits GROUP BY year, month",
    "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) FROM visits GROUP BY month",
    "SELECT DATE_TRUNC(day, ISOWEEK) AS week, COUNT(*) FROM visits GROUP BY week",
    "SELECT TRUNC(day, 'MM') AS month, COUNT(*) FROM visits GROUP BY month",
    "SELECT CASE WHEN age < 18 THEN 'child' ELSE 'adult' END AS who, COUNT(*) FROM visits"
    " GROUP BY who",
    "SELECT ward, COUNT(*) FROM visits WHERE ward IN ('A', 'B') GROUP BY ward",
    "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) FROM visits WHERE YEAR(day) = 2024 GROUP"
    " BY month",
    "SELECT BIN(age, 0, 100, 10) AS ages, COUNT(*) FROM visits GROUP BY ages",
    "SELECT WIDTH_BUCKET(age, 0, 100, 10) AS ages, COUNT(*) FROM visits GROUP BY ages",
    "SELECT FLOOR(age / 10) * 10 AS ages, COUNT(*) FROM visits GROUP BY ages",
    "SELECT ROUND(cost, -2) AS costs, COUNT(*) FROM visits GROUP BY costs",
    "SELECT FLOOR((age - 5) / 10) * 10 + 5 AS ages, COUNT(*) FROM visits GROUP BY ages",
    "SELECT ROUND(cost / (age + 1)) AS costs, COUNT(*) FROM visits GROUP BY costs",
    "SELECT MAKE_DATE(YEAR(day), MONTH(day), 1) AS month, COUNT(*) FROM visits GROUP BY month",
    "SELECT DATEADD(month, DATEDIFF(month, 0, at), 0) AS month, COUNT(*) FROM dbo.visits GROUP BY"
    " DATEADD(month, DATEDIFF(month, 0, at), 0)",
    'SELECT "public"."visits"."ward", COUNT(*) FROM "public"."visits" GROUP BY 1',
    "SELECT region, COUNT(*) FROM visits JOIN cities USING (city) GROUP BY region",
    "SELECT c.region, COUNT(*) FROM visits v JOIN cities c ON v.city = c.city GROUP BY c.region",
    "SELECT region, COUNT(*) FROM visits LEFT JOIN cities USING (city) GROUP BY region",
    "SELECT region, COUNT(*) FROM visits NATURAL JOIN cities GROUP BY region",
    "SELECT COUNT(*) FROM cities c JOIN visits v ON v.city = c.city AND c.region = 'North'",
    "SELECT COUNT(*) FROM visits v, cities c WHERE v.city = c.city AND c.region = 'North'",
    "SELECT v.city, c.region, COUNT(*) AS n FROM visits v JOIN cities c ON v.city = c.city"
    " GROUP BY v.city ORDER BY n DESC FETCH FIRST 3 ROWS ONLY",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n >= 10 AND ward <> 'C'",
    "SELECT ward, AVG(cost) FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 2 OFFSET 1",
    "EXPLAIN SELECT COUNT(*) FROM visits",
    'SELECT COUNT(*) FROM `visits` WHERE ward = "A"',
)
OVER_ANSWERS = (
    "SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1",
    "SELECT DISTINCT ward FROM visits",
    "SELECT MODE(ward) FROM visits",
    "SELECT HISTOGRAM(ward) FROM visits",
    "SELECT ward, 100 * COUNT(*) / (SELECT COUNT(*) FROM visits) AS share FROM visits GROUP BY"
    " ward",
    "SELECT ward FROM visits GROUP BY ward HAVING AVG(cost) > (SELECT AVG(cost) FROM visits)",
    "SELECT ward, icu, AVG(cost) FROM visits GROUP BY ALL",
    "SELECT ward, COUNT(*) AS n, 100 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits"
    " GROUP BY ward",
    "SELECT ward, AVG(cost), RANK() OVER (ORDER BY AVG(cost) DESC) AS place FROM visits"
    " GROUP BY ward",
    "SELECT MONTH(day) AS month, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY MONTH(day)) AS so_far"
    " FROM visits GROUP BY month",
    "SELECT MONTH(day) AS month, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY MONTH(day)) AS more"
    " FROM visits GROUP BY month",
    "SELECT MONTH(day) AS month, AVG(COUNT(*)) OVER (ORDER BY MONTH(day) ROWS BETWEEN 2 PRECEDING"
    " AND CURRENT ROW) AS smooth FROM visits GROUP BY month",
    "SELECT ward, icu, COUNT(*) AS n FROM visits GROUP BY ward, icu"
    " QUALIFY ROW_NUMBER() OVER (PARTITION BY ward ORDER BY COUNT(*) DESC) = 1",
    "WITH old AS (SELECT ward, cost / 100 AS euros FROM visits WHERE age >= 65)"
    " SELECT ward, AVG(euros) FROM old GROUP BY ward",
    "SELECT ward, n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) WHERE n > 100",
    "SELECT AVG(n), MAX(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)",
    "SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)"
    " WHERE n > 3",
    "SELECT COUNT(DISTINCT patient_id) FROM visits WHERE patient_id IN (SELECT patient_id FROM"
    " visits WHERE icu)",
    "SELECT AVG(cost) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day) AS"
    " place FROM visits) WHERE place = 1",
    "SELECT AVG(age) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id"
    " ORDER BY day DESC) = 1)",
    "WITH p AS (SELECT patient_id, MIN(day) AS first, DATE_DIFF('day', MIN(day), MAX(day)) AS days"
    " FROM visits GROUP BY patient_id) SELECT DATE_TRUNC('month', first) AS month, COUNT(DISTINCT"
    " patient_id) AS people FROM p WHERE days > 30 GROUP BY month",
    "SELECT COUNT(*) FROM (SELECT patient_id, MAX(cost) FILTER (WHERE icu) AS worst FROM visits"
    " GROUP BY patient_id HAVING COUNT(cost) > 2) WHERE worst > 500",
    "WITH w AS (SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward), r AS (SELECT *, RANK() OVER"
    " (ORDER BY s DESC) AS place FROM w) SELECT ward, s FROM r WHERE place <= 2",
    "WITH a AS (SELECT ward, COUNT(*) AS n FROM visits WHERE icu GROUP BY ward), b AS (SELECT ward,"
    " COUNT(*) AS n FROM visits GROUP BY ward) SELECT ward, a.n / b.n AS share FROM b LEFT JOIN a"
    " USING (ward)",
    "SELECT c.region, s.n FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) s JOIN cities"
    " c ON s.city = c.city",
    "SELECT ward, CASE WHEN COUNT(*) >= 100 THEN 'large' ELSE 'small' END AS size FROM visits"
    " GROUP BY ward",
    "SELECT 'Ward ' || ward AS name, GREATEST(COUNT(*) - 10, 0) AS more FROM visits GROUP BY ward",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY CASE ward WHEN 'C' THEN 1 ELSE 2 END",
    "SELECT 'all' AS who, COUNT(*) AS n FROM visits UNION ALL SELECT 'intensive care', COUNT(*)"
    " FROM visits WHERE icu",
    "SELECT ward, MAX(n) FROM (SELECT ward, icu, COUNT(*) AS n FROM visits GROUP BY ward, icu)"
    " GROUP BY ward",
)
OTHERS = (
    SqlRefusal("rows", "Count or add up.", "SELECT * FROM visits"),
    SqlRefusal(
        "a column as it is", "Count it, or put it into GROUP BY.", "SELECT ward FROM visits"
    ),
    SqlRefusal("SUM(DISTINCT)", "Leave out DISTINCT.", "SELECT SUM(DISTINCT cost) FROM visits"),
    SqlRefusal("a file", "Write FROM visits.", "SELECT COUNT(*) FROM 'visits.parquet'"),
    SqlRefusal("a table function", "Write FROM visits.", "SELECT COUNT(*) FROM read_csv('v.csv')"),
    SqlRefusal(
        "a system table", "Write FROM visits.", "SELECT COUNT(*) FROM information_schema.tables"
    ),
    SqlRefusal(
        "LIMIT in a query in FROM",
        "Leave it out: which rows come first is not known.",
        "SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 10) t",
    ),
    DISTINCT,
    SqlRefusal(
        "a table joined to itself",
        "Join a public table.",
        "SELECT COUNT(*) FROM visits JOIN visits v ON visits.city = v.city",
    ),
    SqlRefusal(
        "several statements",
        "Ask one question at a time.",
        "SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits",
    ),
    SqlRefusal(
        "UNION",
        "Write UNION ALL of SELECTs without GROUP BY, or ask two questions.",
        "SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits",
    ),
    OTHER_ROW,
    TILES,
    SqlRefusal("PRAGMA", "Ask with SELECT.", "PRAGMA show_tables"),
    SqlRefusal("COPY", "Ask with SELECT.", "COPY visits TO 'out.csv'"),
    SqlRefusal("ATTACH", "Ask with SELECT.", "ATTACH 'other.db'"),
    SqlRefusal("SET", "Ask with SELECT.", "SET threads = 1"),
)


def worked() -> Iterator[tuple[str, str]]:
    """Every example that works, and what it becomes, in words."""
    for sql in (
        *(f"SELECT {one} FROM visits" for one in (*AGGREGATES, *FORMULAS)),
        *(f"SELECT COUNT(*) FROM visits WHERE {one}" for one in CONDITIONS),
        *QUERIES,
        *OVER_ANSWERS,
    ):
        yield sql, asked_for(sql)


def refused() -> Iterator[SqlRefusal]:
    """Everything that is refused by name."""
    seen: set[str] = set()
    for one in (
        *OTHERS,
        *JOINS.values(),
        *CLAUSES.values(),
        *REFUSED.values(),
        *REFUSED_CALLS.values(),
    ):
        if one.example not in seen:
            seen.add(one.example)
            yield one


def look_up(asked: PublicSelect) -> list[tuple[str, ...]]:
    """The public table of the examples."""
    rows = [{"city": "Bremen", "region": "North"}, {"city": "Kiel", "region": "North"}]
    return [tuple(row[column.name] for column in asked.columns) for row in rows]


def asked_for(sql: str) -> str:
    """What a query about the example table asks for, in words."""
    found = read_question(sql, VISITS, tables={"cities": CITIES}, look_up=look_up)
    joins = [PublicJoin(one.name, one.on, one.added, "0" * 64, one.outer) for one in found.joins]
    units = found.units
    before = None if units is None else PerUnit(tuple(units.features.items()), units.where)
    plan = make_plan(
        VISITS,
        found.aggregates,
        where=found.where,
        groups=found.groups,
        joins=joins,
        max_rows=1 if units is None else None,
        per_unit=None if before is None else units_of(before, VISITS),
    )
    words = plan.in_words().partition("; at most")[0].partition("; all rows of each")[0]
    return f"{words}. {found.arrangement.in_words()}".strip()


def page() -> str:
    """The page in Markdown."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield from _opening()
    yield from _aggregates()
    yield from _formulas()
    yield from _conditions()
    yield from _groups()
    yield from _over_answers()
    yield from _refusals()


def _opening() -> Iterator[str]:
    yield from (
        "# What SQL works",
        "",
        "`session.sql(…)` and `letalone query` read one `SELECT`. It is parsed, translated into a"
        " question of",
        "letalone's own, and thrown away: nothing of it is sent to a database. What has no"
        " translation is refused,",
        "with its place in the text and the nearest thing that works. The refusal depends on the"
        " text and on the",
        "declared columns, never on the data.",
        "",
        f"The text may have {MAX_SQL_LENGTH:,} characters. It is read as"
        f" {', '.join(DIALECTS[:-1])} and {DIALECTS[-1]} write it, in that order;",
        "the first that fits counts (`dialect=` and `--dialect` name one). This page is made from"
        " the translator's tables, and every",
        "example on it is run by the tests.",
        "",
        "The examples are about a table `visits` whose unit is `patient_id`; the bounds of `age`"
        " and `cost` and the",
        "keys of `ward` are declared, those of `refund` are not.",
        "",
    )


def _aggregates() -> Iterator[str]:
    yield from (
        "## Aggregates",
        "",
        'Bounds come from the schema, from `bounds={"refund": (0, 500)}` or `--bounds'
        " refund=0:500`, or stand in the",
        "query: `CLAMP(refund, 0, 500)`, or `GREATEST(0, LEAST(refund, 500))`. `MIN` and `MAX` are"
        " private extreme",
        "quantiles, some rows inwards. `APPROX_…` and `…_DISC` are the same as their namesakes"
        " here: all are chosen",
        "among steps.",
        "",
    )
    yield from _table(AGGREGATES, "SELECT {} FROM visits")


def _formulas() -> Iterator[str]:
    yield from (
        "",
        "## Formulas over aggregates",
        "",
        "A formula is computed on the noisy answers; what is asked for twice is paid for once. Its"
        " interval follows",
        "from those of its parts. Where the divisor may be 0 the interval is open.",
        "",
    )
    yield from _table(FORMULAS, "SELECT {} FROM visits")


def _conditions() -> Iterator[str]:
    yield from (
        "",
        "## Conditions",
        "",
        "Nothing in a condition can fail on a row: `x / 0` is missing, and so is anything computed"
        " from what is",
        "missing, `GREATEST` and `LEAST` too. `/` divides as numbers do, in every dialect. Numbers"
        " are doubles: a",
        "column of 32-bit floats holds 0.100000001 and not 0.1, and decimals that are added may"
        " miss a last digit.",
        "",
        "Functions of text and dates mean the same on every engine. Letters are Unicode code"
        " points, counted from 1: a flag or a letter",
        "with a mark of its own can be several. `UPPER`, `LOWER` and `ILIKE` look at A to Z alone,"
        " and `TRIM` at blanks alone; ä and Ä stay",
        "what they are. `CONCAT` and `||` of something missing are missing (write `COALESCE`), and"
        " so is a text of more than a million",
        "letters that is put together. In a pattern % and _ stand for line breaks, too; a backslash"
        " needs an `ESCAPE`, since dialects",
        "differ. A pattern has at most 1,000 letters and nine %, and of its pieces between % only"
        " the last may have a _. Dates as text",
        "have the letters %Y %y %q %m %d %j %u %H %M %A %a %B %b; names are English, times in UTC."
        " `DATE_DIFF` counts the seconds, minutes, hours,",
        "days, months, quarters or years that begin between two dates, `DATEDIFF(end, start)` days;"
        " `left_at - at` of two times is in whole seconds.",
        "Bounds of lengths and days: `CLAMP(LENGTH(city), 0, 50)`, or by the name that `SELECT`"
        " gives: `AVG(left_at::DATE - day) AS days` with `--bounds days=0:60`.",
        "",
        "Times with a time zone are counted in UTC, and so are their hours, days and months:"
        " 2024-01-01 00:00 in Berlin is in December 2023.",
        "The answer says so where it matters. For local months, store local times without a zone.",
        "",
    )
    yield from _table(CONDITIONS, "SELECT COUNT(*) FROM visits WHERE {}", cut="only rows with ")


def _groups() -> Iterator[str]:
    yield from (
        "",
        "## Groups, joins, order",
        "",
        "Which groups there are is public: declared keys, `keys=` or `--keys`, the values of a"
        " `CASE`, months, ranges, and what",
        "`WHERE` leaves: `ward IN ('A', 'B')`, `age BETWEEN 18 AND 30`, the months of a year or"
        " between two dates (at most 1,000).",
        "Else they are found privately, which takes a delta. `HAVING`, `ORDER BY` and `LIMIT` act"
        " on the noisy answer,",
        "so they cost nothing, and the same question in another order is free; the receipt holds"
        " the whole answer.",
        "`ORDER BY COUNT(*) DESC LIMIT k` sorts noisy counts, which is at least as accurate as"
        " `la.top_k` where all keys are",
        "declared. Both order text by its code points (capitals first, ä after z), as Python does;"
        " `WHERE` does not order",
        "text, since engines differ, and `HAVING` neither ranges nor truth values.",
        "",
        "`DATE_TRUNC` gives a date: the first day of a year, quarter, month or week (Monday), or"
        " the day. Its keys are listed",
        "(`--keys month=2024-01-01,2024-02-01`), follow from `WHERE` or are found privately."
        " Ranges, by `BIN`,"
        " `WIDTH_BUCKET` or `FLOOR`, are shown as",
        "`[0, 10)`; the last has its end, too, and rows outside of all are left out. In other"
        " engines, `WIDTH_BUCKET` puts a value that equals",
        "the upper end above all ranges; here it is in the last one. Quantiles have at most six"
        " digits: 0.333333.",
        "",
        "Another private table is joined on the unit, in Python:"
        ' `visits.sql("… JOIN labs USING (patient_id)", tables={"labs": labs})`, where',
        "`labs` is its session. Of each unit one row of it counts, chosen by a hash, and both data"
        " sets are charged. A column that",
        "both have is read of the first table alone, with its name before it. The command line has"
        " one private table.",
        "",
        'Public tables are given by `tables={"cities": frame}` or `--public cities=cities.csv`.',
        "They are joined in any order, also to each other, each on a unique key; `LEFT JOIN`",
        "keeps rows without a partner. Bounds of their numbers and the keys of their columns are",
        "read from them, and a column that the groups decide, such as the region of each city,",
        "needs no group of its own.",
        "",
    )
    yield from _table(QUERIES, "{}")


def _over_answers() -> Iterator[str]:
    yield from (
        "",
        "## Shares, ranks, and queries within queries",
        "",
        "Windows (`OVER`), `QUALIFY` and a `SELECT` over a grouped one look at the noisy answer, so"
        " they cost nothing more. What",
        "they compute has no range of its own. An aggregate that stands in `ORDER BY` alone is"
        " shown, so that one sees how",
        "sure the order is; `SELECT DISTINCT ward` is `GROUP BY ward` with the rows of each.",
        "",
        "A query in `FROM`, or under `WITH`, that chooses rows and columns is put into the outer"
        " one. One that is grouped by the",
        "unit makes one row of each person, as `.per_unit` does in Python; bounds of its columns"
        " are given by their names. So do",
        "`patient_id IN (SELECT patient_id …)` and `ROW_NUMBER() OVER (PARTITION BY patient_id …) ="
        " 1`. Of a person, `BOOL_OR` and `BOOL_AND` take a missing value",
        "as false, and `ARG_MIN` takes its row as it is, with what is missing there.",
        "",
        "`CASE`, `COALESCE`, `GREATEST`, `LEAST`, comparisons and texts (`CONCAT`, `UPPER`,"
        " `LENGTH`) of keys and aggregates are computed from the",
        "noisy answer, too, and have no ranges. `COALESCE(SUM(cost), 0)` is `SUM(cost)`, which is"
        " never missing here. `UNION ALL` of SELECTs",
        "without groups is one question, whose numbers share ε, laid out as one row for each.",
        "",
        "A number of the same table in brackets, `(SELECT AVG(cost) FROM visits)`, is part of the"
        " same question where it can be: a total of",
        "the same rows is that of the groups, which is free. In `WHERE` it is asked first, with a"
        " quarter of ε, and its answer stands in",
        "the outer question, which has the rest. `letalone query` and Python's"
        " `.release(epsilon=…)` ask both; a service says what to ask first.",
        "",
    )
    yield from _table(OVER_ANSWERS, "{}")


def _refusals() -> Iterator[str]:
    yield from (
        "",
        "## What is refused",
        "",
        "| not answered | instead | example |",
        "|---|---|---|",
    )
    for one in refused():
        yield f"| {_cell(one.what)} | {_cell(one.instead)} | `{_cell(one.example)}` |"
    yield ""


def _table(examples: Iterable[str], frame: str, *, cut: str = "") -> Iterator[str]:
    yield "| SQL | what is asked |"
    yield "|---|---|"
    for one in examples:
        words = asked_for(frame.format(one))
        yield f"| {_code(one)} | {_cell(words.partition(cut)[2] if cut else words)} |"


def _code(sql: str) -> str:
    mark = "``" if "`" in sql else "`"
    space = " " if "`" in sql else ""
    return f"{mark}{space}{_cell(sql)}{space}{mark}"


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
