"""Registers data sets with only the columns that they need, renews and retires them.

The budget belongs to the name and to nothing else: importing again, correcting and erasing go on
with it. What is shown to anybody but owners and stewards is what was declared.

  Tested:   tests/curator/test_data_sets.py, test_principles.py (G1, G2, G3)
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from json import dumps, loads
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select

from letalone.curator.data_sets import external_sources, file_places
from letalone.curator.data_sets.copies import check_columns_there, check_declared, copy_declared
from letalone.curator.data_sets.data_store import DataStore, read_schema
from letalone.curator.data_sets.external_sources import check_allowed, check_table
from letalone.curator.people.service import PeopleService
from letalone.curator.storage import stored_values as stored
from letalone.curator.storage.dependencies import Dependencies, SteadyClock
from letalone.curator.storage.notices import removal, to_remove
from letalone.curator.storage.refusals import AlreadyDecided, NotThere
from letalone.curator.storage.service_records import Purpose, Registration
from letalone.curator.storage.tables import DATA_SETS, IMPORTS, PURPOSES
from letalone.engines.duckdb.long_cells import ANY_SIZE
from letalone.errors import ParameterError
from letalone.ledger.data_sets import budget_to_json, read_text
from letalone.plans.schema import Schema
from letalone.plans.unnamed import check_unlisted
from letalone.privacy.curve import Json
from letalone.sources.resolve import is_address
from letalone.wire.records import ColumnEffects, DataSetRecord, ImportEffects, Role


class DataSets:
    """Registers, renews and retires tables, each a name with a budget."""

    __slots__ = ("_people", "_shared", "_steady", "store")

    def __init__(
        self, shared: Dependencies, people: PeopleService, store: DataStore, steady: SteadyClock
    ) -> None:
        self._shared, self._people = shared, people
        self.store, self._steady = store, steady

    # What owners do.

    def incoming(self, kind: str) -> Path:
        """A fresh place for an upload of this kind ("csv" or "parquet"), for `upload=`."""
        return file_places.place_for_upload(self._shared.settings, kind)

    def register(
        self,
        registration: Registration,
        *,
        by: str,
        file: str | None = None,
        upload: Path | None = None,
        address: str | None = None,
        external: bool = False,
    ) -> DataSetRecord:
        """Registers a table (by an owner): `file` is a name within the import folder.

        Only the declared columns are copied. An upload is removed then. With `external` the
        file stays where it is and is read there. So is the table of an `address`, of which only
        the declared columns are ever read; its host or schema must be allowed.
        """
        if address is not None:
            if file is not None or upload is not None:
                raise _not_one_source()
            self._register_address(registration, address, by=by)
            return self.record(registration.schema.name)
        with self._arriving(file, upload, by=by) as source, self._new(registration) as schema:
            if external:
                self._register_external(registration, schema, source, file=file, by=by)
            else:
                self._register_import(registration, schema, source, by=by)
        return self.record(schema.name)

    @contextmanager
    def _new(self, registration: Registration) -> Generator[Schema]:
        """The schema with its next version; nobody else registers this name within the block."""
        schema = self._check_declared(registration)
        with self.store.changing(schema.name):
            self._check_new(schema.name)
            yield replace(schema, version=self.store.next_version(schema.name))

    def _register_address(self, registration: Registration, address: str, *, by: str) -> None:
        self._people.require(by, Role.OWNER)
        check_allowed(self._shared.settings, address)
        with self._unknown(address), self._new(registration) as schema:
            check_table(address, schema)
            self._insert(registration, schema, address, None, by=by)

    def check_registration(self, registration: Registration, *, by: str) -> Schema:
        """Refuses what `register` would refuse before it reads any row; the schema."""
        self._people.require(by, Role.OWNER)
        schema = self._check_declared(registration)
        self._check_new(schema.name)
        return schema

    def renew(
        self, name: str, *, by: str, file: str | None = None, upload: Path | None = None
    ) -> DataSetRecord:
        """Imports newer data under the same name, and so the same budget; raises the version."""
        with self._arriving(file, upload, by=by, name=name) as source:

            def write(old: Path, schema: Schema, target: Path) -> ImportEffects:
                self._shared.settings.import_limits.check(source, schema)
                affected = copy_declared(source, schema, target)
                self.store.keep_members(old, schema)
                return affected

            _, version = self.store.rewrite(name, write, began=_write_effects)
        self._shared.ledger.administer(name, "renewed", {"version": version}, by=[by])
        return self.record(name)

    def add_purpose(self, name: str, purpose: Purpose, *, by: str) -> DataSetRecord:
        self._people.require(by, Role.OWNER)
        self.store.row(name)
        budget = self._shared.ledger.data_set(name).budget
        if not purpose.budget <= budget:
            raise ParameterError(
                f"The purpose may spend ({purpose.budget}), more than the whole data set,"
                f" ({budget})."
            )
        wanted = select(PURPOSES.c.name).where(PURPOSES.c.data_set == name)
        names = self._shared.database.values(wanted)
        if purpose.name.casefold() in {known.casefold() for known in names}:
            raise AlreadyDecided(f"{name!r} has, or had, a purpose {purpose.name!r}.")
        self._allow(name, purpose, by=by)
        self._shared.database.execute(insert(PURPOSES).values(_purpose_row(name, purpose)))
        return self.record(name)

    def withdraw_purpose(self, name: str, purpose: str, *, why: str, by: str) -> DataSetRecord:
        self._people.require(by, Role.OWNER, Role.STEWARD)
        self.store.row(name)
        words = read_text("why", why)
        self._shared.ledger.withdraw(name, purpose=purpose, analyst=None, why=words, by=[by])
        return self.record(name)

    def raise_version(self, name: str, *, by: str, why: str | None = None) -> int:
        """Says in public that the data have changed: they are opened anew, and questions are
        charged anew (by an owner). An external file must be there, with the declared columns.
        """
        self._people.require(by, Role.OWNER)
        row = self.store.row(name)
        if _is_imports_file(row):
            with self.store.changing(name):
                check_columns_there(
                    file_places.place_of_import(self._shared.settings, row.file), read_schema(row)
                )
        version = self.store.with_new_version(name)
        body: Json = {"version": version, **({} if why is None else {"why": why})}
        self._shared.ledger.administer(name, "version raised", body, by=[by])
        return version

    def thaw(self, name: str, *, why: str, by: str) -> None:
        """Allows questions again after an engine failed (by an owner).

        An external file is opened anew, under a new version: it may be another one by now, and
        whether it is must not decide what is free.
        """
        self._people.require(by, Role.OWNER)
        if _is_imports_file(self.store.row(name)):
            self.raise_version(name, by=by, why=why)
        else:
            self.store.open_anew(name)
        self._shared.ledger.thaw(name, why)
        self._shared.ledger.administer(name, "thawed", {"why": why}, by=[by])

    def retire(self, name: str, *, why: str, by: str) -> DataSetRecord:
        """Removes the rows for good (by an owner); what was spent and released stays on record."""
        self._people.require(by, Role.OWNER)
        words = read_text("why", why)
        self.store.remove(name)
        self._shared.ledger.administer(name, "retired", {"why": words}, by=[by])
        return self.record(name)

    def retire_overdue(self) -> list[str]:
        """Retires data sets whose retention date is over, after a day's notice (notices.py)."""
        today = self._shared.clock().date()
        days = {
            row.name: stored.read_day(row.retention) for row in self.store.rows() if not row.retired
        }
        over = [name for name, day in days.items() if day is not None and day < today]
        removed = to_remove(self._shared, self._steady, over)
        for name in removed:
            self.store.remove(name)
            self._shared.ledger.administer(
                name, "retired", {"why": "its retention date is over"}, by=[]
            )
        return removed

    # What is public, and what is not.

    def record(self, name: str) -> DataSetRecord:
        return self._record(self.store.row(name, retired=True))

    def records(self) -> Sequence[DataSetRecord]:
        return [self._record(row) for row in self.store.rows()]

    def troubles(self, *, by: str) -> dict[str, str]:
        """Why data sets cannot be read, by name, where a file is not what it must be: for owners.

        From its name alone: what is in a file is seen when it is opened.
        """
        self._people.require(by, Role.OWNER)
        troubles = {row.name: self.store.trouble(row) for row in self.store.rows()}
        return {name: words for name, words in troubles.items() if words is not None}

    def affected(self, name: str, *, by: str) -> ImportEffects:
        """How many values the rules touched: exact, for owners and stewards only."""
        self._people.require(by, Role.OWNER, Role.STEWARD)
        affected = self.store.row(name).affected
        if affected is None:
            raise NotThere(f"{name!r} was not imported: the rules apply whenever it is read.")
        return _read_effects(loads(affected))

    # How it is done.

    @contextmanager
    def _arriving(
        self, file: str | None, upload: Path | None, *, by: str, name: str | None = None
    ) -> Generator[Path]:
        """The file to import, by an owner; an upload is removed when it was imported.

        Where that failed it stays for another try; what nobody uses is swept after a day.
        """
        if (file is None) == (upload is None):
            raise _not_one_source()
        settings = self._shared.settings
        place = None if upload is None else file_places.place_of_upload(settings, upload)
        self._people.require(by, Role.OWNER)
        if file is not None:
            imported = file_places.place_of_import(settings, file)
            with self._unknown(file, name):
                yield imported
            return
        assert place is not None
        try:
            yield place
        except ParameterError as error:  # the name that an upload has here says nothing to anybody
            raise ParameterError(str(error).replace(place.name, "the upload")) from None
        place.unlink(missing_ok=True)

    @contextmanager
    def _unknown(self, file: str, name: str | None = None) -> Generator[None]:
        """No external data set but that of the name reads this, nor will until the block ends."""
        settings = self._shared.settings
        source = external_sources.identify(settings, file)
        with external_sources.registering(settings, source):
            others = [row for row in self.store.rows() if row.name != name]
            external_sources.check_unknown(settings, others, source)
            yield

    def _check_declared(self, registration: Registration) -> Schema:
        """The schema, if all that is declared can be so; before anything is written."""
        schema, now = registration.schema, self._shared.clock()
        if "/" in schema.name or schema.name in (".", ".."):  # a part of addresses
            raise ParameterError(
                f"The name {schema.name[:80]!r} cannot be part of an address. Leave out '/', and do"
                " not name a data set '.' or '..'."
            )
        check_declared(schema)
        if schema.unit is not None:
            check_unlisted(schema.column(schema.unit))
        if not schema.unit_declared:
            raise ParameterError(
                "unit is missing: say whose privacy is protected, by the column that identifies"
                " a person, or that each row is another person's."
            )
        for purpose in registration.purposes:
            if purpose.expires is not None and purpose.expires <= now:
                raise ParameterError(f"The purpose {purpose.name!r} is over already. Name a later.")
        if registration.retention is not None and registration.retention < now.date():
            raise ParameterError("The retention date is over already. Name a later one.")
        return schema

    def _check_new(self, name: str) -> None:
        if name.casefold() in {row.name.casefold() for row in self.store.rows()}:
            raise AlreadyDecided(
                f"There is a data set {name!r}, or one whose name looks the same. Newer data of the"
                " same people are imported with renew; other data need another name."
            )

    def _register_external(
        self, registration: Registration, schema: Schema, source: Path, *, file: str | None, by: str
    ) -> None:
        if file is None:
            raise ParameterError("An external data set is a file of the import folder.")
        replace(self._shared.settings.import_limits, rows=ANY_SIZE, megabytes=ANY_SIZE).check(
            source, schema
        )
        check_columns_there(source, schema)
        self._insert(registration, schema, file, None, by=by)

    def _register_import(
        self, registration: Registration, schema: Schema, source: Path, *, by: str
    ) -> None:
        self._shared.settings.import_limits.check(source, schema)
        target = file_places.place_to_keep(self._shared.settings)
        try:
            affected = copy_declared(source, schema, target)
            self._insert(registration, schema, target.name, affected, by=by)
        except BaseException:
            target.unlink(missing_ok=True)
            raise

    def _open_budget(self, registration: Registration, schema: Schema, *, by: str) -> None:
        """The budget and its purposes; a second try after a crash goes on where it was."""
        ledger = self._shared.ledger
        ledger.register(
            schema.name, registration.budget, neighbours=schema.protects, version=schema.version
        )
        for purpose in registration.purposes:
            self._allow(schema.name, purpose, by=by)
        declared: Json = {
            "columns": [column.name for column in schema.columns],
            "unit": schema.unit,
            "purposes": [purpose.name for purpose in registration.purposes],
            "budget": budget_to_json(registration.budget),
        }
        ledger.administer(schema.name, "registered", declared, by=[by])

    def _allow(self, name: str, purpose: Purpose, *, by: str) -> None:
        self._shared.ledger_view.allow(
            name, purpose.budget, purpose=purpose.name, expires=purpose.expires, by=[by]
        )

    def _insert(
        self,
        registration: Registration,
        schema: Schema,
        file: str,
        affected: ImportEffects | None,
        *,
        by: str,
    ) -> None:
        """Writes a data set down, in the ledger first; external where no import `affected` it."""
        self._open_budget(registration, schema, by=by)
        now, retention = stored.write_time(self._shared.clock()), registration.retention
        row = {
            "name": schema.name, "description": registration.description,
            "schema": schema.to_toml(), "file": file, "external": affected is None,
            "affected": None if affected is None else _write_effects(affected, schema.version),
            "retention": None if retention is None else retention.isoformat(),
            "registered": now, "registered_by": by, "retired": None,
        }  # fmt: skip
        purposes = [_purpose_row(schema.name, purpose) for purpose in registration.purposes]
        began = {"data_set": schema.name, "version": schema.version, "since": now}
        self._shared.database.execute(
            insert(DATA_SETS).values(row),
            insert(PURPOSES).values(purposes),
            insert(IMPORTS).values(began),
        )

    def _record(self, row: stored.DataRow) -> DataSetRecord:
        return stored.read_record(
            DataSetRecord,
            row,
            schema=read_schema(row),
            purposes=tuple(self._purposes(row.name)),
            retired=row.retired is not None,
            removal=self._removal(row),
        )

    def _removal(self, row: stored.DataRow) -> datetime | None:
        """Looked for where the retention date is over alone: nothing else is announced."""
        day = stored.read_day(row.retention)
        over = day is not None and day < self._shared.clock().date()
        return removal(self._shared, row.name) if over and row.retired is None else None

    def _purposes(self, name: str) -> list[Purpose]:
        """Those that are not withdrawn, with the budgets that the ledger knows."""
        levels = {level.purpose: level for level in self._shared.ledger_view.purposes(name)}
        wanted = select(PURPOSES).where(PURPOSES.c.data_set == name).order_by(PURPOSES.c.name)
        rows = self._shared.database.rows(wanted)
        return [
            stored.read_record(Purpose, row, budget=levels[row.name].budget)
            for row in rows
            if row.name in levels and not levels[row.name].withdrawn
        ]


def _is_imports_file(row: stored.DataRow) -> bool:
    """Whether the rows lie in a file of the import folder, which others write."""
    return row.external and not is_address(row.file)


def _not_one_source() -> ParameterError:
    return ParameterError(
        "Give either file, a name in the import folder, or an upload, or (to register) the address"
        " of a table on a server or on Spark: one of them."
    )


def _purpose_row(name: str, purpose: Purpose) -> dict[str, str | None]:
    return {
        "data_set": name,
        "name": purpose.name,
        "description": purpose.description,
        **stored.write_budget(purpose.budget),
        "expires": stored.write_time(purpose.expires),
    }


def _write_effects(affected: ImportEffects, version: int) -> str:
    """What was counted when the rows of this version were imported: later acts do not change it."""
    return dumps(asdict(replace(affected, version=version)))


@stored.reads_stored
def _read_effects(fields: dict[str, Any]) -> ImportEffects:
    columns = tuple(ColumnEffects(**column) for column in fields.pop("columns"))
    return ImportEffects(**fields, columns=columns)
