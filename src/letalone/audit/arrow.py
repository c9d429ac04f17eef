"""What an audit uses of pyarrow, which has no type information of its own."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import csv

from letalone.errors import ParameterError


def table_of(columns: Mapping[str, object]) -> Any:
    """An Arrow table of these columns."""
    return pa.table(dict(columns))


def filtered(table: Any, mask: NDArray[np.bool_]) -> Any:
    """The rows of an Arrow table for which the mask is true."""
    return table.filter(pa.array(mask))


def columns_of(table: Any) -> dict[str, NDArray[Any]]:
    """The columns of an Arrow table as arrays."""
    return {name: np.asarray(table.column(name).to_numpy()) for name in table.column_names}


def read_table(path: Path) -> Any:
    """A file as an Arrow table, for its owner."""
    if not path.is_file():
        raise ParameterError(f"There is no file {path}.")
    try:
        return (pq.read_table if path.suffix == ".parquet" else csv.read_csv)(path)
    except pa.ArrowException:
        pass
    raise ParameterError(f"{path} could not be read as a table: it must be .csv or .parquet.")
