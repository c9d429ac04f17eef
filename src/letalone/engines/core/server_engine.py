"""What engines share whose table is elsewhere: statements go to it, with all that they need.

All statements of an answer see one state of the table (`borrowing` is that transaction), and what
they read is looked at once more in it (`_seen`). Rows of other tables of the place, which these
lend, are sub-selects.

  Tested:   tests/engines/test_engine_laws.py, test_partners.py
"""

from abc import abstractmethod
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.dialect import Dialect
from letalone.engines.core.measures import RowScope
from letalone.engines.core.rows import TableRef, Tables
from letalone.engines.core.sql_engine import Built, Engine, LentRows, rows_by_name
from letalone.engines.core.syntax import Sql
from letalone.plans.plan import PublicJoin
from letalone.plans.schema import Schema


class ServerEngine(Engine):
    """A table elsewhere, over a connection."""

    def __init__(
        self, connection: Any, relation: TableRef, schema: Schema, dialect: Dialect
    ) -> None:
        super().__init__(relation, schema)
        self._connection, self._dialect = connection, dialect
        self._locking = ""  # the statement that locks the table, where one does
        self._public: dict[str, TableRef] = {}
        self._lent: dict[str, exp.Select] = {}

    def add_public(self, join: PublicJoin, table: object) -> None:
        with self._lock:
            made = self._take_public(join, table, name=self._name_of_copy())
            self._public[join.table_digest] = made

    def forget_public(self, digest: str) -> None:
        with self._lock:
            relation = self._public.pop(digest, None)
            if relation is not None:
                self._drop_public(relation)

    @contextmanager
    def borrowing(self, lent: Mapping[str, object]) -> Generator[None]:
        """What other tables lend, by the names of their data sets, and one state of all tables."""
        known = rows_by_name(lent, self.place())
        with self._lock, self._reading(*(rows.locking for rows in known.values())):
            try:
                for name, rows in known.items():
                    self._lent[name] = rows.query(self._connection)
                yield
            finally:
                self._lent = {}

    @abstractmethod
    def _take_public(self, join: PublicJoin, table: object, *, name: str) -> TableRef:
        """A public table under a name, for statements to read."""

    def _drop_public(self, relation: TableRef) -> None:
        """Lets go of what `_take_public` made."""

    def _reading(self, *locks: str) -> AbstractContextManager[None]:  # noqa: ARG002
        """One state until the end of the block, for all that is measured in it."""
        return nullcontext()

    def _tables(self, scope: RowScope) -> Tables:  # noqa: ARG002
        return Tables(self._relation, None, self._public, self._dialect)

    def _seen(self, scope: RowScope, connection: Any) -> Tables:  # noqa: ARG002
        """What a statement reads, looked at once more in the transaction that reads it."""
        return self._tables(scope)

    @contextmanager
    def _built(self, scope: RowScope, build: Callable[[Tables], Built]) -> Generator[Built]:
        with self._lock, self._reading():
            yield build(self._seen(scope, self._connection))

    def _lend(self, scope: RowScope, build: Callable[[Tables], exp.Select]) -> LentRows:
        return LentRows(self.place(), lambda there: build(self._seen(scope, there)), self._locking)


def with_inputs(query: exp.Query, inputs: Mapping[str, exp.Select]) -> exp.Query:
    """The query, with those inputs before it that it reads, and that these read."""
    query, added = query.copy(), dict[str, exp.Select]()
    waiting: list[Sql] = [query]
    while waiting:
        named = {table.name for table in waiting.pop().find_all(exp.Table)}
        for name in sorted(named & (inputs.keys() - added.keys())):
            added[name] = inputs[name].copy()
            waiting.append(added[name])
    if not added:
        return query
    tables = [syntax.cte(table, name) for name, table in reversed(added.items())]
    known = query.args.get("with_")
    query.set("with_", exp.With(expressions=[*tables, *(known.expressions if known else ())]))
    return query
