"""Shows an owner the columns of a source, and what the rules would do, before it is registered.

The names and types of columns are metadata. Types that the values look like are a proposal that an
owner asks for, and makes public by declaring them (as `letalone init` does); bounds and keys are
never taken from values. How many values the rules would touch is exact, and for the owner alone.

  Tested:   tests/curator/test_beforehand.py
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from letalone.curator.data_sets.copies import copy_declared
from letalone.curator.data_sets.external_sources import AT_SERVER, check_allowed
from letalone.curator.data_sets.file_places import place_of_import, place_of_upload, place_to_keep
from letalone.curator.data_sets.service import DataSets
from letalone.curator.people.service import PeopleService
from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.service_records import Registration
from letalone.engines.core.failure import EngineFailed, hide_engine_errors
from letalone.engines.duckdb.csv_files import guess_csv
from letalone.engines.duckdb.lockdown import Room, working_in
from letalone.engines.opening import open_engine
from letalone.errors import ParameterError
from letalone.errors.problem import without_context
from letalone.plans.schema import Column
from letalone.wire.records import ImportEffects, Role

CSV_SUFFIXES = (".csv", ".tsv", ".txt")
MAX_COLUMNS = 1_000
UNREADABLE = "The columns cannot be read: the file is damaged, or not what its name says."


class RegistrationPreview:
    """Looks at a source before it is a data set."""

    __slots__ = ("_data_sets", "_people", "_room", "_shared")

    def __init__(
        self, shared: Dependencies, people: PeopleService, data_sets: DataSets, room: Room
    ) -> None:
        self._shared, self._people = shared, people
        self._data_sets, self._room = data_sets, room

    def columns(
        self,
        *,
        by: str,
        file: str | None = None,
        upload: Path | None = None,
        address: str | None = None,
        look: bool = False,
    ) -> Sequence[Column]:
        """The columns of a source, from its metadata (by an owner); text is what has no type.

        `look`: of a CSV file, with the types that its values look like.
        """
        self._people.require(by, Role.OWNER)
        if address is not None:
            return _columns(check_allowed(self._shared.settings, address), AT_SERVER)
        place = self._place(file, upload)
        with working_in(self._room):
            columns = _columns(place, UNREADABLE)
            if look and place.suffix.lower() in CSV_SUFFIXES:
                return guess_csv(place).schema.columns
        return columns

    def affected(
        self,
        registration: Registration,
        *,
        by: str,
        file: str | None = None,
        upload: Path | None = None,
    ) -> ImportEffects:
        """What the declared rules would do to a file (by an owner); nothing is kept of it."""
        schema = self._data_sets.check_registration(registration, by=by)
        place, target = self._place(file, upload), place_to_keep(self._shared.settings)
        try:
            with working_in(self._room):
                self._shared.settings.import_limits.check(place, schema)
                return copy_declared(place, schema, target)
        except ParameterError as error:
            words = _without_file_name(place.name, error)
        finally:
            target.unlink(missing_ok=True)
        raise ParameterError(words)

    def _place(self, file: str | None, upload: Path | None) -> Path:
        settings = self._shared.settings
        place = place_of_upload(settings, upload) if upload else place_of_import(settings, file)
        settings.import_limits.check(place)
        return place


def _columns(source: Path | str, otherwise: str) -> Sequence[Column]:
    def look() -> Sequence[Column]:
        with closing(hide_engine_errors(lambda: open_engine(source))) as engine:
            columns = engine.schema().columns
        if len(columns) > MAX_COLUMNS:
            raise ParameterError(
                f"There are {len(columns):,} columns, and at most {MAX_COLUMNS:,} can be shown."
                " Leave out those that are not needed."
            )
        return columns

    def failed(caught: Exception) -> ParameterError:
        name = source.name if isinstance(source, Path) else source
        known = isinstance(caught, ParameterError)
        return ParameterError(_without_file_name(name, caught) if known else otherwise)

    return without_context(look, EngineFailed, ParameterError, error=failed)


def _without_file_name(name: str, error: ParameterError) -> str:
    """The words without the name that an upload has here, which says nothing to anybody."""
    words = str(error).replace(name, "the file")
    return words[:1].upper() + words[1:]
