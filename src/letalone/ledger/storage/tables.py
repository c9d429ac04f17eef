"""The tables that a ledger is kept in, and their rows.

Entries say everything. All other tables follow from them, but for the answers and the key:
they are there to find things fast, and `verify` compares them with what the entries say.
Format 2 added levels, payments and the digest of each release. Format 3 added two columns of
entries, by which the last change and the charges for a question are found, and shut out those who
do not write them.

Nothing else lies beside them: a trigger or a view could change what is read or written.
"""

from typing import NamedTuple

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    column,
)

from letalone.errors import LedgerDamaged

SCHEMA = "letalone_ledger"  # where they lie in PostgreSQL
METADATA = MetaData()
OF = f"pg_class c ON c.relnamespace = '{SCHEMA}'::regnamespace AND c.oid ="
IN_POSTGRES = f"""
SELECT CASE relkind WHEN 'r' THEN 'table' WHEN 'i' THEN 'index' ELSE relkind::text END, relname
FROM pg_class WHERE relnamespace = '{SCHEMA}'::regnamespace
AND oid NOT IN (SELECT indexrelid FROM pg_index WHERE indisprimary)
UNION ALL SELECT 'trigger', tgname FROM pg_trigger JOIN {OF} tgrelid WHERE NOT tgisinternal
UNION ALL SELECT 'rule', rulename FROM pg_rewrite JOIN {OF} ev_class
UNION ALL SELECT 'policy', polname FROM pg_policy JOIN {OF} polrelid
"""


def _found_by(name: str, *columns: str) -> Index:
    """An index of the rows that have the first of these columns, and of no others."""
    is_given = column(columns[0]).is_not(None)
    return Index(name, *columns, sqlite_where=is_given, postgresql_where=is_given)


# `changed` is the name again where the entry says how a data set stands from then on, so that it
# is found however many others came after it; `digest` is the question that a charge is for.
ENTRIES = Table(
    "entries",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("name", Text),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("changed", Text),
    Column("digest", Text),
    Index("entries_by_name", "name", "number"),
    _found_by("entries_by_change", "changed", "number"),
    _found_by("entries_by_digest", "digest", "name"),
)
# Which reservation was settled by which entry, with the answer; null where it failed.
SETTLEMENTS = Table(
    "settlements",
    METADATA,
    Column(
        "reserved", Integer, ForeignKey("entries.number"), primary_key=True, autoincrement=False
    ),
    Column("settled", Integer, ForeignKey("entries.number"), nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("release", Text),
    Column("release_digest", Text),
    Index("settlements_by_digest", "name", "digest", "version"),
    Index("settlements_by_release", "release_digest"),
)
# Each write reads and writes the head. The signature's column has another name than in formats 1
# and 2, so that an older letalone that still has the ledger open fails in its own transaction: its
# entries would lack the columns by which newer ones find what was spent.
HEAD = Table(
    "head",
    METADATA,
    Column("only", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, nullable=False),
    Column("hash", Text, nullable=False),
    Column("signed", Text, key="signature", nullable=False),
)
KEYS = Table(
    "keys",
    METADATA,
    Column("only", Integer, primary_key=True, autoincrement=False),
    Column("private", LargeBinary, nullable=False),
    Column("public", Text, nullable=False),
)
# Where each level stands: in the entry that last changed it. An analyst "" is the purpose's own.
LEVELS = Table(
    "levels",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("purpose", Text, primary_key=True),
    Column("analyst", Text, primary_key=True),
    Column("entry", Integer, ForeignKey("entries.number"), nullable=False),
)
# Which level paid, by which entry, for an answer that another had asked for.
PAYMENTS = Table(
    "payments",
    METADATA,
    Column(
        "reserved", Integer, ForeignKey("entries.number"), primary_key=True, autoincrement=False
    ),
    Column("purpose", Text, primary_key=True),
    Column("analyst", Text, primary_key=True),
    Column("entry", Integer, ForeignKey("entries.number"), nullable=False),
)
SINCE_FORMAT_2 = (LEVELS, PAYMENTS)
SINCE_FORMAT_3 = (ENTRIES.c.changed, ENTRIES.c.digest)


class EntryRow(NamedTuple):
    """An entry as it is stored; all but the text follows from the text."""

    number: int
    name: str | None
    kind: str
    text: str
    hash: str
    changed: str | None
    digest: str | None


class Settlement(NamedTuple):
    """How a reservation ended; the release is its canonical JSON, None where it failed."""

    reserved: int
    settled: int
    name: str
    digest: str
    version: int
    release: str | None
    release_digest: str | None


class Head(NamedTuple):
    """The last entry, signed."""

    number: int
    hash: str
    signature: str


class LevelRow(NamedTuple):
    """Which entry last changed a level."""

    name: str
    purpose: str
    analyst: str
    entry: int


class Payment(NamedTuple):
    """Which entry charged a level for an answer that another had asked for."""

    reserved: int
    purpose: str
    analyst: str
    entry: int


def check_declared(connection: Connection) -> None:
    """Refuse a database in which something was added, removed or spoilt."""
    if connection.dialect.name == "postgresql":  # but for the indexes of primary keys
        things = {(kind, name) for kind, name in connection.exec_driver_sql(IN_POSTGRES)}
    else:
        _check_pages(connection)
        things = in_sqlite(connection)
    tables = METADATA.sorted_tables
    indexes = {("index", str(index.name)) for table in tables for index in table.indexes}
    if things != {("table", table.name) for table in tables} | indexes:
        raise LedgerDamaged("The ledger is damaged: something was added to the file or removed.")


def _check_pages(connection: Connection) -> None:
    (answer, *_) = connection.exec_driver_sql("PRAGMA integrity_check").scalars()
    if answer != "ok":
        raise LedgerDamaged("The ledger is damaged: SQLite finds faults in the file itself.")


def in_sqlite(connection: Connection) -> set[tuple[str, str]]:
    """Everything that a file declares: kinds and names."""
    rows = connection.exec_driver_sql("SELECT type, name FROM sqlite_master")
    return {(kind, name) for kind, name in rows if not name.startswith("sqlite_")}
