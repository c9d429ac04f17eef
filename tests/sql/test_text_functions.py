"""Functions of text and dates in SQL: the same expressions as in Python, whoever wrote the SQL."""

from datetime import date

import pytest

from letalone.errors import LetaloneError, ParameterError, UnsupportedQuery
from letalone.plans.expressions import Expression, col, same
from letalone.plans.plan import make_plan
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.sql.question import read_question
from sql.schemas import SCHEMA, condition, plan, read

WARD, CITY, DAY, AT = col("ward"), col("city"), col("day"), col("at")


def months(of: Expression) -> Expression:
    """Which month it is, counted from the year 0."""
    return of.start_of("day").year() * 12 + of.start_of("day").month()


READ = {
    "ward LIKE 'A%'": WARD.like("A%"),
    "ward ~~ 'A%'": WARD.like("A%"),
    "ward NOT LIKE '_'": ~WARD.like("_"),
    "NOT ward LIKE '_'": ~WARD.like("_"),
    "ward ILIKE 'A%'": WARD.ilike("a%"),
    "ward NOT ILIKE 'A%'": ~WARD.ilike("a%"),
    "ward LIKE '50!%%' ESCAPE '!'": WARD.starts_with("50%"),
    "ward LIKE '\\%' ESCAPE '\\'": WARD.like("!%", escape="!"),
    "ward NOT LIKE '!_' ESCAPE '!'": ~WARD.like("!_", escape="!"),
    "STARTS_WITH(ward, 'A_')": WARD.starts_with("A_"),
    "STARTSWITH(ward, 'A')": WARD.starts_with("A"),
    "prefix(ward, 'A')": WARD.starts_with("A"),
    "ward ^@ 'A'": WARD.starts_with("A"),
    "ENDS_WITH(ward, '%')": WARD.ends_with("%"),
    "suffix(ward, 'A')": WARD.ends_with("A"),
    "CONTAINS(ward, 'it''s')": WARD.contains("it's"),
    "SUBSTR(ward, 2) = 'A'": WARD.substr(2) == "A",
    "SUBSTRING(ward FROM 1 FOR 3) = 'A'": WARD.substr(1, 3) == "A",
    "LEFT(ward, 2) = 'A'": WARD.substr(1, 2) == "A",
    "RIGHT(ward, 2) = 'A'": WARD.substr(-2) == "A",
    "UPPER(ward) = 'A'": WARD.upper() == "A",
    "LOWER(TRIM(ward)) = 'a'": WARD.trim().lower() == "a",
    "BTRIM(ward) = 'a'": WARD.trim() == "a",
    "LENGTH(ward) > 2": WARD.length() > 2,
    "CHAR_LENGTH(ward) > 2": WARD.length() > 2,
    "LEN(ward) > 2": WARD.length() > 2,
    "CONCAT(ward, '-', age) = 'A-1'": WARD.concat("-", col("Age")) == "A-1",
    "ward || '-' || city = 'A-B'": WARD.concat("-", CITY) == "A-B",
    "ward || ('-' || city) = 'A-B'": WARD.concat("-", CITY) == "A-B",
    "COALESCE(ward, 'x') = 'A'": WARD.if_null("x") == "A",
    "IFNULL(ward, city) = 'A'": WARD.if_null(CITY) == "A",
    "NVL(ward, 'x') = 'A'": WARD.if_null("x") == "A",
    "EXTRACT(QUARTER FROM day) = 1": DAY.quarter() == 1,
    "QUARTER(day) = 1": DAY.quarter() == 1,
    "DATE_PART('quarter', day) = 1": DAY.quarter() == 1,
    "DAYOFYEAR(day) = 1": DAY.part("yearday") == 1,
    "MINUTE(at) = 1": AT.part("minute") == 1,
    "DAYNAME(day) = 'Monday'": DAY.strftime("%A") == "Monday",
    "MONTHNAME(day) = 'May'": DAY.strftime("%B") == "May",
    "STRFTIME(day, '%Y-%m') = '2024-01'": DAY.strftime("%Y-%m") == "2024-01",
    "STRFTIME('%Y-%m', day) = '2024-01'": DAY.strftime("%Y-%m") == "2024-01",
    "TO_CHAR(at, 'YYYY-MM-DD HH24:MI') = 'x'": AT.strftime("%Y-%m-%d %H:%M") == "x",
    "TO_CHAR(day, 'FMDay Dy ID DDD Q') = 'x'": DAY.strftime("%A %a %u %j %q") == "x",
    "DATE_FORMAT(day, 'yyyy-MM EEEE') = 'x'": DAY.strftime("%Y-%m %A") == "x",
    "DATE_FORMAT(day, '%Y-%m') = 'x'": DAY.strftime("%Y-%m") == "x",
    "FORMAT_DATE('%Y', day) = 'x'": DAY.strftime("%Y") == "x",
    "DATE(at) = DATE '2024-01-31'": AT.start_of("day") == date(2024, 1, 31),
    "at::DATE = DATE '2024-01-31'": AT.start_of("day") == date(2024, 1, 31),
    "day - DATE '2024-01-31' > 7": DAY - date(2024, 1, 31) > 7,
    "DATE_DIFF('day', day, at) > 7": AT.days_since(DAY) > 7,
    "DATEDIFF('day', at, day) > 7": DAY.days_since(AT) > 7,
    "DATEDIFF(day, day, at) > 7": AT.days_since(DAY) > 7,
    "DATEDIFF(at, day) > 7": AT.days_since(DAY) > 7,
    "DATE_DIFF(at, day, DAY) > 7": AT.days_since(DAY) > 7,
    "DATE_DIFF('month', day, at) = 1": months(AT) - months(DAY) == 1,
    "DATE_DIFF('year', day, at) = 1": AT.start_of("day").year() - DAY.start_of("day").year() == 1,
}


