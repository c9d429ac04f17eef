"""Database, master key and ledger belong together: that is looked at whenever a curator is opened.

A database that is in use needs its own key and its own ledger. One that is missing is never made
anew: a new key would find nobody, and a new ledger would be a fresh budget for the same people.

An older ledger beside a newer database has forgotten charges. An answer is in the ledger before it
is in the database, so an answer of the history that the ledger does not know was paid for and
forgotten. Its data set is frozen, and the ledger says how many answers it lacks up to which time:
once, so that an owner who has decided about them can allow questions again.

  Proven:   each of the newest answers of a data set is in the ledger, or the data set is frozen
            until its owner has decided
  Tested:   tests/curator/test_together.py
  Assumed:  what it cannot see: charges without an answer in the history, a ledger that was
            rewritten, database and ledger that are both old. Checkpoints kept elsewhere show those
"""

from collections.abc import Mapping, Sequence
from json import loads
from pathlib import Path
from typing import cast

from sqlalchemy import func, select

from letalone.curator.book import Book
from letalone.curator.database import Database
from letalone.curator.keys import MasterKey, read_master_key
from letalone.curator.settings import Settings
from letalone.curator.tables import DATA_SETS, PEOPLE, RELEASES
from letalone.errors import LedgerDamaged, ParameterError
from letalone.ledger import Ledger
from letalone.ledger.entries import Kind
from letalone.ledger.postgres import is_postgres
from letalone.privacy.curve import Json

MOST = 1000  # so many answers of each data set are looked for: about a tenth of a second
LACKS = "answers missing"
NOT_NEW = (
    " The curator's database is in use, and what was spent stands in its ledger: a new one would"
    " spend it again. Restore the newest backup of the ledger, or name its place with --ledger."
)


def open_together(settings: Settings, database: Database) -> tuple[MasterKey, Ledger]:
    """The key and the ledger of a database; made only where the database is new."""
    new = not _is_used(database)
    master = read_master_key(settings.master_key_file, make=new)
    ledger = _ledger(settings.ledger_place, new=new)
    try:
        _check_registered(database, ledger)
    except BaseException:
        ledger.close()
        raise
    return master, ledger


def freeze_forgotten(database: Database, book: Book) -> list[str]:
    """Freezes data sets of which the ledger lacks answers that were given; their names."""
    lacking = _lacking(database, book.ledger)
    return [name for name, times in lacking.items() if _froze(book, name, times)]


def without_rows(settings: Settings, database: Database) -> list[str]:
    """Data sets whose imported rows are not in the folder any more; their names."""
    wanted = select(DATA_SETS).where(DATA_SETS.c.retired.is_(None), ~DATA_SETS.c.external)
    with database.reading() as connection:
        rows = connection.execute(wanted.order_by(DATA_SETS.c.name)).all()
    return [row.name for row in rows if not (settings.data_folder / str(row.file)).is_file()]


def _is_used(database: Database) -> bool:
    with database.reading() as connection:
        return bool(connection.execute(select(func.count()).select_from(PEOPLE)).scalar_one())


def _ledger(place: str, *, new: bool) -> Ledger:
    if not new and not is_postgres(place) and _is_empty(Path(place)):
        raise LedgerDamaged(f"{place} is missing or empty.{NOT_NEW}")
    try:
        return Ledger.open(place, create=new, keep=True)
    except ParameterError as error:
        words = str(error) if new else f"{error}{NOT_NEW}"
    raise ParameterError(words)


def _is_empty(place: Path) -> bool:
    return not place.exists() or (place.is_file() and place.stat().st_size == 0)


def _check_registered(database: Database, ledger: Ledger) -> None:
    with database.reading() as connection:
        names = connection.execute(select(DATA_SETS.c.name)).scalars().all()
    missing = sorted(set(names) - {one.name for one in ledger.data_sets()})
    if missing:
        raise LedgerDamaged(
            f"The ledger has no {', '.join(map(repr, missing[:20]))}, which the curator's database"
            f" has: it is another ledger, or an older one.{NOT_NEW}"
        )


def _lacking(database: Database, ledger: Ledger) -> Mapping[str, Sequence[str]]:
    """When answers were given that are not in the ledger, by data set."""
    with database.reading() as connection:
        names = connection.execute(select(RELEASES.c.data_set).distinct()).scalars().all()
    missing = {name: _not_settled(database, ledger, name) for name in sorted(names)}
    return {name: times for name, times in missing.items() if times}


def _not_settled(database: Database, ledger: Ledger, name: str) -> Sequence[str]:
    newest = RELEASES.c.time.desc()
    wanted = select(RELEASES).where(RELEASES.c.data_set == name).order_by(newest).limit(MOST)
    with database.reading() as connection:
        rows = connection.execute(wanted).all()
    entries = ledger.settled_by([loads(row.release) for row in rows])
    return [row.time for row, entry in zip(rows, entries, strict=True) if entry is None]


def _froze(book: Book, name: str, times: Sequence[str]) -> bool:
    """Whether it was frozen now: an owner's decision about answers up to a time stands."""
    said = [one.body for one in book.ledger.entries(name) if one.kind is Kind.ADMINISTERED]
    noted = [cast("Json", one["body"])["until"] for one in said if one.get("what") == LACKS]
    until = max(times)
    if any(until <= str(one) for one in noted):
        return False
    book.ledger.freeze(name, "the ledger is older than answers that were given")
    book.write(name, LACKS, {"answers": len(times), "until": until}, by=[])
    return True
