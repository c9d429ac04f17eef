"""A question is claimed by one at a time, among threads and processes, until it ends or dies."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any

import psycopg
import pytest

from letalone.errors import LedgerUnavailable
from letalone.ledger import Ledger
from letalone.ledger.claims import BESIDE, UnderWay


@pytest.fixture(params=["memory", "file", "postgres"])
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[Ledger, Ledger]]:
    """Two who use one ledger; in memory there is one only."""
    with ExitStack() as stack:
        if request.param == "memory":
            one = stack.enter_context(Ledger.in_memory())
            yield one, one
            return
        place = request.getfixturevalue("path" if request.param == "file" else "database")
        yield stack.enter_context(Ledger.open(place)), stack.enter_context(Ledger.open(place))


def is_free(ledger: Ledger, digest: str = "d", name: str = "t") -> bool:
    try:
        with ledger.claim(name, digest, wait_seconds=0):
            return True
    except UnderWay:
        return False


def test_one_has_a_question_at_a_time_and_others_are_free(pair: tuple[Ledger, Ledger]) -> None:
    one, other = pair
    with one.claim("t", "d"):
        assert not is_free(one)
        assert not is_free(other)
        assert is_free(other, "another")
        assert is_free(other, name="u")
        assert not is_free(other), "what others let go of is not what is claimed here"
    assert is_free(other)
    with pytest.raises(ZeroDivisionError), other.claim("t", "d"):
        raise ZeroDivisionError
    assert is_free(one)


def test_who_waits_goes_on_when_the_other_lets_go(pair: tuple[Ledger, Ledger]) -> None:
    one, other = pair
    seen: list[str] = []

    def wait() -> None:
        with other.claim("t", "d"):
            seen.append("second")

    with one.claim("t", "d"):
        waiting = Thread(target=wait)
        waiting.start()
        waiting.join(0.1)
        seen.append("first")
    waiting.join()
    assert seen == ["first", "second"]


def test_the_wait_is_bounded_and_told_in_words(pair: tuple[Ledger, Ledger]) -> None:
    one, other = pair
    began = monotonic()
    with (
        one.claim("t", "d"),
        pytest.raises(LedgerUnavailable, match=r"is being answered .* Ask again"),
        other.claim("t", "d", wait_seconds=0.05),
    ):
        pass
    assert monotonic() - began >= 0.05


@pytest.mark.parametrize("where", ["file", "postgres"])
def test_a_killed_process_has_claimed_nothing(where: str, request: pytest.FixtureRequest) -> None:
    place = request.getfixturevalue("path" if where == "file" else "database")
    ledger = Ledger.open(place)
    assert is_free(ledger)  # a parent that has opened what its child must not use
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        with ledger.claim("t", "d"):
            os.write(go, b"x")
            signal.pause()
    os.read(ready, 1)
    assert not is_free(ledger), "it is claimed in the child"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with ledger.claim("t", "d", wait_seconds=10):
        assert not is_free(ledger)
    ledger.close()


def test_a_claim_leaves_no_handle_open_and_one_empty_file(path: Path) -> None:
    ledger, handles = Ledger.open(path), Path("/proc/self/fd")
    before = len(list(handles.iterdir())) if handles.exists() else 0
    for number in range(3):
        with ledger.claim("t", str(number)), ledger.claim("t", "x"):
            pass
    assert (len(list(handles.iterdir())) if handles.exists() else 0) == before
    beside = path.with_name(path.name + BESIDE)
    assert (beside.stat().st_size, beside.stat().st_mode) == (0, path.stat().st_mode)


def test_a_folder_that_cannot_be_written_is_told_in_words(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.open(path)

    def refused(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("letalone.ledger.claims.os.open", refused)
    with pytest.raises(LedgerUnavailable, match=r"Permission denied.*must be writable"):
        is_free(ledger)


def test_after_a_cut_connection_claims_go_on(database: str, server: Any) -> None:
    with Ledger.open(database) as ledger:
        assert is_free(ledger)
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        with ledger.claim("t", "d"):
            assert not is_free(ledger)
        assert is_free(ledger)


@pytest.mark.parametrize("word", ["pg_try_advisory_lock", "pg_advisory_unlock"])
def test_who_is_stopped_while_the_server_is_asked_claims_nothing_for_ever(
    database: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As psycopg does it: the statement is done, and then Ctrl+C is told."""
    execute = psycopg.Connection.execute

    def stopped(connection: Any, query: str, *given: Any, **more: Any) -> Any:
        done = execute(connection, query, *given, **more)
        if word in query:
            monkeypatch.setattr(psycopg.Connection, "execute", execute)
            raise KeyboardInterrupt
        return done

    with Ledger.open(database) as one, Ledger.open(database) as other:
        monkeypatch.setattr(psycopg.Connection, "execute", stopped)
        with pytest.raises(KeyboardInterrupt), one.claim("t", "d"):
            pass
        assert is_free(other)
        assert is_free(one)


def test_who_is_stopped_between_a_claim_and_its_block_has_claimed_nothing(
    pair: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    kind = type(one._store.claims)
    take = kind.take

    def stopped(*given: Any) -> bool:
        assert take(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(kind, "take", stopped)
        with pytest.raises(KeyboardInterrupt), one.claim("t", "d"):
            pass
    assert is_free(other)
    assert is_free(one)


def in_child(work: Callable[[], bool]) -> bool:
    child = os.fork()
    if child == 0:
        try:
            os._exit(int(work()))
        finally:
            os._exit(2)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 1)
    return bool(code)


@pytest.mark.parametrize("where", ["file", "kept", "postgres"])
def test_a_forked_child_that_closes_the_ledger_ends_nothing_of_its_parents(
    where: str, request: pytest.FixtureRequest
) -> None:
    place = request.getfixturevalue("database" if where == "postgres" else "path")

    def close() -> bool:
        ledger.close()
        return True

    with Ledger.open(place, keep=where == "kept") as ledger:
        with ledger.claim("t", "d"):
            store = ledger._store
            before = store._watch.stamp() if where != "file" else None
            assert in_child(close)
            assert not in_child(lambda: is_free(Ledger.open(place)))
            assert where == "file" or store._watch.stamp() == before
            ledger.note("all goes on")
        assert is_free(ledger)


def test_a_claim_outlives_others_who_open_and_close_the_file_beside_the_ledger(path: Path) -> None:
    """Locks of a process end there; locks of an open file do not."""
    with Ledger.open(path) as ledger, ledger.claim("t", "d"):
        shutil.copy(path.with_name(path.name + BESIDE), path.with_name("copy"))
        assert not in_child(lambda: is_free(Ledger.open(path)))


def test_after_the_file_beside_the_ledger_was_removed_claims_meet_in_the_new_one(
    path: Path,
) -> None:
    with Ledger.open(path) as ledger, ledger.claim("t", "d"):
        path.with_name(path.name + BESIDE).unlink()
        with ledger.claim("t", "e"):
            for digest in "de":
                assert not in_child(lambda which=digest: is_free(Ledger.open(path), which))
