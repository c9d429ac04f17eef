"""Stores and sources that fall silent: told soon, as a 503, and all is well when they are back."""

import os
import signal
import time
from threading import Thread

import pytest

from black_hole import black_hole
from curator.makers import (
    LINES,
    NAME,
    Clock,
    ask,
    grant,
    open_curator,
    registered,
    registration,
    whats,
    with_people,
)
from engines import on_postgres
from letalone.curator.http import serving
from letalone.curator.http.problems import of_error
from letalone.curator.storage.database import DatabaseUnavailable
from letalone.errors import LedgerUnavailable, ServiceUnavailable
from letalone.ledger.storage import connecting, patience
from letalone.plans.schema import Column, Schema
from postgres import shared

KINDS = {"patient": "text", "ward": "text", "cost": "float8", "age": "int", "diary": "text"}


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(patience, "LOOK_SECONDS", 0.5)
    monkeypatch.setattr(patience, "BELIEVED_SECONDS", 0.3)
    monkeypatch.setattr("psycopg.connection.timeout_from_conninfo", lambda _: 1.0)
    connecting._silent_until.clear()


@pytest.fixture
def database():
    name = f"away_{os.getpid()}"
    on_postgres.run(f"CREATE DATABASE {name} STRATEGY wal_log")
    yield shared().replace("/postgres?", f"/{name}?")
    on_postgres.run(f"DROP DATABASE {name} WITH (FORCE)")


class Counted(dict):
    """How often a connection fell silent."""

    times = 0

    def __setitem__(self, key, value):
        self.times += 1
        super().__setitem__(key, value)


@pytest.mark.long
def test_silent_stores_are_told_soon_and_nothing_is_frozen_or_charged_twice(
    tmp_path, database, monkeypatch
):
    clock = Clock(days=-8)
    with (
        black_hole(database) as (hole, address),
        open_curator(tmp_path, clock=clock, database=address, ledger=address) as curator,
    ):
        with_people(curator)
        clock.passed -= clock.passed
        grant(registered(curator))
        first = ask(curator)
        before = whats(curator)
        hole.swallow_old()
        time.sleep(patience.TRUSTED_SECONDS)
        lost = Counted()
        monkeypatch.setattr(connecting, "_lost_at", lost)
        assert ask(curator).to_json() == first.to_json(), "new connections work"
        assert ask(curator, epsilon=0.01)
        assert lost.times == 1, "two pools and two watches wait once"
        hole.swallow()
        for _ in range(3):
            began = time.monotonic()
            with pytest.raises((LedgerUnavailable, DatabaseUnavailable)) as caught:
                ask(curator, epsilon=0.2)
            assert time.monotonic() - began < 6
            problem = of_error(caught.value)
            assert (problem.code, "Retry-After" in problem.headers) == (503, True)
        hole.open()
        time.sleep(0.3)
        assert ask(curator, epsilon=0.2)
        assert whats(curator)[: len(before)] == before
        assert [one for one in whats(curator)[len(before) :] if one == "refused"] == []
        assert curator.ledger.data_set(NAME).releases == 3
        assert curator.ledger.verify()


@pytest.mark.long
def test_a_source_that_is_away_is_a_503_and_other_data_sets_do_not_wait(tmp_path):
    table = on_postgres.stored(KINDS, [line.split(",") for line in LINES[1:]])
    clock = Clock(days=-30)
    with (
        black_hole(shared()) as (hole, address),
        open_curator(tmp_path, clock=clock, source_hosts=(f"127.0.0.1:{hole.port}",)) as curator,
    ):
        with_people(curator)
        clock.passed -= clock.passed
        place = f"{address}/{table.replace(' ', '%20')}"
        curator.data_sets.register(registration(), address=place, by="olga")
        grant(curator)
        schema = Schema("here", (Column("patient", "text"),), unit="patient")
        lines = tmp_path / "curator" / "imports" / "here.csv"
        lines.write_text("patient\np1\n")
        curator.data_sets.register(registration(schema=schema), file="here.csv", by="olga")
        hole.swallow()
        curator.data_sets.store._sessions.forget(NAME)  # as in a worker that was not asked yet
        refused = []

        def wait():
            with pytest.raises(ServiceUnavailable) as caught:
                ask(curator)
            refused.append(caught.value)

        waits = Thread(target=wait)
        waits.start()
        began = time.monotonic()
        with curator.data_sets.store.opened("here"):
            assert time.monotonic() - began < 1
        waits.join()
        assert [of_error(one).code for one in refused] == [503]
        hole.open()
        time.sleep(0.3)
        ask(curator)
        hole.cut()
        with pytest.raises(ServiceUnavailable, match="Nothing was charged") as caught:
            ask(curator, epsilon=0.2)
        assert of_error(caught.value).code == 503
        assert of_error(caught.value).headers["Retry-After"] == "5"
        hole.open()
        ask(curator, epsilon=0.2)
        assert curator.ledger.data_set(NAME).releases == 2
        assert "refused" not in whats(curator)


def test_a_process_that_was_told_to_stop_is_gone_in_time_whatever_it_waits_for(monkeypatch):
    assert serving.SECONDS_TO_FINISH < serving.SECONDS_TO_END <= 10
    monkeypatch.setattr(serving, "SECONDS_TO_END", 0.1)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, lambda *_: None)  # as one that waits for a thread
        serving._end_for_good()
        signal.raise_signal(signal.SIGTERM)
        time.sleep(20)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGALRM
