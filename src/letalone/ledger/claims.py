"""Who is at work on a question: one at a time, among all threads and processes of a ledger.

    with ledger.claim("visits", digest):   # UnderWay where another keeps it for too long
        ...                                # charged, drawn, settled

A claim ends with its block, and with its process, however that ends. So of two who ask the same
at once, one waits, and then finds the answer; and a charge that nobody settled belongs to nobody
who is still at work on it. Claims are no part of a ledger's content.

In a file's ledger they are locks of the system on single bytes of an empty file beside it; such
locks belong to a process, so threads are kept apart here. In PostgreSQL they are advisory locks
of one connection, and end with it.

  Tested:   tests/ledger/test_claims.py: threads, processes, killed ones, a connection that is cut
  Assumed:  a connection to PostgreSQL that is cut while its process lives on is cut at a time
            that does not depend on what is drawn there
"""

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from stat import S_IMODE
from threading import Lock
from time import monotonic, sleep
from typing import Any, Protocol

from letalone.errors import LedgerUnavailable

WAIT_SECONDS = 60
LOOK_SECONDS = 0.02
BITS = 62  # of a claim's number: another question has the same one once in 10^18
BESIDE = "-asking"  # after the name of the ledger's file


class UnderWay(LedgerUnavailable):
    """The same question is being answered, here or in another process."""


class Claims(Protocol):
    """Numbers that one may have at a time."""

    def take(self, number: int) -> bool:
        """Whether it is one's own now; at once."""
        ...

    def let_go(self, number: int) -> None:
        """It is nobody's."""
        ...


@contextmanager
def claimed(claims: Claims, *words: str, wait_seconds: float) -> Generator[None]:
    """One's own until the end of the block; UnderWay where it is another's for so long."""
    number, until = _number(words), monotonic() + wait_seconds
    while not claims.take(number):
        if monotonic() >= until:
            raise UnderWay(
                "The same question is being answered for somebody else at this moment. Ask again"
                " in a moment: its answer is then a repeat."
            )
        sleep(LOOK_SECONDS)
    try:
        yield
    finally:
        claims.let_go(number)


def _number(words: Sequence[str]) -> int:
    digest = sha256("\0".join(words).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - BITS)


class InProcess:
    """Claims of threads."""

    __slots__ = ("_guard", "_taken")

    def __init__(self) -> None:
        self._guard, self._taken = Lock(), set[int]()

    def take(self, number: int) -> bool:
        """Whether it is one's own now."""
        with self._guard:
            free = number not in self._taken
            self._taken.add(number)
            return free

    def let_go(self, number: int) -> None:
        """It is nobody's."""
        with self._guard:
            self._taken.discard(number)


# The claims of this process, by file. The system forgets all its locks on a file when the process
# closes it once, so all ledgers of a process share one handle, closed when nothing is claimed.
_HELD: dict[Path, tuple[int, set[int]]] = {}
_GUARDS = [Lock()]  # the last one counts


def _forget() -> None:
    """In a forked child: what was claimed is its parent's, and a thread of the parent may have
    had the lock."""
    _GUARDS.append(Lock())
    for handle, _ in _HELD.values():
        os.close(handle)
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


class BesideFile:
    """Claims of all processes of a machine that use one file."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()

    def take(self, number: int) -> bool:
        """Whether it is one's own now."""
        with _GUARDS[-1]:
            handle, taken = self._held()
            free = number not in taken and _locked(handle, number)
            if free:
                taken.add(number)
            self._close_unused()
            return free

    def let_go(self, number: int) -> None:
        """It is nobody's."""
        with _GUARDS[-1]:
            handle, taken = self._held()
            if number in taken:
                taken.discard(number)
                _unlock(handle, number)
            self._close_unused()

    def _held(self) -> tuple[int, set[int]]:
        if self._path not in _HELD:
            _HELD[self._path] = _opened(self._path), set()
        return _HELD[self._path]

    def _close_unused(self) -> None:
        handle, taken = _HELD[self._path]
        if not taken:
            os.close(handle)
            del _HELD[self._path]


def _opened(path: Path) -> int:
    place = path.with_name(path.name + BESIDE)
    try:
        mode = S_IMODE(path.stat().st_mode)  # whoever may use the ledger may claim
        handle = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), mode)
    except OSError as error:
        raise LedgerUnavailable(
            f"{place} cannot be opened: {error.strerror}. The folder of a ledger must be writable"
            " for whoever asks. Nothing was charged."
        ) from None
    with suppress(OSError):
        if S_IMODE(place.stat().st_mode) != mode:
            place.chmod(mode)
    return handle


if sys.platform == "win32":
    import msvcrt

    FEWER = (1 << 30) - 1  # places in a file are counted in 32 bits there

    def _locked(handle: int, number: int) -> bool:
        os.lseek(handle, number & FEWER, os.SEEK_SET)
        with suppress(OSError):
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            return True
        return False

    def _unlock(handle: int, number: int) -> None:
        os.lseek(handle, number & FEWER, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _locked(handle: int, number: int) -> bool:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except (BlockingIOError, PermissionError):  # how systems say "taken"
            return False
        except OSError as error:
            raise LedgerUnavailable(
                f"The file beside the ledger cannot be locked: {error.strerror}. Keep a ledger on a"
                " local disk. Nothing was charged."
            ) from None
        return True

    def _unlock(handle: int, number: int) -> None:
        fcntl.lockf(handle, fcntl.LOCK_UN, 1, number)


class AtServer:
    """Claims of all processes that use one ledger in PostgreSQL, by one connection."""

    __slots__ = ("_connect", "_connection", "_guard", "_left_behind", "_process", "_threads")

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect, self._left_behind = connect, list[object]()
        self._connection: Any = None
        self._begin()

    def take(self, number: int) -> bool:
        """Whether it is one's own now."""
        if os.getpid() != self._process:
            self._left_behind.append(self._connection)  # the parent's: never closed here
            self._connection = None
            self._begin()
        if not self._threads.take(number):
            return False
        try:
            free = self._asked("SELECT pg_try_advisory_lock(%s)", number)
        except BaseException:
            self._threads.let_go(number)
            raise
        if not free:
            self._threads.let_go(number)
        return free

    def let_go(self, number: int) -> None:
        """It is nobody's."""
        with suppress(Exception):  # a connection that is cut has let go of all
            self._asked("SELECT pg_advisory_unlock(%s)", number)
        self._threads.let_go(number)

    def close(self) -> None:
        """Let go of the connection, and of all that it has claimed."""
        with self._guard:
            connection: Any = self._connection
            self._connection = None
        if connection is not None:
            with suppress(Exception):
                connection.close()

    def _begin(self) -> None:
        self._guard, self._threads, self._process = Lock(), InProcess(), os.getpid()

    def _asked(self, statement: str, number: int) -> bool:
        with self._guard:
            kept: Any = self._connection
            if kept is not None and not kept.closed:
                with suppress(Exception):  # the server may have been away meanwhile
                    return _first(kept, statement, number)
                with suppress(Exception):
                    kept.close()
            self._connection = self._connect()
            return _first(self._connection, statement, number)


def _first(connection: Any, statement: str, number: int) -> bool:
    return bool(connection.execute(statement, (number,)).fetchone()[0])
