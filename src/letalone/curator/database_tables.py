"""The tables of a curator's database, as they are now; migrations/ says how they became so.

Times are text in UTC, to the second; amounts are rationals as text; lists are JSON.

  Tested:   tests/curator/test_database.py: the migrations lead to exactly these tables
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.types import TypeEngine

METADATA = sa.MetaData()


def _table(name: str, *parts: sa.Column[Any] | sa.UniqueConstraint) -> sa.Table:
    return sa.Table(name, METADATA, *parts)


def _of(name: str, table: str, **more: Any) -> sa.Column[str]:
    """A text that is the name of a row of another table."""
    return sa.Column(name, sa.Text, sa.ForeignKey(f"{table}.name"), nullable=False, **more)


def _texts(*names: str) -> list[sa.Column[Any]]:
    return _each(sa.Text, *names)


def _each(kind: type[TypeEngine[Any]], *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name in names]


def _optional(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text) for name in names]


PEOPLE = _table(
    "people",
    sa.Column("name", sa.Text, primary_key=True),
    *_texts("roles", "password"),
    *_each(sa.Boolean, "must_change", "active"),
    *_texts("made"),
    *_optional("handed", "handed_by"),
)

# What the service says of itself: who answers for the data.
CONTROLLER_FACTS = _table("facts", sa.Column("name", sa.Text, primary_key=True), *_texts("words"))

# The last entry of the ledger that was seen; `decided` are losses of it that were known by then.
SEEN = _table(
    "seen",
    sa.Column("only", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, nullable=False),
    *_texts("hash", "decided"),
)

# Data sets whose retention date is over: since when, by the clock and by the machine (notices.py).
NOTICES = _table(
    "notices",
    _of("data_set", "data_sets", primary_key=True),
    sa.Column("machine", sa.Text, primary_key=True),
    *_texts("since"),
    sa.Column("steady", sa.BigInteger, nullable=False),
)

ATTEMPTS = _table(
    "tries",
    sa.Column("digest", sa.Text, primary_key=True),
    *_each(sa.Integer, "since", "number"),
)

TOKENS = _table(
    "tokens",
    sa.Column("id", sa.Text, primary_key=True),
    _of("person", "people", index=True),
    sa.Column("digest", sa.Text, nullable=False, unique=True),
    *_texts("scopes", "label", "created", "expires"),
    *_each(sa.Boolean, "revoked", "elevated"),
    *_optional("last_used"),
)

DATA_SETS = _table(
    "data_sets",
    sa.Column("name", sa.Text, primary_key=True),
    *_texts("description", "schema"),
    *_optional("file"),
    sa.Column("external", sa.Boolean, nullable=False),
    *_optional("affected", "retention"),
    *_texts("registered", "registered_by"),
    *_optional("retired"),
)

PURPOSES = _table(
    "purposes",
    _of("data_set", "data_sets", primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    *_texts("description", "epsilon", "delta"),
    *_optional("expires"),
)

# Which versions of a data set hold which import; `members` is the file of those who were in it.
IMPORTS = _table(
    "held",
    _of("data_set", "data_sets", primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    *_texts("since"),
    *_optional("members"),
)

REQUESTS = _table(
    "requests",
    sa.Column("id", sa.Text, primary_key=True),
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
    sa.Column("purpose", sa.Text, primary_key=True),
    _of("analyst", "people", primary_key=True),
    *_texts("columns", "made"),
    *_optional("withdrawn"),
)

PROPOSALS = _table(
    "proposals",
    sa.Column("id", sa.Text, primary_key=True),
    _of("data_set", "data_sets"),
    *_optional("purpose", "analyst"),
    *_texts("epsilon", "delta", "why", "state"),
    _of("proposed_by", "people"),
    *_texts("proposed"),
    *_optional("decided_by", "decided", "reason"),
)

RELEASES = _table(
    "releases",
    sa.Column("id", sa.Text, primary_key=True),
    _of("analyst", "people", index=True),
    *_texts("data_set", "purpose", "time", "release"),
    sa.Column("sent_as", sa.Text, index=True),  # the name of the request, and all that it said:
    sa.Column("sent", sa.Text),  # pseudonyms, null where it had none (`answer_cache`)
)

# How long the answers are that were stored for a person in a day.
STORED_BYTES = _table(
    "stored",
    _of("person", "people", primary_key=True),
    sa.Column("day", sa.Text, primary_key=True),
    sa.Column("letters", sa.BigInteger, nullable=False),
)

# A person's key, found by an HMAC of data set and id under the master key; erasure destroys it.
SUBJECT_KEYS = _table(
    "subject_keys",
    sa.Column("finder", sa.Text, primary_key=True),
    sa.Column("key", sa.LargeBinary, nullable=False),
)

# What the owner of an external source was asked to run, until the outcome is recorded.
OWNER_TASKS = _table(
    "errands",
    sa.Column("id", sa.Text, primary_key=True),
    _of("data_set", "data_sets"),
    *_texts("what", "finder", "subject", "asked"),
    *_optional("done"),
)

# For the console: what a browser is signed in as. `expires` moves on with use, `until` does not.
SESSIONS = _table(
    "sessions",
    sa.Column("digest", sa.Text, primary_key=True),
    _of("person", "people", index=True),
    *_texts("expires"),
    *_optional("elevated_until"),
    sa.Column("until", sa.Text, nullable=False, server_default=""),
)

# For the console: what was typed, under a key that only the browser's address has.
DRAFTS = _table(
    "drafts",
    sa.Column("digest", sa.Text, primary_key=True),
    _of("person", "people", index=True),
    *_texts("until"),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)

# For the console: who signs in at a provider. By e-mail until the first time, by subject after it.
IDENTITIES = _table(
    "identities",
    _of("person", "people", primary_key=True),
    *_texts("issuer"),
    *_optional("email", "subject"),
    *_texts("linked", "linked_by"),
    sa.UniqueConstraint("issuer", "email"),
    sa.UniqueConstraint("issuer", "subject"),
)


def insert_once(table: sa.Table) -> sa.Insert:
    """Adds a row unless there is one with its key: for a writer that is alone."""
    names = [column.name for column in table.columns]
    row = sa.select(*(sa.bindparam(column.name, type_=column.type) for column in table.columns))
    same = (column == sa.bindparam(column.name) for column in table.primary_key)
    return sa.insert(table).from_select(names, row.where(~sa.exists().where(*same)))
