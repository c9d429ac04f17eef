"""Rows of bits, one a person: packed into bytes, highest bit first, and counted by column."""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
MOST_ROWS = 255  # a sum of so many bits fits into a byte
ROWS_AT_ONCE = 4 * MOST_ROWS


def bytes_of_bits(count: int) -> int:
    """How many bytes a row of so many bits takes."""
    return (count + 7) // 8


def count_columns(rows: Bytes, count: int) -> NDArray[np.int64]:
    """How many rows have each of the first `count` bits set."""
    totals = np.zeros(count, np.int64)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        bits = np.unpackbits(rows[start : start + ROWS_AT_ONCE], axis=1, count=count)
        for first in range(0, len(bits), MOST_ROWS):
            totals += np.add.reduce(bits[first : first + MOST_ROWS], axis=0, dtype=np.uint8)
    return totals


def is_padded(rows: Bytes, count: int) -> NDArray[np.bool_]:
    """Which rows have nothing behind their last bit."""
    spare = np.uint8((1 << (8 * rows.shape[1] - count)) - 1)
    return (rows[:, -1] & spare) == 0


def set_bits(rows: Bytes) -> NDArray[np.int64]:
    """How many bits of each row are set."""
    return np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
