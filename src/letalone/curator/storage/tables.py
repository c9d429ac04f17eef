"""The tables of a curator's database, as they are now; migrations/ says how they became so.

Times are text in UTC, to the second; amounts are rationals as text; lists are JSON.

  Tested:   tests/curator/test_database.py: the migrations lead to exactly these tables
"""

from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.types import TypeEngine

METADATA = sa.MetaData()


def _table(name: str, *parts: sa.Column[Any] | sa.UniqueConstraint) -> sa.Table:
    return sa.Table(name, METADATA, *parts)


def _of(name: str, table: str, **more: Any) -> sa.Column[str]:
    """A text that is the name of a row of another table."""
    return sa.Column(name, sa.Text, sa.ForeignKey(f"{table}.name"), nullable=False, **more)


def _key(name: str, kind: type[TypeEngine[Any]] = sa.Text) -> sa.Column[Any]:
    return sa.Column(name, kind, primary_key=True)


def _each(kind: type[TypeEngine[Any]], *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name in names]


_texts = partial(_each, sa.Text)


def _optional(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text) for name in names]


PEOPLE = _table(
    "people",
    _key("name"),
    *_texts("roles", "password", "made"),
    *_each(sa.Boolean, "must_change", "active"),
    *_optional("handed", "handed_by"),
)

# What the service says of itself: who answers for the data.
CONTROLLER_FACTS = _table("facts", _key("name"), *_texts("words"))

# The last entry of the ledger that was seen; `decided` are losses of it that were known by then.
SEEN = _table(
    "seen",
    sa.Column("only", sa.Integer, primary_key=True, autoincrement=False),
    *_each(sa.Integer, "number"),
    *_texts("hash", "decided"),
)

# Data sets whose retention date is over: since when, by the clock and by the machine (notices.py).
NOTICES = _table(
    "notices",
    _of("data_set", "data_sets", primary_key=True),
    _key("machine"),
    *_texts("since"),
    *_each(sa.BigInteger, "steady"),
)

ATTEMPTS = _table("tries", _key("digest"), *_each(sa.Integer, "since", "number"))

TOKENS = _table(
    "tokens",
    _key("id"),
    _of("person", "people", index=True),
    sa.Column("digest", sa.Text, nullable=False, unique=True),
    *_texts("scopes", "label", "created", "expires"),
    *_each(sa.Boolean, "revoked", "elevated"),
    *_optional("last_used"),
)

DATA_SETS = _table(
    "data_sets",
    _key("name"),
    *_texts("description", "schema", "registered", "registered_by"),
    *_each(sa.Boolean, "external"),
    *_optional("file", "affected", "retention", "retired"),
)

PURPOSES = _table(
    "purposes",
    _of("data_set", "data_sets", primary_key=True),
    _key("name"),
    *_texts("description", "epsilon", "delta"),
    *_optional("expires"),
)

# Which versions of a data set hold which import; `members` is the file of those who were in it.
IMPORTS = _table(
    "held",
    _of("data_set", "data_sets", primary_key=True),
    _key("version", sa.Integer),
    *_texts("since"),
    *_optional("members"),
)

REQUESTS = _table(
    "requests",
    _key("id"),
    _of("data_set", "data_sets"),
    _of("analyst", "people", index=True),
    *_texts("purpose", "columns", "epsilon", "delta", "why", "state", "made"),
    *_optional("expires", "decided_by", "decided", "reason"),
)

GRANTS = _table(
    "grants",
    _of("data_set", "data_sets", primary_key=True),
    _key("purpose"),
    _of("analyst", "people", primary_key=True),
    *_texts("columns", "made"),
    *_optional("withdrawn"),
)

PROPOSALS = _table(
    "proposals",
    _key("id"),
    _of("data_set", "data_sets"),
    _of("proposed_by", "people"),
    *_texts("epsilon", "delta", "why", "state", "proposed"),
    *_optional("purpose", "analyst", "decided_by", "decided", "reason"),
)

RELEASES = _table(
    "releases",
    _key("id"),
    _of("analyst", "people", index=True),
    *_texts("data_set", "purpose", "time", "release"),
    sa.Column("sent_as", sa.Text, index=True),  # the name of the request, and all that it said:
    sa.Column("sent", sa.Text),  # pseudonyms, null where it had none (`answer_cache`)
)

# How long the answers are that were stored for a person in a day.
STORED_BYTES = _table(
    "stored",
    _of("person", "people", primary_key=True),
    _key("day"),
    *_each(sa.BigInteger, "letters"),
)

# A person's key, found by an HMAC of data set and id under the master key; erasure destroys it.
SUBJECT_KEYS = _table("subject_keys", _key("finder"), *_each(sa.LargeBinary, "key"))

# What the owner of an external source was asked to run, until the outcome is recorded.
OWNER_TASKS = _table(
    "errands",
    _key("id"),
    _of("data_set", "data_sets"),
    *_texts("what", "finder", "subject", "asked"),
    *_optional("done"),
)

# For the console: what a browser is signed in as. `expires` moves on with use, `until` does not.
SESSIONS = _table(
    "sessions",
    _key("digest"),
    _of("person", "people", index=True),
    *_texts("expires"),
    *_optional("elevated_until"),
    sa.Column("until", sa.Text, nullable=False, server_default=""),
)

# For the console: what was typed, under a key that only the browser's address has.
DRAFTS = _table(
    "drafts",
    _key("digest"),
    _of("person", "people", index=True),
    *_texts("until"),
    *_each(sa.BigInteger, "number"),
    *_each(sa.LargeBinary, "body"),
)

# For the console: who signs in at a provider. By e-mail until the first time, by subject after it.
IDENTITIES = _table(
    "identities",
    _of("person", "people", primary_key=True),
    *_texts("issuer", "linked", "linked_by"),
    *_optional("email", "subject"),
    sa.UniqueConstraint("issuer", "email"),
    sa.UniqueConstraint("issuer", "subject"),
)

# Surveys: `survey` is its JSON. Reports are counts by value, without times, in the order of their
# values: nothing tells which report came with which invitation.
SURVEYS = _table(
    "surveys", _key("name"), *_texts("survey", "made", "made_by"), *_optional("closed")
)
INVITATIONS = _table(
    "invitations", _key("digest"), _of("survey", "surveys", index=True), *_each(sa.Boolean, "used")
)
REPORT_COUNTS = _table(
    "report_counts",
    _of("survey", "surveys", primary_key=True),
    _key("question", sa.Integer),
    _key("report"),
    *_each(sa.BigInteger, "number"),
)

# Surveys with two counters: a part that this service has in one, and halves of reports with their
# shares once they are counted. `told` is the total that was told, with its noise.
COUNTERS = _table(
    "counters",
    _key("survey"),
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
    *_texts("document", "key"),
    *_optional("told"),
)
SPLIT_REPORTS = _table(
    "split_reports",
    _key("survey"),
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
    _key("nonce"),
    *_texts("half"),
    *_optional("shares"),
)


def insert_once(table: sa.Table) -> sa.Insert:
    """Adds a row unless there is one with its key: for a writer that is alone."""
    names = [column.name for column in table.columns]
    row = sa.select(*(sa.bindparam(column.name, type_=column.type) for column in table.columns))
    same = (column == sa.bindparam(column.name) for column in table.primary_key)
    return sa.insert(table).from_select(names, row.where(~sa.exists().where(*same)))
