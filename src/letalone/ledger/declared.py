"""Whether a database holds what a ledger declares: its tables and indexes, and nothing else.

A trigger or a view beside them could change what is read or written.
"""

from sqlalchemy import Connection

from letalone.errors import LedgerDamaged
from letalone.ledger.tables import METADATA, SCHEMA

Things = set[tuple[str, str]]
OF = f"pg_class c ON c.relnamespace = '{SCHEMA}'::regnamespace AND c.oid ="
IN_POSTGRES = f"""
SELECT CASE relkind WHEN 'r' THEN 'table' WHEN 'i' THEN 'index' ELSE relkind::text END, relname
FROM pg_class WHERE relnamespace = '{SCHEMA}'::regnamespace
AND oid NOT IN (SELECT indexrelid FROM pg_index WHERE indisprimary)
UNION ALL SELECT 'trigger', tgname FROM pg_trigger JOIN {OF} tgrelid WHERE NOT tgisinternal
UNION ALL SELECT 'rule', rulename FROM pg_rewrite JOIN {OF} ev_class
UNION ALL SELECT 'policy', polname FROM pg_policy JOIN {OF} polrelid
"""


def check_declared(connection: Connection) -> None:
    """Refuse a database in which something was added, removed or spoilt."""
    if connection.dialect.name == "postgresql":  # but for the indexes of primary keys
        things = {(kind, name) for kind, name in connection.exec_driver_sql(IN_POSTGRES)}
    else:
        _check_pages(connection)
        things = in_sqlite(connection)
    tables = METADATA.sorted_tables
    indexes = {("index", str(index.name)) for table in tables for index in table.indexes}
    if things != {("table", table.name) for table in tables} | indexes:
        raise LedgerDamaged("The ledger is damaged: something was added to the file or removed.")


def _check_pages(connection: Connection) -> None:
    (answer, *_) = connection.exec_driver_sql("PRAGMA integrity_check").scalars()
    if answer != "ok":
        raise LedgerDamaged("The ledger is damaged: SQLite finds faults in the file itself.")


def in_sqlite(connection: Connection) -> Things:
    """Everything that a file declares: kinds and names."""
    rows = connection.exec_driver_sql("SELECT type, name FROM sqlite_master")
    return {(kind, name) for kind, name in rows if not name.startswith("sqlite_")}
