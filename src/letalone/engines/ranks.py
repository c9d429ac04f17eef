"""Ranks: a uniformly random order of each unit's rows, drawn once.

Rows are put into a random order (sorted by 64-bit keys: random bits above, the position below),
and that order is then sorted by unit, keeping it within each unit. The place of a row
among those of its unit is its rank, from 1.

Theorem.  The order of a unit's rows depends on that unit's rows and on bits that no other
row uses. So neighbours, whose other units have the same rows and the same bits, keep the
same rows of all other units (SOUNDNESS 13).
  Proven:   each row has 32 random bits of its own, in every table. Two rows of a unit are
            ordered by these, and where they agree, by which comes first in the table. Sorting
            by (unit, place in that order) compares two rows of a unit by that order only.
            Rows of other units do not enter, nor does their number.
  Uniform:  two rows agree in 32 bits with probability 2^-32; for a unit of m rows the order is
            uniform up to m² / 2^33 in total variation. Soundness does not rest on it, only
            how well the kept rows stand for all.
  Tested:   tests/engines/test_ranks.py
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.engines.failure import EngineFailed
from letalone.randomness.bits import BitSource

Codes = NDArray[np.int64]
Progress = Callable[[float], None]

BLOCK = 1 << 22  # rows at a time where a whole temporary array would be large
SHORT = np.iinfo(np.uint16).max
# The position has the lower half of a key. Were it given only the bits that it needs, the random
# bits would be more in a smaller table, and one unit's ties could tell of another's rows.
POSITION = np.uint64(32)
MOST_ROWS = 1 << 32


def draw_ranks(
    codes: Codes, missing: NDArray[np.bool_], *, bits: BitSource, progress: Progress
) -> NDArray[np.unsignedinteger[Any]]:
    """The rank of each row among the rows with its code; in 16 bits where they suffice.

    Rows whose unit is missing take no part: their rank is 0.
    """
    if not missing.any():
        return _ranks(codes, bits, progress)
    there = ~missing
    some = _ranks(codes[there], bits, progress)
    ranks = np.zeros(codes.size, some.dtype)
    ranks[there] = some
    return ranks


def _ranks(codes: Codes, bits: BitSource, progress: Progress) -> NDArray[np.unsignedinteger[Any]]:
    if not codes.size:
        return np.empty(0, np.uint16)
    if codes.size > MOST_ROWS:
        raise EngineFailed
    width = max(1, int(codes.size - 1).bit_length())
    order = _random_order(codes.size, bits)
    progress(0.5)
    keys = _by_unit(_compact(codes, width), order, width)
    progress(0.7)
    keys.sort()
    progress(0.8)
    ranks = _places(keys, order, width)
    return ranks.astype(np.uint16) if ranks.max() <= SHORT else ranks


def _random_order(size: int, bits: BitSource) -> NDArray[np.uint64]:
    """The positions 0 … size-1 in random order."""
    keys = np.empty(size, np.uint64)
    for start in range(0, size, BLOCK):
        block = keys[start : start + BLOCK]
        bits.fill(block)
        block >>= POSITION
        block <<= POSITION
        block |= np.arange(start, start + block.size, dtype=np.uint64)
    keys.sort()
    keys &= np.uint64(MOST_ROWS - 1)
    return keys


def _compact(codes: Codes, width: int) -> Codes:
    """Codes that fit above a position in 64 bits: less the smallest, or numbered anew."""
    smallest, largest = int(codes.min()), int(codes.max())
    if (largest - smallest).bit_length() + width <= 64:
        return codes
    return np.unique(codes, return_inverse=True)[1].astype(np.int64, copy=False)


def _by_unit(codes: Codes, order: NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """For each row, in random order: its unit above, its place in that order below."""
    smallest = codes.min()
    keys = np.empty(codes.size, np.uint64)
    for start in range(0, codes.size, BLOCK):
        here = codes[order[start : start + BLOCK]]
        # Differences of 64-bit integers are right modulo 2^64, and they are below it.
        units = here.astype(np.uint64) - np.uint64(int(smallest) % 2**64)
        places = np.arange(start, start + here.size, dtype=np.uint64)
        keys[start : start + BLOCK] = (units << np.uint64(width)) | places
    return keys


def _places(keys: NDArray[np.uint64], order: NDArray[np.uint64], width: int) -> NDArray[np.uint32]:
    """The place of each row among those of its unit, in the order of the table."""
    ranks = np.empty(keys.size, np.uint32)
    first = 0  # where the unit at the end of the last block began
    last_unit: np.uint64 | None = None
    for start in range(0, keys.size, BLOCK):
        block = keys[start : start + BLOCK]
        units = block >> np.uint64(width)
        fresh = np.empty(block.size, np.bool_)
        fresh[1:] = units[1:] != units[:-1]
        fresh[0] = last_unit is None or units[0] != last_unit
        numbers = np.arange(start, start + block.size, dtype=np.int64)
        began = np.maximum.accumulate(np.where(fresh, numbers, first))
        places = order[block & np.uint64((1 << width) - 1)]
        ranks[places] = (numbers - began + 1).astype(np.uint32)
        first, last_unit = int(began[-1]), units[-1]
    return ranks
