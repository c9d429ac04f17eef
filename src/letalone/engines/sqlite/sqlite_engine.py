"""The engine that reads an SQLite file by Python's own `sqlite3`: the same plans and integers.

Keys and public tables are tables of the connection alone. All statements of an answer see one state
of the file; what cannot be compiled is refused before anything is charged.

  Tested:   tests/engines/test_engine_laws.py, which every engine has to pass, and conformance/

Everything that SQLite raises stops in failure.py.
"""

import sqlite3
import weakref
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime
from typing import Any, cast

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.failure import SourceAway, hide_engine_errors
from letalone.engines.core.measures import Measure, RowScope
from letalone.engines.core.rows import PLAIN, UNIT, TableRef, Tables, lent_name, mark_of
from letalone.engines.core.server_engine import ServerEngine, with_inputs
from letalone.engines.core.statements import KEYS, NUMBER, build_discovery, build_statements
from letalone.engines.core.stored_types import Stored, declared_schema
from letalone.engines.core.syntax import Sql
from letalone.engines.frames import arrow
from letalone.engines.public_tables import public_columns
from letalone.engines.sqlite.sqlite_connection import SqliteFile, check_unchanged, relation_of
from letalone.engines.sqlite.sqlite_dialect import SQLITE
from letalone.engines.sqlite.sqlite_functions import write_day
from letalone.engines.time_limit import read_timeout
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.errors.problem import without_context
from letalone.plans.plan import PrivateJoin, PublicJoin
from letalone.plans.schema import Schema
from letalone.plans.types import Key, Type
from letalone.sources.schemes import path_of

IN_USE = "another program may be writing to it, or have been stopped while it did; or it is damaged"


def open_sqlite(
    source: object,
    *,
    schema: Schema | None = None,
    types: Mapping[str, Type] | None = None,
    table: str | None = None,
    timeout_seconds: float | None = None,
) -> "SqliteEngine":
    """Opens a table of a file; nothing but the catalogue is read.

    timeout_seconds: how long a statement may run (see time_limit.py).
    """
    path, seconds = path_of(cast("str", source)).resolve(), read_timeout(timeout_seconds)
    refused = ParameterError(f"{path.name} cannot be read: {IN_USE}.")
    file = without_context(
        lambda: SqliteFile(path, timeout_seconds=seconds), sqlite3.Error, error=refused
    )
    try:
        with file.reading():
            relation = without_context(
                lambda: relation_of(file, table), sqlite3.Error, error=refused
            )
        declared = declared_schema(relation.columns, schema, types or {}, relation.name or "")
    except BaseException:
        file.close()
        raise
    return SqliteEngine(file, relation, declared)


