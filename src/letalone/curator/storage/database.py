"""The curator's database: people, tokens, requests, grants. The ledger records what was spent.

SQLite in the folder, or PostgreSQL. A writer sees the last state and alone may change it: SQLite
begins with BEGIN IMMEDIATE, PostgreSQL takes one advisory lock. What is deleted is overwritten
(SQLite's secure_delete), since a subject's key must be gone when it is destroyed.

  Tested:   tests/curator/test_database.py: upgrade from every past revision, many at once
  Assumed:  whoever may read the folder is trusted; backups have their own end of life
"""

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from os import getpid
from pathlib import Path
from typing import Any, cast

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, DatabaseError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from letalone.curator.storage.caches import StampedCache
from letalone.curator.storage.tables import METADATA
from letalone.errors import FormatError, ParameterError, ServiceUnavailable
from letalone.errors.installing import not_installed
from letalone.ledger.storage.patience import IN_TURN
from letalone.ledger.storage.trips import Asked, Pipeline
from letalone.ledger.storage.watch import watch_of_file, watch_of_postgresql

MIGRATIONS = Path(__file__).parent / "migrations"
WRITERS_LOCK = int.from_bytes(b"letalone", "big") >> 1  # PostgreSQL's key for the one writer
# Who waits for the lock sees what was written meanwhile.
ALONE = (
    "BEGIN ISOLATION LEVEL READ COMMITTED",
    *IN_TURN,
    f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})",
)
BUSY_SECONDS = 30
MIGRATING = 600.0  # seconds: a server is silent while it changes a long table
CODE_OF_KIND = 0xFF  # the lower byte of an extended result code is the kind of error
DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)  # ERROR: no table
# PostgreSQL's codes: no such table, column or schema; one that migrations would make is there.
MISMADE = ("42P01", "42703", "3F000", "42P07")
NO_RIGHT = "42501"
OVERWRITE_TRIES, OVERWRITE_MILLISECONDS = 5, 1000


class DatabaseUnavailable(ServiceUnavailable):
    """The curator's database cannot be used now; the words name the place."""

    default_code = "DATABASE_UNAVAILABLE"


class DatabaseDamaged(FormatError):  # noqa: N818
    """The curator's database cannot be read as it was written."""

    default_code = "DATABASE_DAMAGED"


class Database:
    """Transactions on the curator's tables; safe among threads, never across a fork."""

    __slots__ = ("_engine", "_process", "_watch", "cache")

    def __init__(self, url: str) -> None:
        self._engine, self._process = _engine(url), getpid()
        place = self._engine.url
        if self.in_a_file:
            self._watch = watch_of_file(Path(place.database or ""))
        else:
            self._watch = watch_of_postgresql(place)
        self.cache = StampedCache(self._watch.stamp)

    def reading(self) -> AbstractContextManager[sa.Connection]:
        """For reading: of SQLite one state; PostgreSQL tells with each statement how it stands."""
        return self._connected("BEGIN" if self.in_a_file else None)

    def rows(self, query: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        with self.reading() as connection:
            return connection.execute(query).all()

    def values(self, query: sa.Select[Any]) -> Sequence[Any]:
        """The one column of all rows that a query finds."""
        with self.reading() as connection:
            return connection.execute(query).scalars().all()

    def row(self, query: sa.Select[Any], **values: object) -> sa.Row[Any] | None:
        with self.reading() as connection:
            return connection.execute(query, values).one_or_none()

    def writing(self) -> AbstractContextManager[sa.Connection]:
        """One transaction that alone may write; rolled back if the block raises."""
        return self._connected("BEGIN IMMEDIATE" if self.in_a_file else "; ".join(ALONE))

    def execute(self, *statements: sa.Executable) -> None:
        """Runs statements in one transaction that alone may write."""
        with self.writing() as connection:
            for statement in statements:
                connection.execute(statement)

    def write(self, *statements: Asked) -> None:
        """Runs statements in a transaction that alone may write, for one wait of PostgreSQL."""
        if self.in_a_file:
            with self.writing() as connection:
                for statement, values in statements:
                    connection.execute(statement, values)
            return
        with self._connected(None) as connection:
            together = Pipeline(connection, begin=ALONE)
            for statement, values in statements:
                together.write(statement, values)
            together.end()

    @property
    def in_a_file(self) -> bool:
        return self._engine.dialect.name == "sqlite"

    @property
    def place(self) -> str:
        """The file, or the address without its password."""
        url = self._engine.url.set(drivername=self._engine.dialect.name)
        return str(url.database) if self.in_a_file else url.render_as_string(hide_password=True)

    def check_whole(self) -> None:
        """DatabaseDamaged where the pages of a file do not hold together: half a second for 400 MB.

        A server looks after its own pages.
        """
        if not self.in_a_file:
            return
        with self.reading() as connection:
            verdict = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
        if verdict != "ok":
            raise damage_error(self.place)

    def check_tables(self) -> None:
        """DatabaseDamaged where a table or a column is missing: one query that reads no row."""
        looks = [sa.exists(sa.select(table).where(sa.false())) for table in METADATA.sorted_tables]
        with self.reading() as connection:
            connection.execute(sa.select(*looks)).all()

    def migrate(self, revision: str = "head") -> None:
        """Brings the tables to a revision; several processes may do so at once."""
        with self.writing() as connection:
            if not self.in_a_file:
                cast("Any", connection.connection).driver_connection.patience_seconds = MIGRATING
            config = Config()
            config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, revision)
            except command.util.CommandError:
                raise FormatError(
                    "The curator's database was written by a newer letalone. Update letalone to"
                    " open it."
                ) from None

    def overwrite(self, tries: int = OVERWRITE_TRIES) -> bool:
        """What was deleted is gone from SQLite's log, too; False where others kept it busy.

        The log also tells what was written together. PostgreSQL's log is its keeper's affair.
        """
        if not self.in_a_file:
            return True
        for _ in range(tries):
            with self._in_words(), self._engine.connect() as connection:
                connection.exec_driver_sql(f"PRAGMA busy_timeout = {OVERWRITE_MILLISECONDS}")
                row = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
                connection.exec_driver_sql(f"PRAGMA busy_timeout = {1000 * BUSY_SECONDS}")
            if row[0] == 0:
                return True
        return False

    def close(self) -> None:
        self._watch.close()
        self._engine.dispose()

    @contextmanager
    def _connected(self, begin: str | None) -> Generator[sa.Connection]:
        if getpid() != self._process:
            raise ParameterError("The database was opened in another process. Open it again here.")
        with self._in_words(), self._engine.connect() as connection:
            if begin is not None:
                connection.exec_driver_sql(begin)
            try:
                yield connection
                if begin is not None:
                    connection.exec_driver_sql("COMMIT")
            except BaseException:
                connection.rollback()
                raise

    @contextmanager
    def _in_words(self) -> Generator[None]:
        """A database that cannot be reached or used now, in the words of this project."""
        try:
            yield
        except (DatabaseError, InterfaceError, PoolTimeout) as error:
            if _is_damage(error):
                raise damage_error(self.place) from None
            wrong = isinstance(error, DatabaseError) and not isinstance(error, OperationalError)
            if wrong and _code(error) != NO_RIGHT:
                raise  # a statement that was wrong, such as a key that is there already
            raise DatabaseUnavailable(
                f"{self.place} cannot be used: the curator's database cannot be reached, is busy or"
                " full, or does not accept the role. Look at all, and try again. An answer"
                " that was under way may be charged already: the same again is not charged twice."
            ) from None
        except UnicodeDecodeError:  # sqlite3 fails on its own words about a damaged file
            raise damage_error(self.place) from None


