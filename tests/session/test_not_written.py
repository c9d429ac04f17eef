"""An answer that a ledger did not take is never drawn anew, unless it was not even looked at."""

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

import letalone as la
from letalone.ledger import Ledger
from letalone.ledger.acts import NotBegun
from letalone.ledger.charging import NotWritten
from letalone.ledger.storage import postgres_store as postgres
from letalone.ledger.storage import store
from letalone.ledger.storage.tables import SCHEMA
from postgres import shared
from session.makers import opened, write_parquet
from session.test_one_charge import charges

CUT, NOT_BEGUN = la.LedgerUnavailable("cut"), NotBegun("away")
ROOM = 40_000  # for the little files that SQLite needs, and for an act; not for 1000 keys
TOO_LONG = f"""
CREATE FUNCTION {SCHEMA}.no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF length(new.release) > 100 THEN RAISE 'no' USING ERRCODE = '53100'; END IF; RETURN new;
END $$;
CREATE TRIGGER no_room BEFORE INSERT ON {SCHEMA}.settlements
FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.no_room();
"""


@pytest.fixture(params=["file", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A ledger's place; whoever waits for another there does not wait for long."""
    patch = request.getfixturevalue("monkeypatch")
    patch.setattr(store, "BUSY_SECONDS", 0.02)
    quick = [one.replace("'8s'", "'20ms'") for one in postgres.QUEUE]
    patch.setattr(postgres, "QUEUE", tuple(quick))
    if request.param == "file":
        return str(tmp_path / "book.db")
    with psycopg.connect(shared(), autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    return shared()


@contextmanager
def no_room(place: str) -> Iterator[None]:
    """For a long answer; an act without one fits."""
    if place.endswith(".db"):
        usual = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, usual[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        return
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute(TOO_LONG)
        try:
            yield
        finally:
            connection.execute(f"DROP FUNCTION {SCHEMA}.no_room CASCADE")


@contextmanager
def held(place: str) -> Iterator[None]:
    """By another process."""
    with ExitStack() as stack:
        if place.endswith(".db"):
            other = sqlite3.connect(place, isolation_level=None)
            stack.callback(other.close)
            other.execute("BEGIN IMMEDIATE")
        else:
            stack.enter_context(psycopg.connect(place)).execute(postgres.LOCK)
        yield


def settled_within(patch: pytest.MonkeyPatch, around: Any) -> list[Any]:
    """All answers that were drawn; each is settled in such a block."""
    settle, drawn = Ledger.settle, list[Any]()

    def settle_there(ledger: Ledger, paid: Any, stored: Any) -> Any:
        drawn.append(stored)
        with around():
            return settle(ledger, paid, stored)

    patch.setattr(Ledger, "settle", settle_there)
    return drawn


def asked(session: la.Session) -> Any:
    return session.group_by("age", keys=range(1000)).agg(n=la.count()).bound(max_rows=1)


@pytest.mark.few("file")
def test_an_answer_for_which_there_is_no_room_is_not_drawn_anew(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit of a file's size, and one of a server: neither is a full disk to the system."""
    path = write_parquet(tmp_path / "visits.parquet")
    with opened(path, budget=la.Budget(1), ledger=place) as session:
        with monkeypatch.context() as patch:
            drawn = settled_within(patch, lambda: no_room(place))
            with pytest.raises(NotWritten, match=r"stays spent: asking again is charged"):
                asked(session).release(0.25)
        assert drawn[0] == drawn[-1]
        assert (charges(session), session.ledger.unsettled()) == ([1], [])
        assert asked(session).release(0.25).to_json() != drawn[0]
        assert charges(session) == [2]
        session.ledger.verify()


def test_an_answer_that_a_ledger_was_too_busy_to_look_at_is_gone_on_with(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_parquet(tmp_path / "visits.parquet")
    with opened(path, budget=la.Budget(1), ledger=place) as session:
        with monkeypatch.context() as patch:
            settled_within(patch, lambda: held(place))
            with pytest.raises(
                la.LedgerUnavailable, match=r"same again is not charged twice"
            ) as told:
                session.bound(max_rows=10).agg(n=la.count()).release(0.25)
        assert not isinstance(told.value, NotWritten)
        assert len(session.ledger.unsettled()) == 1
        assert not session.bound(max_rows=10).agg(n=la.count()).release(0.25).repeated
        assert charges(session) == [1]


@pytest.mark.parametrize(
    ("failures", "closed"),
    [
        ([CUT, CUT], True),
        ([CUT, NOT_BEGUN], True),
        ([NOT_BEGUN, CUT], True),
        ([MemoryError(), MemoryError("4711")], True),
        ([NOT_BEGUN, NOT_BEGUN], False),
    ],
)
def test_only_what_no_store_was_given_is_gone_on_with(
    failures: list[Exception], closed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, left = opened(), list(failures)

    def failing(*_: object) -> None:
        raise left.pop(0)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "settle", failing)
        with pytest.raises(la.LedgerUnavailable) as told:
            session.bound(max_rows=10).agg(n=la.count()).release(0.25)
    assert isinstance(told.value, NotWritten) == closed
    assert "4711" not in str(told.value)
    assert (session.ledger.unsettled() == []) == closed
    session.bound(max_rows=10).agg(n=la.count()).release(0.25)
    assert charges(session) == [2 if closed else 1]


def test_where_a_charge_cannot_be_closed_either_it_is_gone_on_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = opened()

    def failing(*_: object) -> None:
        raise CUT

    with monkeypatch.context() as patch, suppress(la.LedgerUnavailable):
        patch.setattr(Ledger, "settle", failing)
        patch.setattr(Ledger, "abandon", failing)
        session.bound(max_rows=10).agg(n=la.count()).release(0.25)
    session.bound(max_rows=10).agg(n=la.count()).release(0.25)
    assert charges(session) == [1]
