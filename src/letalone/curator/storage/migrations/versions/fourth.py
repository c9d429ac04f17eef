"""Accounts at a provider, each linked by an owner to somebody who is known here."""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text, UniqueConstraint

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Nobody is linked yet."""
    op.create_table(
        "identities",
        Column("person", Text, ForeignKey("people.name"), primary_key=True),
        Column("issuer", Text, nullable=False),
        Column("email", Text),
        Column("subject", Text),
        Column("linked", Text, nullable=False),
        Column("linked_by", Text, nullable=False),
        UniqueConstraint("issuer", "email"),
        UniqueConstraint("issuer", "subject"),
    )
