"""The tables of a curator's database, as they are now; migrations/ says how they became so.

Times are text in UTC, to the second; amounts are rationals as text; lists are JSON.

  Tested:   tests/curator/test_database.py: the migrations lead to exactly these tables
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Insert,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    exists,
    insert,
    select,
)
from sqlalchemy.types import TypeEngine

METADATA = MetaData()


def _table(name: str, *parts: Column[Any] | UniqueConstraint) -> Table:
    return Table(name, METADATA, *parts)


def _of(name: str, table: str, **more: Any) -> Column[str]:
    """A text that is the name of a row of another table."""
    return Column(name, Text, ForeignKey(f"{table}.name"), nullable=False, **more)


def _texts(*names: str) -> list[Column[Any]]:
    return _each(Text, *names)


def _each(kind: type[TypeEngine[Any]], *names: str) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False) for name in names]


def _optional(*names: str) -> list[Column[str]]:
    return [Column(name, Text) for name in names]


PEOPLE = _table(
    "people",
    Column("name", Text, primary_key=True),
    *_texts("roles", "password"),
    *_each(Boolean, "must_change", "active"),
    *_texts("made"),
    *_optional("handed", "handed_by"),
)

# What the service says of itself: who answers for the data.
CONTROLLER_FACTS = _table("facts", Column("name", Text, primary_key=True), *_texts("words"))

# The last entry of the ledger that was seen; `decided` are losses of it that were known by then.
SEEN = _table(
    "seen",
    Column("only", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, nullable=False),
    *_texts("hash", "decided"),
)

# Data sets whose retention date is over: since when, by the clock and by the machine (notices.py).
NOTICES = _table(
    "notices",
    _of("data_set", "data_sets", primary_key=True),
    Column("machine", Text, primary_key=True),
    *_texts("since"),
    Column("steady", BigInteger, nullable=False),
)

ATTEMPTS = _table(
    "tries",
    Column("digest", Text, primary_key=True),
    *_each(Integer, "since", "number"),
)

TOKENS = _table(
    "tokens",
    Column("id", Text, primary_key=True),
    _of("person", "people", index=True),
    Column("digest", Text, nullable=False, unique=True),
    *_texts("scopes", "label", "created", "expires"),
    *_each(Boolean, "revoked", "elevated"),
    *_optional("last_used"),
)

DATA_SETS = _table(
    "data_sets",
    Column("name", Text, primary_key=True),
    *_texts("description", "schema"),
    *_optional("file"),
    Column("external", Boolean, nullable=False),
    *_optional("affected", "retention"),
    *_texts("registered", "registered_by"),
    *_optional("retired"),
)

PURPOSES = _table(
    "purposes",
    _of("data_set", "data_sets", primary_key=True),
    Column("name", Text, primary_key=True),
    *_texts("description", "epsilon", "delta"),
    *_optional("expires"),
)

# Which versions of a data set hold which import; `members` is the file of those who were in it.
IMPORTS = _table(
    "held",
    _of("data_set", "data_sets", primary_key=True),
    Column("version", Integer, primary_key=True),
    *_texts("since"),
    *_optional("members"),
)

REQUESTS = _table(
    "requests",
    Column("id", Text, primary_key=True),
    _of("data_set", "data_sets"),
    *_texts("purpose"),
    _of("analyst", "people", index=True),
    *_texts("columns", "epsilon", "delta", "why"),
    *_optional("expires"),
    *_texts("state", "made"),
    *_optional("decided_by", "decided", "reason"),
)

GRANTS = _table(
    "grants",
    _of("data_set", "data_sets", primary_key=True),
    Column("purpose", Text, primary_key=True),
    _of("analyst", "people", primary_key=True),
    *_texts("columns", "made"),
    *_optional("withdrawn"),
)

PROPOSALS = _table(
    "proposals",
    Column("id", Text, primary_key=True),
    _of("data_set", "data_sets"),
    *_optional("purpose", "analyst"),
    *_texts("epsilon", "delta", "why", "state"),
    _of("proposed_by", "people"),
    *_texts("proposed"),
    *_optional("decided_by", "decided", "reason"),
)

RELEASES = _table(
    "releases",
    Column("id", Text, primary_key=True),
    _of("analyst", "people", index=True),
    *_texts("data_set", "purpose", "time", "release"),
    Column("sent_as", Text, index=True),  # the name of the request, and all that it said:
    Column("sent", Text),  # pseudonyms, null where it had none (`idempotency`)
)

# How long the answers are that were stored for a person in a day.
STORED_BYTES = _table(
    "stored",
    _of("person", "people", primary_key=True),
    Column("day", Text, primary_key=True),
    Column("letters", BigInteger, nullable=False),
)

# A person's key, found by an HMAC of data set and id under the master key; erasure destroys it.
SUBJECT_KEYS = _table(
    "subject_keys",
    Column("finder", Text, primary_key=True),
    Column("key", LargeBinary, nullable=False),
)

# What the owner of an external source was asked to run, until the outcome is recorded.
OWNER_TASKS = _table(
    "errands",
    Column("id", Text, primary_key=True),
    _of("data_set", "data_sets"),
    *_texts("what", "finder", "subject", "asked"),
    *_optional("done"),
)

# For the console: what a browser is signed in as. `expires` moves on with use, `until` does not.
SESSIONS = _table(
    "sessions",
    Column("digest", Text, primary_key=True),
    _of("person", "people", index=True),
    *_texts("expires"),
    *_optional("elevated_until"),
    Column("until", Text, nullable=False, server_default=""),
)

# For the console: what was typed, under a key that only the browser's address has.
DRAFTS = _table(
    "drafts",
    Column("digest", Text, primary_key=True),
    _of("person", "people", index=True),
    *_texts("until"),
    Column("number", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

# For the console: who signs in at a provider. By e-mail until the first time, by subject after it.
IDENTITIES = _table(
    "identities",
    _of("person", "people", primary_key=True),
    *_texts("issuer"),
    *_optional("email", "subject"),
    *_texts("linked", "linked_by"),
    UniqueConstraint("issuer", "email"),
    UniqueConstraint("issuer", "subject"),
)


def insert_once(table: Table) -> Insert:
    """Adds a row unless there is one with its key: for a writer that is alone."""
    names = [column.name for column in table.columns]
    row = select(*(bindparam(column.name, type_=column.type) for column in table.columns))
    same = (column == bindparam(column.name) for column in table.primary_key)
    return insert(table).from_select(names, row.where(~exists().where(*same)))
