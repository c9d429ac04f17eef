"""Surveys, their invitations and their reports."""

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, Text

revision = "9"
down_revision = "8"


def upgrade() -> None:
    """There were none."""
    op.create_table(
        "surveys",
        Column("name", Text, primary_key=True),
        *(Column(name, Text, nullable=False) for name in ("survey", "made", "made_by")),
        Column("closed", Text),
    )
    op.create_table(
        "invitations",
        Column("digest", Text, primary_key=True),
        Column("survey", Text, ForeignKey("surveys.name"), nullable=False, index=True),
        Column("used", Boolean, nullable=False),
    )
    op.create_table(
        "report_counts",
        Column("survey", Text, ForeignKey("surveys.name"), primary_key=True),
        Column("question", Integer, primary_key=True),
        Column("report", Text, primary_key=True),
        Column("number", BigInteger, nullable=False),
    )
    op.create_table(
        "counters",
        Column("survey", Text, primary_key=True),
        Column("place", Integer, primary_key=True, autoincrement=False),
        *(Column(name, Text, nullable=False) for name in ("document", "key")),
        Column("told", Text),
    )
    op.create_table(
        "split_reports",
        Column("survey", Text, primary_key=True),
        Column("place", Integer, primary_key=True, autoincrement=False),
        Column("nonce", Text, primary_key=True),
        Column("half", Text, nullable=False),
        Column("shares", Text),
    )
