"""Subjects: a person learns whether they are held, sees, corrects and erases their rows (G7).

A steward acts for the person, with a reason; every act is an entry of the ledger, which names the
person by a pseudonym only (person_ids.py). Tables that were imported are rewritten; for an
external source its owner is told what to change, and the outcome is recorded. What was
spent stays spent: answers that were given cannot be taken back, so forgetting their price would
promise more than holds.

  Tested:   tests/curator/test_subjects.py, test_principles.py (G7)
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import cast

from sqlalchemy import Connection, insert, select, update

from letalone.curator.data_sets.open_sessions import RowsLocation
from letalone.curator.data_sets.service import DataSets
from letalone.curator.grants.decisions import read_words
from letalone.curator.people.service import PeopleService
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.master_key import MasterKey, forget_members, is_member
from letalone.curator.storage.refusals import AlreadyDecided, NotThere, Retired
from letalone.curator.storage.stored_values import (
    DataRow,
    new_id,
    read_record,
    read_time,
    write_time,
)
from letalone.curator.storage.tables import IMPORTS, OWNER_TASKS
from letalone.curator.subjects import person_ids, unit_rows
from letalone.curator.subjects.owner_tasks import correct_statement, erase_statement
from letalone.curator.subjects.person_ids import PersonId
from letalone.curator.subjects.unit_rows import Changes
from letalone.errors import FormatError, LetaloneError, ParameterError
from letalone.ledger.chain.entries import Entry, EntryKind
from letalone.plans.schema import Schema
from letalone.plans.stored_plans import plan_from_json
from letalone.privacy.curve import Json
from letalone.wire.records import Holding, OpenOwnerTask, ReleaseMade, Role, SubjectActResult

STAYS = (
    "What was spent stays spent: answers were given while the rows were in, they cannot be taken"
    " back, and their noise is what protects the person in them."
)
IN_IMPORTS = (
    "If it was imported by its name, that file is still in the imports folder, as it was: its"
    " owner changes or removes it there."
)
IN_LOG = (
    "The key is destroyed, but the database's log could not be emptied, since others were reading:"
    " until it is, a copy of the key may lie there. Erase once more when it is quiet."
)
AT_SERVER = (
    "The key is destroyed in the database; PostgreSQL's log (WAL), its archives and its backups"
    " have the bytes of the key until they end."
)
Task = Callable[[RowsLocation], tuple[int, str]]  # of how many rows, and what is to be done
NO_ROW = "There is no such row of this person. Rows are counted from 0."


class Subjects:
    """Carries out requests of people in the data, by a steward; every act is in the ledger."""

    __slots__ = ("_data_sets", "_master", "_people", "_shared", "_store")

    def __init__(
        self, shared: Dependencies, people: PeopleService, data_sets: DataSets, master: MasterKey
    ) -> None:
        self._shared, self._people, self._master = shared, people, master
        self._data_sets, self._store = data_sets, data_sets.store

    def holdings(self, unit_id: str, *, by: str, why: str) -> list[Holding]:
        words = self._check_reason(by, why, unit_id)
        kept = [record for record in self._data_sets.records() if not record.retired]
        names = [record.name for record in kept if record.schema.unit is not None]
        return [self._look_up(name, unit_id, {"why": words}, by=by) for name in names]

    def releases(self, data_set: str, unit_id: str, *, by: str, why: str) -> list[ReleaseMade]:
        words = self._check_reason(by, why, unit_id)
        if self._data_sets.record(data_set).retired:
            raise Retired(
                f"{data_set!r} was retired, and the marks of who was in it are gone: nobody can say"
                " any more which answers a person was in. The ledger lists all answers about it."
            )
        person = self._read(data_set, unit_id, words)
        held = self._versions_of_person(data_set, person)
        entries = self._shared.ledger.entries(data_set)
        reserved = {entry.number: entry for entry in entries if entry.kind is EntryKind.RESERVED}
        settled = [_settled_number(entry) for entry in entries if entry.kind is EntryKind.SETTLED]
        made = [_read_release(reserved[number]) for number in settled if number in reserved]
        self._write(data_set, "subject's releases shown", person.spelled, {"why": words}, by=by)
        return [entry for entry in made if _was_in(entry.version, held)]

    def rows(self, data_set: str, unit_id: str, *, by: str, why: str) -> list[dict[str, object]]:
        words = self._check_reason(by, why, unit_id)
        with self._store.rows_at(data_set) as source:
            person = _read_person(source, unit_id, words)
            rows = unit_rows.rows_of_unit(source.place, source.schema, person.spelled)
        self._write(data_set, "subject's rows shown", person.spelled, {"why": words}, by=by)
        return rows

    def correct(
        self, data_set: str, unit_id: str, *, row: int, changes: Changes, by: str, why: str
    ) -> SubjectActResult:
        """Changes values of one of the person's rows (its place in `rows`, from 0)."""
        words = self._check_reason(by, why, unit_id)
        schema = self._data_sets.record(data_set).schema
        _check_changes(schema, changes)
        if row < 0:
            raise ParameterError(NO_ROW)
        person = self._read(data_set, unit_id, words).spelled
        about: Json = {"why": words, "columns": sorted(changes)}
        if self._data_sets.record(data_set).external:

            def task(source: RowsLocation) -> tuple[int, str]:
                return _correction_task(source, person, row, changes)

            return self._ask_owner("correct", data_set, person, about, task, by=by)

        def write(old: Path, schema: Schema, target: Path) -> list[str] | None:
            return unit_rows.copy_corrected(old, schema, person, target, row=row, changes=changes)

        # Also where there is no such row: the version is public, and must not tell.
        remarks, version = self._store.rewrite(data_set, write)
        self._write(data_set, "subject corrected", person, {**about, "version": version}, by=by)
        if remarks is None:
            raise NotThere(f"{NO_ROW} Nothing was changed; it is version {version} all the same.")
        change = f"1 row of {data_set!r} was corrected; it is version {version} now."
        return SubjectActResult(
            data_set, 1, version, " ".join([change, *remarks, STAYS, *self._imports()])
        )

    def erase(self, data_set: str, unit_id: str, *, by: str, why: str) -> SubjectActResult:
        """Removes the person's rows and destroys their key; what was spent stays spent."""
        words = self._check_reason(by, why, unit_id)
        person = self._read(data_set, unit_id, words)
        about: Json = {"why": words}
        if self._data_sets.record(data_set).external:

            def task(source: RowsLocation) -> tuple[int, str]:
                rows = unit_rows.number_of_rows(source.place, source.schema, person.spelled)
                return rows, erase_statement(source, person.spelled, rows=rows)

            return self._ask_owner("erase", data_set, person.spelled, about, task, by=by)

        def write(old: Path, schema: Schema, target: Path) -> int:
            rows = unit_rows.number_of_rows(old, schema, person.spelled)
            unit_rows.copy_without(old, schema, person.spelled, target)
            self._forget_marks(data_set, person)  # here, where nobody else changes them
            return rows

        # Also where there are no rows: the version is public, and must not tell.
        rows, version = self._store.rewrite(data_set, write)
        about["version"] = version
        self._write(data_set, "subject erased", person.spelled, about, by=by)
        finder = self._master.finder
        key_words = self._destroy([finder(data_set, each) for each in person.spellings])
        noun, are = ("row", "is") if rows == 1 else ("rows", "are")
        change = f"{rows} {noun} of {data_set!r} {are} gone; it is version {version} now."
        outcome = " ".join([change, STAYS, *self._imports(), key_words])
        return SubjectActResult(data_set, rows, version, outcome.rstrip())

    def record_outcome(self, act: str, *, done: bool, words: str, by: str) -> SubjectActResult:
        """Records what came of a statement for the owner of an external source (`Done.act`)."""
        self._people.require(by, Role.STEWARD, Role.OWNER)
        words = read_words("words", words)
        with self._shared.database.reading() as connection:
            row = self._find_open_task(connection, act, words)
        if done and row.what == "erase":
            self._check_erased(row)
        with self._shared.database.writing() as connection:
            row = self._find_open_task(connection, act, words)
            now = write_time(self._shared.clock())
            connection.execute(update(OWNER_TASKS).where(OWNER_TASKS.c.id == act).values(done=now))
        name = cast("str", row.data_set)
        body: Json = {"subject": row.subject or None, "act": act, "done": done, "words": words}
        self._shared.ledger.administer(name, f"subject: {row.what} at the source", body, by=[by])
        version = self._store.with_new_version(name) if done else self._version(name)
        erased = done and row.what == "erase" and row.finder
        key_words = self._destroy([row.finder]) if erased else ""
        came = "carried out" if done else "not carried out"
        outcome = f"Recorded: {came} at the source of {name!r}. {STAYS} {key_words}"
        return SubjectActResult(name, 0, version, outcome.rstrip())

    def waiting(self, *, by: str) -> list[OpenOwnerTask]:
        """What owners of external sources were asked for, without an outcome; the oldest first."""
        self._people.require(by, Role.STEWARD, Role.OWNER)
        wanted = select(OWNER_TASKS).where(OWNER_TASKS.c.done.is_(None))
        rows = self._shared.database.rows(wanted.order_by(OWNER_TASKS.c.asked))
        return [read_record(OpenOwnerTask, row, act=row.id) for row in rows]

    def _check_reason(self, by: str, why: str, unit_id: str) -> str:
        self._people.require(by, Role.STEWARD, Role.OWNER)
        words = read_words("why", why)
        person_ids.check_unnamed(words, [person_ids.check_typed(unit_id)])
        return words

    def _imports(self) -> list[str]:
        """That files of the imports folder are not changed; nothing where there are none."""
        folder = self._shared.settings.imports_folder
        return [IN_IMPORTS] if any(file.is_file() for file in folder.rglob("*")) else []

    def _read(self, data_set: str, unit_id: str, words: str) -> PersonId:
        with self._store.rows_at(data_set) as source:
            return _read_person(source, unit_id, words)

    def _find_open_task(self, connection: Connection, act: str, outcome: str) -> DataRow:
        row = connection.execute(select(OWNER_TASKS).where(OWNER_TASKS.c.id == act)).one_or_none()
        if row is None:
            raise NotThere("There is no such act.")
        if row.done is not None:
            raise AlreadyDecided("The outcome of this act was recorded before.")
        if row.finder and self._is_among(row, person_ids.possible_ids(outcome)):
            raise person_ids.id_in_reason()
        return row

    def _is_among(self, row: DataRow, ids: Iterable[str]) -> bool:
        """Whether one of these is the person of a task, whose id is not kept."""
        finder = self._master.finder
        return any(finder(row.data_set, unit_id) == row.finder for unit_id in ids)

    def _check_erased(self, row: DataRow) -> None:
        """What is said to be erased is looked for; a correction cannot be, its values are unknown.

        The id is not kept, so all ids of the source are put under the master key, one by one.
        """
        if not row.finder or self._data_sets.record(row.data_set).retired:
            return  # erased before, or its source is not read any more
        with self._store.rows_at(row.data_set) as source:
            is_held = self._is_among(row, unit_rows.unit_ids(source.place, source.schema))
        if is_held:
            raise ParameterError(
                f"The source of {row.data_set!r} still has rows of this person, so it is not"
                " recorded as carried out. Let its owner do what the statement says first; or"
                " record that it was not done."
            )

    def _look_up(self, data_set: str, unit_id: str, about: Json, *, by: str) -> Holding:
        """Whether one data set holds a person; that it cannot be read ends no look at others."""
        held, called = None, unit_id
        try:
            with self._store.rows_at(data_set) as source:
                called = person_ids.read_id(source, unit_id).spelled
                held = unit_rows.number_of_rows(source.place, source.schema, called) > 0
        except person_ids.NotAnId:
            held = False
        except LetaloneError:
            pass  # a source that is gone, a server that is away, a date that is over
        person_ids.check_unnamed(cast("str", about["why"]), [called])
        self._write(data_set, "subject looked up", called, about, by=by)
        wanted = select(IMPORTS.c.since).where(IMPORTS.c.data_set == data_set)
        newest = self._shared.database.row(wanted.order_by(IMPORTS.c.version.desc()).limit(1))
        external = self._data_sets.record(data_set).external
        return Holding(data_set, held, external, read_time(cast("str", newest and newest.since)))

    def _versions_of_person(self, data_set: str, person: PersonId) -> list[tuple[int, bool]]:
        """From which version on the person was in, or was not, in order."""
        folder, marks = self._shared.settings.data_folder, self._marks(data_set, person)
        wanted = select(IMPORTS).where(IMPORTS.c.data_set == data_set).order_by(IMPORTS.c.version)
        with self._store.rows_at(data_set) as source:
            now = unit_rows.number_of_rows(source.place, source.schema, person.spelled) > 0
            rows = self._shared.database.rows(wanted)
            was_in = [
                now if row.members is None else is_member(folder / row.members, marks)
                for row in rows
            ]
        return [(row.version, was) for row, was in zip(rows, was_in, strict=True)]

    def _marks(self, data_set: str, person: PersonId) -> set[bytes]:
        return {self._master.member(data_set, spelling) for spelling in person.spellings}

    def _forget_marks(self, data_set: str, person: PersonId) -> None:
        """No mark of a past import is left. Within the lock under which marks are written."""
        folder, marks = self._shared.settings.data_folder, self._marks(data_set, person)
        wanted = select(IMPORTS.c.members).where(IMPORTS.c.data_set == data_set)
        for file in self._shared.database.values(wanted):
            if file is not None:
                forget_members(folder / file, marks)

    def _destroy(self, finders: Sequence[str]) -> str:
        """No key of the person is left; where its bytes are for a while, in words."""
        gone = person_ids.destroy_keys(self._shared.database, finders)
        if not self._shared.database.in_a_file:
            return AT_SERVER
        return "" if gone else IN_LOG

    def _ask_owner(
        self, what: str, data_set: str, unit_id: str, about: Json, task: Task, *, by: str
    ) -> SubjectActResult:
        """What the owner of an external source is to do; it is not kept, since it has the id."""
        with self._store.rows_at(data_set) as source:
            rows, statement = task(source)
        subject, act = (
            person_ids.pseudonym_of_subject(self._shared.database, self._master, data_set, unit_id),
            new_id(),
        )
        row = {
            "id": act, "data_set": data_set, "what": what, "subject": subject,
            "finder": self._master.finder(data_set, unit_id),
            "asked": write_time(self._shared.clock()), "done": None,
        }  # fmt: skip
        self._shared.database.execute(insert(OWNER_TASKS).values(row))
        self._write(data_set, f"subject: {what} asked of the source", unit_id, about, by=by)
        words = (
            f"{data_set!r} is external: its owner changes the source as the statement says, and"
            f" then the outcome is recorded. {STAYS}"
        )
        version = self._version(data_set)
        return SubjectActResult(data_set, rows, version, words, statement, act)

    def _version(self, data_set: str) -> int:
        return self._shared.ledger.data_set(data_set).version

    def _write(self, data_set: str, what: str, unit_id: str, about: Json, *, by: str) -> None:
        subject = person_ids.pseudonym_of_subject(
            self._shared.database, self._master, data_set, unit_id
        )
        self._shared.ledger.administer(data_set, what, {"subject": subject, **about}, by=[by])


