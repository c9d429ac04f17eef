"""Checks, whenever a curator is opened, that database, master key and ledger belong together.

A database that is in use needs its own key and its own ledger. One that is missing is never made
anew: a new key would find nobody, and a new ledger would be a fresh budget for the same people. A
new database beside a ledger in use would make a new owner, whom nobody has chosen. The database
has a mark of its key, so another one is noticed; a start that is refused makes no key.

An older ledger beside a newer database has forgotten charges. The database keeps the last entry
that was seen, in the transaction that puts an answer into the history; a ledger that lacks it is an
older one, and all its data sets are frozen (ledger/chain/remembering.py), at the start as while it
runs. Once, so that an owner who has decided can allow questions again.

  Proven:   each answer of the history is in the ledger, or all data sets were frozen since: an
            answer is in the ledger before it is in the history, and by then its process has seen it
  Tested:   tests/curator/test_together.py
  Assumed:  what it cannot see: charges after the newest answer of the history, database and ledger
            that are both old. Checkpoints kept elsewhere show those
"""

from pathlib import Path
from typing import cast

from sqlalchemy import Connection, bindparam, func, insert, select, update

from letalone.curator.people.service import ADDED
from letalone.curator.storage.database import Database, DatabaseDamaged
from letalone.curator.storage.master_key import MasterKey, read_master_key
from letalone.curator.storage.settings import Settings
from letalone.curator.storage.stored_values import read_list, write_list
from letalone.curator.storage.tables import CONTROLLER_FACTS, DATA_SETS, PEOPLE, SEEN, insert_once
from letalone.errors import FormatError, LedgerDamaged, ParameterError
from letalone.ledger import Ledger
from letalone.ledger.chain.remembering import Seen
from letalone.ledger.storage.store import is_postgres
from letalone.ledger.storage.trips import Asked

KEY_MARK = "mark of the master key"  # beside who answers for the data
NO_NEW_LEDGER = (
    " The curator's database is in use, and its ledger records what was spent: a new one would"
    " spend it again. Restore the newest backup of the ledger, or name its place with --ledger."
)
KNOWN_LOSSES = func.length(SEEN.c.decided)  # a loss makes it longer
IS_LATER = (bindparam("long") == KNOWN_LOSSES) & (bindparam("last") > SEEN.c.number)
KEEP_SEEN = (
    update(SEEN)
    .where((bindparam("long") > KNOWN_LOSSES) | IS_LATER)
    .values(number=bindparam("last"), hash=bindparam("its"), decided=bindparam("losses"))
)


def open_matching_stores(
    settings: Settings, database: Database, *, start_anew: bool = False
) -> tuple[MasterKey, Ledger]:
    """The key and the ledger of a database; made only where the database is new.

    An empty database beside a ledger that a curator has used is a lost one: refused, unless an
    owner starts anew on purpose. Budgets go on even so, since they belong to names.
    """
    with database.reading() as connection:
        new = not _has_people(connection)
    ledger = _open_ledger(settings.ledger_place, new=new)
    try:
        _check_registered(database, ledger)
        if new and not start_anew:
            _check_unused(database, ledger)
        master = read_master_key(settings.master_key_file, make=new)
        _check_master_key(database, master, settings.master_key_file)
    except BaseException:
        ledger.close()
        raise
    return master, ledger


def recall_seen(database: Database, ledger: Ledger) -> list[str]:
    """Lets the ledger be as new as the database knows it; the data sets that are frozen now."""
    row = database.row(select(SEEN))
    if row is not None:
        return ledger.recall(Seen(row.number, row.hash, frozenset(read_list(row.decided))))
    ledger.data_sets()  # which is a look
    with database.writing() as connection:
        if connection.execute(select(SEEN)).one_or_none() is None:  # else another was quicker
            # The table has one row.
            connection.execute(insert(SEEN).values(only=1, **_row(cast("Seen", ledger.seen))))
    return []


def statement_of_seen(ledger: Ledger) -> Asked:
    """What keeps the last entry that was seen, in a transaction that writes anyway.

    Never an earlier one, but after a loss that was noticed.
    """
    row = _row(cast("Seen", ledger.seen))
    values = {"last": row["number"], "its": row["hash"], "losses": row["decided"]}
    return KEEP_SEEN, {**values, "long": len(str(row["decided"]))}


def data_sets_without_rows(settings: Settings, database: Database) -> list[str]:
    """Data sets whose imported rows are not in the folder any more; their names."""
    wanted = select(DATA_SETS).where(DATA_SETS.c.retired.is_(None), ~DATA_SETS.c.external)
    rows = database.rows(wanted.order_by(DATA_SETS.c.name))
    return [row.name for row in rows if not (settings.data_folder / str(row.file)).is_file()]


def _has_people(connection: Connection) -> bool:
    return bool(connection.execute(select(func.count()).select_from(PEOPLE)).scalar_one())


def _open_ledger(place: str, *, new: bool) -> Ledger:
    if not new and not is_postgres(place) and _is_empty(Path(place)):
        raise LedgerDamaged(f"{place} is missing or empty.{NO_NEW_LEDGER}")
    try:
        return Ledger.open(place, create=new, keep=True)
    except ParameterError as error:
        words = str(error) if new else f"{error}{NO_NEW_LEDGER}"
    raise ParameterError(words)


def _is_empty(place: Path) -> bool:
    return not place.exists() or (place.is_file() and place.stat().st_size == 0)


def _check_unused(database: Database, ledger: Ledger) -> None:
    """A ledger without people belongs to no curator yet; another first start may be quicker.

    Then it is in the ledger before it is in the database: whoever writes there is waited for.
    """
    if not ledger.all_acts(ADDED):
        return
    with database.writing() as connection:
        used = _has_people(connection)
    if not used:
        raise DatabaseDamaged(
            f"The ledger has the people and acts of a curator, and its database, {database.place},"
            " has nobody: it is missing, or another one. Restore its newest backup, or name its"
            " place with --database. Without a backup, people, grants, keys and the history of"
            " answers are lost; budgets are not, they belong to the names in the ledger. To begin"
            " with a new owner all the same: letalone serve --start-anew. Rows that were imported"
            " are then nobody's, and are removed from the folder 'data': copy it first if you need"
            " them."
        )


def _check_master_key(database: Database, master: MasterKey, place: Path) -> None:
    """The key is the one that this database has known first."""
    wanted = select(CONTROLLER_FACTS.c.words).where(CONTROLLER_FACTS.c.name == KEY_MARK)
    with database.writing() as connection:
        connection.execute(insert_once(CONTROLLER_FACTS), {"name": KEY_MARK, "words": master.mark})
        known = connection.execute(wanted).scalar_one()
    if known != master.mark:
        raise FormatError(
            f"{place} is not the key of the curator's database, but another one: under it nobody in"
            " the data would be found. Restore master.key from the backup that belongs to the"
            " database, or name the right folder or database."
        )


def _check_registered(database: Database, ledger: Ledger) -> None:
    names = set(database.values(select(DATA_SETS.c.name)))
    missing = sorted(names - {data_set.name for data_set in ledger.data_sets()})
    if missing:
        raise LedgerDamaged(
            f"The ledger has no {', '.join(map(repr, missing[:20]))}, which the curator's database"
            f" has: it is another ledger, or an older one.{NO_NEW_LEDGER}"
        )


def _row(seen: Seen) -> dict[str, int | str]:
    return {"number": seen.number, "hash": seen.hash, "decided": write_list(sorted(seen.decided))}
