"""Who reads a table and who changes it, among all processes of a machine.

Readers share, a writer is alone. SQLite's own file locks do it, on every system: an open read
transaction on an empty file is a shared lock, BEGIN EXCLUSIVE an exclusive one. A process that
dies lets go.

  Tested:   tests/curator/test_data_sets.py
"""

import sqlite3
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
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
def alone_if_free(place: Path) -> Generator[bool]:
    """Whether nobody reads or changes it; if so, nobody does until the end of the block."""
    with ExitStack() as stack:
        free = True
        try:
            stack.enter_context(_locked(place, "BEGIN EXCLUSIVE", wait_seconds=0))
        except LedgerUnavailable:
            free = False
        yield free


@contextmanager
def _locked(place: Path, *statements: str, wait_seconds: float = WAIT_SECONDS) -> Generator[None]:
    with closing(sqlite3.connect(place, timeout=wait_seconds, isolation_level=None)) as connection:
        try:
            for statement in statements:
                connection.execute(statement).fetchall()
        except sqlite3.Error:
            raise LedgerUnavailable(
                "The table is being changed or read by others. Try again in a moment."
            ) from None
        yield
