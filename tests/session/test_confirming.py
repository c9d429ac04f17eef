"""A price that protects hardly anybody is paid on purpose only, on every road of a session."""

import pytest

import letalone as la
from letalone.errors.codes import Code
from session.makers import opened, visits

pytestmark = pytest.mark.guarded
NOT_CONFIRMED = r"confirm=True"


def counted(session):
    return session.bound(max_rows=1).agg(n=la.count())


def refused(act):
    with pytest.raises(la.ParameterError, match=NOT_CONFIRMED) as told:
        act()
    assert told.value.code is Code.NOT_CONFIRMED


def test_epsilon_30_is_refused_before_anything_is_charged_and_answered_when_it_is_meant():
    session = opened()
    refused(lambda: counted(session).release(epsilon=30))
    assert session.spent.epsilon == 0
    assert counted(session).release(epsilon=30, confirm=True).epsilon == 30


def test_an_error_that_was_meant_as_a_percentage_is_refused_with_the_epsilon_it_needs():
    with pytest.raises(la.ParameterError, match="keeps the error asked for"):
        opened().bound(max_rows=10).agg(n=la.count()).release(error=1)


def test_an_interval_without_width_is_refused_below_ten_too():
    session = opened(unit=la.ROW)
    asked = session.agg(n=la.count())
    refused(lambda: asked.release(epsilon=5))
    assert session.spent.epsilon == 0
    assert asked.release(epsilon=3).epsilon == 3
    (row,) = asked.release(epsilon=5, confirm=True).rows()
    assert row["n_low"] == row["n_high"]


def test_sql_batches_bounds_and_auto_limits_are_refused_likewise():
    session = opened()
    sql = f"SELECT COUNT(*) AS n FROM {session.name}"
    refused(lambda: session.sql(sql, epsilon=30))
    refused(lambda: session.batch([counted(session)], epsilon=30))
    refused(lambda: session.private_bounds("cost", epsilon=30))
    refused(lambda: session.bound(max_rows="auto").agg(n=la.count()).release(epsilon=30))
    assert session.spent.epsilon == 0
    assert session.sql(sql, epsilon=30, confirm=True).epsilon <= 30
    assert session.batch([counted(session)], epsilon=30, confirm=True)[0].epsilon == 30


def test_a_repeat_is_free_and_needs_no_second_word():
    session = opened()
    first = counted(session).release(epsilon=30, confirm=True)
    again = counted(session).release(epsilon=30)
    assert again.repeated
    assert again.rows() == first.rows()
    together = session.batch([counted(session)], epsilon=20, confirm=True)
    assert session.batch([counted(session)], epsilon=20)[0].rows() == together[0].rows()


def test_what_does_not_fit_is_refused_for_that():
    session = opened(budget=la.Budget(1))
    with pytest.raises(la.BudgetExceeded):
        counted(session).release(epsilon=30)


def test_whether_it_is_refused_does_not_depend_on_the_rows():
    for rows in (0, 300):
        refused(lambda rows=rows: counted(opened(visits(rows))).release(epsilon=30))


def test_groups_that_are_too_large_to_be_found_are_asked_for_twice_in_python_too():
    session = opened(budget=la.Budget(9, 1e-5))
    counts, price = session.group_by("ward").agg(n=la.count()), {"epsilon": 0.05, "delta": 1e-8}
    assert "would be found" in " ".join(counts.preview(**price).warnings)
    refused(lambda: counts.release(**price))
    assert session.spent.epsilon == 0
    answer = counts.release(**price, confirm=True)
    assert not answer.rows()
    assert "no group was found" in " ".join(repr(answer).split())
