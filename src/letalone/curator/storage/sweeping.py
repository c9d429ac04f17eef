"""Removes files that processes have left behind, and gives engines a folder to spill into.

Imports and marks that no table names go after an hour, uploads that nobody registered after a day.
Uploads of the console, which have a file that says whose they are, go after an hour. The age of a
file comes from a clock that may jump. So nothing is removed while anybody changes rows: whoever
does shares a lock, from before the file is made until a table names it.

Rows that do not fit into memory are spilled into the curator's folder, not elsewhere: they are
private. Each curator of a process has its own spill folder and removes it when it closes; that of
a process that was killed is removed at the next start, or by the hourly work. A lock is held next
to the folder for as long as it is used, so nobody removes it before.

  Tested:   tests/curator/test_data_sets.py, tests/curator/test_spilling.py
  Assumed:  the processes of one folder run on one machine, as everywhere here
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from time import time

from sqlalchemy import select

from letalone.curator.data_sets.file_places import KEPT, LOCK, MEMBERS, WHOSE, lock_of_files
from letalone.curator.data_sets.locks import exclusive_lock_if_free, shared_lock
from letalone.curator.storage.database import Database
from letalone.curator.storage.settings import Settings
from letalone.curator.storage.stored_values import new_id
from letalone.curator.storage.tables import DATA_SETS, IMPORTS

PATIENCE_SECONDS = 3600  # nothing is removed in haste
VISIT_SECONDS = 3600  # an upload of the console waits for the form that declares it
UPLOADS_SECONDS = 86_400  # an upload waits for a registration that can be carried out


def sweep(settings: Settings, database: Database) -> list[str]:
    """Removes left-over imports, marks and uploads, unless rows are being changed; their names."""
    with exclusive_lock_if_free(lock_of_files(settings)) as free:
        return _sweep_files(settings, database) if free else []


def _sweep_files(settings: Settings, database: Database) -> list[str]:
    named = {
        *database.values(select(DATA_SETS.c.file)),
        *database.values(select(IMPORTS.c.members)),
    }
    kinds = (KEPT, MEMBERS, ".new")
    data = [place for place in settings.data_folder.iterdir() if place.suffix in kinds]
    unnamed = [place for place in data if place.name not in named]
    old = [place for place in unnamed if _age(place) > PATIENCE_SECONDS]
    old += [place for place in settings.incoming_folder.iterdir() if _age(place) > _patience(place)]
    for place in old:
        place.unlink(missing_ok=True)
    return [place.name for place in old]


def _patience(upload: Path) -> float:
    of_a_visit = upload.suffix == WHOSE or upload.with_name(upload.name + WHOSE).exists()
    return VISIT_SECONDS if of_a_visit else UPLOADS_SECONDS


def _age(place: Path) -> float:
    try:
        return time() - place.lstat().st_mtime
    except FileNotFoundError:
        return 0.0


@contextmanager
def spilling(folder: Path) -> Generator[Path]:
    """A folder for one curator of one process, removed at the end of the block."""
    place = folder / new_id()
    with shared_lock(_lock_of(place)):
        place.mkdir(mode=0o700)
        try:
            yield place
        finally:
            rmtree(place, ignore_errors=True)
    _lock_of(place).unlink(missing_ok=True)


def sweep_spills(folder: Path) -> list[str]:
    """Removes what processes left that are no more; the names."""
    gone = [place for place in folder.iterdir() if place.is_dir() and _remove_if_unused(place)]
    return [place.name for place in gone]


def _remove_if_unused(place: Path) -> bool:
    with exclusive_lock_if_free(_lock_of(place)) as free:
        if not free:
            return False  # its process lives
        rmtree(place, ignore_errors=True)
    _lock_of(place).unlink(missing_ok=True)
    return True


def _lock_of(place: Path) -> Path:
    return place.with_name(place.name + LOCK)
