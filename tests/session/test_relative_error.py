"""An error in percent is kept where ε allows it, and released numbers alone decide its price."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import letalone as la
from letalone.session.steps import relative_error
from seeded import SeededBits

ROWS = 5000


def people(rows=ROWS, *, seed=3, budget=100):
    frame = pd.DataFrame({"person": np.arange(rows), "cost": np.arange(rows) % 100})
    session = la.open(frame, unit="person", budget=budget, name="people")
    session._table.bits = SeededBits(seed)
    return session


def counted(session):
    return session.bound(max_rows=1).agg(n=la.count())


def test_one_percent_is_kept_and_the_search_is_a_small_part_of_the_price():
    session = people()
    answer = counted(session).release(error="1 %", epsilon=1)
    assert (answer["n_high"] - answer["n_low"]) / 2 <= 0.0105 * answer["n"]
    assert session.spent.epsilon < 1.3 * answer.asked.epsilon
    assert session.spent.epsilon <= 1
    assert "How large it is was found first" in str(answer)


def test_an_error_of_5_percent_costs_about_a_fifth_of_that():
    dear, cheap = (
        counted(people()).release(error=error, epsilon=1).epsilon for error in ("1 %", "5%")
    )
    assert 4 < dear / cheap < 6


@pytest.mark.parametrize("rows", [0, 3])
def test_a_number_near_0_gets_what_epsilon_allows_and_it_is_said(rows):
    session = people(rows)
    answer = counted(session).release(error="1 %", epsilon=1)
    assert 0.8 <= answer.epsilon <= 1
    assert session.spent.epsilon <= 1
    assert "It may be near 0" in " ".join(str(answer).split())


def test_what_one_percent_would_need_is_said_where_it_is_too_much():
    answer = counted(people(600)).release(error="1 %", epsilon=0.5)
    assert "For 1 % about ε = " in str(answer)


def test_the_same_again_is_free():
    session = people()
    first = counted(session).release(error="2 %", epsilon=1)
    spent = session.spent
    again = counted(session).release(error="2 %", epsilon=1)
    assert again.repeated
    assert again.rows() == first.rows()
    assert session.spent == spent


def test_the_steps_are_a_function_of_the_answers_alone(monkeypatch):
    """Played again from what was released, without a table, the search takes the same steps."""
    told = {}
    ask = relative_error._Asking.release

    def recorded(asking, epsilon):
        told[epsilon] = ask(asking, epsilon)
        return told[epsilon]

    monkeypatch.setattr(relative_error._Asking, "release", recorded)
    answer = counted(people()).release(error="1 %", epsilon=1)
    played = SimpleNamespace(release=told.__getitem__)
    search = relative_error._search(played, Fraction(1, 100), Fraction(1))
    assert search.enough == answer.asked.epsilon
    assert search.spent == sum(told) - answer.asked.epsilon


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"error": "1 %"}, "the most that it may cost"),
        ({"error": "one", "epsilon": 1}, "must be a number, or a part of the answer"),
        ({"error": "0 %", "epsilon": 1}, "above 0 %"),
        ({"error": "100 %", "epsilon": 1}, "below 100 %"),
        ({"error": "1 %", "epsilon": 1, "delta": 1e-6}, "Leave delta out"),
    ],
)
def test_what_is_missing_or_odd_is_refused_before_anything_is_charged(asked, words):
    session = people(10)
    with pytest.raises(la.ParameterError, match=words):
        counted(session).release(**asked)
    assert session.spent.epsilon == 0


def test_more_than_is_left_is_refused_before_the_first_step():
    session = people(10, budget=0.5)
    with pytest.raises(la.BudgetExceeded, match="more than is left"):
        counted(session).release(error="1 %", epsilon=1)
    assert session.spent.epsilon == 0


def test_one_step_alone_cannot_do_it():
    with pytest.raises(la.ParameterError, match="Ask with release"):
        counted(people(10)).price(error="1 %")
    with pytest.raises(la.ParameterError, match="Ask with release"):
        counted(people(10)).epsilon_for(error="1 %")


@pytest.mark.guarded
def test_a_ceiling_above_ten_needs_a_second_word():
    session = people(10)
    with pytest.raises(la.ParameterError, match="confirm=True"):
        counted(session).release(error="1 %", epsilon=20)
    assert session.spent.epsilon == 0
