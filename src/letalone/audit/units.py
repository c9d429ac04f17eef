"""A table whose units can be taken out: Arrow, pandas, Polars, an array, or a list of rows.
Tested:   tests/audit/test_tables.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import csv

from letalone.engines.frames.coded import MISSING, NAN, encode_column
from letalone.errors import ParameterError

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class AuditedUnits:
    """The units of a table, as the number of each row's unit, and its columns of numbers."""

    table: Any
    codes: NDArray[np.int64]
    numbers: tuple[NDArray[np.float64], ...]

    @property
    def count(self) -> int:
        return int(self.codes.max(initial=-1)) + 1

    def without(self, unit: int) -> Any:
        return _keep_rows(self.table, self.codes != unit)

    def telling(self) -> list[int]:
        """Units that may be told from others: extremes of columns, most rows, fewest."""
        sizes = np.bincount(self.codes)
        rows = [int(find(column)) for column in self.numbers for find in (np.argmax, np.argmin)]
        of_rows = (int(self.codes[row]) for row in rows)
        return list(dict.fromkeys([int(np.argmax(sizes)), int(np.argmin(sizes)), *of_rows]))


def units_of(table: Any, unit: str | None) -> AuditedUnits:
    """The units of a table: its rows, or the values of a column."""
    columns = _columns(table)
    size = len(next(iter(columns.values()))) if columns else 0
    if size == 0:
        raise ParameterError("The table is empty, so nobody can be taken out of it.")
    if unit is None:
        codes = np.arange(size)
    elif unit in columns:
        codes = codes_of(_column(table, unit, columns))
    else:
        names = ", ".join(columns)
        raise ParameterError(f"There is no column {unit!r} to be the unit. Columns are: {names}.")
    kinds = [column for name, column in columns.items() if name != unit]
    floats = (column.astype(np.float64) for column in kinds if column.dtype.kind in "biuf")
    numbers = tuple(np.nan_to_num(column, nan=0.0) for column in floats)
    return AuditedUnits(table, codes.astype(np.int64), numbers)


def _column(table: Any, name: str, columns: dict[str, NDArray[Any]]) -> Any:
    """One column, as the table itself has it: an array of numpy may not tell its values apart."""
    if hasattr(table, "column_names"):  # Arrow
        return table.column(name)
    if hasattr(table, "columns") and name in table.columns:
        return table[name]
    return columns[name]


def _columns(table: Any) -> dict[str, NDArray[Any]]:
    if hasattr(table, "column_names"):  # Arrow
        return columns_of(table)
    if hasattr(table, "columns"):  # pandas, Polars
        return {str(name): np.asarray(table[name]) for name in table.columns}
    rows = _rows(table)
    if rows.ndim == 0:
        raise ParameterError(
            f"The table has the type {type(table).__name__}, but must be an Arrow, pandas or Polars"
            " table, an array or a list of rows."
        )
    rows = rows.reshape(len(rows), -1) if rows.size else rows.reshape(0, 1)
    return {str(place): rows[:, place] for place in range(rows.shape[1])}


def _rows(table: Any) -> NDArray[Any]:
    try:
        rows = np.asarray(table)
    except ValueError:
        raise ParameterError("The rows of the table must all have the same length.") from None
    if rows.dtype.kind in "US" and isinstance(table, list | tuple):  # may have made text of numbers
        return np.asarray(table, dtype=object)
    return rows


def _keep_rows(table: Any, mask: Mask) -> Any:
    if hasattr(table, "column_names"):  # Arrow
        return table.filter(pa.array(mask))
    if hasattr(table, "filter") and not hasattr(table, "iloc"):  # Polars
        return table.filter(mask)
    if isinstance(table, list | tuple):
        kept = (row for row, stays in zip(cast("Any", table), mask, strict=True) if stays)
        return type(cast("list[Any]", table))(kept)
    return table[mask]


def columns_of(table: Any) -> dict[str, NDArray[Any]]:
    """The columns of an Arrow table as arrays."""
    return {name: np.asarray(_plain(table.column(name)).to_numpy()) for name in table.column_names}


def codes_of(column: Any) -> NDArray[np.int64]:
    """A number for each distinct value of an Arrow or Polars column, or of an array or a list.

    Values are alike where they are equal; what is missing or NaN is one of its own.
    """
    values = _as_arrow(column)
    if values is None:
        return _codes_by_hand(column)
    if pa.types.is_nested(values.type):
        return _codes_by_hand(map(repr, values.to_pylist()))
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # -0.0 is 0.0
    codes = encode_column(pa.table({"unit": values}), "unit", called="unit").codes
    codes = np.where(codes == NAN, MISSING, codes)
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _as_arrow(column: Any) -> Any | None:
    """As an Arrow column; None where its values are of several types, or of none that Arrow has."""
    if isinstance(column, pa.ChunkedArray):
        return column
    try:
        converted = column.to_arrow() if hasattr(column, "to_arrow") else _convert_column(column)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return pa.chunked_array([converted]) if isinstance(converted, pa.Array) else converted


def _convert_column(column: Any) -> Any | None:
    kind = getattr(getattr(column, "dtype", None), "kind", "")
    if kind == "O" and len({type(value) for value in column} - {type(None)}) > 1:
        return None  # Arrow would make one type of some of them
    return pa.array(column, from_pandas=True)


def _codes_by_hand(column: Iterable[Any]) -> NDArray[np.int64]:
    known: dict[object, int] = {}
    keys = (None if value is None or value != value else value for value in column)
    return np.array([known.setdefault(key, len(known)) for key in keys], np.int64)


def _plain(column: Any) -> Any:
    """A column whose values stand there themselves."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def read_table(path: Path) -> Any:
    """A file as an Arrow table, for its owner."""
    if not path.is_file():
        raise ParameterError(f"There is no file {path}.")
    try:
        return (pq.read_table if path.suffix == ".parquet" else csv.read_csv)(path)
    except pa.ArrowException:
        pass
    raise ParameterError(f"{path} could not be read as a table: it must be .csv or .parquet.")
