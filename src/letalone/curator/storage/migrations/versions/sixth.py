"""The last entry of the ledger that was seen; and notices before rows are removed."""

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, Text

revision = "6"
down_revision = "5"


def upgrade() -> None:
    """The next start remembers what it sees then; no notice was given."""
    op.create_table(
        "seen",
        Column("only", Integer, primary_key=True, autoincrement=False),
        Column("number", Integer, nullable=False),
        Column("hash", Text, nullable=False),
        Column("decided", Text, nullable=False),
    )
    op.create_table(
        "notices",
        Column("data_set", Text, ForeignKey("data_sets.name"), primary_key=True),
        Column("machine", Text, primary_key=True),
        Column("since", Text, nullable=False),
        Column("steady", BigInteger, nullable=False),
    )
