"""The columns of a release: what groups are called, what was found, and between which ends.

They are stored as text, so nothing is rounded: canonical JSON has no fractions, and no whole
numbers of 2^53 or more.

  Proven:   the shortest decimal of a float is read back as the same float
  Tested:   tests/answers/test_release.py: the round trip, damage

Frames of pandas, Polars and Arrow have one row a group and types that hold exactly: counts are
whole numbers of 64 bits. The libraries are loaded when they are asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar, cast

from letalone.errors import FormatError, ParameterError
from letalone.privacy.curve import Json

Cell = str | int | float | bool | date | None


class CellKind(Enum):
    """What the cells of a column are; any may be None."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"

    @property
    def is_numeric(self) -> bool:
        """Whether a cell can be drawn and has an interval."""
        return self in (CellKind.INTEGER, CellKind.NUMBER)


class CellTypes(NamedTuple):
    """How a cell is read from text, and its type in each library; in pandas also with a gap."""

    read: Callable[[str], Cell]
    arrow: str
    polars: str
    pandas: str
    gaps: str


TYPES: Mapping[CellKind, CellTypes] = {
    CellKind.TEXT: CellTypes(str, "string", "String", "object", "object"),
    CellKind.INTEGER: CellTypes(int, "int64", "Int64", "int64", "Int64"),
    CellKind.NUMBER: CellTypes(float, "float64", "Float64", "float64", "float64"),
    CellKind.BOOLEAN: CellTypes(
        {"true": True, "false": False}.__getitem__, "bool_", "Boolean", "bool", "boolean"
    ),
    CellKind.DATE: CellTypes(date.fromisoformat, "date32", "Date", "object", "object"),
}


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """One column of what the groups are called."""

    name: str
    kind: CellKind
    values: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Output:
    """One number for each group, with the ends of its interval where it has one.

    An aggregate that answers with several numbers has several outputs; `label` tells them
    apart ('0.25', '[0, 10)'), and is empty where there is one.
    """

    name: str
    aggregate: str
    label: str
    kind: CellKind
    values: tuple[Cell, ...]
    low: tuple[Cell, ...] | None = None
    high: tuple[Cell, ...] | None = None

    @property
    def columns(self) -> list[tuple[str, CellKind, tuple[Cell, ...]]]:
        """The value and, where there are some, the ends: name, kind and cells of each."""
        ends = [("_low", self.low), ("_high", self.high)]
        present = [(self.name + end, self.kind, cells) for end, cells in ends if cells is not None]
        return [(self.name, self.kind, self.values), *present]


Column = TypeVar("Column", KeyColumn, Output)
CELLS = ("values", "low", "high")  # fields that hold a cell for each group


def column_to_json(column: KeyColumn | Output) -> Json:
    """A column as it is stored: field by field, its cells as texts."""
    parts: dict[str, Any] = {part.name: getattr(column, part.name) for part in fields(column)}
    cells = {name: parts[name] for name in CELLS if parts.get(name) is not None}
    texts = {name: [_write_cell(cell) for cell in part] for name, part in cells.items()}
    return {**parts, **texts, "kind": column.kind.value}


def column_from_json(column: type[Column], stored: object) -> Column:
    """The key column or the output that was stored."""
    names = {part.name for part in fields(column)}
    if not isinstance(stored, dict) or set(cast("Json", stored)) != names:
        raise FormatError("This release is damaged: a column has other fields than it must have.")
    written = cast("Json", stored)
    parts: dict[str, Any] = {name: read_text(written[name]) for name in names.difference(CELLS)}
    kind = CellKind(parts["kind"])
    given = {name: written[name] for name in CELLS if written.get(name) is not None}
    parts |= {"kind": kind} | {name: _cells(part, kind) for name, part in given.items()}
    return column(**parts)


def check_lengths(keys: Sequence[KeyColumn], outputs: Sequence[Output]) -> int:
    """How many groups there are; all columns have a cell for each."""
    lengths = {len(column.values) for column in keys}
    lengths |= {len(cells) for output in outputs for _, _, cells in output.columns}
    if len(lengths) != 1:
        raise ParameterError("The columns of a release must all have as many cells.")
    return lengths.pop()


def _write_cell(cell: Cell) -> str | None:
    match cell:
        case None | str():
            return cell
        case bool():
            return str(cell).lower()
        case int() | float():
            return repr(cell)
        case date():
            return cell.isoformat()


def _cells(stored: object, kind: CellKind) -> tuple[Cell, ...]:
    read = TYPES[kind].read
    if not isinstance(stored, list):
        raise FormatError("This release is damaged: a column is not a list.")
    listed = cast("list[object]", stored)
    return tuple(None if cell is None else read(read_text(cell)) for cell in listed)


def read_text(stored: object) -> str:
    """A stored text."""
    if not isinstance(stored, str):
        raise FormatError("This release is damaged: something that must be text is not.")
    return stored


NamedColumn = tuple[str, CellKind, tuple[Cell, ...]]
FrameColumns = Sequence[NamedColumn]


def to_arrow(columns: FrameColumns) -> Any:
    """A pyarrow.Table."""
    arrow = _load_library("pyarrow", "to_arrow")
    arrays = [
        arrow.array(cells, type=getattr(arrow, TYPES[kind].arrow)()) for _, kind, cells in columns
    ]
    return arrow.Table.from_arrays(arrays, names=[name for name, _, _ in columns])


def to_pandas(columns: FrameColumns) -> Any:
    """A pandas.DataFrame."""
    pandas = _load_library("pandas", "to_pandas")
    series = {name: _series(pandas, kind, cells) for name, kind, cells in columns}
    return pandas.DataFrame(series)


def to_polars(columns: FrameColumns) -> Any:
    """A polars.DataFrame."""
    polars = _load_library("polars", "to_polars")
    series = [
        polars.Series(name, list(cells), dtype=getattr(polars, TYPES[kind].polars))
        for name, kind, cells in columns
    ]
    return polars.DataFrame(series)


def _series(pandas: Any, kind: CellKind, cells: tuple[Cell, ...]) -> Any:
    """A type that holds the cells: whole numbers and truth values with a gap need their own."""
    missing = any(cell is None for cell in cells)
    dtype = TYPES[kind].gaps if missing else TYPES[kind].pandas
    return pandas.Series(list(cells), dtype=dtype)


def _load_library(package: str, method: str) -> Any:
    if find_spec(package) is None:
        raise ParameterError(
            f".{method}() needs {package}, which is not installed: pip install {package}. Without"
            " it, .rows() is a list of dictionaries."
        )
    return import_module(package)
