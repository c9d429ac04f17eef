"""Questions: frozen, in any order the same, complete or refused in words."""

from dataclasses import FrozenInstanceError
from itertools import permutations
from typing import Any

import pandas as pd
import pytest

import letalone as la
from session.makers import by_ward, opened, visits

STEPS = {
    "where": lambda q: q.where(la.col("half") < 500),
    "derive": lambda q: q.derive(half=la.col("cost") / 2),
    "group": lambda q: q.group_by("ward", keys=["A"]),
    "agg": lambda q: q.agg(n=la.count(), m=la.mean("half", lower=0, upper=10)),
    "bound": lambda q: q.bound(max_rows=3),
}


def test_the_order_of_the_steps_does_not_matter() -> None:
    session = opened()
    digests = set()
    for order in permutations(STEPS):
        query: Any = session
        for step in order:
            query = STEPS[step](query)
        digests.add(query.plan.digest())
    assert len(digests) == 1


def test_each_step_gives_a_new_question_and_changes_none() -> None:
    query = opened().agg(n=la.count())
    before = query.plan
    query.where(la.col("age") > 3)
    query.agg(m=la.mean("cost", lower=0, upper=1))
    query.bound(max_rows=1)
    assert query.plan == before
    with pytest.raises(FrozenInstanceError):
        query.clip = True  # pyright: ignore[reportAttributeAccessIssue]


def test_conditions_add_up() -> None:
    session = opened(visits(), seed=3)
    one, two = la.col("age") >= 20, la.col("age") < 40
    both = session.where(one, two).agg(n=la.count())
    assert both.plan == session.where(one).where(two).agg(n=la.count()).plan
    exact = len(visits().query("20 <= age < 40"))
    assert abs(both.bound(max_rows=100).release(10**4).rows()[0]["n"] - exact) <= 1


def test_keys_that_can_be_listed_once_only_are_kept() -> None:
    query = opened().group_by("ward", keys=iter(["A", "B"])).agg(n=la.count())
    assert len(query.release(1).rows()) == len(query.release(2).rows()) == 2


def test_groups_by_expressions_and_ranges() -> None:
    session = opened(seed=4)
    query = session.group_by(la.bins("age", 0, 100, 50), old=la.col("age") >= 65)
    rows = query.agg(n=la.count()).bound(max_rows=100).release(10**5).rows()
    found = {(row["age"], row["old"]): row["n"] for row in rows}
    frame = visits()
    assert found["[0, 50)", False] == (frame["age"] < 50).sum()
    assert found["[0, 50)", True] == 0
    assert found["[50, 100]", True] == (frame["age"] >= 65).sum()


def test_a_public_table_is_joined() -> None:
    session = opened(seed=5)
    wards = pd.DataFrame({"code": ["A", "B", "Z"], "floor": [1, 2, 9]})
    query = session.join(wards, on={"ward": "code"}, name="wards")
    found = query.group_by("floor", keys=[1, 2, 9]).agg(n=la.count()).bound(max_rows=100)
    rows = {row["floor"]: row["n"] for row in found.release(10**5).rows()}
    counts = visits()["ward"].value_counts()
    assert rows == {1: counts["A"], 2: counts["B"], 9: 0}
    other = session.join(wards.assign(floor=[2, 1, 9]), on={"ward": "code"}, name="wards")
    again = other.group_by("floor", keys=[1, 2, 9]).agg(n=la.count()).bound(max_rows=100)
    assert again.plan.digest() != found.plan.digest(), "another public table, another question"
    rows = {row["floor"]: row["n"] for row in again.release(10**5).rows()}
    assert rows == {1: counts["B"], 2: counts["A"], 9: 0}


@pytest.mark.parametrize(
    ("table", "on", "words"),
    [
        (pd.DataFrame({"ward": ["A", "A"], "f": [1, 2]}), "ward", "two rows with the same ward"),
        (pd.DataFrame({"ward": [1], "f": [2]}), "ward", "must have the same type"),
        (pd.DataFrame({"w": ["A"]}), "ward", "Column 'ward' is not in table 'public'"),
        (pd.DataFrame({"ward": ["A"], "f": [1]}), "wart", "Column 'wart' is not in table 'data'"),
        (pd.DataFrame({"ward": ["A"], "f": [1]}), [], "on is"),
        ([("A", 1)], "ward", "The public table is list, but must be a pandas"),
    ],
)
def test_a_public_table_that_cannot_be_joined_is_refused(table: Any, on: Any, words: str) -> None:
    with pytest.raises(la.ParameterError, match=words):
        opened().join(table, on=on)


