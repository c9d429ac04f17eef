"""Tells whether a unique index leaves each unit one row at most: then nothing is weighed.

Theorem.  If `has_one_each` says so in a transaction that has locked the table before its state was
taken, then no two rows of the table itself (ONLY, without tables that inherit from it) that this
state shows are of one unit.
  Proven:   the index is in the catalogue as of that state: it is valid, checked with each change
            (not deferred), of all rows (not partial), of the column alone. So no two rows of one
            state are equal to it. Two rows of one unit would be: units are compared as their column
            is (postgres_reading.py), text byte by byte, and equal bytes are equal to every
            collation; what else a unit is made of (one zero, blanks at the end of CHAR) makes no
            two of what the index takes for one. Tables that are rewritten would show the rows of
            another state: the lock keeps that out.
  Assumed:  an index keeps its promise. One over text depends on the order of a collation, which
            changes with the operating system: it is looked at only where that is "C".
  Tested:   tests/engines/conformance/test_unique.py
"""

from typing import LiteralString

from letalone.engines.postgres.postgres_connection import Server
from letalone.engines.postgres.view_making import Table

UNIQUE: LiteralString = """
SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class t
    JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
    JOIN pg_catalog.pg_index i ON i.indrelid = t.oid
    JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
    JOIN pg_catalog.pg_am m ON m.oid = x.relam
    JOIN pg_catalog.pg_opclass o ON o.oid = i.indclass[0]
    JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
    WHERE n.nspname = $1 AND t.relname = $2 AND a.attname = $3 AND t.relkind = 'r'
    AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indisready AND i.indislive
    AND i.indnkeyatts = 1 AND i.indexprs IS NULL AND i.indpred IS NULL
    AND m.amname = 'btree' AND o.opcdefault AND o.oid < 16384
    AND i.indcollation[0] IN (0, 'pg_catalog."C"'::pg_catalog.regcollation)
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_inherits h WHERE h.inhparent = t.oid))
"""


def has_one_each(server: Server, place: Table, unit: str | None) -> bool:
    """Whether no unit has more than one row. The catalogue alone is read."""
    return unit is not None and bool(server.run(UNIQUE, [*place, unit])[0][0])
