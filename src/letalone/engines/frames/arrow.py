"""Wraps the functions of pyarrow that we use, with types.

Only this file, arrow_cells.py, long_cells.py, coded.py and csv_lines.py talk to it.

pyarrow has no type information of its own, so everything is cast here once.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeArgument=false
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Protocol, Self, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from letalone.engines.frames.arrow_cells import is_text, is_valid, make_readable
from letalone.errors import ParameterError
from letalone.plans.types import Key, Type

KEY_TYPES: Mapping[Type, Callable[[], object]] = {
    Type.TEXT: pa.string,
    Type.INTEGER: pa.int64,
    Type.BOOLEAN: pa.bool_,
    Type.DATE: pa.date32,
}

ROW_TYPES: Mapping[Type, Callable[[], object]] = {
    **KEY_TYPES,
    Type.TEXT: pa.large_string,  # a batch may have more than 2 GiB of text
    Type.NUMBER: pa.float64,
    Type.TIMESTAMP: lambda: pa.timestamp("us"),
}

ARROW_TYPES: Sequence[tuple[Callable[[Any], bool], Type]] = (
    (pa.types.is_boolean, Type.BOOLEAN),
    (pa.types.is_integer, Type.INTEGER),
    (pa.types.is_floating, Type.NUMBER),
    (pa.types.is_decimal, Type.NUMBER),
    (is_text, Type.TEXT),
    (pa.types.is_date, Type.DATE),
)
EXTENSIONS = {"arrow.uuid": Type.TEXT, "arrow.bool8": Type.BOOLEAN}

Values = NDArray[Any]
LETTERS_AT_ONCE = 1 << 24  # letters
EPOCH = date(1970, 1, 1)


class ArrowTable(Protocol):
    """An Arrow table, as far as we look at it."""

    @property
    def column_names(self) -> list[str]: ...

    @property
    def num_rows(self) -> int: ...


def _parquet() -> Any:
    from pyarrow import parquet  # with it come file systems and SSL, of which few have need

    return parquet


def is_arrow(source: object) -> bool:
    """Whether this is an Arrow table, batch or reader; a data set is not, as it may be files."""
    return isinstance(source, pa.Table | pa.RecordBatch | pa.RecordBatchReader)


def as_table(source: object) -> ArrowTable:
    """An Arrow table from anything that `is_arrow`; a reader is read once, into memory."""
    if isinstance(source, pa.RecordBatchReader):
        return cast("ArrowTable", cast("Any", source).read_all())
    if isinstance(source, pa.RecordBatch):
        return cast("ArrowTable", pa.Table.from_batches([source]))
    return cast("ArrowTable", source)


def without_dictionaries(table: ArrowTable) -> ArrowTable:
    """The same table with categories as plain values, and no cell that cannot be scanned."""
    plain_table = cast("Any", table)
    for number, field in enumerate(plain_table.schema):
        column = plain_table.column(number)
        plain = make_readable(column)
        if plain is not column:
            plain_table = plain_table.set_column(number, field.name, plain)
    return cast("ArrowTable", plain_table)


def parquet_columns(paths: Sequence[Path], names: Sequence[str]) -> object:
    """A stream of some columns of Parquet files, with no cell that cannot be scanned.

    The files may store a type in several ways, such as decimals of several widths.
    """
    schema = _parquet().ParquetFile(paths[0]).schema_arrow
    kinds = [_widest(make_readable(pa.nulls(0, schema.field(name).type)).type) for name in names]
    fields = pa.schema([pa.field(n, kind) for n, kind in zip(names, kinds, strict=True)])
    return pa.RecordBatchReader.from_batches(fields, _batches(paths, fields))


def _widest(kind: Any) -> Any:
    return pa.decimal128(kind.precision, kind.scale) if pa.types.is_decimal(kind) else kind


def has_valid_column(paths: Sequence[Path], name: str) -> bool:
    """Whether every cell of a column of Parquet files is what its type says."""
    files = (_parquet().ParquetFile(path).iter_batches(columns=[name]) for path in paths)
    return all(is_valid(batch.column(name)) for batches in files for batch in batches)


def row_groups(path: Path) -> list[int]:
    """How many rows each row group of a Parquet file has.

    DuckDB's own list of them fails where a column's smallest time is beyond the calendar.
    """
    footer = _parquet().ParquetFile(path).metadata
    return [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]


def _batches(paths: Sequence[Path], fields: Any) -> Iterator[object]:
    for path in paths:
        for batch in _parquet().ParquetFile(path).iter_batches(columns=fields.names):
            columns = [make_readable(batch.column(field.name)).cast(field.type) for field in fields]
            yield pa.RecordBatch.from_arrays(columns, schema=fields)


def table_of(columns: Sequence[tuple[str, object]]) -> ArrowTable:
    """A table of named arrays; names may repeat."""
    arrays = [array for _, array in columns]
    for name, _ in columns:
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise ParameterError(f"A column is called {name!r}, which is not text. Rename it.")
    return cast("ArrowTable", pa.Table.from_arrays(arrays, names=[name for name, _ in columns]))


def array_of(values: object) -> object | None:
    """An Arrow array without copying where that can be; None where Arrow has no type for it."""
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def texts_of(values: Iterable[object]) -> object:
    """An array of text, of any length altogether."""
    return pa.array(values, type=pa.large_string())


def column_of(values: Values, kind: Type, missing: Values | None = None) -> object:
    """An array of a type from one of numbers, truth values or moments; NaN and NaT are missing."""
    return pa.array(values, ROW_TYPES[kind](), mask=missing, from_pandas=True)


def take_cells(column: object, places: NDArray[np.int64], missing: NDArray[np.bool_]) -> object:
    """The cells of a column at these places; missing where there is none."""
    return cast("Any", column).take(column_of(places, Type.INTEGER, missing))


def presence_of(missing: Iterable[bool]) -> object:
    """A column of which no more is known than what is missing."""
    return pa.array([None if gone else b"" for gone in missing], pa.binary())


def empty_column(rows: int) -> object:
    """A column of which nothing is known."""
    return pa.nulls(rows)


def key_table(
    keys: Sequence[tuple[Key, ...]], kinds: Sequence[Type], names: Sequence[str], number: str
) -> ArrowTable:
    """The keys as columns, and a column that numbers them."""
    columns: list[tuple[str, object]] = [(number, _numbers(np.arange(len(keys))))]
    for place, (kind, name) in enumerate(zip(kinds, names, strict=True)):
        columns.append((name, _key_array([key[place] for key in keys], kind)))
    return table_of(columns)


def _key_array(values: Sequence[Key], kind: Type) -> object:
    wanted = {Type.TEXT: str, Type.INTEGER: int, Type.BOOLEAN: bool, Type.DATE: date}.get(kind)
    exact = wanted is not None and all(v is None or type(v) is wanted for v in values)
    array = _keys(values, kind) if exact else None
    if array is None:
        raise ParameterError(
            f"The keys of a group of {kind.value} must be {kind.value}. List keys of that type."
        )
    return array


def _keys(values: Sequence[Key], kind: Type) -> object | None:
    """Keys of one type, or missing, as an array; None where Arrow cannot hold one of them."""
    is_known = np.array([value is not None for value in values], np.bool_)
    try:
        if kind is Type.TEXT:
            return _texts([str(value or "").encode() for value in values], is_known)
        if kind is Type.DATE:
            days = [(value or EPOCH).toordinal() for value in cast("Sequence[date | None]", values)]
            return _numbers(np.array(days, np.int32) - EPOCH.toordinal(), ~is_known, pa.date32())
        if kind is Type.BOOLEAN:
            true = _bitmap(np.array([value is True for value in values], np.bool_))
            return pa.Array.from_buffers(pa.bool_(), len(values), [_bitmap(is_known), true])
        return _numbers(np.array([value or 0 for value in values], np.int64), ~is_known)
    except (pa.ArrowException, ValueError, OverflowError):
        return None


def _texts(texts: Sequence[bytes], there: NDArray[np.bool_]) -> object:
    ends = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    buffers = [_bitmap(there), pa.py_buffer(ends), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers)


def _numbers(values: Values, missing: Values | None = None, kind: object = None) -> object:
    """An array over the memory of numbers.

    `pa.array` would do the same, but loads pandas wherever that is installed, which takes longer
    than to answer a question.
    """
    validity = None if missing is None else _bitmap(~missing)
    buffers = [validity, pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(kind or pa.from_numpy_dtype(values.dtype), len(values), buffers)


def _bitmap(there: NDArray[np.bool_]) -> object:
    return pa.py_buffer(np.packbits(there, bitorder="little"))


def array_over(numbers: NDArray[np.int32]) -> object:
    """An array over the memory of numbers, none of which is missing."""
    return _numbers(numbers)


def table_beside(columns: Mapping[str, object], sizes: Sequence[int]) -> ArrowTable:
    """Arrays as columns of a table, in batches of the given sizes.

    Where these are the batches of the table that they belong to, DuckDB puts the two side by side
    without copying either. Other sizes are as right, but slower.
    """
    batch = pa.record_batch(list(columns.values()), names=list(columns))
    ends = np.cumsum(np.asarray(sizes, np.int64))
    starts = [0, *(int(end) for end in ends if end < batch.num_rows)]
    lengths = np.diff([*starts, batch.num_rows])
    batches = [batch.slice(start, int(n)) for start, n in zip(starts, lengths, strict=True)]
    return cast("ArrowTable", pa.Table.from_batches(batches, schema=batch.schema))


def whole_numbers(reader: object, rows: int) -> object:
    """The only column of a stream, of whole numbers, as one array; about so many rows."""
    arrays = (batch.column(0) for batch in cast("Any", reader))
    return _numbers(*_whole_numbers(arrays, np.empty(rows, np.int64)))


def flags_of(reader: object) -> NDArray[np.bool_]:
    """A stream of one column of truth values, none missing."""
    chunks = [_flags(batch.column(0)) for batch in cast("Any", reader)]
    return np.concatenate([np.empty(0, np.bool_), *chunks])


def _flags(array: Any) -> NDArray[np.bool_]:
    bits = np.unpackbits(np.frombuffer(array.buffers()[1], np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)] == 1


def batch_sizes(table: ArrowTable) -> list[int]:
    """How many rows the batches have in which a table is scanned."""
    return [batch.num_rows for batch in cast("Any", table).to_batches()]


def read_all(reader: object) -> ArrowTable:
    """All batches of a reader."""
    return cast("ArrowTable", cast("Any", reader).read_all())


def codes_of(
    reader: object, rows: int = 0
) -> tuple[NDArray[np.integer[Any]], NDArray[np.bool_] | None]:
    """A number for each value of a one-column stream, equal for equal values; which are missing.

    Whole numbers are their own code. Other values are numbered batch by batch, and then the
    batches' numberings are made one. rows: about how many there are. Which are missing: None for
    none.
    """
    stream = cast("Any", reader)
    if pa.types.is_integer(stream.schema.field(0).type):
        return _whole_numbers((batch.column(0) for batch in stream), np.empty(rows, np.uint32))
    encoded = [batch.column(0).dictionary_encode() for batch in stream]
    unified = pa.chunked_array(encoded).unify_dictionaries().chunks if encoded else []
    return _whole_numbers((chunk.indices for chunk in unified), np.empty(rows, np.uint32))


def _whole_numbers(
    arrays: Iterable[Any], numbers: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.integer[Any]], NDArray[np.bool_] | None]:
    """Whole numbers and which are missing; in 32 bits, if those to be written over have so many, as
    long as these are enough.

    Each array is copied and let go: memory that is new for every batch takes longer than to read.
    """
    missing, end = np.empty(0, np.bool_), 0
    for array in arrays:
        values, start, end = _integers(array), end, end + len(array)
        if array.null_count:
            gone = _missing_in(array)
            values = np.where(gone, 0, values)
            if missing.size < end:
                missing = np.pad(missing, (0, max(numbers.size, 2 * end) - missing.size))
            missing[start:end] = gone
        if numbers.dtype == np.uint32 and not _fit(values):
            numbers = numbers.astype(np.int64)
        if end > numbers.size:
            numbers = np.concatenate([numbers[:start], np.empty(end, numbers.dtype)])
        numbers[start:end] = values
    if not missing.size:
        return numbers[:end], None
    return numbers[:end], np.pad(missing, (0, max(0, end - missing.size)))[:end]


def _fit(values: Values) -> bool:
    """Whether 32 bits without a sign hold all of them."""
    return values.min(initial=0) >= 0 and values.max(initial=0) < 1 << 32


def number_codes(codes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """The same codes as numbers from 0, in the order in which they first come."""
    indices = cast("Any", _numbers(codes)).dictionary_encode().indices
    return _integers(indices).astype(np.int64)


def _integers(array: Any) -> Values:
    """Whole numbers from the array's memory; what stands where one is missing means nothing."""
    kind, (_, memory) = np.dtype(str(array.type)), array.buffers()
    start = array.offset * kind.itemsize
    return np.frombuffer(memory, kind, len(array), start) if len(array) else np.empty(0, kind)


