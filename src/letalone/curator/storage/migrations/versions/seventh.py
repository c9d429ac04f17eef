"""What was typed into forms of the console, for a while."""

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, LargeBinary, Text

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """Nothing was kept before."""
    op.create_table(
        "drafts",
        Column("digest", Text, primary_key=True),
        Column("person", Text, ForeignKey("people.name"), nullable=False),
        Column("until", Text, nullable=False),
        Column("number", BigInteger, nullable=False),
        Column("body", LargeBinary, nullable=False),
    )
    op.create_index("ix_drafts_person", "drafts", ["person"])
