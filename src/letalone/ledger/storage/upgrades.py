"""Ledgers of older formats, brought to the present one: nothing that was there is changed.

Each within the transaction of its store, whole or not at all. An older letalone that has the
ledger open meanwhile can write nothing more.

  Tested:   tests/ledger/test_samples.py, on both stores
"""

from collections.abc import Iterator
from contextlib import suppress
from json import loads

from sqlalchemy import Connection, bindparam, select, update

from letalone.ledger.chain.canonical import text_digest
from letalone.ledger.chain.entries import CHANGES, EntryKind
from letalone.ledger.storage.tables import ENTRIES, SETTLEMENTS, SINCE_FORMAT_2, SINCE_FORMAT_3

FORMAT, FIRST = 3, 1
PAGE = 1000


def upgrade_format(connection: Connection, written: int, *, schema: str = "") -> None:
    """From the format in which it is written; `schema` is put before the names of tables."""
    if written == FIRST:
        _to_format_2(connection)
    _to_format_3(connection, schema)


def _to_format_2(connection: Connection) -> None:
    """Levels, payments and the digests of releases."""
    for table in SINCE_FORMAT_2:
        table.create(connection)
    connection.exec_driver_sql("ALTER TABLE settlements ADD COLUMN release_digest TEXT")
    for index in SETTLEMENTS.indexes:
        index.create(connection, checkfirst=True)
    known = select(SETTLEMENTS.c.reserved, SETTLEMENTS.c.release)
    for reserved, release in connection.execute(known.where(SETTLEMENTS.c.release.is_not(None))):
        change = update(SETTLEMENTS).where(SETTLEMENTS.c.reserved == reserved)
        connection.execute(change.values(release_digest=text_digest(release)))


def _to_format_3(connection: Connection, schema: str) -> None:
    """Which entry changed a data set, and which question each charge is for.

    Who had the ledger open before and knows nothing of that cannot write any more (tables.py).
    """
    connection.exec_driver_sql(f"ALTER TABLE {schema}head RENAME COLUMN signature TO signed")
    for column in SINCE_FORMAT_3:
        connection.exec_driver_sql(f"ALTER TABLE {schema}entries ADD COLUMN {column.name} TEXT")
    changes = ENTRIES.c.kind.in_([kind.value for kind in CHANGES])
    connection.execute(update(ENTRIES).where(changes).values(changed=ENTRIES.c.name))
    kind = update(ENTRIES).where(ENTRIES.c.number == bindparam("its"))
    for page in _read_charges(connection):
        connection.execute(kind.values(digest=bindparam("found")), page)
    for index in ENTRIES.indexes:
        index.create(connection, checkfirst=True)


def _read_charges(connection: Connection) -> Iterator[list[dict[str, int | str | None]]]:
    """Which question each charge is for, a page at a time."""
    query = select(ENTRIES.c.number, ENTRIES.c.text).order_by(ENTRIES.c.number).limit(PAGE)
    query = query.where(ENTRIES.c.kind == EntryKind.RESERVED.value)
    rows = connection.execute(query).all()
    while rows:
        digests = [{"its": number, "found": _digest(text)} for number, text in rows]
        yield digests
        rows = connection.execute(query.where(ENTRIES.c.number > rows[-1].number)).all()


def _digest(text: str) -> str | None:
    """None where the entry is damaged, which `verify` tells."""
    with suppress(ValueError, LookupError, TypeError, RecursionError):
        digest = loads(text)["body"]["digest"]
        return digest if isinstance(digest, str) else None
    return None
