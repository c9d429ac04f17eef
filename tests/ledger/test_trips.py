"""What goes to PostgreSQL together: in order, in one state, and all of it or nothing."""

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from behind import PATIENTS
from letalone.errors import LedgerUnavailable
from letalone.ledger import Ledger
from letalone.ledger.chain.entries import EntryKind
from letalone.ledger.storage.ledger_statements import ADD_ENTRY, THE_HEAD
from letalone.privacy import Budget, PureDP
from round_trips import counting

ANN = {"analyst": "Ann", "purpose": "p"}
ISOLATION = text("SHOW transaction_isolation")


def opened(address: str) -> Ledger:
    ledger = Ledger.open(address)
    ledger.register("t", Budget(1), neighbours=PATIENTS)
    ledger.allow("t", Budget(1), purpose="p")
    ledger.allow("t", Budget(1), purpose="p", analyst="Ann")
    return ledger


def test_a_charge_and_a_settlement_hold_the_lock_for_two_round_trips_each(database: str) -> None:
    """A charge looks once before: prices are found without the lock."""
    with counting(database) as trips, opened(trips.address) as ledger:
        trips.taken()
        paid = ledger.charge("t", PureDP(0.1), plan={}, digest="d", **ANN)
        charged = trips.taken()
        ledger.settle(paid, {"values": [1]})
        settled = trips.taken()
        ledger.data_set("t")
        ledger.share("t", "d", **ANN)
        assert (charged, settled, trips.taken()) == (1 + 2, 2, 1 + 2)
        assert ledger.verify().entries == 6


def test_at_the_first_error_nothing_of_a_transaction_is_kept(database: str) -> None:
    with opened(database) as ledger:
        before = ledger.head

        def add_twice() -> None:
            with ledger._store.writing() as books:
                entry = books.append(EntryKind.NOTE, None, {"text": "x"})
                row = {"number": entry.number, "name": None, "kind": "x", "text": "x", "hash": "x"}
                books._write(ADD_ENTRY, row)  # it is there already, and the COMMIT comes with it

        with pytest.raises(LedgerUnavailable, match="SQLSTATE 23505"):
            add_twice()
        assert ledger.head == before
        ledger.note("the connection can be used")
        ledger.verify()


def test_a_statement_that_fails_says_nothing_to_the_terminal(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """psycopg logs what it ignores, and Python prints that where no log was made."""
    said = list[object]()
    last = SimpleNamespace(level=0, handle=said.append)
    row = dict.fromkeys(("number", "name", "kind", "text", "hash"))
    with opened(database) as ledger, monkeypatch.context() as own:
        own.setattr(logging.root, "handlers", [])
        own.setattr(logging, "lastResort", last)
        with pytest.raises(LedgerUnavailable), ledger._store.writing() as books:
            books._write(ADD_ENTRY, row)
    assert said == []


def test_a_connection_that_cannot_be_undone_is_given_up_in_silence(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    def stop() -> None:
        with ledger._store.writing() as books:
            books.head()
            driver = books.connection.connection.driver_connection
            driver.pgconn.enter_pipeline_mode()  # as Ctrl+C in the midst of one leaves it
            raise KeyboardInterrupt

    with opened(database) as ledger:
        before = ledger.head
        with pytest.raises(KeyboardInterrupt):
            stop()
        assert caplog.messages == []
        assert ledger.head == before
        ledger.note("all goes on")


def test_what_is_asked_comes_after_what_was_written_before(database: str) -> None:
    with opened(database) as ledger, ledger._store.writing() as books:
        first = books.append(EntryKind.NOTE, None, {"text": "first"})
        assert books.entry(first.number) == first
        second = books.append(EntryKind.NOTE, None, {"text": "second"})
        assert (second.number, second.previous) == (first.number + 1, first.hash)
        assert books.head().hash == second.hash


def test_what_is_asked_at_once_is_one_state_and_a_writer_is_alone(database: str) -> None:
    def isolation(books: Any) -> str:
        return books._asked((ISOLATION, {}), (THE_HEAD, {}))[0][0][0]

    with opened(database) as ledger:
        found = list[str]()
        for way in (ledger._store.glancing, ledger._store.reading, ledger._store.writing):
            with way() as books:
                found.append(isolation(books))
        assert found == ["repeatable read", "repeatable read", "serializable"]


def test_an_interrupt_after_the_writes_undoes_them(database: str) -> None:
    with opened(database) as ledger:
        before = ledger.head

        def interrupted() -> None:
            with ledger._store.writing() as books:
                books.append(EntryKind.NOTE, None, {"text": "x"})
                books.head()  # the note is at the server by then
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert ledger.head == before
