"""What an audit uses of pyarrow, which has no type information of its own."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import csv

from letalone.engines.coded import MISSING, NAN, coded
from letalone.errors import ParameterError


def table_of(columns: Mapping[str, object]) -> Any:
    """An Arrow table of these columns."""
    return pa.table(dict(columns))


def filtered(table: Any, mask: NDArray[np.bool_]) -> Any:
    """The rows of an Arrow table for which the mask is true."""
    return table.filter(pa.array(mask))


def columns_of(table: Any) -> dict[str, NDArray[Any]]:
    """The columns of an Arrow table as arrays."""
    return {name: np.asarray(_plain(table.column(name)).to_numpy()) for name in table.column_names}


def codes_of(column: Any) -> NDArray[np.int64]:
    """A number for each distinct value of an Arrow or Polars column, or of an array or a list.

    Values are alike where they are equal; what is missing or NaN is one of its own.
    """
    whole = _as_arrow(column)
    if whole is None:
        return _codes_by_hand(column)
    if pa.types.is_nested(whole.type):
        return _codes_by_hand(map(repr, whole.to_pylist()))
    if pa.types.is_floating(whole.type):
        whole = pc.add(whole, pa.scalar(0.0, whole.type))  # -0.0 is 0.0
    codes = coded(pa.table({"unit": whole}), "unit", called="unit").codes
    codes = np.where(codes == NAN, MISSING, codes)
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _as_arrow(column: Any) -> Any | None:
    """As an Arrow column; None where its values are of several types, or of none that Arrow has."""
    if isinstance(column, pa.ChunkedArray):
        return column
    try:
        found = column.to_arrow() if hasattr(column, "to_arrow") else _converted(column)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return pa.chunked_array([found]) if isinstance(found, pa.Array) else found


def _converted(column: Any) -> Any | None:
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
