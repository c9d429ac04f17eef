"""A cheap look at a database: has anybody written to it since the last look?

    watch = watch_of_file(path)
    stamp = watch.stamp()   # another one whenever anybody has committed since; None: not known

Two equal stamps mean that all that was committed at the second look was there at the first, so
what was read after the first is still so. A stamp never comes back: it names the connection, too.

  Proven:   SQLite's data_version differs where another connection has committed in between, and
            this one never writes; a snapshot of PostgreSQL names all transactions that are seen
  Tested:   tests/ledger/test_watch.py: other connections, processes, files, a fork;
            `touch`: tests/curator/http/test_ready.py, tests/curator/test_on_postgres.py
"""

import os
import sqlite3
from collections.abc import Callable, Hashable
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import URL, Connection

from letalone.ledger.storage import patience

IN_A_FILE = "PRAGMA data_version"
IN_POSTGRESQL = "SELECT pg_current_snapshot()::text"
Whose = tuple[int, tuple[int, int] | None]
_numbers = count()


class Watch:
    """One connection that only looks; safe among threads, and a forked child opens its own."""

    __slots__ = ("_connect", "_connection", "_left_behind", "_lock", "_opened", "_path", "_sql")

    def __init__(self, connect: Callable[[], Any], sql: str, path: Path | None = None) -> None:
        self._connect, self._sql, self._path = connect, sql, path
        self._lock, self._left_behind = Lock(), list[object]()
        self._connection: Any = None
        self._opened: tuple[Whose, int] = (whose(path), -1)

    def stamp(self) -> Hashable | None:
        """What stands for all that is committed now; None where a look is not possible."""
        owner = whose(self._path)
        if owner[0] != self._opened[0][0]:
            self._lock = Lock()  # that of the parent may be held by a thread that is not here
        lock = self._lock
        if not lock.acquire(timeout=patience.LOOK_SECONDS):
            return None  # somebody waits for the server; a crowd must not do so one by one
        try:
            looking = self._looking(owner)
            return *self._opened, looking.execute(self._sql).fetchone()[0]
        except Exception:  # of a driver; who needs to know reads, and is told in words
            self._let_go()
            return None
        finally:
            lock.release()

    def close(self) -> None:
        """Let go of the connection; the next look opens another."""
        with self._lock:
            self._let_go()

    def _looking(self, found: Whose) -> Any:
        """The connection; another one in another process, and for another file."""
        if self._connection is not None and found == self._opened[0]:
            return self._connection
        if found[0] != self._opened[0][0]:
            self._left_behind.append(self._connection)  # the parent's: never closed here
            self._connection = None
        self._let_go()
        self._connection, self._opened = self._connect(), (found, next(_numbers))
        return self._connection

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()


def watch_of_file(path: Path) -> Watch:
    """A look at a file of SQLite: some microseconds."""

    def connect() -> sqlite3.Connection:
        address = f"{path.absolute().as_uri()}?mode=rw"  # a file that is not there is not made
        return sqlite3.connect(
            address, uri=True, timeout=0, isolation_level=None, check_same_thread=False
        )

    return Watch(connect, IN_A_FILE, path)


def watch_of_postgresql(url: URL) -> Watch:
    """A look at a server of PostgreSQL: one question and its answer, without a transaction."""
    place = url.set(drivername="postgresql").render_as_string(hide_password=False)

    def connect() -> Any:
        from letalone.ledger.storage.connecting import LookingConnection

        made = LookingConnection.connect(place, autocommit=True, prepare_threshold=0)
        made.patience_seconds = patience.LOOK_SECONDS
        return made

    return Watch(connect, IN_POSTGRESQL)


def whose(path: Path | None) -> Whose:
    """The process, and the file that has this name now."""
    try:
        status = None if path is None else path.stat()
    except OSError:
        status = None
    return os.getpid(), None if status is None else (status.st_dev, status.st_ino)


def touch(connection: Connection) -> None:
    """A write that changes nothing, on the disk when the transaction has committed: whether a store
    takes writes is seen by writing.

    A full disk, a disk that was mounted for reading, a server that follows another: all of them can
    be read. SQLite writes a page of the file whose fields stay as they are; PostgreSQL a message
    into its log, which nobody reads.
    """
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("SELECT pg_logical_emit_message(true, 'letalone', 'ready')")
        return
    version = int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
    connection.exec_driver_sql(f"PRAGMA user_version = {version}")
