"""Connects to a table on a PostgreSQL server: its columns, and transactions that only read.

A transaction is READ ONLY and REPEATABLE READ: all its statements see one state. Its settings do
not depend on the server's: UTC, no search path, ISO dates, shortest exact doubles, a time limit.
Tables are locked as reading locks them before the state is taken: what the catalogue then says of
them (columns, policies, indexes, a view's definition) holds until the end.

  Theorem (rule 2 of docs/explanation/soundness.md).  Names and types come from the catalogue alone:
  no row, no statistics, no label of an enumeration is read.
  Tested:   tests/engines/conformance/test_server.py
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple, TypeVar, cast

from letalone.engines.core import syntax
from letalone.engines.core.failure import EngineFailed, RightRevoked, SourceAway, hide_engine_errors
from letalone.engines.core.rows import TableRef
from letalone.engines.core.stored_types import Stored, check_columns
from letalone.engines.old_copies import check_is_no_copy, is_copy
from letalone.engines.postgres.postgres_dialect import POSTGRES
from letalone.engines.time_limit import MAX_SECONDS
from letalone.errors import ParameterError
from letalone.errors.problem import without_context
from letalone.ledger.storage import patience
from letalone.sources.files import WhichTable
from letalone.sources.postgres_address import PostgresAddress, table_name

if TYPE_CHECKING:
    from psycopg import RawCursor

    from letalone.ledger.storage.connecting import BoundedConnection

Result = TypeVar("Result")
GRACE_SECONDS = 10.0  # for the server to say that a statement has reached its limit
BATCH_ROWS = 100_000
NO_RIGHT = "42501"
COMPUTED = "GENERATED"
MODE = "IN ACCESS SHARE MODE"  # what reading takes, and needs the same right
FAR = "whose rows may change within an answer, and one of which may fail to be read."
SETTINGS: LiteralString = """
SELECT pg_catalog.set_config(name, value, true) FROM (VALUES
    ('TimeZone', 'UTC'), ('DateStyle', 'ISO, YMD'), ('IntervalStyle', 'postgres'),
    ('bytea_output', 'hex'), ('extra_float_digits', '1'), ('standard_conforming_strings', 'on'),
    ('search_path', ''), ('jit', 'off'), ('row_security', 'on')) AS of(name, value)
"""
BEGIN: LiteralString = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
KEEP: LiteralString = "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE"
SOON: LiteralString = """
SELECT pg_catalog.set_config('lock_timeout', $1, true),
    pg_catalog.set_config('search_path', '', true)
"""
LIMIT: LiteralString = """
SELECT pg_catalog.set_config(name, least(nullif(reset_val::bigint, 0), $1::bigint)::text, true)
FROM pg_catalog.pg_settings WHERE name = 'statement_timeout'
"""
STORED = {  # PostgreSQL's words for types in ours; every other type is OTHER
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "numeric": "NUMERIC",
    "text": "VARCHAR",
    "varchar": "VARCHAR",
    "bpchar": "VARCHAR",
    "name": "VARCHAR",
    "uuid": "UUID",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMPTZ",
}
TABLES: LiteralString = """
SELECT n.nspname, c.relname, c.relkind::text, pg_catalog.obj_description(c.oid, 'pg_class')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'm', 'v', 'f') AND NOT c.relispartition
AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
AND pg_catalog.has_table_privilege(c.oid, 'SELECT') ORDER BY 1, 2
"""
DATABASE: LiteralString = "SELECT pg_catalog.current_database()::text"
KIND: LiteralString = """
SELECT c.relkind::text FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2
"""
COLUMNS: LiteralString = """
SELECT a.attname, coalesce(b.typname, t.typname)::text,
    CASE WHEN coalesce(b.typtype, t.typtype) = 'e' AND EXISTS (SELECT 1 FROM pg_catalog.pg_cast k
        WHERE k.castsource = coalesce(b.oid, t.oid) AND k.castmethod = 'f') THEN 'own'
    ELSE coalesce(b.typtype, t.typtype)::text END,
    coalesce(bn.nspname, tn.nspname)::text, a.attgenerated::text
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_type b ON t.typtype = 'd' AND b.oid = t.typbasetype
LEFT JOIN pg_catalog.pg_namespace bn ON bn.oid = b.typnamespace
WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
FOREIGN: LiteralString = """
WITH RECURSIVE parts AS (
    SELECT i.inhrelid FROM pg_catalog.pg_inherits i
    WHERE i.inhparent = pg_catalog.to_regclass(pg_catalog.format('%I.%I', $1::text, $2::text))
    UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN parts p ON i.inhparent = p.inhrelid
)
SELECT count(*) FROM parts p JOIN pg_catalog.pg_class c ON c.oid = p.inhrelid
WHERE c.relkind = 'f'
"""


class CatalogueEntry(NamedTuple):
    """A table that the role may read; it can be opened if it is a data set of its own."""

    kind: str
    comment: object

    @property
    def can_be_opened(self) -> bool:
        return self.kind != "f" and not is_copy(self.comment)


