"""What an owner looks at before a data set is registered: its columns, and what the rules would do.

The names and types of columns are metadata. Types that the values look like are a proposal that an
owner asks for, and makes public by declaring them (as `letalone init` does); bounds and keys are
never taken from values. How many values the rules would touch is exact, and for the owner alone.

  Tested:   tests/curator/test_beforehand.py
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from letalone.curator.addresses import check_allowed
from letalone.curator.copies import copy_declared
from letalone.curator.data_sets import DataSets
from letalone.curator.house import House
from letalone.curator.people import People
from letalone.curator.places import place_of_import, place_of_upload, place_to_keep
from letalone.curator.records import Affected, Registration, Role
from letalone.engines.csv_files import guess_csv
from letalone.engines.failure import EngineFailed, contained
from letalone.engines.lockdown import working_in
from letalone.engines.opening import open_engine
from letalone.errors import ParameterError
from letalone.errors.problem import without_context
from letalone.plans.schema import Column

OF_CSV = (".csv", ".tsv", ".txt")
MOST_COLUMNS = 1_000
UNREADABLE = "The columns cannot be read: the file is damaged, or not what its name says."
AT_SERVER = "The table cannot be opened: its server or Spark failed while its names were read."


class Beforehand:
    """A source before it is a data set."""

    __slots__ = ("_data_sets", "_house", "_people")

    def __init__(self, house: House, people: People, data_sets: DataSets) -> None:
        self._house, self._people, self._data_sets = house, people, data_sets

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
            return _columns(check_allowed(self._house.settings, address), AT_SERVER)
        place = self._place(file, upload)
        with working_in(self._house.room):
            found = _columns(place, UNREADABLE)
            if look and place.suffix.lower() in OF_CSV:
                return guess_csv(place).schema.columns
        return found

    def affected(
        self,
        registration: Registration,
        *,
        by: str,
        file: str | None = None,
        upload: Path | None = None,
    ) -> Affected:
        """What the declared rules would do to a file (by an owner); nothing is kept of it."""
        schema = self._data_sets.check_registration(registration, by=by)
        place, target = self._place(file, upload), place_to_keep(self._house.settings)
        try:
            with working_in(self._house.room):
                self._house.settings.import_limits.check(place, schema)
                return copy_declared(place, schema, target)
        except ParameterError as error:
            words = _without(place.name, error)
        finally:
            target.unlink(missing_ok=True)
        raise ParameterError(words)

    def _place(self, file: str | None, upload: Path | None) -> Path:
        settings = self._house.settings
        found = (
            place_of_import(settings, file) if upload is None else place_of_upload(settings, upload)
        )
        settings.import_limits.check(found)
        return found


def _columns(source: Path | str, otherwise: str) -> Sequence[Column]:
    def look() -> Sequence[Column]:
        with closing(contained(lambda: open_engine(source))) as engine:
            return _few(engine.schema().columns)

    def failed(caught: Exception) -> ParameterError:
        name = source.name if isinstance(source, Path) else source
        known = isinstance(caught, ParameterError)
        return ParameterError(_without(name, caught) if known else otherwise)

    return without_context(look, EngineFailed, ParameterError, error=failed)


def _few(columns: Sequence[Column]) -> Sequence[Column]:
    if len(columns) > MOST_COLUMNS:
        raise ParameterError(
            f"There are {len(columns):,} columns, and at most {MOST_COLUMNS:,} can be looked at."
            " Leave out those that are not needed."
        )
    return columns


def _without(name: str, error: ParameterError) -> str:
    """The words without the name that an upload has here, which says nothing to anybody."""
    words = str(error).replace(name, "the file")
    return words[:1].upper() + words[1:]