def _read_person(source: RowsLocation, unit_id: str, words: str) -> PersonId:
    """The id as it is spelled there, which the reason must not name, either."""
    person = person_ids.read_id(source, unit_id)
    person_ids.check_unnamed(words, [person.spelled])
    return person


def _correction_task(
    source: RowsLocation, unit_id: str, row: int, changes: Changes
) -> tuple[int, str]:
    """Of how many rows, and what is to be written there."""
    remarks = unit_rows.check_corrected(source.schema, changes)
    statement = correct_statement(source, unit_id, row=row, changes=changes)
    if statement is None:
        return 0, f"{NO_ROW} Nothing is to be changed."
    return 1, " ".join([statement, *remarks])


def _check_changes(schema: Schema, changes: Changes) -> None:
    if not changes:
        raise ParameterError("changes is empty. Give the new values by column.")
    for name, value in changes.items():
        schema.column(name)
        if name == schema.unit:
            raise ParameterError("The id itself is not corrected. Erase the rows and import again.")
        if value is not None and not isinstance(value, str | int | float):
            raise ParameterError(f"The new value of {name!r} must be a text, a number or missing.")


def _settled_number(entry: Entry) -> int | None:
    released = entry.body.get("outcome") == "released"
    return cast("int", entry.body["reserved"]) if released else None


def _read_release(entry: Entry) -> ReleaseMade:
    version, plan = cast("int", entry.body["version"]), cast("Json", entry.body["plan"])
    try:
        question = plan_from_json(plan).in_words()
    except FormatError:
        question = "a model or a batch of questions"
    return ReleaseMade(entry.number, entry.time, cast("str", entry.name), version, question)


def _was_in(version: int, held: Sequence[tuple[int, bool]]) -> bool:
    """Whether the import that a version belongs to has the person."""
    return next((was for first, was in reversed(held) if first <= version), False)
