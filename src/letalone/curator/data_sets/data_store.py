"""Stores the rows of data sets: a row of the database each, files of the folder, open sessions.

A file is never changed. New rows come in a new file; the database names it in one step, the old
file goes, and the version is raised. If the process dies in between, either the old rows hold or
the new ones, whose version is raised when they are opened. Until the database names it, a file is
kept from being swept by a lock (sweeping.py).

  Tested:   tests/curator/test_data_sets.py
"""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, cast

from sqlalchemy import Connection, insert, select, update

from letalone.curator.data_sets.external_sources import check_allowed
from letalone.curator.data_sets.file_places import lock_of_files, place_of_import, place_to_keep
from letalone.curator.data_sets.locks import shared_lock
from letalone.curator.data_sets.open_sessions import OpenSessions, RowsLocation, not_openable
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.master_key import MasterKey, keep_members
from letalone.curator.storage.notices import forget_notice
from letalone.curator.storage.refusals import NotThere, Retired
from letalone.curator.storage.stored_values import DataRow, read_day, reads_stored, write_time
from letalone.curator.storage.tables import DATA_SETS, IMPORTS
from letalone.curator.subjects.unit_rows import unit_ids
from letalone.engines.duckdb.lockdown import Room
from letalone.errors import ParameterError, ServiceUnavailable
from letalone.errors.problem import without_context
from letalone.ledger.acts import NoSuchDataSet
from letalone.plans.schema import Schema
from letalone.session.session import Session
from letalone.sources.resolve import is_address

Result = TypeVar("Result")


