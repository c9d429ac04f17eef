"""Reads an SQLite file: its catalogue, and statements in transactions that see one state.

The file is opened for reading only, with nothing of its own that could run: no extension, and no
function in its schema that it did not bring along. Its indexes are not used (`NOT INDEXED`): what
an index says may differ from the rows. Columns that are computed when they are read could fail, so
they have no type that can be asked for.

  Tested:   tests/engines/conformance/test_sqlite.py
  Assumed:  programs that write to the file do it by SQLite, which keeps a state for whoever reads
"""

import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

from sqlglot import exp

from letalone.engines.core.failure import EngineFailed, FileChanged, hide_engine_errors
from letalone.engines.core.rows import TableRef
from letalone.engines.core.stored_types import Stored, check_columns
from letalone.engines.sqlite.sqlite_functions import register_functions
from letalone.engines.time_limit import MAX_SECONDS
from letalone.errors import ParameterError
from letalone.ledger.storage.store import APPLICATION
from letalone.sources.files import fold_case, which_table

WAIT_SECONDS = 5.0  # for a program that writes
STEPS = 10_000  # of SQLite's machine, from one look at the clock to the next
BATCH_ROWS = 10_000
OLDEST = (3, 35)
COMPUTED = 2  # of a column: when it is read
NO_NAMES = ("true", "false")  # which a sub-query's column cannot have there
TABLES = """
SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage > 0
AND lower(name) NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY name
"""
COLUMNS = "SELECT name, type, hidden FROM pragma_table_xinfo(?, 'main')"
SETTINGS = ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY")
EXACT_WORDS = {"DATE": "DATE", "DATETIME": "TIMESTAMP", "TIMESTAMP": "TIMESTAMP"} | dict.fromkeys(
    ("BOOL", "BOOLEAN"), "BOOLEAN"
)
AFFINITIES = (  # in SQLite's order; a column without a type is text until it is declared
    ("INT", "BIGINT"),
    *((word, "VARCHAR") for word in ("CHAR", "CLOB", "TEXT")),
    ("BLOB", "BLOB"),
    *((word, "DOUBLE") for word in ("REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL")),
)


class SqliteFile:
    """A connection to a file, whose transactions only read."""

    def __init__(self, path: Path, *, timeout_seconds: float) -> None:
        if sqlite3.sqlite_version_info < OLDEST:
            raise ParameterError("This Python has an SQLite that is older than 3.35. Update it.")
        self.path, self._timeout_seconds = path, timeout_seconds
        self._file = self._which_file()
        self._connection = _connect(path)
        self._until, self._inside = 0.0, False
        self._connection.set_progress_handler(lambda: monotonic() > self._until, STEPS)

    def check_same(self) -> None:
        """FileChanged where the path leads to another file than the one that is open."""
        if self._which_file() != self._file:
            raise FileChanged

    @contextmanager
    def reading(self) -> Generator[None]:
        """One state until the end of the block; blocks may be nested."""
        if self._inside:
            yield
            return
        self.check_same()
        hide_engine_errors(lambda: self.run("BEGIN"))
        self._inside = True
        try:
            yield
        finally:
            self._inside = False
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def run(self, text: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement's result, until the time limit; text is bytes."""
        self._until = monotonic() + self._timeout_seconds
        return self._connection.execute(text, parameters).fetchall()

    def streamed(self, text: str) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a statement's result, some at a time."""
        self._until = monotonic() + self._timeout_seconds
        cursor = self._connection.execute(text)
        while rows := cursor.fetchmany(BATCH_ROWS):
            yield rows

    def put_table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """A table of this connection alone, with these rows, in place of one of that name."""
        self.drop_table(name)
        self.run(f"CREATE TEMP TABLE {_quote(name)} ({', '.join(map(_quote, columns))})")
        marks = ", ".join("?" for _ in columns)
        self._connection.executemany(f"INSERT INTO temp.{_quote(name)} VALUES ({marks})", rows)

    def drop_table(self, name: str) -> None:
        self.run(f"DROP TABLE IF EXISTS temp.{_quote(name)}")

    def close(self) -> None:
        self._connection.close()

    def _which_file(self) -> tuple[int, int]:
        try:
            status = self.path.stat()
        except OSError:
            raise FileChanged from None
        return status.st_dev, status.st_ino


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=ro",
        uri=True,
        timeout=WAIT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = bytes
    for setting in SETTINGS:
        connection.execute(f"PRAGMA {setting}")
    register_functions(connection)
    return connection


def relation_of(file: SqliteFile, table: str | None) -> TableRef:
    """The named table, or the only one, and its columns, from the catalogue."""
    _check_file(file)
    tables = _tables_of(file)
    wanted = [fold_case(table)] if table is not None else list(tables)
    if len(wanted) != 1 or wanted[0] not in tables:
        raise which_table(file.path.name, list(tables), table)
    (called,) = wanted
    columns = columns_of(file, tables[called])
    check_columns(list(columns), f"The table {called!r}")
    parts = {"this": tables[called], "db": "main"}
    names = {part: exp.to_identifier(name, quoted=True) for part, name in parts.items()}
    return TableRef(exp.Table(**names, indexed=False), columns, called)


def list_sqlite_tables(path: Path) -> list[tuple[str, str]]:
    """The tables of a file as its budgets are called, in its only schema."""
    with closing(hide_engine_errors(lambda: SqliteFile(path, timeout_seconds=MAX_SECONDS))) as file:
        return [("main", name) for name in hide_engine_errors(lambda: _tables_of(file))]


def _tables_of(file: SqliteFile) -> dict[str, str]:
    """The names of ordinary tables, by what they are called."""
    names = [_decode(name, file) for (name,) in file.run(TABLES)]
    return {fold_case(name): name for name in names}


def columns_of(file: SqliteFile, table: str) -> dict[str, Stored]:
    """The columns of a table by name, from the catalogue."""
    rows = file.run(COLUMNS, [table])
    declared = {_decode(row[0], file): (_decode(row[1], file), row[2]) for row in rows}
    return {name: Stored(name, _word(name, *kind)) for name, kind in declared.items()}


def check_unchanged(file: SqliteFile, relation: TableRef) -> None:
    """Fails where the table is not what was opened: the catalogue alone is read."""
    name = relation.sql.name
    is_there = (name.encode(),) in file.run(TABLES)
    if not is_there or not columns_of(file, name).items() >= relation.columns.items():
        raise EngineFailed


def _check_file(file: SqliteFile) -> None:
    if file.run("PRAGMA main.application_id") == [(APPLICATION,)]:
        raise ParameterError(
            f"{file.path.name} is a ledger of letalone, which is not data. Open the data that it is"
            " about."
        )
    if file.run("PRAGMA main.encoding") != [(b"UTF-8",)]:
        raise ParameterError(
            f"{file.path.name} stores text as UTF-16, but must store it as UTF-8. Copy it into such"
            " a file."
        )


def _decode(name: bytes, file: SqliteFile) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        pass
    raise ParameterError(f"{file.path.name} has names that are not UTF-8. Rename them.")


def _word(name: str, declared: str, hidden: int) -> str:
    """Our word for a declared type, which SQLite takes for a hint: metadata."""
    if hidden == COMPUTED or name.lower() in NO_NAMES:
        return "UNREADABLE"
    word = declared.upper().partition("(")[0].strip()
    if word in EXACT_WORDS:
        return EXACT_WORDS[word]
    return next((stored for part, stored in AFFINITIES if part in word), "VARCHAR")
