"""Who is at work on a question: one at a time, among all threads and processes of a ledger.

    with ledger.claim("visits", digest):   # UnderWay where another keeps it for too long
        ...                                # charged, drawn, settled

A claim ends with its block, and with its process, however that ends. So of two who ask the same
at once, one waits, and then finds the answer; and a charge that nobody settled belongs to nobody
who is still at work on it. Claims are no part of a ledger's content.

In a file's ledger they are locks of the system on single bytes of an empty file beside it; such
locks belong to a process, so threads are kept apart here. In PostgreSQL they are advisory locks
of one connection, and end with it. Where somebody presses Ctrl+C while the server is asked, it is
not known what it did: that connection is given up, with all that it has claimed.

  Tested:   tests/ledger/test_claims.py: threads, processes, killed ones, stopped ones, forked ones,
            a connection that is cut, a file that is removed
  Assumed:  a connection to PostgreSQL that ends while its process lives on ends at a time that
            does not depend on what is drawn there; nobody removes the file beside a ledger in use
"""

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from os.path import samestat
from pathlib import Path
from stat import S_IMODE
from struct import pack
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

    default_code = "UNDER_WAY"


class Claims(Protocol):
    """Numbers that one may have at a time."""

    def take(self, number: int, by: object) -> bool: ...  # whether it is one's own now; at once

    def let_go(self, number: int, by: object) -> None:
        """It is not one's own, whether or not it was: `take` may have been stopped midway."""
        ...


@contextmanager
def hold_claim(claims: Claims, *words: str, wait_seconds: float) -> Generator[None]:
    """One's own until the end of the block; UnderWay where it is another's for so long."""
    number, until, by = _number(words), monotonic() + wait_seconds, object()
    try:
        while not claims.take(number, by):
            if monotonic() >= until:
                raise UnderWay(
                    "The same question is being answered for somebody else at this moment. Ask"
                    " again in a moment: its answer is then a repeat."
                )
            sleep(LOOK_SECONDS)
        yield
    finally:
        claims.let_go(number, by)


def _number(words: Sequence[str]) -> int:
    digest = sha256("\0".join(words).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - BITS)


class InProcess:
    """Claims of threads."""

    __slots__ = ("_taken",)

    def __init__(self) -> None:
        self._taken = dict[int, object]()

    def take(self, number: int, by: object) -> bool:
        return self._taken.setdefault(number, by) is by  # one step, whatever other threads do

    def let_go(self, number: int, by: object) -> None:
        if self.has(number, by):
            del self._taken[number]

    def has(self, number: int, by: object) -> bool:
        return self._taken.get(number) is by


# The claims of this process, by file. All its ledgers share one handle, as locks may be of the
# process; it is closed when nothing is claimed.
_HELD: dict[Path, tuple[int, dict[int, object]]] = {}
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

    __slots__ = ("_path", "_place")

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self._place = self._path.with_name(self._path.name + BESIDE)

    def take(self, number: int, by: object) -> bool:
        with _GUARDS[-1]:
            handle, taken = self._held()
            free = taken.setdefault(number, by) is by
            free = free and _locked(handle, number) and self._is_there(handle)
        if not free:
            self.let_go(number, by)
        return free

    def let_go(self, number: int, by: object) -> None:
        with _GUARDS[-1]:
            handle, taken = _HELD.get(self._path, (0, dict[int, object]()))
            if taken.get(number) is not by:
                return
            with suppress(OSError):  # it was not locked, or the disk knows no locks
                _unlock(handle, number)
            del taken[number]
            if not taken:
                os.close(handle)
                del _HELD[self._path]

    def _held(self) -> tuple[int, dict[int, object]]:
        handle, taken = _HELD.get(self._path, (None, dict[int, object]()))
        if handle is None or not self._is_there(handle):
            opened = _open_file(self._path, self._place)
            for number in taken:
                _locked(opened, number)
            _HELD[self._path] = opened, taken
            if handle is not None:
                os.close(handle)
        return _HELD[self._path]

    def _is_there(self, handle: int) -> bool:
        """Whether others who open the file would find this one; else it was removed."""
        try:
            return samestat(os.fstat(handle), self._place.stat())
        except OSError:
            return False


