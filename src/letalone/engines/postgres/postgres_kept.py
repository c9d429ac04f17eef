"""Keeps rows with the number of rows of their unit for the next questions of a session.

The first question about all rows of a table sorts them by unit, to count each unit's. If the same
columns are asked for again, they are kept: a temporary table of the connection has these columns
and each row's number, of one state of the table. It goes with the connection. Nothing else is ever
written, and this only where the role may have temporary tables and is not set to read only.

  Theorem.  A statement over kept rows, in a transaction in which `SeenState.shows_no_more` says so
  of its own state, gives the integers of the same statement over the table.
    Proven:   what a transaction writes is seen in a state if its number is below the state's end,
              not among those that run, and it did not end in vain. Every change of a table or of
              the catalogue has such a number. If all numbers that have come since, and all that ran
              then, run now (but for the one that made the kept rows), then nothing that is seen now
              was not seen then. So table and catalogue are those of which the rows were kept. Rows
              that depend on more than what is written, by a policy or a view (the time, the role),
              are not kept; rows and numbers were made by one statement.
    Assumed:  the server itself stores the rows, as its own kind of table: those of an extension may
              lie on other servers, which have numbers of their own
    Tested:   tests/engines/conformance/test_kept.py
  So any change on the whole server, of whatever table, ends it. Whether rows are kept decides how
  long an answer takes, and nothing else.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import LiteralString

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.measures import RowScope
from letalone.engines.core.rows import TableRef, Tables, unit_of, unused_mark
from letalone.engines.core.statements import counts_rows
from letalone.engines.postgres.postgres_connection import Server
from letalone.engines.postgres.postgres_dialect import POSTGRES
from letalone.engines.postgres.view_making import Table

SOURCE = "source"
MAX_BYTES = 1 << 30  # of a table whose rows are kept
MAX_SECONDS = 60.0  # to keep them
MAX_BEGUN = 1000  # numbers of transactions that are looked at one by one
STATE: LiteralString = """
SELECT pg_catalog.pg_current_snapshot()::text, pg_catalog.to_regclass($1) IS NOT NULL
"""
WRITER: LiteralString = "SELECT pg_catalog.pg_current_xact_id()::text"
MAY_KEEP: LiteralString = """
SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMP')
    AND pg_catalog.current_setting('default_transaction_read_only') = 'off'
    AND c.relkind IN ('r', 'm') AND NOT pg_catalog.row_security_active(c.oid)
    AND EXISTS (SELECT 1 FROM pg_catalog.pg_am m WHERE m.oid = c.relam AND m.amname = 'heap')
    AND pg_catalog.pg_table_size(c.oid) <= $3
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
"""


@dataclass(frozen=True, slots=True)
class SeenState:
    """What a transaction sees: all whose number is below the end, but those that ran."""

    end: int
    running: frozenset[int]

    @classmethod
    def read(cls, text: str) -> "SeenState":
        """As the server writes it: 10:20:10,14,15."""
        _, end, running = text.split(":")
        return cls(int(end), frozenset(int(number) for number in running.split(",") if number))

    def shows_no_more(self, now: "SeenState", writer: int | None = None) -> bool:
        """Whether nothing is seen now that was not seen then, but for what the writer wrote."""
        begun = range(self.end, now.end)
        if len(begun) > MAX_BEGUN:
            return False
        return {*self.running, *begun} - {writer} <= now.running


@dataclass(frozen=True, slots=True)
class _Kept:
    relation: TableRef
    number: str
    unit: str
    state: SeenState
    writer: int


class KeptRows:
    """The rows of a table that a connection keeps, if any."""

    def __init__(self, relation: TableRef, place: Table) -> None:
        self._relation, self._place = relation, place
        self._kept: _Kept | None = None
        self._last: SeenState | None = None
        self._asked: set[str] = set()
        self._gave_up = False

    def are_worth(self, scope: RowScope, names: Iterable[str]) -> bool:
        """Whether these columns are asked for again and are not kept yet. To be asked once for a
        question, before it: what it asks for is remembered.
        """
        if self._gave_up or not _is_whole(scope):
            return False
        wanted = {*names, scope.schema.unit or ""}
        before, self._asked = frozenset(self._asked), self._asked | wanted
        return wanted <= before and not self._has(wanted, scope)

    def keep(self, server: Server, scope: RowScope) -> None:
        """Keeps all columns that were asked for, if nothing was written since the last question.

        In a transaction that may write.
        """
        now, _ = self._look(server)
        if self._last is None or not self._last.shows_no_more(now):
            return
        if not server.run(MAY_KEEP, [*self._place, MAX_BYTES])[0][0]:
            self.give_up()
            return
        if self._kept is not None:
            server.do(f"DROP TABLE IF EXISTS {POSTGRES.printed(self._kept.relation.sql)}")
        self._kept = self._make(server, scope, now)

    def give_up(self) -> None:
        """Keeps nothing any more."""
        self._kept, self._gave_up = None, True

    def tables(
        self, server: Server, scope: RowScope, tables: Tables, names: Iterable[str]
    ) -> Tables:
        """What a statement about these columns reads in this transaction: kept rows, if they are
        the table's.
        """
        if self._gave_up or not _is_whole(scope):
            return tables
        self._last, is_there = self._look(server)
        kept = self._kept
        if kept is None or not is_there or not kept.state.shows_no_more(self._last, kept.writer):
            self._kept = None
            return tables
        if not self._has(set(names), scope):
            return tables
        return replace(tables, private=kept.relation, number=kept.number)

    def _has(self, names: set[str], scope: RowScope) -> bool:
        kept = self._kept
        same_unit = kept is not None and kept.unit == scope.schema.unit
        return kept is not None and same_unit and names <= kept.relation.columns.keys()

    def _look(self, server: Server) -> tuple[SeenState, bool]:
        name = "" if self._kept is None else POSTGRES.printed(self._kept.relation.sql)
        (text, is_there), *_ = server.run(STATE, [name])
        return SeenState.read(str(text)), bool(is_there)

    def _make(self, server: Server, scope: RowScope, now: SeenState) -> _Kept:
        columns = {name: self._relation.columns[name] for name in sorted(self._asked)}
        unit = scope.schema.unit or ""
        person = unit_of(self._relation, scope.schema.column(unit), SOURCE, POSTGRES)
        number = f"{unused_mark(columns)}n"
        count = syntax.window(exp.Count(this=exp.Star()), partition=[person])
        shown = [syntax.alias(count, number), *(syntax.column(name, SOURCE) for name in columns)]
        rows = syntax.select(
            shown,
            syntax.rename(self._relation.sql, SOURCE),
            where=[syntax.is_present(person.copy())],
        )
        table = syntax.table(f"letalone_kept_{token_hex(8)}", schema="pg_temp")
        named = POSTGRES.printed(table)
        server.do(f"CREATE TEMPORARY TABLE {named} AS {POSTGRES.printed(rows)}")
        writer = int(server.run(WRITER)[0][0])
        return _Kept(TableRef(table, columns), number, unit, now, writer)


def _is_whole(scope: RowScope) -> bool:
    """Whether all rows of the table are weighed by how many their unit has."""
    return counts_rows(scope) and scope.where is None and not scope.joins
