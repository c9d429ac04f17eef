"""The file of a ledger: SQLite, one transaction for each act.

A writer holds the only writing lock from its first read to its commit (BEGIN IMMEDIATE), so
no two see the same budget. A commit is on the disk when it returns (write-ahead log,
synchronous = FULL). A connection lives as long as its transaction, so threads and forked
processes share none; a service keeps them (`KeptStore`). Write-ahead logs need shared memory:
keep the file on a local disk.

  Tested:   killed at every statement; several processes and threads at once; a full disk;
            files of other programs and of newer letalones
  Assumed:  SQLite, and a disk that keeps what it said it has written
"""

import os
import sqlite3
from collections.abc import Generator, Hashable
from contextlib import contextmanager, nullcontext
from pathlib import Path
from secrets import token_hex
from threading import Lock, RLock
from time import monotonic, sleep
from typing import cast

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, QueuePool, StaticPool

from letalone.errors import (
    FormatError,
    LedgerDamaged,
    LedgerUnavailable,
    LetaloneError,
    ParameterError,
)
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import AskAgain
from letalone.errors.spelling import too_new
from letalone.exact.typed import expand_home
from letalone.ledger.acts import close_begun
from letalone.ledger.claims import BesideFile, Claims, InProcess
from letalone.ledger.storage.tables import METADATA, in_sqlite
from letalone.ledger.storage.transaction import LedgerTransaction, first_entry
from letalone.ledger.storage.trips import Asked
from letalone.ledger.storage.upgrades import FORMAT, upgrade_format
from letalone.ledger.storage.watch import watch_of_file, whose

PREFIXES = ("postgresql://", "postgres://", "postgresql+psycopg://")  # of a database elsewhere
APPLICATION = int.from_bytes(b"letA", "big")  # SQLite's own field for "whose file is this"
EMPTY = 0  # the format of a file in which nothing was written
BUSY_SECONDS = 30
RETRY_SECONDS = 0.02
LOG = "log"  # what a kept connection remembers: which file is its log
CODE_OF_KIND = 0xFF  # the lower byte of an extended result code is the kind of error
UNWRITABLE = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
)


def is_postgres(place: object) -> bool:
    """Whether this names a database and not a file."""
    return isinstance(place, str) and place.startswith(PREFIXES)


class NoLedgerYet(ParameterError):  # noqa: N818
    """A database holds no ledger, and none was to be made."""


class NotALedger(FormatError):  # noqa: N818
    """What lies at a place is no ledger that this letalone reads; the words name the place."""

    default_code = "NOT_A_LEDGER"


class Store:
    """Where the entries are kept; `path` is None for a store that ends with the process."""

    __slots__ = ("_engine", "_lock", "_open", "_process", "claims", "path")

    cheap_looks = False

    def __init__(self, engine: Engine, path: Path | None) -> None:
        self._engine, self.path = engine, path
        self._lock, self._process, self._open = RLock(), os.getpid(), True
        self.claims: Claims = InProcess() if path is None else BesideFile(path)

    @contextmanager
    def writing(self, *_: Asked) -> Generator[LedgerTransaction]:
        """One transaction that sees the last state and alone may change it.

        What will be asked is of no interest here: a file is near.
        """
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield LedgerTransaction(connection)

    @contextmanager
    def reading(self, *_: Asked) -> Generator[LedgerTransaction]:
        """One transaction that sees one state, whatever others write meanwhile."""
        with self._transaction("BEGIN") as connection:
            yield LedgerTransaction(connection)

    glancing = reading  # a file is near: nothing is saved by asking for all at once

    @property
    def place(self) -> str | None:
        """The file, in words; None in memory."""
        return None if self.path is None else str(self.path)

    def backup(self, path: str | os.PathLike[str]) -> Path:
        """A copy of the file as it stands, whole or not at all, and never over another file."""
        if self.path is None:
            raise ParameterError("This ledger lives in memory and ends with the process.")
        place = _place(path)
        if place.exists():
            raise ParameterError(f"{place} is there already. Name a new file for the backup.")
        unfinished = place.with_name(f"{place.name}.unfinished")
        unfinished.unlink(missing_ok=True)
        _touch(unfinished, create=True)
        self._check()
        with _in_words(self.path):
            _copy(self._engine, unfinished)
        # Whoever restores it cannot know whether what is under way now was told meanwhile.
        with Store(_engine(unfinished), unfinished).writing() as books:
            close_begun(books)
        unfinished.replace(place)
        return place

    def stamp(self) -> Hashable | None:
        """Another one whenever anybody has written; None where a look is not cheap."""
        return None

    def close(self) -> None:
        """Let go of everything; what lived in memory only is gone."""
        self._open = False
        self._engine.dispose()

    @contextmanager
    def _transaction(self, begin: str) -> Generator[Connection]:
        self._check()
        turn = nullcontext() if self.path else self._lock  # in memory there is one connection
        with turn, _in_words(self.path), self._engine.connect() as connection:
            connection.exec_driver_sql(begin)
            try:
                yield connection
                connection.commit()
            except BaseException:
                connection.rollback()
                raise

    def _check(self) -> None:
        if not self._open:
            raise ParameterError("This ledger is closed. Open it again: la.Ledger.open(path).")
        if self.path is None and os.getpid() != self._process:
            raise ParameterError(
                "This ledger lives in the memory of another process, and a copy would spend its "
                "budget twice. Use a file that both open: la.Ledger.open(path)."
            )


