"""What alembic runs: the steps, on the connection that the curator hands over."""

from typing import cast

from alembic import context
from sqlalchemy import Connection

connection = cast("Connection", context.config.attributes["connection"])
context.configure(connection=connection, render_as_batch=True)
context.run_migrations()
