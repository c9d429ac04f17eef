"""A number of the same table within a question is asked first, and both are charged."""

from fractions import Fraction

import pyarrow as pa
import pytest

import letalone as la
from letalone.errors import BudgetExceeded, ParameterError, UnsupportedQuery
from letalone.errors.remedies import AskInstead
from session.test_sql_habits import EPSILON, SCHEMA, agree, by_duckdb, visits

ABOVE = "SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT AVG(age) FROM visits)"
ANSWERED = (
    ABOVE,
    "SELECT ward, COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits WHERE sex ="
    " 'f') GROUP BY ward",
    "SELECT COUNT(*) AS n FROM visits WHERE ABS(cost - (SELECT AVG(cost) FROM visits)) >"
    " (SELECT STDDEV_POP(cost) FROM visits)",
    "SELECT ward, AVG(cost) AS a FROM visits GROUP BY ward HAVING AVG(cost) > (SELECT AVG(cost)"
    " FROM visits WHERE sex = 'm')",
    "SELECT ward, COUNT(*) / (SELECT COUNT(*) FROM visits WHERE sex = 'm') AS r FROM visits GROUP"
    " BY ward",
)


def opened(table: pa.Table, budget: float = 10**9) -> la.Session:
    return la.open(table, schema=SCHEMA, unit="patient", budget=budget, name="visits")


@pytest.mark.parametrize("sql", ANSWERED)
def test_answers_are_those_of_duckdb(sql: str) -> None:
    with opened(visits()) as session:
        answer = session.sql(sql, max_rows=50).release(epsilon=4 * EPSILON)
    assert agree(answer.rows(), by_duckdb(sql), sorted_=False)


def test_both_are_charged_and_told_and_asked_again_they_are_free() -> None:
    with opened(visits(), 2) as session:
        first = session.sql(ABOVE, max_rows=10).release(epsilon=1)
        assert session.spent.epsilon == 1
        assert first.asked.epsilon == Fraction(3, 4)
        assert "SELECT AVG(age) FROM visits is " in (first.standing.remark or "")
        again = session.sql(ABOVE, max_rows=10).release(epsilon=1)
        assert session.spent.epsilon == 1
        assert again.rows() == first.rows()


def test_nothing_is_asked_where_both_do_not_fit() -> None:
    with opened(visits(), 0.5) as session:
        with pytest.raises(BudgetExceeded, match="Nothing was charged"):
            session.sql(ABOVE, max_rows=10).release(epsilon=1)
        assert session.spent.epsilon == 0


def test_the_split_does_not_depend_on_the_data() -> None:
    with opened(visits().slice(0, 0), 2) as session:
        answer = session.sql(ABOVE, max_rows=10).release(epsilon=1)
        assert (answer.asked.epsilon, session.spent.epsilon) == (Fraction(3, 4), 1)


def test_a_step_that_is_added_to_both_is_refused_and_not_forgotten() -> None:
    with opened(visits()) as session, pytest.raises(ParameterError, match="into the SQL"):
        session.sql(ABOVE).where(la.col("sex") == "f")


def test_bounds_on_groups_that_are_added_hold() -> None:
    sql = ABOVE.replace("COUNT(*) AS n", "ward, COUNT(*) AS n", 1) + " GROUP BY ward"
    with opened(visits(), 2) as session:
        answer = session.sql(sql, max_rows=10).bound(max_groups=2).release(epsilon=1)
    assert "2 groups" in answer.asked.question


def test_both_are_free_again_when_nothing_is_left() -> None:
    with opened(visits(), 1) as session:
        first = session.sql(ABOVE, max_rows=10).release(epsilon=1)
        assert session.sql(ABOVE, max_rows=10).release(epsilon=1).rows() == first.rows()


def test_one_price_is_refused_with_the_question_to_ask_first() -> None:
    with opened(visits()) as session, pytest.raises(UnsupportedQuery) as caught:
        session.sql(ABOVE).preview(epsilon=1)
    assert caught.value.problem.remedies == (AskInstead("SELECT AVG(age) FROM visits"),)
