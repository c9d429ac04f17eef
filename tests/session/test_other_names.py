"""What columns are called is no part of the question: under other names the answer is free."""

import pytest

import letalone as la
from letalone.session import pricing
from letalone.session.time_steps import Asker
from session.makers import WARDS, opened


def grouped(session, **names):
    return session.group_by("ward", keys=WARDS).bound(max_rows=5).agg(**names)


def test_another_name_in_python_and_in_sql_is_free_and_has_its_own_names():
    """As somebody did: agg(n=…) after agg(cnt=…), and after the terminal's COUNT(*)."""
    session = opened()
    first = session.bound(max_rows=5).agg(cnt=la.count()).release(epsilon=0.5)
    spent = session.spent
    second = session.bound(max_rows=5).agg(n=la.count()).release(epsilon=0.5)
    sql = f"SELECT COUNT(*) FROM {session.name}"
    third = session.sql(sql, epsilon=0.5, max_rows=5)
    assert second.repeated
    assert third.repeated
    assert session.spent == spent
    assert second.columns == ("n", "n_low", "n_high")
    assert second["n"] == first["cnt"] == third[third.columns[0]]
    assert second.plan == session.bound(max_rows=5).agg(n=la.count()).plan.to_json()


def test_groups_and_several_aggregates_are_renamed_in_their_places():
    session = opened()
    first = grouped(session, a=la.count(), b=la.quantile("age", [0.25, 0.75], lower=0, upper=100))
    told = first.release(epsilon=1)
    again = (
        session.group_by(w=la.col("ward"), keys=WARDS)
        .bound(max_rows=5)
        .agg(n=la.count(), q=la.quantile("age", [0.25, 0.75], lower=0, upper=100))
        .release(epsilon=1)
    )
    assert again.repeated
    assert again.columns[:2] == ("w", "n")
    assert again["q_0.75"] == told["b_0.75"]
    assert again["w"] == WARDS
    assert "a_" not in str(again)


@pytest.mark.parametrize(
    "other",
    [
        lambda s: grouped(s, n=la.count("cost")),
        lambda s: grouped(s, n=la.count(), m=la.count_distinct()),
        lambda s: s.group_by("ward", keys=WARDS[:2]).bound(max_rows=5).agg(n=la.count()),
        lambda s: grouped(s.where(la.col("age") > 3), n=la.count()),
        lambda s: s.group_by("ward", keys=WARDS).bound(max_rows=6).agg(n=la.count()),
    ],
)
def test_another_question_is_charged(other):
    session = opened()
    grouped(session, n=la.count()).release(epsilon=0.5)
    assert not other(session).release(epsilon=0.5).repeated
    assert not grouped(session, n=la.count()).release(epsilon=0.6).repeated


def test_batches_are_known_without_names_too():
    session = opened()
    first = session.batch(
        [grouped(session, a=la.count()), grouped(session, b=la.sum("age", lower=0, upper=9))],
        epsilon=0.5,
    )
    again = session.batch(
        [grouped(session, x=la.count()), grouped(session, y=la.sum("age", lower=0, upper=9))],
        epsilon=0.5,
    )
    assert again[0].repeated
    assert again[1]["y"] == first[1]["b"]


@pytest.mark.long  # others of this file stay
def test_answers_of_an_older_ledger_are_found(tmp_path, monkeypatch):
    """Until now names were a part of what a question was called."""
    path = tmp_path / "old.db"
    with monkeypatch.context() as older:
        older.setattr(pricing, "nameless", lambda plan: plan)
        with opened(ledger=path, name="old") as session:
            first = grouped(session, n=la.count()).release(epsilon=0.5)
            pair = [grouped(session, n=la.count()), grouped(session, m=la.count_distinct())]
            batch, spent = session.batch(pair, epsilon=0.25), session.spent
    with opened(ledger=path, name="old") as session:
        again = grouped(session, n=la.count()).release(epsilon=0.5)
        assert again.repeated
        assert again.rows() == first.rows()
        pair = [grouped(session, n=la.count()), grouped(session, m=la.count_distinct())]
        assert session.batch(pair, epsilon=0.25)[1].rows() == batch[1].rows()
        assert session.spent == spent


def test_the_receipt_is_the_one_that_was_signed(tmp_path):
    session = opened(ledger=tmp_path / "budget.db", name="signed")
    grouped(session, cnt=la.count()).release(epsilon=0.5)
    again = grouped(session, n=la.count()).release(epsilon=0.5)
    loaded = la.Release.load(again.save(tmp_path / "receipt.json"))
    assert loaded["cnt"] == again["n"]


def test_who_asks_for_somebody_is_known_by_names_as_before():
    session = opened()
    asked = session.on_behalf_of("ann", purpose="care")
    assert asked._table.asker == Asker("ann", "care", 0)
    priced = grouped(asked, n=la.count()).price(0.5)
    assert priced.charges == (priced.charge,)
