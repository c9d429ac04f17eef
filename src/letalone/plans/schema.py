"""What is publicly known about a table: names, types, bounds, keys, whose privacy.

Everything here is metadata that its owner declared; nothing is read from the data. A
declared bound is enforced by clamping where the column is read, declared keys by dropping
rows with other keys from answers that are grouped by them.

The unit column has no bounds: clamping would merge people, and then a person who comes or
goes could change which rows of another are kept.

  Tested:   tests/plans/test_schema.py
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Self, cast

from letalone.errors import FormatError, ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import UseName
from letalone.errors.spelling import did_you_mean, nearest
from letalone.exact.typed import COUNT, read_flag, refusal
from letalone.plans.constants import as_bound, format_constant, well_formed
from letalone.plans.keys import read_column_keys
from letalone.plans.records import stored_as
from letalone.plans.types import Key, Type
from letalone.privacy.neighbours import ADD_REMOVE, Neighbours, read_neighbours

SUFFIX = ".letalone.toml"
LISTED = 30


@stored_as("Column")
class Column:
    """A column: its type and, where declared, its bounds and its keys (None last)."""

    name: str
    type: Type
    lower: Fraction | None = None
    upper: Fraction | None = None
    keys: tuple[Key, ...] | None = None

    def __post_init__(self) -> None:
        check_name("column", self.name)
        object.__setattr__(self, "type", _read_type(self.type))
        for side in ("lower", "upper"):
            object.__setattr__(self, side, self._bound(side))
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise ParameterError(
                f"Column {self.name!r} has lower {format_constant(self.lower)} and upper"
                f" {format_constant(self.upper)}, but lower must be below upper."
            )
        if self.keys is not None:
            keys = read_column_keys(self.keys, self.type)
            object.__setattr__(self, "keys", tuple(sorted(keys, key=lambda key: key is None)))

    def _bound(self, side: str) -> Fraction | None:
        value = getattr(self, side)
        if value is None:
            return None
        if not self.type.is_numeric:
            raise ParameterError(
                f"Column {self.name!r} is {self.type.value} and has a bound {side}; only integer"
                " and number columns have bounds. Remove it."
            )
        bound = as_bound(f"{side} of column {self.name!r}", value)
        if self.type is Type.INTEGER and not (bound.denominator == 1 and abs(bound) < 2**63):
            raise refusal(
                f"{side} of column {self.name!r}",
                value,
                "a whole number of 64 bits, since the column is integer",
            )
        return bound


@stored_as("Schema")
class Schema:
    """The columns of a table, and whose privacy is protected.

    `unit` names the column that identifies a person; None: each row is a unit of its own.
    `unit_declared` is False only for a schema file in which the owner has not yet said so.
    `version` is a number that the owner raises by a public act when the data have changed.
    """

    name: str
    columns: tuple[Column, ...]
    unit: str | None = None
    version: int = 1
    neighbours: Neighbours = ADD_REMOVE
    unit_declared: bool = True

    def __post_init__(self) -> None:
        check_name("table", self.name)
        object.__setattr__(self, "columns", _read_columns(self.columns))
        object.__setattr__(self, "version", int(COUNT.typed("version", self.version)))
        object.__setattr__(
            self, "neighbours", Neighbours(read_neighbours(self.neighbours).relation)
        )
        read_flag("unit_declared", self.unit_declared)
        check_names([column.name for column in self.columns], "columns of the table")
        if self.unit is not None:
            self._check_unit(self.unit)

    def column(self, name: str) -> Column:
        """The column of this name, or an error that lists the names there are."""
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown_column(name, [column.name for column in self.columns], table=self.name)

    @property
    def protects(self) -> Neighbours:
        """The neighbours with their unit named: add or remove one patient_id."""
        return self.neighbours.of(self.unit or "row")

    def protecting(self, unit: str | None) -> Self:
        """The same table with another unit: a column's name, or None for each row."""
        return replace(self, unit=unit, unit_declared=True)

    def to_toml(
        self, remarks: Mapping[str, str] | None = None, *, likely: str | None = None
    ) -> str:
        """The schema file, with comments that say what can be filled in; remarks are by column."""
        from letalone.plans.schema_file import write_schema  # who reads no file loads no reader

        return write_schema(self, remarks or {}, likely)

    @classmethod
    def from_toml(cls, text: str) -> "Schema":
        """The schema that a file declares; refuses what is unknown, damaged or newer."""
        from letalone.plans.schema_file import parse_schema

        return parse_schema(text, cls, Column)

    @classmethod
    def read(cls, path: str | Path) -> "Schema":
        """The schema in a file; the errors name the file."""
        from letalone.plans.schema_file import read_schema_text

        text = read_schema_text(Path(path))
        try:
            return cls.from_toml(text)
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None

    def _check_unit(self, unit: str) -> None:
        if unit.lower() == "row":
            raise ParameterError(
                "The unit is a column called 'row', which is also the word for a single row of the"
                " table. Rename the column."
            )
        column = self.column(unit)
        if column.lower is not None or column.upper is not None:
            raise ParameterError(
                f"The unit column {unit!r} has bounds, and clamping it would merge people."
                " Remove its lower and upper."
            )


def check_name(what: str, name: object) -> None:
    """Refuses what cannot name a table or a column."""
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        raise refusal(f"{what} name", name, "text that is not empty, such as 'visits'")
    well_formed(f"{what} name", name)


def check_names(names: Sequence[str], what: str) -> None:
    """Refuses names that are the same but for capitals: some engines cannot tell them apart."""
    seen: dict[str, str] = {}
    for name in names:
        if (other := seen.get(name.casefold())) is not None:
            raise ParameterError(
                f"The {what} include {other!r} and {name!r}, but must differ in more than capital"
                " letters. Rename one."
            )
        seen[name.casefold()] = name


def unknown_column(name: object, names: Sequence[str], *, table: str) -> ParameterError:
    """The error for a column that is not there: which there are, and the nearest one."""
    rest = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    known, meant = f"{', '.join(names[:LISTED])}{rest}", nearest(str(name), names)
    remedies = () if meant is None else (UseName(str(name), meant),)
    return ParameterError(
        problem(Code.UNKNOWN_COLUMN, *remedies, name=name, table=table, known=known)
    )


def _read_type(kind: object) -> Type:
    try:
        return Type(kind)
    except ValueError:
        words = [known.value for known in Type]
        raise ParameterError(
            f"type is {str(kind)[:80]!r}, but must be one of: {', '.join(words)}."
            + did_you_mean(str(kind), words)
        ) from None


def _read_columns(columns: object) -> tuple[Column, ...]:
    listed = tuple(cast("Iterable[object]", columns)) if isinstance(columns, Iterable) else ()
    if not listed or not all(isinstance(column, Column) for column in listed):
        raise ParameterError(
            "A schema needs at least one column, each made by la.Column('age', 'integer')."
        )
    return cast("tuple[Column, ...]", listed)
