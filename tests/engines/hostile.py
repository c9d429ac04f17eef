"""Arrow columns whose cells are nothing that a reader expects; six rows each."""

import numpy as np
import pyarrow as pa

PLAIN = pa.string()
BROKEN = [b"A", b"\xff\xfe", b"ok\x80", b"\xed\xa0\x80", b"A\x00B", None]
TEXTS = ["A", None, None, None, "A\x00B", None]  # what is left of BROKEN
WIDE = [0, 1, 2**63 - 1, -(2**63), -(2**63) + 1, 2**62]
SHORT = [0, 1, 2**31 - 1, -(2**31), -(2**31) + 1, 2**30]
LONG = [0, 1, 2**127 - 1, -(2**127), 10**38, 10**38 - 1]


def texts(kind: pa.DataType = PLAIN, cells=BROKEN) -> pa.Array:
    """Bytes that are called text."""
    binary = {
        pa.string(): pa.binary(),
        pa.large_string(): pa.large_binary(),
        pa.string_view(): pa.binary_view(),
    }
    stored = pa.array(cells, binary[kind])
    return pa.Array.from_buffers(kind, len(cells), stored.buffers(), stored.null_count)


def raw(kind: pa.DataType, numbers: list[int]) -> pa.Array:
    """Numbers that are called something else."""
    cells = b"".join(
        number.to_bytes(kind.bit_width // 8, "little", signed=True) for number in numbers
    )
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(cells)])


def _of_categories() -> pa.Array:
    places = pa.array([*range(5), None], pa.int32())
    return pa.DictionaryArray.from_arrays(places, texts(cells=BROKEN[:5]), safe=False)


STORED = {  # what a Parquet file can hold, too
    "text": texts(),
    "large": texts(pa.large_string()),
    "view": texts(pa.string_view(), [cell and cell * 9 for cell in BROKEN]),
    "categories": _of_categories(),
    "ms": raw(pa.timestamp("ms"), WIDE),
    "us": raw(pa.timestamp("us"), WIDE),
    "ns": raw(pa.timestamp("ns"), WIDE),
    "zoned ms": raw(pa.timestamp("ms", "UTC"), WIDE),
    "zoned us": raw(pa.timestamp("us", "UTC"), WIDE),
    "no such zone": raw(pa.timestamp("us", "Nowhere/Land"), WIDE),
    "day": raw(pa.date32(), SHORT),
    "day in ms": raw(pa.date64(), WIDE),
    "clock": raw(pa.time64("us"), WIDE),
    "clock in ms": raw(pa.time32("ms"), SHORT),
    "duration": raw(pa.duration("s"), WIDE),
    "decimal": raw(pa.decimal128(38, 0), LONG),
    "small decimal": raw(pa.decimal128(38, 38), LONG),
    "short decimal": raw(pa.decimal128(5, 2), LONG),
    "wide decimal": pa.array([1] * 6, pa.decimal256(60, 0)),
    "half": pa.array(np.array([0, 1, np.nan, np.inf, -np.inf, -0.0], np.float16)),
    "list": pa.ListArray.from_arrays(range(7), texts()),
    "struct": pa.StructArray.from_arrays([texts()], ["x"]),
    "map": pa.MapArray.from_arrays(range(7), texts(cells=[b"\xff"] * 6), pa.array(range(6))),
    "key twice": pa.array([[("a", 1), ("a", 2)]] * 6, pa.map_(pa.string(), pa.int64())),
    "json": pa.ExtensionArray.from_storage(pa.json_(), texts()),
    "bytes": pa.array(BROKEN, pa.binary()),
    "uuid": pa.array([b"0" * 16] * 6, pa.uuid()),
    "nothing": pa.nulls(6),
}
FRAMED = STORED | {
    "s": raw(pa.timestamp("s"), WIDE),
    "zoned s": raw(pa.timestamp("s", "UTC"), WIDE),
    "no such category": pa.DictionaryArray.from_arrays(
        pa.array([0, 99, -1, 7, 1, None], pa.int32()), pa.array(["a", "b"]), safe=False
    ),
    "category of lists": pa.DictionaryArray.from_arrays(
        pa.array([0] * 6, pa.int32()), pa.array([[1]])
    ),
    "runs": pa.RunEndEncodedArray.from_arrays([2, 4, 6], pa.array(["a", "b", None])),
    "thousands": raw(pa.decimal128(5, -3), [0, 1, 2, 3, 4, 5]),
    "union": pa.UnionArray.from_dense(
        pa.array([0] * 6, pa.int8()), pa.array(range(6), pa.int32()), [pa.array(range(6)), texts()]
    ),
    "interval": pa.array([(1, 2, 3)] * 6, pa.month_day_nano_interval()),
    "own": pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "a", "b"), texts()),
}
