"""The tables that a ledger is kept in, and their rows.

Entries say everything. All other tables follow from them, but for the answers and the key:
they are there to find things fast, and `verify` compares them with what the entries say.
Format 2 added levels, payments and the digest of each release. Format 3 added two columns of
entries, by which the last change and the charges for a question are found, and shut out those who
do not write them.
"""

from typing import NamedTuple

from sqlalchemy import (
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    column,
)

SCHEMA = "letalone_ledger"  # where they lie in PostgreSQL
METADATA = MetaData()


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
