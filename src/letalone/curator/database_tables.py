"""The tables of a curator's database, as they are now; migrations/ says how they became so.

Times are text in UTC, to the second; amounts are rationals as text; lists are JSON.

  Tested:   tests/curator/test_database.py: the migrations lead to exactly these tables
"""

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

METADATA = MetaData()

PEOPLE = Table(
    "people",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("roles", Text, nullable=False),
    Column("password", Text, nullable=False),
    Column("must_change", Boolean, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("made", Text, nullable=False),
    Column("handed", Text),
    Column("handed_by", Text),
)

# What the service says of itself: who answers for the data.
CONTROLLER_FACTS = Table(
    "facts", METADATA, Column("name", Text, primary_key=True), Column("words", Text, nullable=False)
)

# The last entry of the ledger that was seen; `decided` are losses of it that were known by then.
SEEN = Table(
    "seen",
    METADATA,
    Column("only", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, nullable=False),
    Column("hash", Text, nullable=False),
    Column("decided", Text, nullable=False),
)

# Data sets whose retention date is over: since when, by the clock and by the machine (notices.py).
NOTICES = Table(
    "notices",
    METADATA,
    Column("data_set", Text, ForeignKey("data_sets.name"), primary_key=True),
    Column("machine", Text, primary_key=True),
    Column("since", Text, nullable=False),
    Column("steady", BigInteger, nullable=False),
)

ATTEMPTS = Table(
    "tries",
    METADATA,
    Column("digest", Text, primary_key=True),
    Column("since", Integer, nullable=False),
    Column("number", Integer, nullable=False),
)

TOKENS = Table(
    "tokens",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("person", Text, ForeignKey("people.name"), nullable=False, index=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("scopes", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("expires", Text, nullable=False),
    Column("revoked", Boolean, nullable=False),
    Column("elevated", Boolean, nullable=False),
    Column("last_used", Text),
)

DATA_SETS = Table(
    "data_sets",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("description", Text, nullable=False),
    Column("schema", Text, nullable=False),
    Column("file", Text),
    Column("external", Boolean, nullable=False),
    Column("affected", Text),
    Column("retention", Text),
    Column("registered", Text, nullable=False),
    Column("registered_by", Text, nullable=False),
    Column("retired", Text),
)

PURPOSES = Table(
    "purposes",
    METADATA,
    Column("data_set", Text, ForeignKey("data_sets.name"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("description", Text, nullable=False),
    Column("epsilon", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("expires", Text),
)

# Which versions of a data set hold which import; `members` is the file of those who were in it.
IMPORTS = Table(
    "held",
    METADATA,
    Column("data_set", Text, ForeignKey("data_sets.name"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("since", Text, nullable=False),
    Column("members", Text),
)

REQUESTS = Table(
    "requests",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("data_set", Text, ForeignKey("data_sets.name"), nullable=False),
    Column("purpose", Text, nullable=False),
    Column("analyst", Text, ForeignKey("people.name"), nullable=False, index=True),
    Column("columns", Text, nullable=False),
    Column("epsilon", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("expires", Text),
    Column("state", Text, nullable=False),
    Column("made", Text, nullable=False),
    Column("decided_by", Text),
    Column("decided", Text),
    Column("reason", Text),
)

GRANTS = Table(
    "grants",
    METADATA,
    Column("data_set", Text, ForeignKey("data_sets.name"), primary_key=True),
    Column("purpose", Text, primary_key=True),
    Column("analyst", Text, ForeignKey("people.name"), primary_key=True),
    Column("columns", Text, nullable=False),
    Column("made", Text, nullable=False),
    Column("withdrawn", Text),
)

PROPOSALS = Table(
    "proposals",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("data_set", Text, ForeignKey("data_sets.name"), nullable=False),
    Column("purpose", Text),
    Column("analyst", Text),
    Column("epsilon", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("proposed_by", Text, ForeignKey("people.name"), nullable=False),
    Column("proposed", Text, nullable=False),
    Column("decided_by", Text),
    Column("decided", Text),
    Column("reason", Text),
)

RELEASES = Table(
    "releases",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("analyst", Text, ForeignKey("people.name"), nullable=False, index=True),
    Column("data_set", Text, nullable=False),
    Column("purpose", Text, nullable=False),
    Column("time", Text, nullable=False),
    Column("release", Text, nullable=False),
    Column("sent_as", Text, index=True),  # the name of the request, and all that it said:
    Column("sent", Text),  # pseudonyms, null where it had none (`sendings`)
)

# How long the answers are that were stored for a person in a day.
STORED_BYTES = Table(
    "stored",
    METADATA,
    Column("person", Text, ForeignKey("people.name"), primary_key=True),
    Column("day", Text, primary_key=True),
    Column("letters", BigInteger, nullable=False),
)

# A person's key, found by an HMAC of data set and id under the master key; erasure destroys it.
SUBJECT_KEYS = Table(
    "subject_keys",
    METADATA,
    Column("finder", Text, primary_key=True),
    Column("key", LargeBinary, nullable=False),
)

# What the owner of an external source was asked to run, until the outcome is recorded.
OWNER_TASKS = Table(
    "errands",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("data_set", Text, ForeignKey("data_sets.name"), nullable=False),
    Column("what", Text, nullable=False),
    Column("finder", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("asked", Text, nullable=False),
    Column("done", Text),
)

# For the console: what a browser is signed in as. `expires` moves on with use, `until` does not.
SESSIONS = Table(
    "sessions",
    METADATA,
    Column("digest", Text, primary_key=True),
    Column("person", Text, ForeignKey("people.name"), nullable=False, index=True),
    Column("expires", Text, nullable=False),
    Column("elevated_until", Text),
    Column("until", Text, nullable=False, server_default=""),
)

# For the console: what was typed, under a key that only the browser's address has.
DRAFTS = Table(
    "drafts",
    METADATA,
    Column("digest", Text, primary_key=True),
    Column("person", Text, ForeignKey("people.name"), nullable=False, index=True),
    Column("until", Text, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

# For the console: who signs in at a provider. By e-mail until the first time, by subject after it.
IDENTITIES = Table(
    "identities",
    METADATA,
    Column("person", Text, ForeignKey("people.name"), primary_key=True),
    Column("issuer", Text, nullable=False),
    Column("email", Text),
    Column("subject", Text),
    Column("linked", Text, nullable=False),
    Column("linked_by", Text, nullable=False),
    UniqueConstraint("issuer", "email"),
    UniqueConstraint("issuer", "subject"),
)


def insert_once(table: Table) -> Insert:
    """Adds a row unless there is one with its key: for a writer that is alone."""
    names = [column.name for column in table.columns]
    row = select(*(bindparam(column.name, type_=column.type) for column in table.columns))
    same = (column == bindparam(column.name) for column in table.primary_key)
    return insert(table).from_select(names, row.where(~exists().where(*same)))
