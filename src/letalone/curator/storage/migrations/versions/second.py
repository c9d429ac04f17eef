"""Since when an account is in its person's hands, and who had it before; facts of the service."""

from alembic import op
from sqlalchemy import Column, Text

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Accounts that are there count from when they were made: later resets stand in the ledger."""
    op.add_column("people", Column("handed", Text))
    op.add_column("people", Column("handed_by", Text))
    op.execute("UPDATE people SET handed = made")
    op.create_table(
        "facts",
        Column("name", Text, primary_key=True),
        Column("words", Text, nullable=False),
    )
