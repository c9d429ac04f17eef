"""What was left behind: files that no table names after an hour, uploads unused after a day.

Uploads of the console, beside which stands whose they are, are for the hour in which they are used.

How old a file is, a clock says that may jump. So nothing is removed while anybody changes rows: who
does shares a lock, from before the file is made until a table names it.

  Tested:   tests/curator/test_data_sets.py
  Assumed:  the processes of one folder run on one machine, as everywhere here
"""

from pathlib import Path
from time import time

from sqlalchemy import select

from letalone.curator.database import Database
from letalone.curator.locks import alone_if_free
from letalone.curator.places import KEPT, MEMBERS, WHOSE, lock_of_files
from letalone.curator.settings import Settings
from letalone.curator.tables import DATA_SETS, HELD

PATIENCE_SECONDS = 3600  # nothing is removed in haste
VISIT_SECONDS = 3600  # an upload of the console waits for the form that declares it
UPLOADS_SECONDS = 86_400  # an upload waits for a registration that can be carried out


def sweep(settings: Settings, database: Database) -> list[str]:
    """Removes left-over imports, marks and uploads, unless rows are being changed; their names."""
    with alone_if_free(lock_of_files(settings)) as free:
        return _swept(settings, database) if free else []


def _swept(settings: Settings, database: Database) -> list[str]:
    with database.reading() as connection:
        named = set(connection.execute(select(DATA_SETS.c.file)).scalars())
        named |= set(connection.execute(select(HELD.c.members)).scalars())
    data = [one for one in settings.data_folder.iterdir() if one.suffix in (KEPT, MEMBERS, ".new")]
    found = [one for one in data if one.name not in named]
    old = [one for one in found if _age(one) > PATIENCE_SECONDS]
    old += [one for one in settings.incoming_folder.iterdir() if _age(one) > _patience(one)]
    for one in old:
        one.unlink(missing_ok=True)
    return [one.name for one in old]


def _patience(upload: Path) -> float:
    """How long an upload waits."""
    of_a_visit = upload.suffix == WHOSE or upload.with_name(upload.name + WHOSE).exists()
    return VISIT_SECONDS if of_a_visit else UPLOADS_SECONDS


def _age(place: Path) -> float:
    try:
        return time() - place.lstat().st_mtime
    except FileNotFoundError:
        return 0.0