class KeptStore(Store):
    """A file whose connections are kept: opening and closing one costs more than a transaction.

    They are of one process and of one file: a forked child opens its own and lets those of its
    parent be, and a file that was put in the place of the first is opened anew.
    """

    __slots__ = ("_left_behind", "_turn", "_watch", "_whose")

    cheap_looks = True

    def __init__(self, engine: Engine, path: Path) -> None:
        super().__init__(engine, path)
        self._turn, self._whose, self._left_behind = Lock(), whose(path), list[object]()
        self._watch = watch_of_file(path)

    @contextmanager
    def _transaction(self, begin: str) -> Generator[Connection]:
        log = Path(f"{self.path}-wal")
        with super()._transaction(begin) as connection:
            known, (_, owner) = connection.info.get(LOG), whose(log)
            if known not in (None, owner):  # SQLite never takes away a log that is in use
                raise LedgerDamaged(
                    f"{log} was taken away or replaced while it was in use. Stop all that use this"
                    " ledger, put the newest one in its place, and start again."
                )
            yield connection
            connection.info[LOG] = whose(log)[1]

    def stamp(self) -> Hashable | None:
        self._check()
        return self._watch.stamp()

    def close(self) -> None:
        """Let go of all connections; in a forked child those of its parent stay open."""
        self._open = False
        if os.getpid() == self._whose[0]:
            self._watch.close()
            super().close()

    def _check(self) -> None:
        super()._check()
        owner = whose(cast("Path", self.path))
        if owner == self._whose:
            return
        if owner[0] != self._whose[0]:
            self._turn = Lock()  # that of the parent may be held by a thread that is not here
        with self._turn:
            if owner != self._whose:
                mine = owner[0] == self._whose[0]
                self._left_behind += [] if mine else [self._engine.pool]  # never closed here
                self._engine.dispose(close=mine)
                self._whose = owner


def memory_store() -> Store:
    """A store that ends with the process."""
    place = f"file:letalone-{token_hex(16)}?mode=memory&cache=shared"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(place, uri=True, check_same_thread=False)

    kept = connect()  # after Ctrl-C SQLAlchemy drops its own, and with the last one all would go
    engine = create_engine("sqlite://", poolclass=StaticPool, creator=connect)
    event.listen(engine, "connect", _prepare)

    def forget(_: object) -> None:
        kept.close()

    event.listen(engine, "engine_disposed", forget)
    store = Store(engine, None)
    with store.writing() as books:
        _make(books)
    return store


def file_store(path: str | os.PathLike[str], *, create: bool, keep: bool = False) -> Store:
    """The store in a file, made if it is not there; the file is readable by its owner only.

    `keep` keeps connections for the next transaction: for a process that only this is for.
    """
    place = _place(path)
    if not place.exists():
        _touch(place, create=create)
    engine = _engine(place, keep=keep)
    store = KeptStore(engine, place) if keep else Store(engine, place)
    with _in_words(place):
        written = _format_of(engine, place, create=create)
        if written == EMPTY:
            _use_log(engine)
            _begin(store)
        elif written < FORMAT:
            _upgrade_store(store)
    return store


def _engine(place: Path, *, keep: bool = False) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(place)),
        **({"poolclass": QueuePool, "max_overflow": -1} if keep else {"poolclass": NullPool}),
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare)
    return engine