def _missing_in(array: Any) -> NDArray[np.bool_]:
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)] == 0


def rows_of(table: ArrowTable) -> list[dict[str, object]]:
    """The rows of a public table."""
    return cast("list[dict[str, object]]", cast("Any", table).to_pylist())


def tuples_of(table: object) -> list[tuple[Any, ...]]:
    """The rows of a result, each a tuple; its columns may share a name."""
    columns = [column.to_pylist() for column in cast("Any", table).columns]
    return list(zip(*columns, strict=True))


def types_of(table: ArrowTable) -> list[str]:
    """Arrow's words for the types of the columns."""
    return [str(field.type) for field in cast("Any", table).schema]


def read_file(path: Path) -> ArrowTable:
    """A public CSV or Parquet file; what is wrong with it may be said."""
    try:
        if path.suffix.lower() == ".parquet":
            return cast("ArrowTable", _parquet().read_table(str(path)))
        from pyarrow import csv

        return cast("ArrowTable", csv.read_csv(str(path)))
    except (pa.ArrowException, OSError) as error:
        words = str(error).splitlines()[0][:200]
    raise ParameterError(f"The public table {path} cannot be read: {words}")


class ParquetOfText:
    """A new Parquet file whose columns are text, written some rows at a time."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self._fields = pa.schema([pa.field(name, pa.string()) for name in names])
        self._writer = _parquet().ParquetWriter(path, self._fields)
        self._rows: list[list[str | None]] = []
        self._size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._write()
        self._writer.close()

    def add(self, cells: list[str | None]) -> None:
        """A row; cells that are too few are missing, further ones are left out."""
        number = len(self._fields)
        self._rows.append((cells + [None] * (number - len(cells)))[:number])
        self._size += sum(len(cell or "") + 1 for cell in self._rows[-1])
        if self._size >= LETTERS_AT_ONCE:
            self._write()

    def _write(self) -> None:
        if self._rows:
            columns = [pa.array(cells, pa.string()) for cells in zip(*self._rows, strict=True)]
            self._writer.write_table(pa.Table.from_arrays(columns, schema=self._fields))
        self._rows, self._size = [], 0


def columns_of(table: ArrowTable) -> list[tuple[str, Type]]:
    """The columns of a readable table with our types for Arrow's, which are those that DuckDB
    would say."""
    return [(field.name, _type_of(field.type)) for field in cast("Any", table).schema]


def _type_of(kind: Any) -> Type:
    if pa.types.is_timestamp(kind):
        return Type.OTHER if kind.unit == "ns" and kind.tz is not None else Type.TIMESTAMP
    if isinstance(kind, pa.BaseExtensionType):
        return EXTENSIONS.get(kind.extension_name, Type.OTHER)
    return next((ours for holds, ours in ARROW_TYPES if holds(kind)), Type.OTHER)


def table_of_rows(
    batches: Iterable[Sequence[tuple[object, ...]]], kinds: Sequence[Type]
) -> ArrowTable:
    """Rows of Python values as a table, a batch at a time; columns are called by their number."""
    types = [ROW_TYPES[kind]() for kind in kinds]
    fields = pa.schema([pa.field(str(n), kind) for n, kind in enumerate(types)])
    made: list[Any] = []
    for rows in batches:
        columns = [pa.array([row[n] for row in rows], kind) for n, kind in enumerate(types)]
        made.append(pa.record_batch(columns, schema=fields))
    return cast("ArrowTable", pa.Table.from_batches(made, schema=fields))


def values_of(table: ArrowTable, kinds: Sequence[Type]) -> list[Values]:
    """The columns as arrays: numbers as doubles, NaN where missing; all else as objects or None.

    The type of an array depends on the declared type alone, never on the values.
    """
    columns = cast("Any", table).columns
    return [_values(column, kind) for column, kind in zip(columns, kinds, strict=True)]


def _values(column: Any, kind: Type) -> Values:
    if kind.is_numeric:
        plain = column.cast(pa.float64(), safe=False)
        return np.asarray(plain.to_numpy(zero_copy_only=False), np.float64)
    values = np.empty(len(column), object)
    values[:] = column.to_pylist()
    return values


def size_of_parquet(path: Path) -> tuple[int, int, int]:
    """Columns, rows and millions of bytes when not compressed, as the footer says. For its owner.

    OSError or ValueError where it cannot be read.
    """
    footer = _parquet().ParquetFile(path).metadata
    groups = range(footer.num_row_groups)
    size = sum(footer.row_group(number).total_byte_size for number in groups)
    return footer.num_columns, footer.num_rows, size // 10**6


def distinct_values(table: ArrowTable, name: str, *, at_most: int) -> list[Key]:
    """The different values of a column in their order, without a missing one; [] if too many."""
    values = [value for value in cast("Any", table)[name].unique().to_pylist() if value is not None]
    return sorted(values) if len(values) <= at_most else []


def number_ends(table: ArrowTable, name: str) -> tuple[float, float] | None:
    """The least and the largest number of a column; None where there is none."""
    values = [value for value in cast("Any", table)[name].unique().to_pylist() if value is not None]
    finite = [float(value) for value in values if np.isfinite(float(value))]
    return (min(finite), max(finite)) if finite else None


def rename_columns(table: ArrowTable, names: Mapping[str, str]) -> ArrowTable:
    """The table with some columns under other names."""
    given = [names.get(name, name) for name in table.column_names]
    return cast("ArrowTable", cast("Any", table).rename_columns(given))


def distinct_rows(
    table: ArrowTable, names: Sequence[str], *, at_most: int
) -> list[tuple[Key, ...]]:
    """The different rows of some columns, without a missing value; [] if there are too many."""
    columns = [cast("Any", table)[name].to_pylist() for name in names]
    rows = {row for row in zip(*columns, strict=True) if None not in row}
    return sorted(rows) if len(rows) <= at_most else []
