"""A server that does not let us in is said to be what it is, without a word of its own."""

import socket
import struct
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace

import psycopg
import pytest

from engines import on_postgres
from letalone.engines.postgres import postgres_diagnosis as postgres_reached
from letalone.engines.postgres.postgres_engine import open_postgres
from letalone.errors import ParameterError
from postgres import shared

ASKS = "local all asked_for_password scram-sha-256"


@pytest.fixture(scope="module")
def roles():
    """A role that may not log in, one that may not enter a database, one that has a password."""
    on_postgres.run(
        "CREATE ROLE shut_out; CREATE ROLE kept_out LOGIN;"
        " CREATE ROLE asked_for_password LOGIN PASSWORD 'right'"
    )
    on_postgres.run("CREATE DATABASE for_few STRATEGY wal_log")
    on_postgres.run("REVOKE CONNECT ON DATABASE for_few FROM PUBLIC")
    file = Path(on_postgres.run("SHOW hba_file")[0][0])
    before = file.read_text()
    file.write_text(f"{ASKS}\n{before}")
    on_postgres.run("SELECT pg_reload_conf()")
    yield
    file.write_text(before)
    on_postgres.run("SELECT pg_reload_conf()")


def refused(user="postgres:", database="postgres"):
    address = shared().replace("postgres:@", f"{user}@").replace("/postgres?", f"/{database}?")
    with pytest.raises(ParameterError) as caught:
        open_postgres(address, table="t")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "FATAL" not in str(caught.value)
    return str(caught.value)


def test_reasons_for_not_being_let_in_are_told_apart(roles, monkeypatch):
    monkeypatch.delenv("PGPASSWORD", raising=False)
    found = [
        refused(database="with a blank"),
        refused(database="no%20such"),
        refused(user="kept_out", database="for_few"),
        refused(user="nobody"),
        refused(user="shut_out"),
        refused(user="asked_for_password"),
    ]
    monkeypatch.setenv("PGPASSWORD", "wrong")
    found.append(refused(user="asked_for_password"))
    words = [
        "none that libpq can read",
        "no database 'no such'",
        "does not let it into the database 'for_few'",
        *["does not accept the role"] * 2,
        "wants a password",
        "does not accept the role or its password",
    ]
    assert [asked in said for asked, said in zip(words, found, strict=True)] == [True] * 7


@pytest.fixture
def deaf():
    """A server that takes connections, and says to each what the test wants, or nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        said: list[bytes] = []

        def answer():
            with suppress(OSError):
                while True:
                    taken, _ = server.accept()
                    kept.append(taken)
                    taken.recv(4096)
                    taken.sendall(said[0] if said else b"")

        kept: list[socket.socket] = []
        Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1], said
        for one in kept:
            one.close()


def failed(port: int) -> Exception:
    """As psycopg's error of a connection to 127.0.0.1."""
    found = Exception()
    found.pgconn = SimpleNamespace(
        hostaddr=b"127.0.0.1", host=b"", port=str(port).encode(), user=b"u", db=b"d"
    )
    return found


def test_a_server_that_starts_or_is_silent_is_away_and_one_that_refuses_is_not(deaf, monkeypatch):
    port, said = deaf
    monkeypatch.setattr(postgres_reached, "PING_SECONDS", 0.1)
    assert not postgres_reached._answers(psycopg.OperationalError("a name was not resolved"))
    assert not postgres_reached._answers(failed(port))
    for code, there in ((b"57P03", False), (b"28000", True), (b"53300", True)):
        body = b"SFATAL\0C%b\0Mwords\0\0" % code
        said[:] = [b"E" + struct.pack("!i", len(body) + 4) + body]
        assert postgres_reached._answers(failed(port)) is there
    said[:] = [b"R" + struct.pack("!ii", 8, 3)]
    assert postgres_reached._answers(failed(port))


def test_other_threads_go_on_while_a_server_is_silent(deaf, monkeypatch):
    """They ran once in two milliseconds; libpq's own look let none run before its limit."""
    port, _ = deaf
    monkeypatch.setattr(postgres_reached, "PING_SECONDS", 0.5)
    times, over = [time.monotonic()], Event()

    def run():
        while not over.wait(0.002):
            times.append(time.monotonic())

    other = Thread(target=run)
    other.start()
    found = postgres_reached._answers(failed(port))
    over.set()
    other.join()
    assert not found
    assert max(b - a for a, b in pairwise(times)) < 0.4