@pytest.mark.parametrize("sql", READ)
def test_sql_is_the_expression_that_it_says(sql: str) -> None:
    assert same(condition(sql), READ[sql])


@pytest.mark.parametrize(
    "sql",
    [
        "ward LIKE 'a\\%'",
        "ward NOT LIKE 'a\\_b'",
        "ward ILIKE '\\\\'",
    ],
)
@pytest.mark.parametrize("dialect", [None, "duckdb", "postgres", "spark", "bigquery"])
def test_a_backslash_without_an_escape_is_refused_by_whoever_reads_it(sql, dialect) -> None:
    """Some parsers take the backslash away: then % would be read as any letters."""
    with pytest.raises(ParameterError, match="backslash in a pattern"):
        read(f"SELECT COUNT(*) FROM visits WHERE {sql}", dialect=dialect)


def test_a_backslash_that_the_parser_takes_away_is_no_escape_sign() -> None:
    sql = "SELECT COUNT(*) FROM visits WHERE ward LIKE 'a\\%' ESCAPE '\\'"
    assert same(read(sql, dialect="duckdb").where, WARD.like("a!%", escape="!"))
    with pytest.raises(LetaloneError):
        read(sql, dialect="spark")


@pytest.mark.parametrize(
    ("call", "dialect"),
    [
        ("DATE_DIFF(day, at, month)", None),  # which is the unit?
        ("DATEDIFF(year, at, day)", None),
        ("DATEDIFF(MONTH, day, at)", "spark"),  # whole months there
        ("DATE_DIFF('day', at, day)", "bigquery"),
        ("DATE_DIFF(at, day, DAY)", "duckdb"),
        ("DATE_DIFF('day', at, day, day)", None),
        ("DATE_DIFF('day')", None),
        ("LENGTH(ward, city)", None),
        ("STRFTIME(day, '%Y', ward)", None),
        ("TO_CHAR(day, 'YYYY', ward)", "postgres"),
        ("LENGTH(ward, city)", "bigquery"),
        ("DATE(at, day)", "spark"),
        ("STRFTIME(day)", None),
        ("PREFIX(ward)", None),
        ("SUBSTR(ward)", None),
    ],
)
def test_what_can_be_meant_in_two_ways_is_refused(call: str, dialect: str | None) -> None:
    sql = f"SELECT COUNT(*) FROM visits WHERE {call} = 1"
    with pytest.raises(LetaloneError):
        make_plan(
            SCHEMA, read(sql, dialect=dialect).aggregates, where=read(sql, dialect=dialect).where
        )


def test_a_date_in_quotes_is_read_beside_a_difference() -> None:
    for sql in ("DATE_DIFF('day', '2024-01-31', day) > 7", "day - '2024-01-31' > 7"):
        where = repr(plan(f"SELECT COUNT(*) FROM visits WHERE {sql}").where)
        assert "Literal(value=datetime.date(2024, 1, 31))" in where


def test_the_dialect_of_spark_writes_dates_by_its_own_letters() -> None:
    sql = "SELECT COUNT(*) FROM visits WHERE date_format(day, 'yyyy-MM') = '2024-01'"
    assert same(read(sql, dialect="spark").where, DAY.strftime("%Y-%m") == "2024-01")


def test_names_of_days_and_quarters_need_no_keys_and_other_texts_do() -> None:
    found = plan("SELECT DAYNAME(day) AS d, COUNT(*) FROM visits GROUP BY d")
    assert found.keys is not None
    assert [key for (key,) in found.keys][:2] == ["Monday", "Tuesday"]
    by_quarter = plan("SELECT QUARTER(day), COUNT(*) FROM visits GROUP BY 1")
    assert by_quarter.keys == ((1,), (2,), (3,), (4,))
    assert [group.name for group in by_quarter.groups] == ["quarter_day"]
    for text in ("UPPER(ward)", "STRFTIME(day, '%Y-%m')", "ward || city", "LEFT(ward, 1)"):
        assert plan(f"SELECT {text} AS x, COUNT(*) FROM visits GROUP BY x").keys is None


@pytest.mark.parametrize("of", ["LENGTH(ward)", "DATE_DIFF('day', day, at)", "day - day"])
def test_lengths_and_days_are_added_up_only_within_given_bounds(of: str) -> None:
    with pytest.raises(ParameterError, match="no declared"):
        plan(f"SELECT SUM({of}) FROM visits")
    assert plan(f"SELECT SUM(CLAMP({of}, 0, 50)) FROM visits")


@pytest.mark.parametrize(
    "sql",
    [
        "patient_id LIKE '4711%'",
        "UPPER(patient_id) = 'A'",
        "LENGTH(patient_id) = 4",
        "patient_id || 'x' = '4711x'",
        "CONCAT(ward, patient_id) IS NULL",
    ],
)
def test_functions_of_text_name_nobody_in_sql(sql: str) -> None:
    columns = tuple(c for c in SCHEMA.columns if c.name != "patient_id")
    schema = Schema("visits", (Column("patient_id", Type.TEXT), *columns), unit="patient_id")
    asked = read_question(f"SELECT COUNT(*) FROM visits WHERE {sql}", schema)
    with pytest.raises(UnsupportedQuery, match="identifies people"):
        make_plan(schema, asked.aggregates, where=asked.where)
