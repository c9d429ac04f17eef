"""Columns of text as views of the bytes that were read (Arrow's string_view): nothing is copied.

A view is sixteen bytes: the length, and the text itself if it has at most twelve bytes, else its
first four, the number of a buffer and the place in it.

  Tested:   tests/engines/test_csv_lines.py, texts of all lengths
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

INLINE = 12
PADDING = b"\0" * INLINE  # behind the last text, so that twelve bytes can be read anywhere
_FIRST_BYTES = np.frombuffer(  # masks that keep the first 0, 1, 2, 3, 4 bytes of a word
    b"".join(b"\xff" * n + b"\0" * (4 - n) for n in range(5)), np.uint32
)

Places = NDArray[np.int64]


def views_of_text(
    data: NDArray[np.uint8], starts: Places, lengths: Places, where: Places, others: list[bytes]
) -> Any:
    """A column of text: views of the data, but for other texts at some rows; none where empty."""
    views = _views(data, starts, lengths, 0)
    extra = np.frombuffer(b"".join(others) + PADDING, np.uint8)
    sizes = np.array([len(one) for one in others], np.int64)
    views[where] = _views(extra, np.cumsum(sizes) - sizes, sizes, 1)
    present = np.packbits(views[:, 0] > 0, bitorder="little")
    buffers = [pa.py_buffer(one) for one in (present, views, data, extra)]
    return pa.Array.from_buffers(pa.string_view(), len(starts), buffers)


def _views(
    data: NDArray[np.uint8], starts: Places, lengths: Places, buffer: int
) -> NDArray[np.uint32]:
    """Arrow's views: the length and the letters, or the first four, the buffer and the place."""
    words = np.ndarray((len(data) - 3,), np.uint32, buffer=data.data, strides=(1,))
    views = np.zeros((len(starts), 4), np.uint32)
    views[:, 0] = lengths
    longest = int(lengths.max(initial=0))
    for part in range(min(3, -(-longest // 4))):
        mask = _FIRST_BYTES[np.clip(lengths - 4 * part, 0, 4)]
        views[:, 1 + part] = words[starts + 4 * part] & mask
    if longest > INLINE:
        long = np.flatnonzero(lengths > INLINE)
        views[long, 2], views[long, 3] = buffer, starts[long]
    return views
