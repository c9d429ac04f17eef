"""Where the engine spills rows that do not fit into memory: in the curator's folder, not elsewhere.

What is spilled is private. Each curator of a process has a folder of its own, and removes it when
it closes; that of a process that was killed is removed by the next that starts, or that keeps
house. A lock is held beside the folder for as long as it is used, so nobody takes that away.

  Tested:   tests/curator/test_spilling.py
  Assumed:  the processes of one folder run on one machine, as everywhere here
"""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import rmtree

from letalone.curator.places import LOCK
from letalone.curator.words import new_id


@contextmanager
def spilling(folder: Path) -> Generator[Path]:
    """A folder of its own for one curator of one process, removed at the end of the block."""
    own = folder / new_id()
    with closing(_connected(own)) as lock:
        lock.execute("BEGIN")
        lock.execute("SELECT COUNT(*) FROM sqlite_master").fetchall()
        own.mkdir(mode=0o700)
        try:
            yield own
        finally:
            rmtree(own, ignore_errors=True)
    _lock_of(own).unlink(missing_ok=True)


def sweep_spills(folder: Path) -> list[str]:
    """Removes what processes left that are no more; the names."""
    left = [one for one in folder.iterdir() if one.is_dir() and _swept(one)]
    return [one.name for one in left]


def _swept(own: Path) -> bool:
    with closing(_connected(own)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            return False  # its process lives
        rmtree(own, ignore_errors=True)
    _lock_of(own).unlink(missing_ok=True)
    return True


def _connected(own: Path) -> sqlite3.Connection:
    place = _lock_of(own)
    return sqlite3.connect(place, timeout=0, isolation_level=None, check_same_thread=False)


def _lock_of(own: Path) -> Path:
    return own.with_name(own.name + LOCK)