class Server:
    """A connection that opens when it is needed, and transactions that only read."""

    def __init__(self, address: PostgresAddress, *, timeout_seconds: float = MAX_SECONDS) -> None:
        self.address, self._timeout_seconds = address, timeout_seconds
        self._cursor: RawCursor[tuple[Any, ...]] | None = None
        self._inside = False

    def reach(self, look: Callable[[], None]) -> None:
        """A connection that answers, an old one or another, and what `look` finds in the catalogue;
        SourceAway where that fails. A right that was taken away is told by the question itself.
        """
        if self._inside:
            return

        def connect() -> None:
            known = None if self._cursor is None else self._cursor.connection
            if known is None or not cast("BoundedConnection", known).is_there(since=0.0):
                self.close()
            with suppress(RightRevoked):
                self._glance(look)

        away = SourceAway(f"The table of {self.address.words!r} cannot be reached.")
        without_context(connect, Exception, error=away)

    def _glance(self, look: Callable[[], None]) -> None:
        """A short transaction of its own, in which nobody's lock is waited for."""
        is_whole = False
        try:
            self._open().execute(BEGIN)
            self._open().execute(SOON, [str(int(1000 * patience.LOOK_SECONDS))])
            look()
            is_whole = True
        finally:
            self._end(whole=is_whole)

    @contextmanager
    def reading(self, *locks: str) -> Generator[None]:
        """One state of the database until the end of the block; blocks may be nested.

        locks: statements that lock tables (`lock_on`) before the state is taken.
        """
        if self._inside:
            yield
            return
        hide_engine_errors(lambda: self._begin(locks))
        self._inside, is_whole = True, False
        try:
            yield
            is_whole = True
        finally:
            self._inside = False
            self._end(whole=is_whole)

    @contextmanager
    def keeping(self, *locks: str, seconds: float) -> Generator[None]:
        """One state, in a transaction that may make a temporary table of the connection; a failure
        takes the connection with it. seconds: for each statement.
        """
        if self._inside:
            raise EngineFailed  # it would end the one that reads
        self._inside, is_whole = True, False
        try:
            self._start(locks, KEEP, min(seconds, self._timeout_seconds))
            yield
            self._open().execute("COMMIT")
            is_whole = True
        finally:
            self._inside = False
            if not is_whole:
                self.close()

    def do(self, statement: str, parameters: Sequence[object] = ()) -> None:
        self._open().execute(cast("LiteralString", statement), list(parameters))

    def run(self, statement: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        text, cursor = cast("LiteralString", statement), self._open()
        return _tell_rights(lambda: cursor.execute(text, list(parameters)).fetchall())

    def streamed(
        self, statement: str, parameters: Sequence[object]
    ) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a statement's result, some at a time: the server keeps the rest."""
        import psycopg

        with psycopg.RawServerCursor(self._open().connection, "letalone") as cursor:
            text = cast("LiteralString", statement)
            _tell_rights(lambda: cursor.execute(text, list(parameters)))
            while rows := cursor.fetchmany(BATCH_ROWS):
                yield rows

    def place(self) -> str:
        """Which database this is: two of them are one if they are called the same."""
        info = self._open().connection.info
        return f"postgresql://{info.user}@{info.host}:{info.port}/{info.dbname}"

    def version(self) -> int:
        return self._open().connection.info.server_version

    def encoding(self) -> str:
        return self._open().connection.info.parameter_status("server_encoding") or ""

    def close(self) -> None:
        cursor, self._cursor = self._cursor, None
        if cursor is not None:
            with suppress(Exception):
                cursor.connection.close()

    def _begin(self, locks: Sequence[str]) -> None:
        """Tries once more where the connection was lost since the last transaction: nothing has
        been read yet, so this tells nothing, and a data set need not be frozen.
        """
        known = self._cursor
        try:
            self._start(locks, BEGIN, self._timeout_seconds)
        except RightRevoked:
            self.close()
            raise
        except Exception:
            if known is None:
                raise
            self.close()
        else:
            return
        self._start(locks, BEGIN, self._timeout_seconds)

    def _start(self, locks: Sequence[str], begin: LiteralString, seconds: float) -> None:
        """Neither SET nor LOCK takes the state. The time limit is the role's own, where that is
        shorter: it is as public as ours.
        """
        self._wait_for(None)
        self._open().execute(begin)
        limit = int(1000 * seconds)
        self.do(f"SET LOCAL statement_timeout = {limit}")
        self._wait_for(seconds + GRACE_SECONDS)
        for lock in locks:
            _tell_rights(lambda lock=lock: self.do(lock))
        self._open().execute(SETTINGS)
        self._open().execute(LIMIT, [limit])

    def _wait_for(self, seconds: float | None) -> None:
        """How long the server may be silent: as long as a statement may run, where one does."""
        cast("BoundedConnection", self._open().connection).patience_seconds = seconds

    def _end(self, *, whole: bool) -> None:
        """A transaction that failed takes its connection with it: the next one gets another."""
        try:
            if whole and self._cursor is not None:
                self._wait_for(None)
                self._cursor.execute("ROLLBACK")
                return
        except Exception:
            pass  # nothing was written, so nothing is lost
        self.close()

    def _open(self) -> "RawCursor[tuple[Any, ...]]":
        if self._cursor is None or self._cursor.connection.closed:
            self._cursor = _connect(self.address.server)
        return self._cursor


def _tell_rights(run: Callable[[], Result]) -> Result:
    """What `run` returns; a right that was taken away is told as that, without a cause."""
    try:
        return run()
    except Exception as error:
        if getattr(error, "sqlstate", None) != NO_RIGHT:
            raise
    raise RightRevoked


def _connect(server: str) -> "RawCursor[tuple[Any, ...]]":
    import psycopg

    from letalone.ledger.storage.connecting import BoundedConnection

    connection = BoundedConnection.connect(
        server,
        autocommit=True,
        prepare_threshold=None,
        client_encoding="UTF8",
        application_name="letalone",
    )
    return psycopg.RawCursor(connection)


def relation_of(server: Server) -> TableRef:
    """The table of the address and its columns, from the catalogue."""
    _check_database(server)
    rows = server.run(TABLES)
    tables = {(str(s), str(n)): CatalogueEntry(str(kind), comment) for s, n, kind, comment in rows}
    schema, name = _find_table(server.address, tables)
    _check_parts(server, schema, name)
    columns = columns_of(server, schema, name)
    check_columns(list(columns), table_name(schema, name))
    sql = syntax.table(name, schema=schema)
    return TableRef(sql, columns, table_name(schema, name))


def _check_database(server: Server) -> None:
    """Names that are too long are cut, and a pooler may lead elsewhere: the server knows."""
    wanted, real = server.address.database, server.run(DATABASE)[0][0]
    if real != wanted:
        raise ParameterError(
            f"The address names the database {wanted!r}, and the server says that this is {real!r}."
            " A budget belongs to a table under its own name: write that one into the address."
        )


def check_free(server: Server, relation: TableRef, address: PostgresAddress) -> None:
    """Fails where the table is not what was opened, or its keeper keeps readers out: no row is
    read.
    """
    lock = lock_on(relation, check_unchanged(server, relation, address))
    _tell_rights(lambda: server.do(lock))


def lock_on(relation: TableRef, kind: str) -> str:
    """The statement that locks a table as reading it does, with all that it is made of.

    A materialised view cannot be locked by a statement of its own.
    """
    name = POSTGRES.printed(relation.sql)
    return f"SELECT FROM {name} WHERE false" if kind == "m" else f"LOCK TABLE {name} {MODE}"


def check_unchanged(server: Server, relation: TableRef, address: PostgresAddress) -> str:
    """The kind of the table. Fails where it is not what was opened: rows of other types would be
    told apart otherwise. The catalogue alone is read.
    """
    try:
        schema, name = address.table or ("", "")
        kinds = server.run(KIND, [schema, name])
        _check_parts(server, schema, name)
        same = columns_of(server, schema, name).items() >= relation.columns.items()
    except ParameterError:
        same, kinds = False, []
    if not same or kinds not in ([("r",)], [("p",)], [("m",)], [("v",)]):
        raise EngineFailed
    return str(kinds[0][0])


def _check_parts(server: Server, schema: str, name: str) -> None:
    if server.run(FOREIGN, [schema, name])[0][0]:
        raise ParameterError(
            f"{table_name(schema, name)!r} has a part that is a foreign table, {FAR} Detach it, or"
            " copy it into a table."
        )


def columns_of(server: Server, schema: str, name: str) -> dict[str, Stored]:
    """The columns of a table by name, from the catalogue."""
    rows = server.run(COLUMNS, [schema, name])
    return {str(row[0]): Stored(str(row[0]), _word(*row[1:])) for row in rows}


def _find_table(
    address: PostgresAddress, tables: Mapping[tuple[str, str], CatalogueEntry]
) -> tuple[str, str]:
    if address.table is None or address.table not in tables:
        places = [place for place, entry in tables.items() if entry.can_be_opened]
        # A dot ends the schema, so a name with one is told with its own.
        names = tuple(f"{s}.{n}" if "." in n else table_name(s, n) for s, n in places)
        problem = "no table was named" if address.table is None else f"{address.words!r} is none"
        raise WhichTable(
            f"The database {address.database!r} has these tables that the role may read as a whole:"
            f" {', '.join(names[:30]) or 'none'}; {problem}. Name one: …/{address.database}/TABLE.",
            names,
        )
    chosen = tables[address.table]
    if chosen.kind == "f":
        raise ParameterError(
            f"{address.words!r} is a foreign table, {FAR} Copy it into a table, and open that."
        )
    check_is_no_copy(chosen.comment, table_name(*address.table))
    return address.table


def _word(name: str, kind: str, namespace: str, generated: str) -> str:
    """Our word for a type. A column that is computed when it is read could fail: it is OTHER.

    So could an enumeration that a function of somebody's own converts.
    """
    if generated == "v":
        return COMPUTED
    if kind == "own":
        return "OWN"
    if kind == "e":
        return "ENUM()"
    return STORED.get(name, name.upper()) if namespace == "pg_catalog" else "OWN"
