"""What was left behind: files that no table names after an hour, uploads unused after a day.

Tested:   tests/curator/test_data_sets.py
"""

from pathlib import Path
from time import time

from sqlalchemy import select

from letalone.curator.database import Database
from letalone.curator.places import KEPT, MEMBERS
from letalone.curator.settings import Settings
from letalone.curator.tables import DATA_SETS, HELD

PATIENCE_SECONDS = 3600  # longer than an import takes, which has its file before its row
UPLOADS_SECONDS = 86_400  # an upload waits for a registration that can be carried out


def sweep(settings: Settings, database: Database) -> list[str]:
    """Removes left-over imports, marks and uploads; their names."""
    with database.reading() as connection:
        named = set(connection.execute(select(DATA_SETS.c.file)).scalars())
        named |= set(connection.execute(select(HELD.c.members)).scalars())
    data = [one for one in settings.data_folder.iterdir() if one.suffix in (KEPT, MEMBERS, ".new")]
    found = [one for one in data if one.name not in named]
    old = [one for one in found if _age(one) > PATIENCE_SECONDS]
    old += [one for one in settings.incoming_folder.iterdir() if _age(one) > UPLOADS_SECONDS]
    for one in old:
        one.unlink(missing_ok=True)
    return [one.name for one in old]


def _age(place: Path) -> float:
    try:
        return time() - place.lstat().st_mtime
    except FileNotFoundError:
        return 0.0
