"""Keeps one open session for each data set and process, and opens it again when its rows changed.

This is the one cache for sessions. A session is kept until the file's name or the schema with its
version is another (newer rows, a correction, an erasure, a raised version), or until an owner says
so (`open_anew`), which the time of the lock's file shows to all processes.

Who asks shares a lock of the data set; who changes rows holds it alone. So a session is never
left with a file that is gone, which would freeze the data set.

All that is opened within `reading` and `changing` has the curator's room: its folder for spilling,
and a share of its memory that is fixed when it starts (`Settings.memory_of_each`). So many tables
are open at once as there are shares; one more closes the one that was not asked for longest.

  Tested:   tests/curator/test_workers.py: what another worker changes ends it, and nothing else;
            test_data_sets.py, test_memory.py
"""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock

from letalone.curator.data_sets.file_places import LOCK
from letalone.curator.data_sets.locks import exclusive_lock, shared_lock
from letalone.curator.storage.settings import MAX_OPEN_TABLES
from letalone.engines.core.failure import EngineFailed, SourceAway, SourceUnreadable
from letalone.engines.duckdb.lockdown import Room, working_in
from letalone.engines.duckdb.long_cells import check_cells
from letalone.errors import ParameterError, ServiceUnavailable
from letalone.errors.problem import without_context
from letalone.ledger import Ledger
from letalone.plans.schema import Schema
from letalone.session.opening import open_registered
from letalone.session.session import Session
from letalone.session.table_work import source_away


@dataclass(frozen=True, slots=True)
class RowsLocation:
    """Where the rows of a data set lie, and what is declared of them."""

    place: Path | str  # a file, or the address of a table on a server
    schema: Schema


class OpenSessions:
    """Opens, locks and closes the sessions of a process."""

    __slots__ = ("_folder", "_in_use", "_ledger", "_lock", "_open", "_opening", "_room")

    def __init__(self, folder: Path, ledger: Ledger, room: Room) -> None:
        self._folder, self._ledger, self._lock = folder, ledger, Lock()
        self._room, self._in_use, self._opening = room, Counter[str](), dict[str, Lock]()
        self._open: dict[str, tuple[tuple[RowsLocation, int], Session]] = {}  # the last asked last

    @contextmanager
    def reading(self, name: str) -> Generator[None]:
        """The rows stay as they are until the end of the block."""
        with shared_lock(self._lock_file(name)), self._using(name), working_in(self._room):
            yield

    @contextmanager
    def _using(self, name: str) -> Generator[None]:
        with self._lock:
            self._in_use[name] += 1
        try:
            yield
        finally:
            with self._lock:
                self._in_use[name] -= 1

    @contextmanager
    def changing(self, name: str) -> Generator[None]:
        """Nobody reads the rows until the end of the block."""
        with exclusive_lock(self._lock_file(name)), working_in(self._room):
            self.forget(name)
            yield

    def session(self, source: RowsLocation) -> Session:
        """The open session; within `reading`, so that the source is what it is."""
        name = source.schema.name
        with self._lock:
            opening = self._opening.setdefault(name, Lock())
        with opening:  # its own: one whose server is slow must not keep the others waiting
            # The time tells when an owner last said that the rows are to be opened anew.
            now = (source, self._lock_file(name).stat().st_mtime_ns)
            with self._lock:
                kept = self._open.pop(name, None)
                if kept is not None and kept[0] == now:
                    self._open[name] = kept
                    return kept[1]
            if kept is not None:
                kept[1].close()
            self._make_room()
            session = self._open_session(source)
            with self._lock:
                self._open[name] = (now, session)
            return session

    def _make_room(self) -> None:
        """Closes tables that nobody asks now, so that one more can be opened."""
        with self._lock:
            used = {name for name, times in self._in_use.items() if times}
            idle = [name for name in self._open if name not in used]
            # One that is being opened is used.
            too_many = len(used | self._open.keys()) - MAX_OPEN_TABLES
            closing = [self._open.pop(name)[1] for name in idle[: max(0, too_many)]]
        for session in closing:
            session.close()

    def open_anew(self, name: str) -> None:
        """All processes open the rows again, as they are by then, when they are asked next."""
        with self.changing(name):
            self._lock_file(name).touch()

    def forget(self, name: str) -> None:
        with self._lock:
            kept = self._open.pop(name, None)
        if kept is not None:
            kept[1].close()

    def close(self) -> None:
        for name in list(self._open):
            self.forget(name)

    def _open_session(self, source: RowsLocation) -> Session:
        def open_source() -> Session:
            if isinstance(source.place, Path) and source.place.parent != self._folder:
                check_cells(source.place, [column.name for column in source.schema.columns])
            # The name is the owner's, and nobody else's in this ledger.
            return open_registered(source.place, schema=source.schema, ledger=self._ledger)

        def failed(caught: Exception) -> ServiceUnavailable:  # its words could name a server
            away = source_away if isinstance(caught, SourceAway) else not_openable
            return away(source.schema.name)

        kinds = (SourceAway, EngineFailed, ParameterError)
        return without_context(open_source, *kinds, error=failed)

    def _lock_file(self, name: str) -> Path:
        """One for all names that look the same, of which only one can be."""
        return self._folder / f"{sha256(name.casefold().encode()).hexdigest()[:32]}{LOCK}"


def not_openable(name: str) -> SourceUnreadable:
    """What is told where the rows cannot be reached, whatever the reason is."""
    return SourceUnreadable(
        f"The data set {name!r} cannot be opened now, and nothing was charged. Its owner has to"
        " look at it."
    )
