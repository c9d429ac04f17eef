"""The first tables."""

from alembic import op
from sqlalchemy import Boolean, Column, ForeignKey, Integer, LargeBinary, Text

revision = "1"
down_revision = None


def upgrade() -> None:
    """People, tokens, data sets, requests, grants, proposals, releases, subjects, sessions."""
    _people()
    _data_sets()
    _decisions()
    _answers()


def _people() -> None:
    op.create_table(
        "people",
        Column("name", Text, primary_key=True),
        Column("roles", Text, nullable=False),
        Column("password", Text, nullable=False),
        Column("must_change", Boolean, nullable=False),
        Column("active", Boolean, nullable=False),
        Column("made", Text, nullable=False),
    )
    op.create_table(
        "tries",
        Column("digest", Text, primary_key=True),
        Column("since", Integer, nullable=False),
        Column("number", Integer, nullable=False),
    )
    op.create_table(
        "tokens",
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
    op.create_table(
        "sessions",
        Column("digest", Text, primary_key=True),
        Column("person", Text, ForeignKey("people.name"), nullable=False, index=True),
        Column("expires", Text, nullable=False),
        Column("elevated_until", Text),
    )


def _data_sets() -> None:
    op.create_table(
        "data_sets",
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
    op.create_table(
        "purposes",
        Column("data_set", Text, ForeignKey("data_sets.name"), primary_key=True),
        Column("name", Text, primary_key=True),
        Column("description", Text, nullable=False),
        Column("epsilon", Text, nullable=False),
        Column("delta", Text, nullable=False),
        Column("expires", Text),
    )
    op.create_table(
        "held",
        Column("data_set", Text, ForeignKey("data_sets.name"), primary_key=True),
        Column("version", Integer, primary_key=True),
        Column("since", Text, nullable=False),
        Column("members", Text),
    )


def _decisions() -> None:
    op.create_table(
        "requests",
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
    op.create_table(
        "grants",
        Column("data_set", Text, ForeignKey("data_sets.name"), primary_key=True),
        Column("purpose", Text, primary_key=True),
        Column("analyst", Text, ForeignKey("people.name"), primary_key=True),
        Column("columns", Text, nullable=False),
        Column("made", Text, nullable=False),
        Column("withdrawn", Text),
    )
    op.create_table(
        "proposals",
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


def _answers() -> None:
    op.create_table(
        "releases",
        Column("id", Text, primary_key=True),
        Column("analyst", Text, ForeignKey("people.name"), nullable=False, index=True),
        Column("data_set", Text, nullable=False),
        Column("purpose", Text, nullable=False),
        Column("time", Text, nullable=False),
        Column("release", Text, nullable=False),
    )
    op.create_table(
        "subject_keys",
        Column("finder", Text, primary_key=True),
        Column("key", LargeBinary, nullable=False),
    )
    op.create_table(
        "errands",
        Column("id", Text, primary_key=True),
        Column("data_set", Text, ForeignKey("data_sets.name"), nullable=False),
        Column("what", Text, nullable=False),
        Column("finder", Text, nullable=False),
        Column("subject", Text, nullable=False),
        Column("asked", Text, nullable=False),
        Column("done", Text),
    )