def _open_file(path: Path, place: Path) -> int:
    try:
        mode = S_IMODE(path.stat().st_mode)  # whoever may use the ledger may claim
        handle = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), mode)
    except OSError as error:
        raise LedgerUnavailable(
            f"{place} cannot be opened: {error.strerror}. The folder of a ledger must be writable"
            " for everyone who asks. Nothing was charged."
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

    def _lock(handle: int, number: int, kind: int) -> None:
        """Of the open file where the system has that. Else the lock is of the process, and ends
        where it closes the file that it opened elsewhere, by another name perhaps."""
        if sys.platform == "linux":
            wanted = pack("hhqqi", kind, os.SEEK_SET, number, 1, 0)
            fcntl.fcntl(handle, fcntl.F_OFD_SETLK, wanted)
        else:
            how = fcntl.LOCK_UN if kind == fcntl.F_UNLCK else fcntl.LOCK_EX | fcntl.LOCK_NB
            fcntl.lockf(handle, how, 1, number)

    def _locked(handle: int, number: int) -> bool:
        try:
            _lock(handle, number, fcntl.F_WRLCK)
        except (BlockingIOError, PermissionError):  # how systems say "taken"
            return False
        except OSError as error:
            raise LedgerUnavailable(
                f"The file next to the ledger cannot be locked: {error.strerror}. Keep a ledger on"
                " a local disk. Nothing was charged."
            ) from None
        return True

    def _unlock(handle: int, number: int) -> None:
        _lock(handle, number, fcntl.F_UNLCK)


class AtServer:
    """Claims of all processes that use one ledger in PostgreSQL, by one connection."""

    __slots__ = ("_connect", "_connection", "_guard", "_left_behind", "_process", "_threads")

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect, self._left_behind = connect, list[object]()
        self._connection: Any = None
        self._begin()

    def take(self, number: int, by: object) -> bool:
        self._leave_to_parent()
        if not self._threads.take(number, by):
            return False
        free = False
        try:
            free = self._asked("SELECT pg_try_advisory_lock(%s)", number)
        finally:
            if not free:
                self._threads.let_go(number, by)
        return free

    def let_go(self, number: int, by: object) -> None:
        self._leave_to_parent()
        if not self._threads.has(number, by):
            return
        try:
            with suppress(Exception), self._guard:  # a connection that is cut has let go of all
                self._first("SELECT pg_advisory_unlock(%s)", number)
        finally:
            self._threads.let_go(number, by)

    def close(self) -> None:
        """Let go of the connection, and of all that it has claimed."""
        self._leave_to_parent()
        with self._guard:
            self._drop()

    def _begin(self) -> None:
        self._guard, self._threads, self._process = Lock(), InProcess(), os.getpid()

    def _leave_to_parent(self) -> None:
        """In a forked child: what was claimed is its parent's, and its connection never closed."""
        if os.getpid() != self._process:
            self._left_behind.append(self._connection)
            self._connection = None
            self._begin()

    def _asked(self, statement: str, number: int) -> bool:
        with self._guard:
            if self._connection is not None:
                with suppress(Exception):  # the server may have been away meanwhile
                    return self._first(statement, number)
            self._connection = self._connect()
            return self._first(statement, number)

    def _first(self, statement: str, number: int) -> bool:
        try:
            return bool(self._connection.execute(statement, (number,)).fetchone()[0])
        except BaseException:
            self._drop()  # whether it is claimed is not known, and it must not be for ever
            raise

    def _drop(self) -> None:
        connection: Any = self._connection
        self._connection = None
        if connection is not None:
            with suppress(Exception):
                connection.close()
