"""pandas, Polars and Arrow frames as Arrow tables: types from metadata, never from values.

Columns are handed over without copying where the layouts agree. A pandas column of Python
objects is text whatever it holds (its type would otherwise have to be read off the data).
Categories are plain values. What Arrow has no type for is of type OTHER, and empty. pandas'
index is ignored. NaN stays as it is: reading.py makes it missing, from every source alike.

  Tested:   tests/engines/test_sources.py
  Assumed:  a frame is not changed while it is open
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, cast

from letalone.engines import arrow
from letalone.errors import ParameterError

TEXTS = ("object", "str", "string")
FRAMES = "a pandas or Polars frame or an Arrow table"


def is_frame(source: object) -> bool:
    """Whether this is a frame that can be opened."""
    return arrow.is_arrow(source) or family_of(source) in ("pandas", "polars")


def as_arrow(source: object) -> arrow.Table:
    """The frame as an Arrow table."""
    if arrow.is_arrow(source):
        table = arrow.as_table(source)
    elif family_of(source) == "polars":
        table = _from_polars(source)
    elif family_of(source) == "pandas":
        table = _from_pandas(source)
    else:
        raise ParameterError(f"This is {type(source).__name__}, but must be {FRAMES}.")
    return arrow.without_dictionaries(table)


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


def _from_polars(source: object) -> arrow.Table:
    frame = cast("Any", source)
    if type(source).__name__ == "LazyFrame":
        frame = frame.collect()
    return cast("arrow.Table", frame.to_arrow())


def _from_pandas(source: object) -> arrow.Table:
    frame = cast("Any", source)
    columns = [
        (str(name), _series(frame.iloc[:, number])) for number, name in enumerate(frame.columns)
    ]
    return arrow.table_of(columns)


def _series(series: Any) -> object:
    """One column. Errors of the conversion could print a value, so none gets out."""
    if str(series.dtype) == "object":
        return arrow.texts_of(_as_texts(series))
    if str(series.dtype) == "category" and str(series.cat.categories.dtype) in TEXTS:
        return arrow.texts_of(_as_texts(series.astype("object")))
    array = arrow.array_of(series)
    if array is None and str(series.dtype) in TEXTS:  # some cell is no text that Arrow can hold
        return arrow.texts_of(_as_texts(series))
    return arrow.nothing(len(series)) if array is None else array


def _as_texts(series: Any) -> Iterable[str | None]:
    missing = series.isna().to_numpy()
    for value, gone in zip(series.to_numpy(), missing, strict=True):
        yield None if gone else _well_formed(str(value))


def _well_formed(value: str) -> str:
    """Half of a surrogate pair, which Arrow cannot hold, becomes a question mark."""
    return value.encode("utf-8", "replace").decode("utf-8")
