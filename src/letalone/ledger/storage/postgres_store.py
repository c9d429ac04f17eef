"""A ledger in PostgreSQL, for several machines: one transaction for each act, as in a file.

    Ledger.open("postgresql://curator@db.example/letalone")

A writer takes the lock of the table `head` as the first thing in its transaction, before it
sees anything, so writers queue, each sees what the one before has left, and none has to try
again; the transaction is serializable all the same. Readers see one state and wait for nobody.
A commit is on the server's disk when it returns (synchronous_commit = on, whatever the
server's usual is).

What is asked or written goes to the server together (`trips`), since each wait for it takes a
network's delay. Connections are kept for the next transaction, in this process only: a forked
child opens its own. Whoever may read the schema `letalone_ledger` can read the answers and the
key: give it a role of its own.

  Tested:   the same tests as the file's; many processes at once; killed while they charge
  Assumed:  PostgreSQL, its fsync and its disk
"""

import os
from collections.abc import Generator, Hashable, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from letalone.errors import FormatError, LedgerDamaged, LetaloneError, ParameterError
from letalone.errors.installing import not_installed
from letalone.errors.spelling import too_new
from letalone.ledger.claims import AtServer
from letalone.ledger.storage.ledger_statements import CONFIRMED_HEAD
from letalone.ledger.storage.patience import IN_TURN, LOCK_SECONDS, LOOK_SECONDS, POOL_SECONDS
from letalone.ledger.storage.store import NoLedgerYet, unavailable
from letalone.ledger.storage.tables import METADATA, SCHEMA
from letalone.ledger.storage.transaction import LedgerTransaction, first_entry
from letalone.ledger.storage.trips import READ_ONE_STATE, Asked, Pipeline
from letalone.ledger.storage.upgrades import FORMAT, upgrade_format
from letalone.ledger.storage.watch import watch_of_postgresql

EMPTY = 0  # the format of a database without a ledger
MARK = "letalone ledger, format "  # the comment of the schema
POOL = 4
ALONE = int.from_bytes(b"letalone", "big") >> 1  # the lock under which the schema is made
LOCK = f"LOCK TABLE {SCHEMA}.head IN EXCLUSIVE MODE"
QUEUE = ("BEGIN ISOLATION LEVEL SERIALIZABLE", *IN_TURN, LOCK)
MAKING = "; ".join((*IN_TURN, f"SELECT pg_advisory_xact_lock({ALONE})"))
SAFETY = (
    "SELECT name FROM pg_catalog.pg_settings"
    " WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY 1"
)
LET_GO_OF_THE_DEAD = (  # the server's own look at a machine that is gone, with all it has claimed
    "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"
)
WHY = {
    "08": "the server or the database cannot be reached, or does not accept the role. Look at all",
    "40": "another process was in the way",
    "42501": "the role may not do this. Let it own the schema letalone_ledger",
    "53": "the server has no room left. Make some",
    "55": f"another process has held it for {LOCK_SECONDS} s. Wait for it",
    "57": "the server is stopping or starting. Wait for it",
    "25006": "the server takes no writes. Name the primary server",
}
SPOILT = ("42P01", "42703", "42804", "3F000", "22P05")  # a table, column, type, schema is missing


class PostgresStore:
    """Where the entries are kept: a schema of a PostgreSQL database."""

    __slots__ = ("_engine", "_lock", "_open", "_process", "_watch", "claims", "place")

    cheap_looks = False  # each is a question to the server, as a reading is

    path: Path | None = None

    def __init__(self, engine: Engine, place: str) -> None:
        self._engine, self.place = engine, place
        self._lock, self._process, self._open = Lock(), os.getpid(), True
        self._watch = watch_of_postgresql(engine.url)
        self.claims = AtServer(lambda: _connect(engine.url, place))

    @contextmanager
    def writing(self, *ahead: Asked) -> Generator[LedgerTransaction]:
        """One transaction that sees the last state and alone may change it.

        `ahead`, here and below, will be asked: it goes with the first question.
        """
        with self._transaction(*QUEUE, ahead=(*CONFIRMED_HEAD, *ahead)) as books:
            yield books

    @contextmanager
    def reading(self) -> Generator[LedgerTransaction]:
        with self._transaction(READ_ONE_STATE) as books:
            yield books

    @contextmanager
    def glancing(self, *ahead: Asked) -> Generator[LedgerTransaction]:
        """For what is asked at once: it sees one state, and the next question perhaps another."""
        with self._transaction(ahead=ahead) as books:
            yield books

    def backup(self, path: str | os.PathLike[str]) -> Path:
        raise ParameterError(
            f"This ledger lives in PostgreSQL, so {Path(path).name} is not written. Use "
            f"pg_dump --schema={SCHEMA} for a backup, or ledger.export(path) for a copy to check."
        )

    def stamp(self) -> Hashable | None:
        """Another one whenever anybody has written; None where the server does not answer."""
        self._check()
        return self._watch.stamp()

    def close(self) -> None:
        """Let go of all connections; in a forked child those of its parent stay open."""
        mine = os.getpid() == self._process
        self._open = False
        self.claims.close()
        self._engine.dispose(close=mine)
        if mine:
            self._watch.close()

    @contextmanager
    def _transaction(
        self, *begin: str, ahead: Sequence[Asked] = ()
    ) -> Generator[LedgerTransaction]:
        self._check()
        with in_words(self.place), self._engine.connect() as connection:
            together = Pipeline(connection, begin=begin, ahead=ahead)
            try:
                yield LedgerTransaction(connection, together)
                together.end()
            except BaseException:
                together.undo()
                raise

    def _check(self) -> None:
        if not self._open:
            raise ParameterError("This ledger is closed. Open it again: la.Ledger.open(…).")
        with self._lock:
            if os.getpid() != self._process:
                self._engine.dispose(close=False)  # they are the parent's connections
                self._process = os.getpid()


