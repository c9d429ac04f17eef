"""What one charge has paid for is told once, however runs are cut short: one table, or several."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

import letalone as la
from letalone.engines.duckdb.duck_engine import DuckEngine
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import AskAgain
from letalone.ledger import EntryKind, Ledger, charging
from letalone.ledger.acts import NotBegun
from letalone.ledger.charging import NotWritten
from session.makers import opened, write_parquet
from session.test_partners import by_sex, patients, visits

HELD = problem(Code.LEDGER_UNAVAILABLE, AskAgain(), words="held.")


class Killed(BaseException):
    """What nobody catches, as nobody does when a process is killed."""


def charges(*sessions: la.Session) -> list[int]:
    return [
        sum(entry.kind is EntryKind.RESERVED for entry in one.ledger.entries(one.name))
        for one in sessions
    ]


@contextmanager
def killed_at(patch: pytest.MonkeyPatch, owner: Any, name: str, *, call: int) -> Iterator[None]:
    """The process ends when this is called for the so many-eth time."""
    real, calls = getattr(owner, name), [0]

    def counted(*given: Any, **more: Any) -> Any:
        calls[0] += 1
        if calls[0] == call:
            raise Killed
        return real(*given, **more)

    with patch.context() as within:
        within.setattr(owner, name, counted)
        with pytest.raises(Killed):
            yield


@pytest.mark.parametrize(("where", "call"), [("charge", 2), ("measure", 1), ("settle", 1)])
def test_a_question_to_two_tables_is_gone_on_with_where_nothing_was_settled(
    where: str, call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with visits() as mine, patients() as theirs:
        with killed_at(monkeypatch, DuckEngine if where == "measure" else Ledger, where, call=call):
            by_sex(mine, theirs).release(0.5)
        assert not by_sex(mine, theirs).release(0.5).repeated
        assert charges(mine, theirs) == [1, 1]
        assert (mine.ledger.unsettled(), theirs.ledger.unsettled()) == ([], [])
        assert by_sex(mine, theirs).release(0.5).repeated
        for one in (mine, theirs):
            one.ledger.verify()


def test_two_tables_pay_once_where_the_ledger_of_the_second_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    charge = Ledger.charge
    with visits() as mine, patients() as theirs:

        def away(ledger: Ledger, name: str, *given: Any, **more: Any) -> Any:
            if name == theirs.name:
                raise la.LedgerUnavailable(HELD)
            return charge(ledger, name, *given, **more)

        for _ in range(3):
            with monkeypatch.context() as patch:
                patch.setattr(Ledger, "charge", away)
                with pytest.raises(la.LedgerUnavailable) as told:
                    by_sex(mine, theirs).release(0.5)
            assert not hasattr(told.value, "__notes__"), "nothing that says it stays spent"
        assert not by_sex(mine, theirs).release(0.5).repeated
        assert charges(mine, theirs) == [1, 1]


def test_what_one_of_two_ledgers_has_settled_is_told_so_both_are_charged_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the second table would have paid once for two answers, the one in the first ledger too.

    Killed again, the second run is gone on with, and never the charge that is left of the first.
    """
    with visits() as mine, patients() as theirs:
        with killed_at(monkeypatch, Ledger, "settle", call=2):
            by_sex(mine, theirs).release(0.5)
        (left,) = theirs.ledger.unsettled()
        with killed_at(monkeypatch, DuckEngine, "measure", call=1):
            by_sex(mine, theirs).release(0.5)
        assert not by_sex(mine, theirs).release(0.5).repeated
        assert charges(mine, theirs) == [2, 2]
        mine.ledger.raise_version(mine.name)
        assert not by_sex(mine, theirs).release(0.5).repeated
        assert charges(mine, theirs) == [3, 3]
        assert theirs.ledger.unsettled() == [left]


def test_who_settles_in_the_first_of_two_ledgers_only_is_told_that_both_charges_are_spent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settle = Ledger.settle
    with visits() as mine, patients() as theirs:

        def away(ledger: Ledger, paid: Any, stored: Any) -> Any:
            if paid.name == theirs.name:
                raise NotBegun(HELD)
            return settle(ledger, paid, stored)

        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "settle", away)
            with pytest.raises(NotWritten) as told:
                by_sex(mine, theirs).release(0.5)
        assert "goes on with that" not in str(told.value)
        assert not by_sex(mine, theirs).release(0.5).repeated
        assert charges(mine, theirs) == [2, 2]


def test_a_question_about_another_version_of_the_first_table_uses_no_old_charge_of_the_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with visits() as mine, patients() as theirs:
        with killed_at(monkeypatch, Ledger, "settle", call=2):
            by_sex(mine, theirs).release(0.5)
        mine.ledger.raise_version(mine.name)
        by_sex(mine, theirs).release(0.5)
        assert charges(mine, theirs) == [2, 2]
        assert len(theirs.ledger.unsettled()) == 1


def test_of_two_who_draw_for_one_charge_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim can be lost with its connection: then another may settle meanwhile."""
    path, book = write_parquet(tmp_path / "visits.parquet"), tmp_path / "book.db"
    settle, between = Ledger.settle, list[la.Release]()
    monkeypatch.setattr(charging, "_claim", lambda *_, **__: nullcontext())
    with opened(path, ledger=book) as one, opened(path, ledger=book) as other:

        def late(ledger: Ledger, *given: Any) -> Any:
            if not between:
                monkeypatch.setattr(Ledger, "settle", settle)
                between.append(other.bound(max_rows=10).agg(n=la.count()).release(0.001))
            return settle(ledger, *given)

        monkeypatch.setattr(Ledger, "settle", late)
        found = one.bound(max_rows=10).agg(n=la.count()).release(0.001)
        assert found.to_json() == between[0].to_json()
        assert charges(one) == [1]
        one.ledger.verify()


@pytest.mark.parametrize("done", [False, True])
def test_a_connection_that_breaks_while_an_answer_is_settled_costs_nothing(
    done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is settled once more with the same answer, whether or not it was settled before."""
    session, settle, times = opened(), Ledger.settle, list[Any]()

    def broken(ledger: Ledger, *given: Any) -> Any:
        times.append(given[1])
        if len(times) == 1:
            if done:
                settle(ledger, *given)
            raise la.LedgerUnavailable("cut")
        return settle(ledger, *given)

    monkeypatch.setattr(Ledger, "settle", broken)
    found = session.bound(max_rows=10).agg(n=la.count()).release(0.5)
    assert not found.repeated
    assert times == [found.to_json()] * 2
    assert (charges(session), session.ledger.unsettled()) == ([1], [])


def test_a_failure_that_another_wrote_down_meanwhile_is_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, settle = opened(), Ledger.settle

    def failed(ledger: Ledger, paid: Any, stored: Any) -> Any:
        ledger.abandon(paid)
        return settle(ledger, paid, stored)

    monkeypatch.setattr(Ledger, "settle", failed)
    with pytest.raises(la.ParameterError, match="settled already"):
        session.agg(n=la.count()).release(0.5)


def test_who_keeps_a_question_for_too_long_is_told_of_and_nothing_is_charged() -> None:
    session = opened()
    question = session.agg(n=la.count())
    priced = question.price(0.5)
    with (
        session.ledger.claim(session.name, priced.terms.digest),
        pytest.raises(la.LedgerUnavailable, match="is being answered"),
    ):
        priced.answer(wait_seconds=0)
    assert charges(session) == [0]
    assert not question.release(0.5).repeated
