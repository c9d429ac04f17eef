"""SQL that is refused comes with an edit after which it is read, where there is one."""

import pytest

from letalone.errors import LetaloneError
from letalone.errors.codes import Code
from letalone.errors.problem import Argument
from letalone.errors.remedies import ClampExpression, EditSql, LeaveOut
from letalone.plans.plan import make_plan
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.sql.edits import apply_edit, clamp_expressions
from letalone.sql.question import read_question

SCHEMA = Schema(
    "visits",
    (
        Column("patient_id", Type.INTEGER),
        Column("ward", Type.TEXT),
        Column("cost", Type.NUMBER),
        Column("stay", Type.INTEGER),
        Column("day of", Type.DATE),
    ),
    unit="patient_id",
)


def refuse(sql: str, **options: str) -> LetaloneError:
    with pytest.raises(LetaloneError) as caught:
        read_question(sql, SCHEMA, **options)
    return caught.value


@pytest.mark.parametrize(
    ("sql", "mended"),
    [
        ("SELECT * FROM visits", "SELECT COUNT(*) FROM visits"),
        ("SELECT AVG(coast) FROM visits", "SELECT AVG(cost) FROM visits"),
        (
            "SELECT wrd, AVG(coast) FROM visit GROUP BY wrd",
            "SELECT ward, AVG(cost) FROM visits GROUP BY ward",
        ),
        ("EXPLAIN SELECT SUM(csot) FROM visits", "EXPLAIN SELECT SUM(cost) FROM visits"),
        ("SELECT COUNT(*) FROM main.visitors AS v", "SELECT COUNT(*) FROM visits AS v"),
        ("SELECT COUNT(*) FROM 'visits.csv'", "SELECT COUNT(*) FROM visits"),
        ("SELECT COUNT(day_of) FROM visits", 'SELECT COUNT("day of") FROM visits'),
        (
            "SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY cost LIMIT 3",
            "SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 3",
        ),
        (
            "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING cost > 3",
            "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        ),
        (
            "SELECT ward, COUNT(*) FROM visits",
            "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        ),
        (
            'SELECT ward, YEAR("day of") AS y, COUNT(*) AS n FROM visits WHERE stay > 1'
            " ORDER BY n;",
            'SELECT ward, YEAR("day of") AS y, COUNT(*) AS n FROM visits WHERE stay > 1'
            ' GROUP BY ward, YEAR("day of") ORDER BY n;',
        ),
    ],
)
def test_the_edit_gives_sql_that_is_read(sql: str, mended: str) -> None:
    (edit,) = refuse(sql).remedies
    assert isinstance(edit, EditSql)
    assert apply_edit(sql, edit) == mended
    assert read_question(mended, SCHEMA)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward FROM visits",
        "SELECT COUNT( FROM visits",
        "DROP TABLE visits",
        "SELECT STRING_AGG(ward, ',') FROM visits",
    ],
)
def test_where_no_edit_helps_no_other_question_is_offered(sql: str) -> None:
    assert refuse(sql).remedies == ()
    assert "Another question" not in str(refuse(sql))


def test_a_refusal_has_a_code_and_the_place_in_the_text() -> None:
    sql = "SELECT COUNT(*) FROM visits WHERE ward SIMILAR TO 'A%'"
    error = refuse(sql)
    assert error.code is Code.SQL_NOT_SUPPORTED
    assert error.facts["construct"] == "Not answered: SIMILAR TO"
    assert sql[slice(*error.facts["span"])] == "ward"
    assert refuse("SELECT AVG(coast) FROM visits").code is Code.UNKNOWN_COLUMN


def test_a_dialect_that_does_not_fit_is_left_out() -> None:
    error = refuse("SELECT COUNT(*) FROM `visits`", dialect="duckdb")
    assert error.remedies[0] == LeaveOut(Argument("dialect"))
    assert refuse("SELECT 1", dialect="oracle").remedies == (LeaveOut(Argument("dialect")),)


@pytest.mark.parametrize(
    "expression",
    [
        "(cost + 2) / stay",
        "DATE '2025-01-01' - \"day of\"::DATE",
        "CAST(\"day of\" AS DATE) - DATE '2020-01-01'",
        "stay::DECIMAL / stay::DOUBLE",
    ],
)
def test_an_expression_without_bounds_is_clamped_where_it_stands(expression: str) -> None:
    sql = f"SELECT AVG({expression}) AS c FROM visits"
    question = read_question(sql, SCHEMA)
    with pytest.raises(LetaloneError) as caught:
        make_plan(SCHEMA, question.aggregates)
    edit, clamp = clamp_expressions(caught.value.problem, question.places(), sql).remedies
    assert isinstance(clamp, ClampExpression)
    assert isinstance(edit, EditSql)
    mended = f"SELECT AVG(CLAMP({expression}, 0, 1000)) AS c FROM visits"
    assert apply_edit(sql, edit) == mended
    assert make_plan(SCHEMA, read_question(mended, SCHEMA).aggregates)
