"""Sessions on behalf of analysts: their levels pay, and for earlier answers of others, too."""

from collections.abc import Iterator

import pandas as pd
import pytest

import letalone as la
from letalone.ledger import EntryKind, Ledger
from session.makers import opened

HALF = la.Budget(0.5)


@pytest.fixture
def session() -> Iterator[la.Session]:
    """Of 2: research 1 (Ann 0.5, Bob 0.5)."""
    ledger = Ledger.in_memory()
    with opened(name="visits", budget=la.Budget(2), ledger=ledger, seed=1) as found:
        ledger.allow("visits", la.Budget(1), purpose="research")
        for analyst in ("Ann", "Bob"):
            ledger.allow("visits", HALF, purpose="research", analyst=analyst)
        yield found


def asked(session: la.Session, analyst: str, epsilon: float, *, most: int = 50) -> la.Release:
    theirs = session.on_behalf_of(analyst, purpose="research")
    return theirs.where(la.col("age") < most).agg(n=la.count()).release(epsilon)


def spent(session: la.Session) -> list[object]:
    """Epsilon of the data set, the purpose, Ann, Bob."""
    ledger = session.ledger
    levels = [one.spent.epsilon for one in ledger.levels("visits")]
    return [ledger.data_set("visits").spent.epsilon, *levels]


def test_an_earlier_answer_is_shared_and_each_analyst_pays_for_it_once(session: la.Session) -> None:
    first = asked(session, "Ann", 0.5)
    half = HALF.epsilon
    assert spent(session) == [half, half, half, 0]
    for _ in range(2):
        again = asked(session, "Bob", 0.5)
        assert (again.rows(), again.repeated) == (first.rows(), True)
        assert spent(session) == [half, half, half, half]
    assert asked(session, "Ann", 0.5).repeated
    with pytest.raises(
        la.BudgetExceeded, match=r"the limit of 'Bob' for the purpose 'research'"
    ) as no:
        asked(session, "Bob", 0.25, most=60)
    assert no.value.level is not None
    assert no.value.left == la.Budget(0)
    session.ledger.verify()


def test_nobody_and_a_stranger_are_refused_and_it_is_written_down(session: la.Session) -> None:
    asked(session, "Ann", 0.5)
    before = spent(session)
    with pytest.raises(la.NotAllowed, match="'Eve' for the purpose"):
        asked(session, "Eve", 0.5)
    with pytest.raises(la.NotAllowed, match="name the analyst"):
        session.where(la.col("age") < 50).agg(n=la.count()).release(0.5)
    assert spent(session) == before
    kinds = [entry.kind for entry in session.ledger.entries()]
    assert kinds[-2:] == [EntryKind.REFUSED, EntryKind.REFUSED]


def test_a_join_of_two_rationed_tables_is_paid_for_and_shared_in_both() -> None:
    ledger = Ledger.in_memory()
    people = pd.DataFrame({"patient_id": range(100), "sex": ["F", "M"] * 50})
    options = {"budget": la.Budget(2), "ledger": ledger}
    with (
        opened(name="visits", **options) as visits,
        opened(people, name="people", **options) as others,
    ):
        for name, most in (("visits", 1), ("people", 0.75)):
            ledger.allow(name, la.Budget(2), purpose="research")
            for analyst in ("Ann", "Bob"):
                ledger.allow(name, la.Budget(most), purpose="research", analyst=analyst)

        def question(analyst: str) -> la.Query:
            one, other = (
                each.on_behalf_of(analyst, purpose="research") for each in (visits, others)
            )
            return one.join(other, on="patient_id").bound(max_rows=2).agg(n=la.count())

        first = question("Ann").release(0.5)
        assert question("Bob").release(0.5).rows() == first.rows()
        for name in ("visits", "people"):
            assert ledger.data_set(name).spent == HALF
            assert [one.spent for one in ledger.levels(name)] == [HALF] * 3
        with pytest.raises(la.BudgetExceeded, match="'Bob' for the purpose 'research' of 'people'"):
            question("Bob").release(0.3)
        assert ledger.data_set("visits").spent == HALF, "the one that refuses is asked first"
        ledger.verify()