def _place(path: str | os.PathLike[str]) -> Path:
    try:
        place = expand_home(path).absolute()
    except TypeError:
        raise ParameterError(
            f"path is a {type(path).__name__}, but must name a file, such as 'budget.db'."
        ) from None
    if place.is_dir():
        raise ParameterError(f"{place} is a folder, but a ledger is a file: {place / 'ledger.db'}")
    if not place.parent.is_dir():
        raise ParameterError(
            f"{place.parent} is not a folder. Make it first, or name another place."
        )
    return place


def _touch(place: Path, *, create: bool) -> None:
    if not create:
        raise ParameterError(f"{place} is not there. Is the name right?")
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        pass  # another process was quicker: it is the same ledger
    except OSError as error:
        raise LedgerUnavailable(
            f"{place} cannot be made: {error.strerror}. Name a place that you may write to."
        ) from None


def _format_of(engine: Engine, place: Path, *, create: bool) -> int:
    """The format, EMPTY where nothing was written; refuses what is not ours before touching it."""
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        whose = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
        written = _read_format(connection)
        empty = not in_sqlite(connection)
    if empty and whose == 0 and create:
        return EMPTY
    if whose != APPLICATION:
        what = "is empty" if empty else "is an SQLite file of another program"
        raise NotALedger(f"{place} {what}, not a ledger of letalone. Name another file.")
    if written > FORMAT:
        raise NotALedger(too_new(place, written, FORMAT))
    return written


def _use_log(engine: Engine) -> None:
    """Write-ahead logging, which the file remembers; SQLite does not wait here by itself."""
    until = monotonic() + BUSY_SECONDS
    while True:
        try:
            with engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            return
        except DBAPIError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
        sleep(RETRY_SECONDS)


def _begin(store: Store) -> None:
    with store.writing() as books:
        if not in_sqlite(books.connection):  # else another process was quicker
            _make(books)


def _make(books: LedgerTransaction) -> None:
    METADATA.create_all(books.connection)
    books.connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")
    books.connection.exec_driver_sql(f"PRAGMA user_version = {FORMAT}")
    first_entry(books)


def _upgrade_store(store: Store) -> None:
    with store.writing() as books:
        written = _read_format(books.connection)
        if written < FORMAT:  # else another process was quicker
            upgrade_format(books.connection, written)
            books.connection.exec_driver_sql(f"PRAGMA user_version = {FORMAT}")


def _read_format(connection: Connection) -> int:
    return int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())


def _copy(engine: Engine, to: Path) -> None:
    """SQLite's own way to copy a file that is in use; the copy needs no log beside it."""
    target = sqlite3.connect(to)
    try:
        with engine.connect() as connection:
            source = cast("sqlite3.Connection", connection.connection.driver_connection)
            source.backup(target)
        target.execute("PRAGMA journal_mode = WAL")
    except sqlite3.Error as error:
        raise _named_by(cast("int", getattr(error, "sqlite_errorcode", 1)), str(to)) from None
    finally:
        target.close()


def _prepare(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # transactions begin where this file says, nowhere else
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")


@contextmanager
def _in_words(path: Path | None) -> Generator[None]:
    """SQLite's errors in the words of this project."""
    try:
        yield
    except DBAPIError as error:
        raise _named_by(_code(error), str(path or "The ledger in memory")) from None
    except UnicodeDecodeError:  # sqlite3 fails on its own words about a damaged file
        raise _damage_in(str(path or "The ledger in memory")) from None


def _damage_in(place: str) -> LetaloneError:
    return LedgerDamaged(f"{place} is damaged: SQLite cannot read it. Restore it from a copy.")


def _named_by(code: int, place: str) -> LetaloneError:
    if code == sqlite3.SQLITE_NOTADB:
        return NotALedger(f"{place} is not a ledger, or its beginning is damaged.")
    if code == sqlite3.SQLITE_FULL:
        why = "the disk is full. Make room"
    elif code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        why = f"another process has held it for {BUSY_SECONDS} s. Wait for it"
    elif code in UNWRITABLE:
        why = (
            "the file or its folder cannot be written or read. Look at its permissions, and at"
            " limits of room"
        )
    else:
        return _damage_in(place)
    return unavailable(place, why)


def unavailable(place: str, why: str) -> LedgerUnavailable:
    """The error of a store that cannot be used now, with a reason that somebody can act on."""
    words = f"{place} cannot be used: {why}, and try again."
    return LedgerUnavailable(problem(Code.LEDGER_UNAVAILABLE, AskAgain(), words=words))


def _code(error: DBAPIError) -> int:
    code = cast("int", getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_ERROR))
    return code & CODE_OF_KIND