class SqliteEngine(ServerEngine):
    """A table of an SQLite file."""

    def __init__(self, file: SqliteFile, relation: TableRef, schema: Schema) -> None:
        super().__init__(file, relation, schema, SQLITE)
        self._file = file
        self._finalizer = weakref.finalize(self, file.close)

    def check(self, schema: Schema) -> None:
        """Nothing: rows of a table are as they are stored, and a view is never opened."""

    def reach(self) -> None:
        """The file that was opened, which lets itself be read; no row is read."""
        away = SourceAway(f"{self._file.path.name} cannot be read now: {IN_USE}.")

        def look() -> None:
            with self._file.reading():
                check_unchanged(self._file, self._relation)

        with self._lock:
            self._file.check_same()
            without_context(look, Exception, error=away)

    def place(self) -> str:
        return f"sqlite {self._file.path}"

    def discover(self, scope: RowScope) -> list[tuple[tuple[Key, ...], int]]:
        kinds = [group.type.of_keys for group in scope.groups]
        return [(tuple(map(_value, key, kinds)), n) for key, n in super().discover(scope)]

    def discovery_sql(self, scope: RowScope) -> str:
        self._compile([build_discovery(scope, self._tables(scope))], scope)
        return super().discovery_sql(scope)

    def close(self) -> None:
        with self._lock:
            self._finalizer()

    def _take_public(self, join: PublicJoin, table: object, *, name: str) -> TableRef:
        columns = public_columns(join, table)
        rows = list(zip(*([_cell(cell) for cell in cells] for _, cells in columns), strict=True))
        names = [column.name for column, _ in columns]
        hide_engine_errors(lambda: self._file.put_table(name, names, rows))
        stored = {column.name: Stored(column.name, PLAIN[column.type]) for column, _ in columns}
        return TableRef(syntax.table(name, schema="temp"), stored)

    def _drop_public(self, relation: TableRef) -> None:
        hide_engine_errors(lambda: self._file.drop_table(relation.sql.name))

    def _reading(self, *locks: str) -> AbstractContextManager[None]:  # noqa: ARG002
        return self._file.reading()

    def _seen(self, scope: RowScope, connection: SqliteFile) -> Tables:
        hide_engine_errors(lambda: check_unchanged(connection, self._relation))
        return self._tables(scope)

    def _run(self, query: Sql, scope: RowScope) -> list[tuple[Any, ...]]:
        return hide_engine_errors(lambda: self._file.run(self._statement(query, scope)))

    def _all_rows(
        self, query: exp.Select, scope: RowScope, kinds: Sequence[Type], /
    ) -> arrow.ArrowTable:
        def read() -> arrow.ArrowTable:
            batches = self._file.streamed(self._statement(query, scope))
            rows = ([tuple(map(_value, row, kinds)) for row in batch] for batch in batches)
            return arrow.table_of_rows(rows, kinds)

        return hide_engine_errors(read)

    def _shown(self, scope: RowScope, measures: Sequence[Measure]) -> list[Sql]:
        """Refuses what SQLite cannot compile: before any charge."""
        made = build_statements(scope, measures, self._tables(scope))
        self._compile([statement.sql for statement in made], scope)
        return super()._shown(scope, measures)

    def _compile(self, queries: Sequence[exp.Select], scope: RowScope) -> None:
        refused = UnsupportedQuery(
            "SQLite cannot run this question: it asks for too much at once, or the table needs what"
            " is not here, such as its own collation. Ask for less. Nothing was charged."
        )
        joins = [join for join in scope.joins if isinstance(join, PrivateJoin)]
        lent = {lent_name(join.name): _no_rows(join) for join in joins}

        def compile_each() -> None:
            with self._lock, self._file.reading():
                for query in queries:
                    self._file.run(f"EXPLAIN {self._statement(query, scope, lent)}")

        without_context(compile_each, sqlite3.Error, error=refused)

    def _statement(
        self, query: Sql, scope: RowScope, lent: Mapping[str, exp.Select] | None = None
    ) -> str:
        """The text of a statement, whose keys are put into a table before."""
        if scope.groups and scope.keys is not None:
            kinds = [group.type.of_keys for group in scope.groups]
            names = [f"{mark_of(scope)}key{number}" for number in range(len(kinds))]
            arrow.key_table(scope.keys, kinds, names=names, number=NUMBER)  # refuses other types
            keys = [(n, *map(_cell, key)) for n, key in enumerate(scope.keys) if _is_held(key)]
            self._file.put_table(KEYS, [NUMBER, *names], keys)
        lent = self._lent if lent is None else lent
        return SQLITE.printed(with_inputs(cast("exp.Query", query), lent))


def _no_rows(join: PrivateJoin) -> exp.Select:
    names = [UNIT, *(f"column{number}" for number in range(len(join.columns)))]
    return exp.select(*(syntax.alias(syntax.NULL.copy(), name) for name in names)).where("0")


def _is_held(key: Sequence[object]) -> bool:
    """Whether SQLite can hold all texts of a key: else nothing there equals it."""
    return not any("\ud800" <= c <= "\udfff" for part in key if isinstance(part, str) for c in part)


def _cell(value: object) -> object:
    """A value of Python's as statements have it."""
    if isinstance(value, date):
        return write_day(value.replace(tzinfo=None) if isinstance(value, datetime) else value)
    return int(value) if isinstance(value, bool) else value


def _value(cell: Any, kind: Type) -> Any:
    """The other way round, for a value of a type; text is bytes."""
    if cell is None:
        return None
    match kind:
        case Type.BOOLEAN:
            return bool(cell)
        case Type.DATE:
            return date.fromisoformat(cell.decode())
        case Type.TIMESTAMP:
            return datetime.fromisoformat(cell.decode())
        case Type.TEXT:
            return cell.decode()
        case _:
            return cell
