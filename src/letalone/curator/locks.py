"""Who reads a table and who changes it, among all processes of a machine.

Readers share, a writer is alone. SQLite's own file locks do it, on every system: an open read
transaction on an empty file is a shared lock, BEGIN EXCLUSIVE an exclusive one. A process that
dies lets go.

  Tested:   tests/curator/test_locks.py
"""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from letalone.errors import LedgerUnavailable

WAIT_SECONDS = 60


@contextmanager
def sharing(place: Path) -> Generator[None]:
    """Nobody changes the table until the end of the block."""
    with _locked(place, "BEGIN", "SELECT COUNT(*) FROM sqlite_master"):
        yield


@contextmanager
def alone(place: Path) -> Generator[None]:
    """Nobody reads or changes the table until the end of the block."""
    with _locked(place, "BEGIN EXCLUSIVE"):
        yield


@contextmanager
def _locked(place: Path, *statements: str) -> Generator[None]:
    with closing(sqlite3.connect(place, timeout=WAIT_SECONDS, isolation_level=None)) as connection:
        try:
            for statement in statements:
                connection.execute(statement).fetchall()
        except sqlite3.Error:
            raise LedgerUnavailable(
                "The table is being changed or read by others. Try again in a moment."
            ) from None
        yield
