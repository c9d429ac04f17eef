"""How much is stored of a person's answers in a day."""

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Text

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """Nothing was counted before."""
    op.create_table(
        "stored",
        Column("person", Text, ForeignKey("people.name"), primary_key=True),
        Column("day", Text, primary_key=True),
        Column("letters", BigInteger, nullable=False),
    )
