"""Killed, interrupted, raced, or on a full disk: the budget is spent or untouched, never overspent,
and the same question afterwards is charged, gone on with or repeated as its charge says."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

import letalone as la
from forking import told_by
from letalone.engines.frames import arrow
from session.makers import opened, write_parquet

DYING = Path(__file__).parent / "dying.py"
ASKED = Fraction(5, 8)


def dying(what: str, folder: Path) -> Any:
    return told_by(DYING, what, folder)


@pytest.mark.long
def test_killed_at_any_step_of_a_release_the_budget_is_spent_or_untouched(tmp_path: Path) -> None:
    found = dying("steps", tmp_path)
    states = [(Fraction(one["spent"]), one["unsettled"], one["again"][0]) for _, one in found]
    order = [(0, 0, "answered"), (ASKED, 1, "answered"), (ASKED, 0, "repeated")]
    assert set(states) == set(order)
    assert states == sorted(states, key=order.index), "what is done stays done"
    assert all(Fraction(one["after"]) == ASKED for _, one in found), "it is charged once"
    told = [(answer, one["again"]) for answer, one in found if answer]
    assert told, "the last one lived"
    for answer, again in told:
        assert again == ["repeated", int(answer)], "who heard an answer hears it again"


@pytest.mark.long
def test_processes_that_ask_at_once_for_the_last_budget_never_overspend(tmp_path: Path) -> None:
    told, spent = dying("together", tmp_path)
    assert told == ["answered"] * 3 + ["refused"]
    assert Fraction(spent) == Fraction(9, 10)


def full_disk(session: la.Session, pages: int) -> Any:
    """From now on the ledger's file may grow by so many pages only."""
    engine = session.ledger._store._engine

    def limit(connection: Any, _: object) -> None:
        (now,) = connection.execute("PRAGMA page_count").fetchone()
        here = getattr(limit, "most", now + pages)
        limit.most = here  # type: ignore[attr-defined]
        connection.execute(f"PRAGMA max_page_count = {here}")

    event.listen(engine, "connect", limit)
    return lambda: event.remove(engine, "connect", limit)


def test_a_disk_that_is_full_when_the_answer_is_written_shows_no_answer(tmp_path: Path) -> None:
    """The charge still fits; the answer, with a thousand keys, does not."""
    path = write_parquet(tmp_path / "visits.parquet")
    with opened(path, budget=la.Budget(1), ledger=tmp_path / "book.db") as session:
        keys = range(1000)
        query = session.group_by("age", keys=keys).agg(n=la.count()).bound(max_rows=1)
        query.release(0.125)  # whatever is made once is made
        room = full_disk(session, 8)
        with pytest.raises(la.LedgerUnavailable, match="the disk is full"):
            query.release(0.5)
        room()
        assert session.spent == la.Budget(0.625)
        assert session.ledger.unsettled("visits") == [], "what did not fit is never drawn anew"
        session.ledger.verify()
        with pytest.raises(la.BudgetExceeded):
            query.release(0.5)
        assert not query.release(0.25).repeated, "not frozen: nothing was said about the data"
        session.ledger.verify()


def test_a_disk_that_is_full_before_the_charge_costs_nothing(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "visits.parquet")
    with opened(path, budget=la.Budget(1), ledger=tmp_path / "book.db") as session:
        query = session.group_by("age", keys=range(1000)).agg(n=la.count()).bound(max_rows=1)
        room = full_disk(session, 0)
        with pytest.raises(la.LedgerUnavailable, match="the disk is full"):
            query.release(0.5)
        room()
        assert session.spent == la.Budget(0)
        assert query.release(0.5).epsilon == 0.5


def test_an_interrupt_while_rows_are_counted_does_not_stop_the_next_release(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A notebook keeps the traceback, and with it the unfinished result: it held the connection,
    and the next release froze the data set."""
    session = opened(budget=la.Budget(1))
    query = session.agg(n=la.count()).bound(max_rows=1)

    def interrupted(reader: Any, *_: object) -> None:
        raise KeyboardInterrupt(next(iter(reader)))

    with monkeypatch.context() as patch:
        patch.setattr(arrow, "codes_of", interrupted)
        with pytest.raises(KeyboardInterrupt) as kept:
            query.release(0.5)
    assert query.release(0.25).epsilon == 0.25
    assert kept.value is not None
