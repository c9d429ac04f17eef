"""Killed at any point, the budget is spent or untouched; full and busy disks are no way out."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from behind import PATIENTS
from forking import told_by
from letalone.errors import LedgerUnavailable
from letalone.ledger import Ledger, Reservation
from letalone.ledger.storage import store
from letalone.privacy import Budget, PureDP

KILLING = Path(__file__).parent / "killing.py"


def killing(what: str, place: object) -> dict[str, Any]:
    return told_by(KILLING, what, place)


@pytest.fixture(params=["file", "postgres"])
def where(request: pytest.FixtureRequest) -> object:
    """A folder, or the address of a server."""
    if request.param == "file":
        return request.getfixturevalue("tmp_path")
    return request.getfixturevalue("server").get_uri()


@pytest.mark.few("charge")
@pytest.mark.parametrize("what", ["charge", "refuse", "settle", "fail", "raise"])
@pytest.mark.long  # session/test_releasing.py kills a process
def test_killed_at_any_statement_an_act_has_happened_or_has_not(what: str, tmp_path: Path) -> None:
    """It is killed before and after every statement, at the commit and after it."""
    check_deaths(killing(what, tmp_path))


@pytest.mark.long  # the same in a file
@pytest.mark.parametrize("what", ["charge"])
def test_killed_at_any_statement_on_a_server_too(what: str, server: Any) -> None:
    check_deaths(killing(what, server.get_uri()))


def check_deaths(found: dict[str, Any]) -> None:
    before, after, deaths = found["before"], found["after"], found["deaths"]
    assert before != after
    assert len(deaths) > 10, "too few points to say 'at any'"
    states = [state for _, state in deaths]
    assert all(state in (before, after) for state in states)
    assert before in states
    assert after in states, "it was never killed between the commit and the return"
    assert states == sorted(states, key=lambda state: state == after), "once done, it stays done"


@pytest.mark.long
def test_killed_at_any_time_no_charge_that_returned_is_lost(where: object) -> None:
    for told, kept in killing("any_time", where)["rounds"]:
        assert told <= kept <= told + 1


@pytest.mark.long
def test_processes_that_charge_at_once_never_overspend(where: object) -> None:
    """Eight charge 25 times each, and 100 fit. They also race to make the ledger: once."""
    found = killing("together", where)
    assert len(found["paid"]) == 8
    assert sum(found["paid"]) == found["releases"] == 100
    assert found["entries"] == 2 + 8 * 25


def test_a_charge_that_does_not_fit_on_the_disk_is_an_error_and_no_charge(path: Path) -> None:
    ledger = Ledger.open(path)
    ledger.register("t", Budget(100), neighbours=PATIENTS)

    def small_disk(connection: Any, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 40")

    event.listen(ledger._store._engine, "connect", small_disk)
    reservations: list[Reservation] = []

    def charge_on() -> None:
        while True:
            plan = {"padding": "x" * 9000}
            reservations.append(ledger.charge("t", PureDP(1), plan=plan, digest="d"))

    with pytest.raises(LedgerUnavailable, match="the disk is full"):
        charge_on()
    paid = len(reservations)
    assert 0 < paid < 20
    again = Ledger.open(path)
    assert again.data_set("t").spent == Budget(paid)
    assert again.verify().entries == 2 + paid


def test_a_refusal_that_cannot_be_written_is_an_error_and_no_charge(path: Path) -> None:
    ledger = Ledger.open(path)
    ledger.register("t", Budget(1), neighbours=PATIENTS)

    def full_disk(connection: Any, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # SQLite reads it as "no more than now"

    event.listen(ledger._store._engine, "connect", full_disk)
    with pytest.raises(LedgerUnavailable, match="the disk is full"):
        ledger.charge("t", PureDP(9), plan={}, digest="d" * 100_000)
    assert Ledger.open(path).data_set("t").releases == 0


def test_a_ledger_that_another_process_holds_is_waited_for_and_then_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.05)
    one, other = Ledger.open(path), Ledger.open(path)
    one.register("t", Budget(1), neighbours=PATIENTS)
    with one._store.writing():
        assert other.data_set("t").releases == 0, "reading goes on"
        with pytest.raises(LedgerUnavailable, match="another process has held it"):
            other.charge("t", PureDP(1), plan={}, digest="d")
    other.charge("t", PureDP(1), plan={}, digest="d")


def test_an_interrupt_within_a_charge_leaves_the_budget_untouched(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.open(path)
    ledger.register("t", Budget(1), neighbours=PATIENTS)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("letalone.ledger.acts.Reservation", interrupt)  # after the entry is written
        with pytest.raises(KeyboardInterrupt):
            ledger.charge("t", PureDP(1), plan={}, digest="d")
    assert ledger.data_set("t").releases == 0
    ledger.charge("t", PureDP(1), plan={}, digest="d")