class DataStore:
    """Opens and rewrites the rows of all data sets, for one process."""

    __slots__ = ("_master", "_sessions", "_shared")

    def __init__(self, shared: Dependencies, master: MasterKey, room: Room) -> None:
        self._shared, self._master = shared, master
        self._sessions = OpenSessions(shared.settings.data_folder, shared.ledger, room)

    def row(self, name: str, *, retired: bool = False) -> DataRow:
        """What the database says; NotThere, and Retired where the rows are gone."""
        database = self._shared.database

        def read() -> DataRow | None:
            return database.row(select(DATA_SETS).where(DATA_SETS.c.name == name))

        row = database.cache.value(("data set", name), read)
        if row is None:
            raise NotThere(f"There is no data set {name[:200]!r}. The public page lists them.")
        if row.retired is not None and not retired:
            source = "its source, which is not kept here, is no longer read"
            words = source if row.external else "its rows are gone"
            raise Retired(f"{name!r} was retired: {words}, and nothing is answered.")
        return row

    def rows(self) -> list[DataRow]:
        return list(self._shared.database.rows(select(DATA_SETS).order_by(DATA_SETS.c.name)))

    def row_in_time(self, name: str) -> DataRow:
        """As `row`; Retired also where the retention date is over."""
        row = self.row(name)
        day = read_day(row.retention)
        if day is not None and day < self._shared.clock().date():
            raise Retired(f"{row.name!r} was to be kept until {day}: nothing is answered any more.")
        return row

    @contextmanager
    def opened(self, *names: str) -> Generator[list[Session]]:
        """The open sessions of data sets; their rows stay as they are until the block ends."""
        with ExitStack() as stack:
            for name in sorted(set(names)):
                stack.enter_context(self._sessions.reading(name))
            yield [self._sessions.session(self._source(name)) for name in names]

    @contextmanager
    def rows_at(self, name: str) -> Generator[RowsLocation]:
        """Where the rows lie; they stay as they are until the block ends."""
        self.row(name)
        with self._sessions.reading(name):
            yield self._source(name)

    @contextmanager
    def changing(self, name: str) -> Generator[None]:
        """Nobody reads the rows until the block ends, and no file is swept."""
        files = lock_of_files(self._shared.settings)
        with self._sessions.changing(name), shared_lock(files):
            yield

    def trouble(self, row: DataRow) -> str | None:
        """Why the file of the rows cannot be read, in words for owners; none is opened."""
        if row.retired is not None or (row.external and is_address(row.file)):
            return None
        settings, file = self._shared.settings, cast("str", row.file)
        if not row.external:
            is_there = (settings.data_folder / file).is_file()
            return None if is_there else f"The file {file} is not in the data folder. Restore it."
        if not (settings.imports_folder / file).exists():
            return f"The file {file} is not in the import folder."
        try:
            place_of_import(settings, file)
        except ParameterError as error:
            return str(error)
        return None

    def open_anew(self, name: str) -> None:
        self._sessions.open_anew(name)

    def next_version(self, name: str) -> int:
        try:
            return 1 + self._shared.ledger.data_set(name).version
        except NoSuchDataSet:
            return 1

    def rewrite(
        self,
        name: str,
        write: Callable[[Path, Schema, Path], Result],
        *,
        began: Callable[[Result, int], str] | None = None,
    ) -> tuple[Result, int]:
        """Puts other rows in the place of those of an imported table.

        What `write` returns, and the version it has then. `began`: they are of a new import; what
        its rules touched, as it is stored.
        """
        with self.changing(name):
            if self.row(name).external:
                raise ParameterError(f"{name!r} is external: its owner changes it at the source.")
            source, target = self._source(name), place_to_keep(self._shared.settings)
            old = cast("Path", source.place)
            after = replace(source.schema, version=self.next_version(name))
            try:
                written = write(old, source.schema, target)
                affected = None if began is None else began(written, after.version)
                _check_written(name, target)
                self._put(after, file=target.name, affected=affected)
            except BaseException:
                target.unlink(missing_ok=True)
                raise
            old.unlink(missing_ok=True)
            self._shared.ledger.raise_version(name)
        return written, after.version

    def with_new_version(self, name: str) -> int:
        """The rows have changed where they lie: they are opened anew, under a new version."""
        with self.changing(name):
            after = replace(read_schema(self.row(name)), version=self.next_version(name))
            self._put(after)
            self._shared.ledger.raise_version(name)
        return after.version

    def keep_members(self, old: Path, schema: Schema) -> None:
        """Who was in rows that go, as marks."""
        if schema.unit is None:
            return
        mark = self._master.member
        marks = [mark(schema.name, unit_id) for unit_id in unit_ids(old, schema)]
        file = keep_members(self._shared.settings.data_folder, marks)
        current = IMPORTS.c.members.is_(None) & (IMPORTS.c.data_set == schema.name)
        self._shared.database.execute(update(IMPORTS).where(current).values(members=file))

    def remove(self, name: str) -> None:
        """The rows and all marks are gone; what was declared stays."""
        folder = self._shared.settings.data_folder
        with self.changing(name):
            row, now = self.row(name), write_time(self._shared.clock())
            of_data_set = IMPORTS.c.data_set == name
            with self._shared.database.writing() as connection:
                wanted = select(IMPORTS.c.members).where(of_data_set)
                marks = connection.execute(wanted).scalars().all()
                gone = {} if row.external else {"file": None}  # its table stays known
                _change_row(connection, name, retired=now, affected=None, **gone)
                forget_notice(connection, name)
                connection.execute(update(IMPORTS).where(of_data_set).values(members=None))
            for file in (None if row.external else row.file, *marks):
                if file is not None:
                    (folder / cast("str", file)).unlink(missing_ok=True)

    def close(self) -> None:
        self._sessions.close()

    def _source(self, name: str) -> RowsLocation:
        row = self.row_in_time(name)
        return RowsLocation(self._place(row), read_schema(row))

    def _place(self, row: DataRow) -> Path | str:
        settings, file = self._shared.settings, cast("str", row.file)
        if not row.external:
            return settings.data_folder / file
        allowed = check_allowed if is_address(file) else place_of_import
        return without_context(  # the words could name a file or a host
            lambda: allowed(settings, file), ParameterError, error=lambda _: not_openable(row.name)
        )

    def _put(self, schema: Schema, *, file: str | None = None, affected: str | None = None) -> None:
        name, now = schema.name, write_time(self._shared.clock())
        values = {"schema": schema.to_toml(), "file": file, "affected": affected}
        with self._shared.database.writing() as connection:
            given = {column: new for column, new in values.items() if new is not None}
            _change_row(connection, name, **given)
            if affected is not None:
                held = {"data_set": name, "version": schema.version, "since": now}
                connection.execute(insert(IMPORTS).values(held))


def _change_row(connection: Connection, name: str, **values: object) -> None:
    connection.execute(update(DATA_SETS).where(DATA_SETS.c.name == name).values(**values))


def _check_written(name: str, target: Path) -> None:
    """The old rows go only where the new ones are there."""
    if not target.is_file():
        raise ServiceUnavailable(
            f"The new rows of {name!r} were removed while they were written. The old ones hold:"
            " look who else uses the folder 'data', and try again."
        )


def read_schema(row: DataRow) -> Schema:
    """What is declared."""
    return _parse_schema(cast("str", row.schema))


@reads_stored
@lru_cache(maxsize=256)
def _parse_schema(toml: str) -> Schema:
    return Schema.from_toml(toml)
