"""Rows as numbers, cell by cell: no cell decides how another is read, or stands in an error.

numpy turns a list with one text into texts, and scikit-learn prints the array that it refuses.
Here only shapes and types of columns are looked at; a cell of a list or of an object column that
is no number counts as missing.

  Tested:   tests/learn/test_cells.py
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from numbers import Real
from typing import Any, cast
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@contextmanager
def quietly() -> Generator[None]:
    """Without warnings, and without errors for what overflows: both would depend on data."""
    with np.errstate(all="ignore"), catch_warnings():
        simplefilter("ignore")
        yield


def numeric(X: Any) -> Any:  # noqa: N803
    """Rows that hold nothing but numbers: an array, or the frame or sparse matrix that was given.

    ValueError for shapes and types that hold no rows of numbers.
    """
    if hasattr(X, "dtypes") and hasattr(X, "isetitem"):
        return _frame(X)
    if hasattr(X, "schema") and hasattr(X, "columns"):
        return _typed_frame(X)
    if hasattr(X, "tocsr"):
        return X  # refused by its type
    array = _cells_of_lists(cast("list[Any]", X)) if isinstance(X, list | tuple) else np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, but X has {array.ndim} dimensions: a row for each person and a"
            " column for each feature. Reshape your data: X.reshape(-1, 1) for a single feature."
        )
    return numbers_of(array)


def numbers_of(cells: NDArray[Any]) -> NDArray[Any]:
    """Cells as numbers, NaN where one is none; ValueError for types that are no numbers at all."""
    if cells.dtype.kind in "fiub":
        return cells
    if cells.dtype.kind == "c":
        raise ValueError("Complex data not supported.")
    if cells.dtype.kind != "O":
        raise ValueError(f"Rows must be numbers, but their type is {cells.dtype.name}.")
    flat = [_number(cell) for cell in cast("list[object]", cells.reshape(-1).tolist())]
    return np.array(flat, np.float64).reshape(cells.shape)


def _cells_of_lists(rows: "list[Any] | tuple[Any, ...]") -> NDArray[Any]:
    """Rows of a list as cells, one by one; only lengths are looked at."""
    lists = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    if not all(isinstance(row, list | tuple) for row in lists):
        return as_objects(lists)  # one dimension
    if len({len(row) for row in lists}) > 1:
        raise ValueError("Rows must be of one length: a column for each feature.")
    width = len(lists[0]) if lists else 0
    return as_objects([cell for row in lists for cell in row]).reshape(len(lists), width)


def _typed_frame(frame: Any) -> Any:
    """A Polars or Arrow table, whose columns have types that say whether they are numbers."""
    schema = frame.schema
    types = schema.dtypes() if hasattr(schema, "dtypes") else schema.types
    for kind in types:
        if not str(kind).lower().startswith(("int", "uint", "float", "double", "half", "bool")):
            raise ValueError(f"Columns must be numbers, but one has the type {kind}.")
    return frame


def as_objects(values: Sequence[object]) -> NDArray[Any]:
    """Values one by one: a common type would let one of them change how the others are read."""
    cells: NDArray[Any] = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        cells[place] = value
    return cells


def _frame(frame: Any) -> Any:
    for dtype in frame.dtypes:
        if getattr(dtype, "kind", "O") not in "fiubO":
            raise ValueError(f"Columns must be numbers, but one has the type {dtype}.")
    objects = [place for place, dtype in enumerate(frame.dtypes) if dtype.kind == "O"]
    if not objects:
        return frame
    if any(str(frame.dtypes.iloc[place]) != "object" for place in objects):
        raise ValueError("Columns must be numbers, but one holds text. Encode it: TableEncoder.")
    frame = frame.copy()
    for place in objects:
        frame.isetitem(place, numbers_of(frame.iloc[:, place].to_numpy()))
    return frame


def _number(cell: object) -> float:
    try:
        return float(cell) if isinstance(cell, Real | Decimal) else np.nan
    except Exception:  # too large for a double
        return np.nan
