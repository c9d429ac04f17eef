"""The small SQL: what it reads is what is meant, and everything else is refused in words."""

import logging
from contextlib import suppress
from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.errors import LetaloneError, ParameterError, UnsupportedQuery
from letalone.plans.aggregates import count, count_distinct, mean
from letalone.plans.aggregates import sum as total
from letalone.plans.expressions import Comparison, Expression, Literal, col, same
from letalone.plans.query import make_plan
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.tables.sql_reader import plan_parts

SCHEMA = Schema(
    "visits",
    (
        Column("patient_id", Type.INTEGER),
        Column("ward", Type.TEXT),
        Column("Age", Type.INTEGER),
        Column("cost", Type.NUMBER, Fraction(0), Fraction(1000)),
        Column("day", Type.DATE),
        Column("at", Type.TIMESTAMP),
        Column("ok", Type.BOOLEAN),
        Column("odd name", Type.TEXT),
    ),
    unit="patient_id",
)


def condition(sql: str) -> Expression:
    where = plan_parts(f"SELECT COUNT(*) FROM visits WHERE {sql}", SCHEMA).where
    assert where is not None
    return where


def test_a_question_becomes_the_plan_that_is_written_in_python() -> None:
    parts = plan_parts(
        'SELECT ward, COUNT(*) AS n, COUNT(DISTINCT patient_id), SUM(cost), avg("cost") a '
        "FROM Visits v WHERE v.age >= 65 AND ward IN ('A', 'B') GROUP BY v.ward;",
        SCHEMA,
    )
    read = make_plan(SCHEMA, parts.aggregates, where=parts.where, groups=parts.groups)
    asked = {
        "n": count(),
        "count_distinct": count_distinct("patient_id"),
        "sum_cost": total("cost"),
        "a": mean("cost"),
    }
    where = (col("Age") >= 65) & col("ward").isin(["A", "B"])
    assert read.digest() == make_plan(SCHEMA, asked, where=where, groups=["ward"]).digest()


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        ("age = 65", col("Age") == 65),
        ("65 < age", Comparison("<", Literal(65), col("Age"))),
        ("cost <> -1.5e3", col("cost") != Fraction(-1500)),
        ("cost != 0.1", col("cost") != Fraction(1, 10)),
        ("ok", col("ok")),
        ("NOT ok", ~col("ok")),
        ("ok = TRUE OR ok = false", (col("ok") == True) | (col("ok") == False)),  # noqa: E712
        ("age IS NULL", col("Age").is_null()),
        ("age IS NOT NULL", ~col("Age").is_null()),
        ("ward = 'it''s'", col("ward") == "it's"),
        ("\"odd name\" = 'x'", col("odd name") == "x"),
        ("ward NOT IN ('A')", ~col("ward").isin(["A"])),
        ("age BETWEEN 1 AND 9", (col("Age") >= 1) & (col("Age") <= 9)),
        ("NOT (ok OR ok) AND ok", ~(col("ok") | col("ok")) & col("ok")),
        ("(cost + 1) * 2 > 3 - cost / 4", (col("cost") + 1) * 2 > 3 - col("cost") / 4),
        ("-age < 0", -col("Age") < 0),
        ("day >= '2024-01-31'", col("day") >= date(2024, 1, 31)),
        ("DATE '2024-01-31' <= day", Comparison("<=", Literal(date(2024, 1, 31)), col("day"))),
        ("day IN ('2024-01-31')", col("day").isin([date(2024, 1, 31)])),
        ("at < TIMESTAMP '2024-01-31 10:30:00'", col("at") < datetime(2024, 1, 31, 10, 30)),
        ("at >= '2024-01-31'", col("at") >= datetime(2024, 1, 31)),
    ],
)
def test_a_condition_is_read_as_it_is_meant(sql: str, meant: Expression) -> None:
    read = condition(sql)
    assert same(read, meant)
    make_plan(SCHEMA, {"n": count()}, where=read)


