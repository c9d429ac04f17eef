"""Converts pandas, Polars and Arrow frames to Arrow tables: types are declared, or metadata.

Columns are handed over without copying where the layouts agree. Columns of pandas whose dtype
follows their cells are read as they are declared (loose_columns.py). Categories are plain values.
What Arrow has no type for is of type OTHER. Named levels of a private pandas frame's index are
columns, unless a column has the name; an index without a name is ignored. NaN stays as it is:
duck_reading.py makes it missing, from every source alike. Whole numbers beyond 64 bits are missing.

Public tables have the types that they look like: they are nobody's.

  Tested:   tests/engines/test_sources.py, test_loose_columns.py
  Assumed:  a frame is not changed while it is open
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from letalone.engines.core.failure import Result
from letalone.engines.core.stored_types import check_columns
from letalone.engines.frames import arrow
from letalone.engines.frames.loose_columns import (
    as_declared,
    cell_text,
    check_unit,
    is_loose,
    kind_of,
)
from letalone.errors import ParameterError
from letalone.errors.problem import without_context
from letalone.plans.types import Type

LONG = ("Int128", "UInt128")
TEXTS = ("object", "str", "string")
FRAMES = "a pandas or Polars frame or an Arrow table"


def is_frame(source: object) -> bool:
    """Whether this is a frame that can be opened."""
    return arrow.is_arrow(source) or family_of(source) in ("pandas", "polars")


def as_arrow(source: object) -> arrow.ArrowTable:
    """A public frame as an Arrow table."""
    if arrow.is_arrow(source):
        table = arrow.as_table(source)
    elif family_of(source) == "polars":
        frame = _collect(lambda lazy: lazy.collect(), source) if is_lazy(source) else source
        table = cast("arrow.ArrowTable", _with_arrow_types(frame).to_arrow())
    elif family_of(source) == "pandas":
        table = arrow.table_of([(name, _series(series)) for name, series in _columns(source)])
    else:
        raise ParameterError(f"This is {type(source).__name__}, but must be {FRAMES}.")
    return arrow.without_dictionaries(table)


def as_private(
    source: object, types: Mapping[str, Type], *, unit: str | None = None
) -> arrow.ArrowTable:
    """A private frame as an Arrow table; nothing depends on dtypes that follow cells."""
    if family_of(source) != "pandas":
        return as_arrow(source)
    columns = _with_index(source)
    check_columns([name for name, _ in columns], "The frame")
    loose = [(n, cells, types.get(n, kind_of(cells))) for n, cells in columns if is_loose(cells)]
    for name, _, kind in loose:
        if name == unit:
            check_unit(name, kind)
    made = as_declared(loose, unit=unit)
    arrays = [(name, made[name] if name in made else _series(series)) for name, series in columns]
    return arrow.without_dictionaries(arrow.table_of(arrays))


def loose_types(source: object) -> dict[str, Type]:
    """What a frame's first opening declares: the types of columns whose dtype follows cells."""
    if family_of(source) != "pandas":
        return {}
    return {name: kind_of(series) for name, series in _with_index(source) if is_loose(series)}


def names_of(source: object) -> list[str]:
    """The names of a frame's columns."""
    frame = cast("Any", source)
    if arrow.is_arrow(source):
        return list(frame.schema.names)
    if is_lazy(source):
        return _collect(lambda lazy: list(lazy.collect_schema().names()), source)
    if family_of(source) == "pandas":
        return [name for name, _ in _with_index(source)]
    return [str(name) for name in frame.columns]


def read_public(path: object) -> object:
    """A public file as a frame; the types of a CSV file are as they look."""
    file = Path(str(path))
    if file.suffix.lower() not in (".csv", ".parquet"):
        raise ParameterError(f"The public table {file} must be a .csv or a .parquet file.")
    return arrow.read_file(file)


def table_digest(source: object) -> str:
    """The SHA-256 of a public table's columns and rows: its name in a plan."""
    table = as_arrow(source)
    parts = (table.column_names, arrow.types_of(table), arrow.rows_of(table))
    return sha256(repr(parts).encode()).hexdigest()


def family_of(source: object) -> str | None:
    """The library that a frame comes from, without importing it."""
    kind = type(source)
    family = kind.__module__.split(".")[0]
    names = {"pandas": ("DataFrame",), "polars": ("DataFrame", "LazyFrame")}
    return family if kind.__name__ in names.get(family, ()) else None


def is_lazy(source: object) -> bool:
    """Whether this is a Polars frame that is not yet made."""
    return type(source).__name__ == "LazyFrame" and family_of(source) == "polars"


def _collect(run: Callable[[Any], Result], lazy: object) -> Result:
    """What Polars makes of a lazy frame; its own words could show a value."""
    failed = ParameterError(
        "The lazy frame cannot be collected. Call its .collect(), which says what is wrong."
    )
    return without_context(lambda: run(lazy), Exception, error=failed)


def _with_arrow_types(frame: Any) -> Any:
    """A Polars frame with types that Arrow has: whole numbers are of 64 bits, or missing."""
    kinds = {name: str(kind) for name, kind in frame.schema.items() if "Int128" in str(kind)}
    if not kinds:
        return frame
    for name, kind in kinds.items():
        if kind not in LONG:
            raise ParameterError(
                f"Column {name!r} is {kind}, a type that Arrow does not have. Cast it to whole"
                " numbers of 64 bits, or drop it."
            )
    import polars as pl  # the frame is one of its own

    return frame.cast(dict.fromkeys(kinds, pl.Int64), strict=False)


def _columns(source: object) -> list[tuple[str, Any]]:
    frame = cast("Any", source)
    return [(str(name), frame.iloc[:, place]) for place, name in enumerate(frame.columns)]


def _with_index(source: object) -> list[tuple[str, Any]]:
    """The columns of a pandas frame; named levels of its index come first."""
    frame, columns = cast("Any", source), _columns(source)
    taken = {name for name, _ in columns}
    levels = [(at, str(name)) for at, name in enumerate(frame.index.names) if name is not None]
    cells = frame.index.get_level_values
    named = [(name, cells(at).to_series()) for at, name in levels if name not in taken]
    return [*named, *columns]


def _series(series: Any) -> object:
    """One column. Errors of the conversion could print a value, so none gets out."""
    if str(series.dtype) == "object":
        return _texts(series)
    if str(series.dtype) == "category" and str(series.cat.categories.dtype) in TEXTS:
        return _texts(series.astype("object"))
    array = arrow.array_of(series)
    if array is None and str(series.dtype) in TEXTS:  # some cell is no text that Arrow can hold
        return _texts(series)
    return arrow.empty_column(len(series)) if array is None else array


def _texts(series: Any) -> object:
    return arrow.texts_of(cell_text(cell, Type.TEXT) for cell in series.to_numpy())
