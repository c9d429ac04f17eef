"""Whether the curator can write what an answer needs: ledger, database and disk, each by itself.

Each check raises where it fails, and may take as long as its store does: who asks sets a limit.

  Tested:   tests/curator/http/test_ready.py
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import disk_usage

from letalone.curator.house import House
from letalone.errors import ServiceUnavailable
from letalone.ledger.store import is_postgres
from letalone.ledger.touching import touch

LEAST_FREE = 64 << 20  # bytes: some thousand answers
Checks = Mapping[str, Callable[[], None]]


def checks_of(house: House) -> Checks:
    """The checks, by the name of the part."""
    return {
        "ledger": house.book.ledger.check_writable,
        "database": lambda: _check_database(house),
        "disk": lambda: _check_disk(house),
    }


def _check_database(house: House) -> None:
    with house.database.writing() as connection:
        touch(connection)


def _check_disk(house: House) -> None:
    place = house.settings.ledger_place
    folders = [house.settings.folder, *([] if is_postgres(place) else [Path(place).parent])]
    if min(disk_usage(folder).free for folder in folders) < LEAST_FREE:
        raise ServiceUnavailable(f"Less than {LEAST_FREE >> 20} MB are free.")
