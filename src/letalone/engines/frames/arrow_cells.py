"""Makes cells of Arrow columns readable, so that no reader stops at one, whatever a row holds.

An Arrow array promises more than anybody checks: text may be no UTF-8, a time may lie beyond what
fits into microseconds, a map may have a key twice. DuckDB stops at such a cell, and that one
person's row can stop a release would be an exact answer (rule 1 of docs/explanation/soundness.md).
So each cell is read here by a total rule of its own: what cannot be read is missing, in this row
only.

Theorem.  A cell of the result depends on that cell alone; its type, on the column's type alone.
  Proven:   every rule below is applied to each cell, and chosen by the type
  Tested:   tests/engines/test_hostile_data.py
  Assumed:  the buffers of the arrays are as long as they should be

Columns of types that no question can look into are replaced by whether they are there.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

A_SECOND = {"s": 1, "ms": 1000}
MAX_SECONDS = 2**63 // 10**6 - 1  # that fit into microseconds


def make_readable(column: Any) -> Any:
    """The column with the same chunks, each of them readable; itself where it is already."""
    if isinstance(column, pa.ChunkedArray):
        chunks = column.chunks or [pa.nulls(0, column.type)]
        made = [_chunk(chunk) for chunk in chunks]
        same = all(new is old for new, old in zip(made, chunks, strict=True))
        return column if same else pa.chunked_array(made)
    return _chunk(column)


def _chunk(cells: Any) -> Any:
    kind = cells.type
    if pa.types.is_dictionary(kind):
        return _decode(cells.indices, cells.dictionary)
    if pa.types.is_run_end_encoded(kind):
        rows = cells.offset + np.arange(len(cells))
        runs = np.searchsorted(np.asarray(cells.run_ends), rows, side="right")
        return _decode(pa.array(runs), cells.values)
    if isinstance(kind, pa.BaseExtensionType):
        return _read_extension(cells)
    if is_text(kind):
        return cells if is_valid(cells) else _texts(cells)
    if pa.types.is_timestamp(kind) and kind.unit in A_SECOND:
        return _times(cells)
    if pa.types.is_float16(kind):
        return cells.cast(pa.float32())
    if pa.types.is_decimal256(kind) or (pa.types.is_decimal(kind) and kind.scale < 0):
        return cells.cast(pa.float64(), safe=False)
    if pa.types.is_decimal(kind):
        return cells if is_valid(cells) else _decimals(cells)
    return cells if _is_plain(kind) else _presence(cells)


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow is text."""
    stored_at_once = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return stored_at_once or pa.types.is_string_view(kind)


def _is_plain(kind: Any) -> bool:
    """Fixed-width values of which every bit pattern can be scanned."""
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    time = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    return number or time or pa.types.is_boolean(kind) or pa.types.is_null(kind)


def _decode(places: Any, values: Any) -> Any:
    """Categories and runs as plain values; a place that is none is missing."""
    inside = pc.and_(pc.greater_equal(places, 0), pc.less(places, len(values)))
    known = pc.if_else(inside, places, pa.scalar(None, places.type))
    plain = _chunk(values)
    if pa.types.is_string(plain.type):  # once for each row, texts may have more than 2 GiB
        plain = plain.cast(pa.large_string())
    return plain.take(known)


def _read_extension(cells: Any) -> Any:
    if cells.type.extension_name in ("arrow.uuid", "arrow.bool8"):
        return cells
    if cells.type.extension_name == "arrow.json":
        return _presence(cells)
    return _chunk(cells.storage)


def is_valid(cells: Any) -> bool:
    """Whether text is UTF-8 and decimals have no more digits than their type."""
    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _texts(cells: Any) -> Any:
    """Text as it is; what is no UTF-8 is missing."""
    large = pa.types.is_large_string(cells.type)
    stored = cells.cast(pa.large_binary() if large else pa.binary())
    return pa.array([_text(cell.as_py()) for cell in stored], cells.type)


def _text(cell: bytes | None) -> str | None:
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return None


def _decimals(cells: Any) -> Any:
    """Decimals as they are; what has more digits than the type is missing.

    Made of the same bytes, since a kernel may convert decimals, and stop at one, before it chooses.
    """
    width, limit = cells.type.bit_width // 8, 10**cells.type.precision
    stored = cells.buffers()[1].slice(cells.offset * width, len(cells) * width)
    places = range(0, stored.size, width)
    numbers = (int.from_bytes(stored[p : p + width], "little", signed=True) for p in places)
    fits = np.array([abs(number) < limit for number in numbers]) & np.asarray(cells.is_valid())
    validity = pa.py_buffer(np.packbits(fits, bitorder="little"))
    return pa.Array.from_buffers(cells.type, len(cells), [validity, stored])


def _times(cells: Any) -> Any:
    """Seconds and milliseconds as microseconds; what does not fit is missing."""
    kind = cells.type
    counts, limit = cells.view(pa.int64()), MAX_SECONDS * A_SECOND[kind.unit]
    fits = pc.and_(pc.less_equal(counts, limit), pc.greater_equal(counts, -limit))
    known = pc.if_else(fits, counts, pa.scalar(None, pa.int64()))
    micros = pc.multiply(known, 10**6 // A_SECOND[kind.unit])
    return micros.cast(pa.timestamp("us", kind.tz))


def _presence(cells: Any) -> Any:
    present, missing = pa.scalar(b"", pa.binary()), pa.scalar(None, pa.binary())
    return pc.if_else(pc.is_valid(cells), present, missing)
