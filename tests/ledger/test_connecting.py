"""Nobody waits for ever for a server that says nothing: a proxy swallows all that is sent."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.errors import ConnectionTimeout
from sqlalchemy import make_url, text

from behind import PATIENTS
from black_hole import BlackHole, black_hole
from letalone.errors import LedgerUnavailable
from letalone.ledger import Ledger
from letalone.ledger.storage import patience
from letalone.ledger.storage import postgres_store as postgres
from letalone.ledger.storage.connecting import BoundedConnection, _silent_until
from letalone.ledger.storage.watch import watch_of_postgresql
from letalone.privacy import Budget, PureDP
from postgres import running

SOON = 0.4  # seconds, in place of two
STATEMENT: dict[str, Any] = {"plan": {}, "digest": "d"}


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "LOOK_SECONDS", SOON)
    monkeypatch.setattr(patience, "STATEMENT_SECONDS", 2 * SOON)
    monkeypatch.setattr(patience, "BELIEVED_SECONDS", SOON)
    monkeypatch.setattr("psycopg.connection.timeout_from_conninfo", lambda _: 2 * SOON)
    _silent_until.clear()


@pytest.fixture
def through(database: str) -> Any:
    with black_hole(database) as found:
        yield found


@pytest.mark.long  # the crowd's test stays
def test_a_statement_that_is_answered_by_silence_ends_and_one_that_is_long_does_not(
    through: tuple[BlackHole, str],
) -> None:
    hole, address = through
    with BoundedConnection.connect(address, autocommit=True) as connection:
        connection.patience_seconds = SOON
        # Each row fills the server's buffer, so that some bytes come before the silence is over.
        long = "SELECT pg_sleep(0.1), repeat('x', 20000) FROM generate_series(1, 8)"
        assert len(connection.execute(long).fetchall()) == 8
        hole.swallow()
        began = time.monotonic()
        with pytest.raises(ConnectionTimeout, match="silent"):
            connection.execute("SELECT 1")
        assert time.monotonic() - began < 6 * SOON
        assert connection.closed


def test_what_an_address_says_is_left_as_it_is(database: str) -> None:
    with black_hole(database) as (_, address):
        for more, wanted in (("", "30"), ("?keepalives_idle=77", "77")):
            with BoundedConnection.connect(address + more) as connection:
                assert connection.info.get_parameters()["keepalives_idle"] == wanted
                assert connection.info.get_parameters()["tcp_user_timeout"] == "30000"


@pytest.mark.long
def test_silent_connections_cost_one_wait_together_if_new_ones_work(
    through: tuple[BlackHole, str],
) -> None:
    hole, address = through
    with Ledger.open(address) as ledger:
        ledger.register("t", Budget(1), neighbours=PATIENTS)
        with ledger._store.reading(), ledger._store.reading(), ledger._store.reading():
            pass  # three connections are kept
        hole.swallow_old()
        time.sleep(patience.TRUSTED_SECONDS)
        began = time.monotonic()
        for _ in range(5):
            ledger.charge("t", PureDP(0.01), **STATEMENT)
            ledger._store.stamp()
        assert time.monotonic() - began < 8 * SOON
        assert ledger.verify()


@pytest.mark.long
def test_a_silent_server_is_told_to_a_crowd_at_once_and_all_is_well_when_it_is_back(
    through: tuple[BlackHole, str],
) -> None:
    """A crowd that waited one after another would take 24 times as long."""
    hole, address = through
    with Ledger.open(address) as ledger:
        ledger.register("t", Budget(1), neighbours=PATIENTS)
        before = ledger._store.stamp()
        assert before is not None
        hole.swallow()

        def ask(_: int) -> float:
            began = time.monotonic()
            assert ledger._store.stamp() != before
            with pytest.raises(LedgerUnavailable):
                ledger.charge("t", PureDP(0.01), **STATEMENT)
            return time.monotonic() - began

        with ThreadPoolExecutor(24) as pool:
            assert max(pool.map(ask, range(24))) < 15 * SOON
        hole.open()
        time.sleep(2 * SOON)
        ledger.charge("t", PureDP(0.01), **STATEMENT)
        assert ledger._store.stamp() is not None
        assert ledger.data_set("t").spent.epsilon <= 0.01 * 25
        assert ledger.verify()


@pytest.mark.long  # the crowd's test stays
def test_one_that_was_left_alone_in_a_transaction_lets_go_of_the_lock(
    through: tuple[BlackHole, str], database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hole, address = through
    waits = [one.replace("'30s'", "'200ms'").replace("'8s'", "'2s'") for one in postgres.QUEUE]
    monkeypatch.setattr(postgres, "QUEUE", tuple(waits))
    with Ledger.open(database) as near, Ledger.open(address) as far:

        def be_gone_with_the_lock() -> None:
            with far._store.writing() as books:
                books.head()
                hole.swallow()
                near.note("by somebody who waits for the lock")
                books.connection.execute(text("SELECT 1"))

        with pytest.raises(LedgerUnavailable):
            be_gone_with_the_lock()
        assert near.verify()


def test_a_watch_that_cannot_look_says_so_soon(through: tuple[BlackHole, str]) -> None:
    hole, address = through
    watch = watch_of_postgresql(make_url(address))
    assert watch.stamp() is not None
    hole.swallow_old()
    began = time.monotonic()
    assert watch.stamp() is None
    assert watch.stamp() is not None, "a new connection works"
    assert time.monotonic() - began < 6 * SOON
    watch.close()


@pytest.mark.long
def test_a_server_that_is_stopped_is_no_longer_waited_for() -> None:
    with running() as server:
        process = int((Path(server.pgdata) / "postmaster.pid").read_text().split()[0])
        with Ledger.open(str(server.get_uri())) as ledger:
            ledger.register("t", Budget(1), neighbours=PATIENTS)
            (child,) = _backends(server.get_uri())
            os.kill(process, signal.SIGSTOP)
            os.kill(child, signal.SIGSTOP)
            try:
                for _ in range(3):
                    began = time.monotonic()
                    with pytest.raises(LedgerUnavailable):
                        ledger.charge("t", PureDP(0.01), **STATEMENT)
                    assert time.monotonic() - began < 4
            finally:
                os.kill(child, signal.SIGCONT)
                os.kill(process, signal.SIGCONT)
            time.sleep(2 * SOON)
            ledger.charge("t", PureDP(0.01), **STATEMENT)


def _backends(address: str) -> list[int]:
    with psycopg.connect(address) as connection:
        found = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'letalone'"
        )
        return [pid for (pid,) in found]
