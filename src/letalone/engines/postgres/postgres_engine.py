"""The engine that runs on a PostgreSQL server: the same plans, the same integers.

A read-only account suffices. Keys and public tables go along as parameters: each column is one
array, and a CTE makes rows of them again. Nothing is written but a temporary table of the
connection, where the role may have one (postgres_kept.py). All statements of an answer see one
state of the table (`borrowing` is that transaction).

  Tested:   tests/engines/test_engine_laws.py, which every engine has to pass, and conformance/
  Assumed:  the server keeps its promises, and its log is as private as its tables: an owner who
            logs statements with their parameters finds the questions' keys there

Everything that PostgreSQL raises stops in failure.py.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.failure import EngineFailed, hide_engine_errors
from letalone.engines.core.measures import Measure, RowScope
from letalone.engines.core.rows import PLAIN, TableRef, Tables, mark_of
from letalone.engines.core.server_engine import ServerEngine, with_inputs
from letalone.engines.core.sql_engine import Built
from letalone.engines.core.statements import KEYS, NUMBER, Statement, build_statements
from letalone.engines.core.stored_types import (
    SQL_TYPES,
    Stored,
    columns_read_from_text,
    declared_schema,
)
from letalone.engines.core.syntax import Sql
from letalone.engines.frames import arrow
from letalone.engines.postgres.postgres_connection import (
    Server,
    check_free,
    check_unchanged,
    lock_on,
    relation_of,
)
from letalone.engines.postgres.postgres_diagnosis import connect_or_explain
from letalone.engines.postgres.postgres_dialect import POSTGRES
from letalone.engines.postgres.postgres_kept import MAX_SECONDS, KeptRows
from letalone.engines.postgres.postgres_reading import plain
from letalone.engines.postgres.postgres_unique import has_one_each
from letalone.engines.postgres.postgres_views import check_made
from letalone.engines.postgres.postgres_words import check_width, holds, write_statement
from letalone.engines.public_tables import public_columns
from letalone.engines.time_limit import read_timeout
from letalone.errors import ParameterError
from letalone.plans.plan import PublicJoin
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from letalone.sources.postgres_address import read_address

READS_TEXT = 160000  # the first version that can be asked whether text is a number
OLDEST_VERSION = 140000  # the first one whose numerics have an infinity


def open_postgres(
    source: str,
    *,
    schema: Schema | None = None,
    types: Mapping[str, Type] | None = None,
    table: str | None = None,
    vouched: bool = False,
    timeout_seconds: float | None = None,
) -> "PostgresEngine":
    """Opens a table on a server; nothing but the catalogue is read.

    timeout_seconds: how long a statement may run (see time_limit.py).
    """
    server = Server(read_address(source, table), timeout_seconds=read_timeout(timeout_seconds))
    try:
        version = connect_or_explain(server)
        with server.reading():
            relation = hide_engine_errors(lambda: relation_of(server))
            kind = hide_engine_errors(lambda: check_unchanged(server, relation, server.address))
        declared = declared_schema(relation.columns, schema, types or {}, relation.name or "")
        from_text = columns_read_from_text(declared, relation.columns)
        _check_server(version, hide_engine_errors(server.encoding), from_text)
        place = hide_engine_errors(server.place)
    except BaseException:
        server.close()
        raise
    locking = lock_on(relation, kind)
    return PostgresEngine(server, relation, declared, place=place, locking=locking, vouched=vouched)


class PostgresEngine(ServerEngine):
    """A table on PostgreSQL."""

    def __init__(
        self,
        server: Server,
        relation: TableRef,
        schema: Schema,
        *,
        place: str,
        locking: str,
        vouched: bool,
    ) -> None:
        super().__init__(server, relation, schema, POSTGRES)
        self._server, self._place, self._vouched = server, place, vouched
        self._locking, self._once = locking, False
        self._kept = KeptRows(relation, server.address.table or ("", ""))
        self._inputs: dict[str, Input] = {}  # public tables, by their names in statements

    def check(self, schema: Schema) -> None:
        """Refuses rows that are made across people."""
        with self._lock, self._server.reading(self._locking):
            self._trusted = hide_engine_errors(lambda: self._made_of(self._server, schema))
            self._once = hide_engine_errors(lambda: self._has_one_each(self._server, schema))

    def reach(self) -> None:
        """A connection that answers, and a table that is as it was opened and that nobody keeps
        for themselves; SourceAway else. No row is read.
        """
        server = self._server
        with self._lock:
            server.reach(lambda: check_free(server, self._relation, server.address))

    def expect(self, scope: RowScope, measures: Sequence[Measure]) -> None:
        """Keeps rows on the server, where the same columns were asked for before."""
        known = replace(scope, keys=()) if scope.keys is None else scope
        with self._lock:
            if self._once or not self._kept.are_worth(scope, self._names(known, measures)):
                return
            try:
                with self._server.keeping(self._locking, seconds=MAX_SECONDS):
                    self._seen(scope, self._server)
                    self._kept.keep(self._server, scope)
            except Exception:  # the table itself is asked, and tells what is wrong
                self._kept.give_up()

    def place(self) -> str:
        return self._place

    def _take_public(self, join: PublicJoin, table: object, *, name: str) -> TableRef:
        self._inputs[name] = public_input(join, table, name=name)
        return self._inputs[name].relation

    def _drop_public(self, relation: TableRef) -> None:
        del self._inputs[relation.sql.name]

    def _reading(self, *locks: str) -> AbstractContextManager[None]:
        return self._server.reading(self._locking, *locks)

    def close(self) -> None:
        with self._lock:
            self._server.close()

    @contextmanager
    def _built(self, scope: RowScope, build: Callable[[Tables], Built]) -> Generator[Built]:
        with self._lock, self._reading():
            tables = self._seen(scope, self._server)
            made, server = build(tables), self._server
            names = self._columns_in([made] if isinstance(made, exp.Select) else made)
            kept = hide_engine_errors(lambda: self._kept.tables(server, scope, tables, names))
            yield made if kept is tables else build(kept)

    def _tables(self, scope: RowScope) -> Tables:
        return replace(super()._tables(scope), once=self._once)

    def _seen(self, scope: RowScope, connection: Server) -> Tables:
        """What a statement reads, looked at once more in the transaction that reads it."""
        address = self._server.address
        hide_engine_errors(lambda: check_unchanged(connection, self._relation, address))
        try:  # a policy may be another one since the table was opened
            hide_engine_errors(lambda: self._made_of(connection, scope.schema))
        except ParameterError:
            raise EngineFailed from None
        once = hide_engine_errors(lambda: self._has_one_each(connection, scope.schema))
        tables = replace(self._tables(scope), once=once)
        return replace(tables, private=_itself(self._relation)) if once else tables

    def _made_of(self, server: Server, schema: Schema) -> tuple[str, ...]:
        place = self._server.address.table or ("", "")
        return check_made(server, place, schema.unit, vouched=self._vouched)

    def _names(self, scope: RowScope, measures: Sequence[Measure]) -> set[str]:
        return self._columns_in(build_statements(scope, measures, self._tables(scope)))

    def _columns_in(self, made: Sequence[exp.Select | Statement]) -> set[str]:
        """The columns of the table that are read."""
        queries = [part.sql if isinstance(part, Statement) else part for part in made]
        named = {column.name for query in queries for column in query.find_all(exp.Column)}
        return named & self._relation.columns.keys()

    def _has_one_each(self, server: Server, schema: Schema) -> bool:
        return has_one_each(server, self._server.address.table or ("", ""), schema.unit)

    def _run(self, query: Sql, scope: RowScope) -> list[tuple[Any, ...]]:
        text, parameters = self._statement(query, scope)
        return hide_engine_errors(lambda: self._server.run(text, parameters))

    def _all_rows(
        self, query: exp.Select, scope: RowScope, kinds: Sequence[Type], /
    ) -> arrow.ArrowTable:
        def read() -> arrow.ArrowTable:
            return arrow.table_of_rows(self._server.streamed(*self._statement(query, scope)), kinds)

        return hide_engine_errors(read)

    def _shown(self, scope: RowScope, measures: Sequence[Measure]) -> list[Sql]:
        """Refuses statements that are too wide: before any charge."""
        queries = super()._shown(scope, measures)
        check_width(queries, columns=len(self._relation.columns))
        return queries

    def _statement(self, query: Sql, scope: RowScope) -> tuple[str, list[object]]:
        """The text of a statement, with what it reads beside the table, and its parameters."""
        inputs = list(self._inputs.values())
        if scope.groups and scope.keys is not None:
            inputs.append(key_input(scope, KEYS, mark=mark_of(scope)))
        queries = {table.name: table.query for table in inputs} | self._lent
        text, names = write_statement(with_inputs(cast("exp.Query", query), queries))
        given: dict[str, object] = {}
        for table in inputs:
            given |= table.parameters
        return text, [given[name] for name in names]


def _itself(relation: TableRef) -> TableRef:
    """A table without those that inherit from it."""
    only = relation.sql.copy()
    only.set("only", True)
    return replace(relation, sql=only)


def _check_server(version: int, encoding: str, from_text: Iterable[str]) -> None:
    if version < OLDEST_VERSION:
        raise ParameterError("The server is older than PostgreSQL 14. Take a newer one.")
    names = sorted(from_text)
    if version < READS_TEXT and names:
        raise ParameterError(
            f"{', '.join(names)}: stored as text and declared to be something else, which needs"
            " PostgreSQL 16 or newer. Declare them text, or convert them in the data."
        )
    if encoding != "UTF8":  # others hold text that cannot be read back, which one cell would tell
        raise ParameterError(
            f"The database stores text as {encoding}, but must store it as UTF8. Copy the table"
            " into such a database."
        )


@dataclass(frozen=True, slots=True)
class Input:
    """A table by its name: the query that makes it of its parameters, and these."""

    name: str
    query: exp.Select
    parameters: Mapping[str, object]
    relation: TableRef


def key_input(scope: RowScope, name: str, *, mark: str) -> Input:
    """The listed keys, numbered. A text that no column can hold is left out: nothing equals it."""
    names = [f"{mark}key{number}" for number in range(len(scope.groups))]
    kinds = [group.type.of_keys for group in scope.groups]
    keys = scope.keys or ()
    arrow.key_table(keys, kinds, names=names, number=NUMBER)  # refuses keys of other types
    kept = [n for n, key in enumerate(keys) if all(holds(k) for k in key if isinstance(k, str))]
    columns: list[tuple[str, Type, list[object]]] = [(NUMBER, Type.INTEGER, [*kept])]
    for place, (column, kind) in enumerate(zip(names, kinds, strict=True)):
        columns.append((column, kind, [keys[number][place] for number in kept]))
    return _input(name, columns)


def public_input(join: PublicJoin, table: object, *, name: str) -> Input:
    """A public table, read and checked as on this machine: unique on the key of the join."""
    columns = [(c.name, c.type, cells) for c, cells in public_columns(join, table)]
    for *_, cells in columns:
        if not all(holds(cell) for cell in cells if isinstance(cell, str)):
            raise ParameterError(
                f"The public table {join.name!r} has text with a NUL character in it, which"
                " PostgreSQL cannot hold. Take it out."
            )
    return _input(name, columns)


def _input(name: str, columns: Sequence[tuple[str, Type, list[object]]]) -> Input:
    labels = [f"{name}_{number}" for number in range(len(columns))]
    arrays = [_array(label, kind) for label, (_, kind, _) in zip(labels, columns, strict=True)]
    names = [exp.to_identifier(f"c{number}", quoted=True) for number in range(len(columns))]
    source = exp.Table(
        this=syntax.call("UNNEST", *arrays),
        alias=exp.TableAlias(this=exp.to_identifier("given", quoted=True), columns=names),
    )
    shown: list[Sql] = []
    for number, (called, kind, _) in enumerate(columns):
        column = syntax.column(f"c{number}", "given")
        shown.append(syntax.alias(plain(column) if kind is Type.TEXT else column, called))
    stored = {called: Stored(called, PLAIN[kind]) for called, kind, _ in columns}
    values = {label: cells for label, (_, _, cells) in zip(labels, columns, strict=True)}
    relation = TableRef(syntax.table(name), stored)
    return Input(name, syntax.select(shown, source), values, relation)


def _array(label: str, kind: Type) -> Sql:
    words = {Type.NUMBER: "DOUBLE PRECISION", Type.TEXT: "TEXT"}
    element = words.get(kind, str(SQL_TYPES[kind].value))
    array_type = exp.DataType.build(f"{element}[]", dialect="postgres")
    return exp.Cast(this=exp.Placeholder(this=label), to=array_type)