def damage_error(place: str | None = None) -> DatabaseDamaged:
    """The error for a database that cannot be read; its words name the file where it is known."""
    which = "The curator's database" if place is None else f"The curator's database, {place},"
    return DatabaseDamaged(
        f"{which} is damaged: it is not as it was written. Stop the service and restore its newest"
        " backup. The ledger records what was spent, which this does not concern."
    )


def _is_damage(error: Exception) -> bool:
    """Whether SQLite, or sqlite3 of Python where a text has no letters, says that a file is so.

    PostgreSQL looks after its pages; what others did to the tables is damage, too.
    """
    orig = getattr(error, "orig", None)
    if not isinstance(orig, sqlite3.Error):
        return _code(error) in MISMADE
    code = cast("int | None", getattr(orig, "sqlite_errorcode", None))
    return type(error) in (DatabaseError, OperationalError) and (
        code is None or code & CODE_OF_KIND in DAMAGE
    )


def _code(error: Exception) -> str | None:
    return getattr(getattr(error, "orig", None), "sqlstate", None)


def _engine(url: str) -> sa.Engine:
    try:
        place = sa.make_url(url)
    except ArgumentError:
        place = None
    if place is None or place.get_backend_name() not in ("sqlite", "postgresql"):
        raise ParameterError(
            "database must be a URL such as sqlite:////var/lib/letalone/curator.db or"
            " postgresql://name@host/database."
        )
    if place.get_backend_name() == "postgresql":
        driver = place.set(drivername="postgresql+psycopg")
        return _on_postgresql(driver)
    _keep_private(place.database)
    engine = sa.create_engine(
        place,
        poolclass=sa.QueuePool,
        max_overflow=-1,  # a writer reads beside its transaction: it must not wait for others
        hide_parameters=True,
        connect_args={"timeout": BUSY_SECONDS, "isolation_level": None, "check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare)
    return engine


def _on_postgresql(driver: sa.URL) -> sa.Engine:
    try:
        from letalone.ledger.storage.connecting import bound_silence

        engine = sa.create_engine(
            driver,
            isolation_level="AUTOCOMMIT",  # transactions begin where this file says
            max_overflow=-1,
            pool_use_lifo=True,
            hide_parameters=True,
        )
        return bound_silence(engine)  # a server that was away is reached again
    except ModuleNotFoundError:
        raise ParameterError(
            not_installed("A database in PostgreSQL", "psycopg", "postgres")
        ) from None


def _keep_private(file: str | None) -> None:
    """The file is there before SQLite makes it, for this user alone; its logs take after it."""
    if file and file != ":memory:":
        with suppress(OSError):  # opening it fails in a moment, with words
            Path(file).touch(mode=0o600)
            Path(file).chmod(0o600)


def _prepare(connection: object, _: object) -> None:
    cursor = cast("sqlite3.Connection", connection).cursor()
    for pragma in ("journal_mode = WAL", "foreign_keys = ON", "secure_delete = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
