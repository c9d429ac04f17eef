"""Finds the data set that reads a table already: one table has one budget, however it is written.

An external data set is read where it lies. The same table under a second name would be a second
budget for the same people, so it is refused: as another external data set, and as rows that are
imported. A data set that was retired has been paid for, too, and still counts.

  Tested:   tests/curator/test_known_sources.py
  Assumed:  as in sources/resolve.py, where one table has one identity; a hard link is found here
            unless both its names are registered at the same moment. What was copied is compared
            with nothing: a file that is sent or imported twice is two tables, as its owner says
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from letalone.curator.data_sets.file_places import LOCK
from letalone.curator.data_sets.locks import exclusive_lock
from letalone.curator.storage.refusals import AlreadyDecided
from letalone.curator.storage.settings import Settings
from letalone.curator.storage.stored_values import DataRow
from letalone.engines.catalogue import ENGINES
from letalone.errors import ParameterError
from letalone.sources.resolve import is_address, read_source, read_whole_address
from letalone.sources.source import Source, same_table


def identify(settings: Settings, file: str) -> Source:
    """Which table an external data set reads: a file of the import folder, or an address."""
    if is_address(file):
        return read_whole_address(file)
    return read_source(settings.imports_folder / file, look=ENGINES)


def check_unknown(settings: Settings, rows: Sequence[DataRow], source: Source) -> None:
    """Refuses a table that is one of the external data sets already; for owners alone."""
    for row in rows:
        if row.external and row.file is not None and _is_read(settings, str(row.file), source):
            past = " It was retired, and what was spent stays spent." if row.retired else ""
            raise AlreadyDecided(
                f"{source.words} is the data set {row.name!r} already, and a table has one budget."
                f"{past} If these are other people's data, give the file or the table another"
                " name; files that differ in their endings alone count as one."
            )


@contextmanager
def registering(settings: Settings, source: Source) -> Generator[None]:
    """Nobody else registers this table, or imports it, until the end of the block."""
    digest = sha256(repr(source.identity).encode()).hexdigest()[:32]
    with exclusive_lock(settings.data_folder / f"source-{digest}{LOCK}"):
        yield


def _is_read(settings: Settings, file: str, source: Source) -> bool:
    try:
        known = identify(settings, file)
    except ParameterError:
        return False  # it was taken by other rules, and is no table by today's
    return same_table(known, source) or _is_second_name(known.handle, source.handle)


def _is_second_name(one: object, other: object) -> bool:
    """Whether two paths are one file on the disk: a hard link."""
    try:
        return isinstance(one, Path) and isinstance(other, Path) and one.samefile(other)
    except OSError:
        return False  # one of them is gone
