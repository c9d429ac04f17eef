"""Visits of the console end after a while, however busy they are."""

from alembic import op
from sqlalchemy import Column, Text

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Nobody has visited yet: the console is new."""
    op.execute("DELETE FROM sessions")
    op.add_column("sessions", Column("until", Text, nullable=False, server_default=""))