REFUSED = [
    "SELECT * FROM visits",
    "SELECT ward FROM visits",
    "SELECT ward, COUNT(*) FROM visits",
    "SELECT ward w, COUNT(*) FROM visits GROUP BY ward",
    "SELECT COUNT(ward) FROM visits",
    "SELECT COUNT(* EXCLUDE (ward)) FROM visits",
    "SELECT COUNT(DISTINCT ward, age) FROM visits",
    "SELECT COUNT(DISTINCT age + 1) FROM visits",
    "SELECT SUM(DISTINCT cost) FROM visits",
    "SELECT SUM(cost + 1) FROM visits",
    "SELECT SUM(cost ORDER BY age) FROM visits",
    "SELECT SUM(cost) FILTER (WHERE ok) FROM visits",
    "SELECT COUNT(*) OVER () FROM visits",
    "SELECT MAX(cost) FROM visits",
    "SELECT whatever(cost) FROM visits",
    "SELECT 1 FROM visits",
    "SELECT COUNT(*) + 1 FROM visits",
    "SELECT DISTINCT COUNT(*) FROM visits",
    "SELECT COUNT(*) INTO t FROM visits",
    "SELECT COUNT(*) FROM visits, visits",
    "SELECT COUNT(*) FROM visits JOIN visits USING (ward)",
    "SELECT COUNT(*) FROM (SELECT * FROM visits)",
    "SELECT COUNT(*) FROM read_csv('x.csv')",
    "SELECT COUNT(*) FROM visits v(a)",
    "SELECT COUNT(*) FROM visits TABLESAMPLE 10%",
    "SELECT COUNT(*) FROM visits GROUP BY ALL",
    "SELECT COUNT(*) FROM visits GROUP BY 1",
    "SELECT COUNT(*) FROM visits GROUP BY ROLLUP (ward)",
    "SELECT COUNT(*) FROM visits GROUP BY ward, ()",
    "SELECT COUNT(*) FROM visits GROUP BY age + 1",
    "SELECT COUNT(*) FROM visits HAVING COUNT(*) > 1",
    "SELECT COUNT(*) FROM visits ORDER BY 1",
    "SELECT COUNT(*) FROM visits LIMIT 1",
    "SELECT COUNT(*) FROM visits OFFSET 1",
    "SELECT COUNT(*) FROM visits QUALIFY TRUE",
    "SELECT COUNT(*) FROM visits FOR UPDATE",
    "SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits",
    "WITH t AS (SELECT 1) SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits",
    "DROP TABLE visits",
    "CALL x()",
    "EXPLAIN SELECT COUNT(*) FROM visits",
    "PRAGMA x",
    "COPY visits TO 'x'",
]
REFUSED_CONDITIONS = [
    "ward LIKE 'A%'",
    "lower(ward) = 'a'",
    "random() < 0.5",
    "age IN (SELECT 1)",
    "age IN (patient_id)",
    "age IN (1, NULL)",
    "EXISTS (SELECT 1)",
    "age = (SELECT 1)",
    "age = NULL",
    "ok IS TRUE",
    "age IS NOT DISTINCT FROM 1",
    "age BETWEEN SYMMETRIC 9 AND 1",
    "cost::INTEGER = 1",
    "TRY_CAST(ward AS INTEGER) = 1",
    "age // 2 = 1",
    "age % 2 = 1",
    "age & 1 = 1",
    "ward || 'x' = 'y'",
    "day + INTERVAL 1 DAY > day",
    "CASE WHEN ok THEN TRUE END",
    "age = ?",
    "age = $name",
    "age = ANY([1])",
    "x'00' = ward",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_not_translated_is_refused(sql: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(UnsupportedQuery, match=r"\.$"):
        plan_parts(sql, SCHEMA)
    assert caplog.text == ""


@pytest.mark.parametrize("sql", REFUSED_CONDITIONS)
def test_what_is_not_translated_is_refused_in_a_condition(sql: str) -> None:
    with pytest.raises(LetaloneError, match=r"\.$"):
        condition(sql)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("", "is empty"),
        ("-- a remark", "is empty"),
        ("SELECT", "not understood|no FROM"),
        ("SELECT COUNT(*", "not understood"),
        ("SELECT COUNT(*) FROM visits WHERE ward = 'A", "not understood"),
        ("SELECT COUNT(*) FROM visits WHERE age =", "not understood"),
        ("SELECT COUNT(*)", "no FROM. The table is called visits"),
        ("SELECT COUNT(*) FROM visit", "called visits"),
        ("SELECT COUNT(*) FROM main.visits", "no table 'main.visits'"),
        ("SELECT COUNT(*) FROM visits.csv", "no table 'visits.csv'"),
        ('SELECT COUNT(*) FROM "Visits"', "called visits"),
        ("SELECT SUM(csot) FROM visits", "Did you mean 'cost'"),
        ('SELECT SUM("age") FROM visits', "'age' is not in table"),
        ("SELECT SUM(t.cost) FROM visits", "no table 't'"),
        ("SELECT SUM(visits.cost) FROM visits v", "no table 'visits'"),
        ("SELECT SUM(cost), SUM(cost) FROM visits", "Name one"),
        ("SELECT COUNT(*) FROM visits WHERE day > '31.1.2024'", "write it as '2024-01-31'"),
        ("SELECT COUNT(*) FROM visits WHERE age = 1e999999999", "must be a finite number"),
        (f"SELECT COUNT(*) FROM visits WHERE {'(' * 4000}ok{')' * 4000}", "nested too deeply"),
        (f"SELECT COUNT(*) FROM visits WHERE ward = '{'x' * 10_000}'", "more than 10,000"),
    ],
)
def test_a_slip_is_named(sql: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        plan_parts(sql, SCHEMA)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    for sql in (text, f"SELECT COUNT(*) FROM visits WHERE {text}", f"SELECT {text} FROM visits"):
        with suppress(LetaloneError):
            plan_parts(sql, SCHEMA)


def test_names_that_need_quotes_are_shown_with_them() -> None:
    odd = Schema("my data", SCHEMA.columns)
    with pytest.raises(ParameterError, match='called "my data"'):
        plan_parts("SELECT COUNT(*) FROM my", odd)
    assert plan_parts('SELECT COUNT(*) FROM "my data"', odd).aggregates.keys() == {"count"}