def test_unique_on_one_column_is_not_unique_on_another() -> None:
    """The check is made for each set of columns, not once for the table."""
    frame = pd.DataFrame({"ward": ["A", "B"], "age": [1, 1]})
    session = opened()
    session.join(frame.rename(columns={"age": "other"}), on="ward")
    wards = frame.rename(columns={"ward": "name"})
    session.join(wards, on={"ward": "name", "age": "age"})
    with pytest.raises(la.ParameterError, match="two rows with the same age"):
        session.join(wards, on="age")


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda s: s.agg(), "has 0 aggregates"),
        (lambda s: s.where(), "where got no condition"),
        (lambda s: s.group_by(), "group_by got no column"),
        (lambda s: s.group_by("ward").group_by("age"), "group_by was called twice"),
        (lambda s: s.agg(n=la.count()).agg(n=la.count()), "asked for twice"),
        (lambda s: s.agg(n=3), "n is 3, but must be an aggregate"),
        (lambda s: s.agg(m=la.mean("cost")), "lower"),
        (lambda s: s.agg(m=la.mean("csot", lower=0, upper=1)), "Did you mean 'cost'"),
        (lambda s: s.group_by("ward").agg(n=la.count()), "needs a delta"),
        (lambda s: s.where(la.col("ward") > 3).agg(n=la.count()), "ward"),
    ],
)
def test_what_is_missing_is_said(ask: Any, words: str) -> None:
    session = opened()
    before = len(session.ledger)
    with pytest.raises((la.ParameterError, la.UnsupportedQuery), match=words):
        ask(session).release(1)
    assert session.spent == la.Budget(0)
    assert len(session.ledger) == before, "nothing was charged or refused"


def test_columns_of_the_answer_with_the_same_name_are_refused_before_the_charge() -> None:
    session = opened()
    query = session.agg(
        q=la.quantile("age", [0.25, 0.5], lower=0, upper=9), **{"q_0.25": la.count()}
    )
    with pytest.raises(la.ParameterError, match="must differ in more than capital letters"):
        query.release(1)
    assert session.spent == la.Budget(0)


def test_either_an_epsilon_or_an_error() -> None:
    query = opened().agg(n=la.count())
    for given in ({}, {"epsilon": 1, "error": 5}):
        with pytest.raises(la.ParameterError, match="either an epsilon or an error"):
            query.release(**given)
    release = query.release(error=50)
    assert release.epsilon == query.epsilon_for(error=50)
    assert f"ε = {release.epsilon:g} is the least" in str(release)
    (row,) = release.rows()
    assert row["n_high"] - row["n"] <= 50
    assert query.release(release.epsilon).repeated, "it is the same question"


def test_a_mean_s_epsilon_is_solved_for_a_public_number_of_rows() -> None:
    query = by_ward(opened())
    with pytest.raises(la.ParameterError, match="rows"):
        query.release(error={"cost": 10})
    assert query.release(error={"cost": 10}, rows=1000).epsilon > 0


def test_a_question_is_shown_in_words_complete_or_not() -> None:
    session = opened()
    shown = repr(by_ward(session))
    assert "count and mean of cost clamped to [0, 1000]" in shown
    assert "not complete" in repr(session.group_by("ward"))
    assert "count" in session.agg(n=la.count()).explain()


def test_a_batch_takes_questions_of_its_own_session() -> None:
    session, other = opened(), opened()
    query = other.agg(n=la.count())
    with pytest.raises(la.ParameterError, match="another session"):
        session.batch([query], epsilon=1)
    with pytest.raises(la.ParameterError, match="must be a question"):
        session.batch([session], epsilon=1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(la.ParameterError, match="empty"):
        session.batch([], epsilon=1)
    with pytest.raises(la.ParameterError, match="1 questions and 2 epsilons"):
        other.batch([query], epsilon=[1, 2])
    with pytest.raises(la.ParameterError, match="another session"):
        session.how_many_more(query, epsilon=1)


def test_groups_of_one_unit_each_are_refused_before_anything_is_charged() -> None:
    session = opened()
    asked = session.derive(who=la.col("patient_id")).agg(n=la.count())
    for name in ("patient_id", "who"):
        with pytest.raises(la.UnsupportedQuery, match=r"none would ever be found.*\.per_unit\(…\)"):
            asked.group_by(name).release(epsilon=1, delta=1e-6)
        with pytest.raises(la.UnsupportedQuery, match=f"'{name}' identifies people"):
            asked.group_by(name, keys=[1, 2]).release(epsilon=1)
    assert session.spent.epsilon == 0
