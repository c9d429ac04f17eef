"""Encodes columns as codes: whole numbers in the order of the values, and the values themselves.

Code 0 is a missing value and code 1 is NaN; value number i of a sorted column has code i + 2.

  Tested:   tests/anonymity/test_measure.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import csv

from letalone.engines.frames.arrow import ArrowTable
from letalone.errors import ParameterError

MISSING, NAN, FIRST = 0, 1, 2
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column: a code for each row, and the distinct values in order."""

    name: str
    codes: Codes
    values: Any

    @property
    def size(self) -> int:
        """One more than the largest code there can be."""
        return FIRST + len(self.values)

    @property
    def is_text(self) -> bool:
        """Whether the values are text: they have an order, but no distances."""
        kind = self.values.type
        return pa.types.is_string(kind) or pa.types.is_large_string(kind)

    @property
    def is_dated(self) -> bool:
        return pa.types.is_date(self.values.type) or pa.types.is_timestamp(self.values.type)

    @property
    def is_ordered(self) -> bool:
        """Whether the values are numbers, dates or times."""
        kind = self.values.type
        return not (self.is_text or pa.types.is_boolean(kind) or pa.types.is_null(kind))

    def texts(self) -> list[str]:
        if pa.types.is_timestamp(self.values.type):
            return [str(moment) for moment in self.moments()]
        return [str(value) for value in self.values.cast(pa.string()).to_pylist()]

    def numbers(self) -> NDArray[np.float64]:
        return np.asarray(self.values.cast(pa.float64(), safe=False), np.float64)

    def moments(self) -> NDArray[np.datetime64]:
        """The values as dates or times in UTC, in order."""
        values = self.values
        if pa.types.is_date(values.type):
            return np.asarray(values.cast(pa.date32()).cast(pa.int32())).astype("datetime64[D]")
        return np.asarray(values.cast(pa.int64())).astype(f"datetime64[{values.type.unit}]")

    def objects(self, codes: Codes) -> list[object]:
        return cast("list[object]", cast("Any", self.taken(codes)).to_pylist())

    def moved(self, places: Codes) -> "Coded":
        """The same rows with the values in another order: `places` says where each one goes."""
        codes = np.concatenate([[MISSING, NAN], places + FIRST])[self.codes]
        return Coded(self.name, codes, self.values.take(pa.array(np.argsort(places))))

    def taken(self, codes: Codes) -> object:
        values = self.values
        places = pa.array(np.maximum(codes - FIRST, 0), mask=codes < FIRST)
        taken = values.take(places)
        if (codes == NAN).any():
            nan = pa.scalar(float("nan"), values.type)
            taken = pc.if_else(pa.array(codes == NAN), nan, taken)
        return taken


def encode_column(table: ArrowTable, name: str, *, called: str) -> Coded:
    """A column of a table in codes."""
    column = cast("Any", table).column(name)
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    encoded = column.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], column.type)
    values = encoded.dictionary
    order = np.asarray(pc.array_sort_indices(values), np.int64)
    nans = np.zeros(len(values), np.bool_)
    if pa.types.is_floating(values.type):
        nans = np.asarray(pc.is_nan(values))
        order = order[~nans[order]]
    code_of = np.full(len(values) + 1, NAN, np.int64)
    code_of[order] = np.arange(len(order)) + FIRST
    code_of[-1] = MISSING
    places = np.asarray(encoded.indices.fill_null(len(values)), np.int64)
    return Coded(called, code_of[places], values.take(pa.array(order)))


def counts(table: ArrowTable, name: str) -> Codes:
    """A column of whole numbers."""
    return np.asarray(cast("Any", table).column(name), np.int64)


def label_places(labels: Sequence[str], places: NDArray[np.int64]) -> object:
    """An Arrow array of text: the label at each place."""
    return pa.array(labels, pa.string()).take(pa.array(places))


def as_kind(table: ArrowTable, kind: str) -> object:
    """An Arrow table as a frame of "pandas" or "polars"; else itself."""
    arrow_table = cast("Any", table)
    if kind == "pandas":
        return arrow_table.to_pandas()
    if kind == "polars":
        import polars as pl

        return cast("Any", pl).from_arrow(arrow_table)
    return arrow_table


def write_table(table: ArrowTable, path: Path) -> None:
    """Writes a CSV or a Parquet file, as its name ends."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise ParameterError(f"{path.name} ends in {suffix!r}, but must be .csv or .parquet.")
    arrow_table = cast("Any", table)
    if suffix == ".parquet":
        pq.write_table(arrow_table, path)
    else:
        csv.write_csv(arrow_table, path)
