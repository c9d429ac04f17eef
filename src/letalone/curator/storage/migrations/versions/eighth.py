"""Under which name a question was sent that an answer was given to."""

from alembic import op
from sqlalchemy import Column, Text

revision = "8"
down_revision = "7"


def upgrade() -> None:
    """Earlier answers were sent under none."""
    op.add_column("releases", Column("sent_as", Text))
    op.add_column("releases", Column("sent", Text))
    op.create_index("ix_releases_sent_as", "releases", ["sent_as"])