def postgres_store(place: str, *, create: bool) -> PostgresStore:
    """The store in a database, in its schema `letalone_ledger`, made if it is not there."""
    url = _url(place)
    shown = url.set(drivername="postgresql").render_as_string(hide_password=True)
    engine = _engine(url)
    try:
        making = engine.execution_options(isolation_level="READ COMMITTED")
        with in_words(shown), making.connect() as connection, connection.begin():
            connection.exec_driver_sql(MAKING)
            written = _format_of(connection, shown, create=create)
            if written == EMPTY:
                _make(connection)
            elif written < FORMAT:
                connection.exec_driver_sql(LOCK)
                upgrade_format(connection, written, schema=f"{SCHEMA}.")
                _mark(connection)
    except BaseException:
        engine.dispose()
        raise
    return PostgresStore(engine, shown)


def switched_off(place: str) -> list[str]:
    """The settings without which a server may forget a commit when it loses its power."""
    engine = _engine(_url(place))
    try:
        with in_words(engine.url.render_as_string()), engine.connect() as connection:
            return [str(name) for (name,) in connection.exec_driver_sql(SAFETY)]
    finally:
        engine.dispose()


def _url(place: str) -> URL:
    try:
        return make_url(place).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError):
        raise ParameterError(
            "The address of the database cannot be read. It looks like "
            "postgresql://role:password@host:5432/database."
        ) from None


def _engine(url: URL) -> Engine:
    try:
        from letalone.ledger.storage.connecting import bound_silence

        engine = create_engine(
            url,
            isolation_level="AUTOCOMMIT",  # transactions begin where this file says, nowhere else
            pool_size=POOL,
            max_overflow=POOL,
            pool_timeout=POOL_SECONDS,
            pool_use_lifo=True,  # the one that was used last need not be looked at
            connect_args={"application_name": "letalone"},
            execution_options={"schema_translate_map": {None: SCHEMA}},
        )
        return bound_silence(engine)
    except ModuleNotFoundError:
        raise ParameterError(
            not_installed("A ledger in PostgreSQL", "psycopg", "postgres")
        ) from None


def _connect(url: URL, place: str) -> Any:
    """A connection beside the others, for claims, which last longer than a transaction."""
    import psycopg

    from letalone.ledger.storage.connecting import LookingConnection

    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        connection = LookingConnection.connect(address, autocommit=True)
    except psycopg.Error:
        raise unavailable(place, WHY["08"]) from None
    connection.patience_seconds = LOOK_SECONDS  # no statement of theirs waits for anything
    connection.execute(LET_GO_OF_THE_DEAD)
    return connection


def _format_of(connection: Connection, place: str, *, create: bool) -> int:
    """The format, EMPTY where there is no ledger; refuses what is not ours before touching it."""
    words = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %(name)s"
    row = connection.exec_driver_sql(words, {"name": SCHEMA}).first()
    if row is None:
        if not create:
            raise NoLedgerYet(f"{place} holds no ledger. Is the name right?")
        return EMPTY
    mark = row[0] or ""
    written = mark.removeprefix(MARK)
    if not mark.startswith(MARK) or not written.isdecimal():
        raise FormatError(
            f"{place} has a schema {SCHEMA} of another program. Use another database."
        )
    if int(written) > FORMAT:
        raise FormatError(too_new(place, written, FORMAT))
    return int(written)


def _make(connection: Connection) -> None:
    connection.exec_driver_sql(f"CREATE SCHEMA {SCHEMA}")
    METADATA.create_all(connection)
    _mark(connection)
    first_entry(LedgerTransaction(connection))


def _mark(connection: Connection) -> None:
    connection.exec_driver_sql(f"COMMENT ON SCHEMA {SCHEMA} IS '{MARK}{FORMAT}'")


@contextmanager
def in_words(place: str) -> Generator[None]:
    """PostgreSQL's errors in the words of this project."""
    try:
        yield
    except DBAPIError as error:
        raise _name_error(error, place) from None
    except PoolTimeout:
        raise unavailable(place, f"all {2 * POOL} connections are busy. Wait for one") from None


def _name_error(error: DBAPIError, place: str) -> LetaloneError:
    state: str = getattr(error.orig, "sqlstate", None) or "08"
    if state in SPOILT:
        return LedgerDamaged(
            f"{place} is damaged: a table is not as it was made. Restore it from a backup."
        )
    why = WHY.get(state) or WHY.get(state[:2]) or f"the server answers with SQLSTATE {state}"
    return unavailable(place, why)
