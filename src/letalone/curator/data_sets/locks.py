"""Locks tables among all processes of a machine; one fresh answer at a time is made of each.

Readers share a table, a writer is alone. SQLite's own file locks do it, on every system: an open
read transaction on an empty file is a shared lock, BEGIN EXCLUSIVE an exclusive one. A process that
dies lets go.

An answer keeps its table until its time step. Whoever waited for it with the rows locked against
changes would keep erasures and corrections out for as long as the queue is: so within a process
others wait for their turn without the rows.

  Tested:   tests/curator/test_data_sets.py, tests/curator/test_time_steps.py
"""

import sqlite3
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from threading import Lock

from letalone.errors import LedgerUnavailable

WAIT_SECONDS = 60


def shared_lock(place: Path) -> AbstractContextManager[None]:
    """Nobody changes the table until the end of the block."""
    return _hold_lock(place, "BEGIN", "SELECT COUNT(*) FROM sqlite_master")


def exclusive_lock(place: Path) -> AbstractContextManager[None]:
    """Nobody reads or changes the table until the end of the block."""
    return _hold_lock(place, "BEGIN EXCLUSIVE")


@contextmanager
def exclusive_lock_if_free(place: Path) -> Generator[bool]:
    """Whether nobody reads or changes it; if so, nobody does until the end of the block."""
    with ExitStack() as stack:
        free = True
        try:
            stack.enter_context(_hold_lock(place, "BEGIN EXCLUSIVE", seconds=0))
        except LedgerUnavailable:
            free = False
        yield free


@contextmanager
def _hold_lock(place: Path, *statements: str, seconds: float = WAIT_SECONDS) -> Generator[None]:
    lock = sqlite3.connect(place, timeout=seconds, isolation_level=None, check_same_thread=False)
    with closing(lock) as connection:
        try:
            for statement in statements:
                connection.execute(statement).fetchall()
        except sqlite3.Error:
            raise LedgerUnavailable(
                "The table is being changed or read by others. Try again in a moment."
            ) from None
        yield


class Turns:
    """A lock for each data set, taken in the order of names, so that nobody waits in a circle."""

    __slots__ = ("_guard", "_locks")

    def __init__(self) -> None:
        self._guard, self._locks = Lock(), dict[str, Lock]()

    @contextmanager
    def of(self, names: Iterable[str], *, wait: bool) -> Generator[bool]:
        """Whether it is one's turn about all of these until the end of the block."""
        with ExitStack() as stack:
            yield all(self._take(name, stack, wait=wait) for name in sorted(set(names)))

    def _take(self, name: str, stack: ExitStack, *, wait: bool) -> bool:
        with self._guard:
            lock = self._locks.setdefault(name, Lock())
        if not lock.acquire(blocking=wait):
            return False
        stack.callback(lock.release)
        return True
