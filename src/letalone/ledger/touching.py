"""A write that changes nothing: whether a store takes writes is seen by writing.

A full disk, a disk that was mounted for reading, a server that follows another: all of them can be
read. SQLite writes a page of the file whose fields stay as they are; PostgreSQL a message into its
log, which nobody reads.

  Tested:   tests/curator/http/test_ready.py, tests/curator/test_on_postgres.py
"""

from sqlalchemy import Connection

A_MESSAGE = "SELECT pg_logical_emit_message(true, 'letalone', 'ready')"


def touch(connection: Connection) -> None:
    """Within a transaction that may write; it is on the disk when that has committed."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(A_MESSAGE)
        return
    version = int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
    connection.exec_driver_sql(f"PRAGMA user_version = {version}")
