"""A release as a frame of pandas, Polars or Arrow: one row a group, types that hold exactly.

Counts are whole numbers of 64 bits; the libraries are loaded when they are asked for.

  Tested:   tests/answers/test_frames.py
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from letalone.answers.columns import Cell, Kind
from letalone.errors import ParameterError

Named = Sequence[tuple[str, Kind, tuple[Cell, ...]]]
ARROW = {
    Kind.TEXT: "string",
    Kind.INTEGER: "int64",
    Kind.NUMBER: "float64",
    Kind.BOOLEAN: "bool_",
    Kind.DATE: "date32",
}
POLARS = {
    Kind.TEXT: "String",
    Kind.INTEGER: "Int64",
    Kind.NUMBER: "Float64",
    Kind.BOOLEAN: "Boolean",
    Kind.DATE: "Date",
}


def to_arrow(columns: Named) -> Any:
    """A pyarrow.Table."""
    arrow = _loaded("pyarrow", "to_arrow")
    arrays = [arrow.array(cells, type=getattr(arrow, ARROW[kind])()) for _, kind, cells in columns]
    return arrow.Table.from_arrays(arrays, names=[name for name, _, _ in columns])


def to_pandas(columns: Named) -> Any:
    """A pandas.DataFrame."""
    pandas = _loaded("pandas", "to_pandas")
    series = {name: _series(pandas, kind, cells) for name, kind, cells in columns}
    return pandas.DataFrame(series)


def to_polars(columns: Named) -> Any:
    """A polars.DataFrame."""
    polars = _loaded("polars", "to_polars")
    series = [
        polars.Series(name, list(cells), dtype=getattr(polars, POLARS[kind]))
        for name, kind, cells in columns
    ]
    return polars.DataFrame(series)


def _series(pandas: Any, kind: Kind, cells: tuple[Cell, ...]) -> Any:
    """A type that holds the cells: whole numbers and truth values with a gap need their own."""
    missing = any(cell is None for cell in cells)
    plain = {Kind.INTEGER: "int64", Kind.NUMBER: "float64", Kind.BOOLEAN: "bool"}
    gaps = {Kind.INTEGER: "Int64", Kind.NUMBER: "float64", Kind.BOOLEAN: "boolean"}
    wanted = (gaps if missing else plain).get(kind, "object")
    return pandas.Series(list(cells), dtype=wanted)


def _loaded(package: str, method: str) -> Any:
    if find_spec(package) is None:
        raise ParameterError(
            f".{method}() needs {package}, which is not installed: pip install {package}. Without"
            " it, .rows() is a list of dictionaries."
        )
    return import_module(package)
