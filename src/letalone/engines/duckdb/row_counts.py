"""Counts the rows of each unit, and puts the number beside each of them.

Rows are counted in a table that has a place for each code of a unit. Codes that lie far apart are
narrowed first: a hash gives each a place; of the codes that share one, one keeps it, and the
others are placed again, by another hash, in places of their own. A dictionary numbers the last.

Theorem.  The number beside a row is how many rows of its unit count, and 0 if the row does not
count itself. So it depends on the rows of that unit alone.
  Proven:   different codes have different places. A place of a round belongs to the one code that
            is written there in the end; all rows with that code take it, and no others; rounds
            and the dictionary have no place in common. Rows that do not count have place 0, which
            no code has and whose number is made 0. The table's numbers can hold all rows
            (MAX_ROWS).
  Tested:   tests/engines/test_row_counts.py, against a count in Python
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.engines.core.failure import EngineFailed
from letalone.engines.frames.arrow import number_codes

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Counts = NDArray[np.unsignedinteger[Any]]

BLOCK_ROWS = 1 << 16  # rows at a time: temporary arrays stay in the processor's cache
MAX_ROWS = 1 << 32
MAX_SHORT_COUNT = np.iinfo(np.uint16).max
FEW_ROWS = 1 << 16  # have their codes numbered by a dictionary, or as many places
ROUNDS = 8  # of hashing; each leaves fewer codes without a place, and the dictionary does the rest
ODD = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio: its powers spread what they multiply


def count_rows(codes: Codes, missing: Mask, *, passes: Mask | None = None) -> Counts:
    """How many rows have the code of each row, in 16 bits where all fit, else in 32.

    Rows whose unit is missing, or that do not pass, are not counted and have 0.
    """
    if codes.size >= MAX_ROWS:
        raise EngineFailed
    if not codes.size:
        return np.empty(0, np.uint16)
    codes, first, last = _narrowed(codes)
    counted = _counted(missing, passes)
    table = np.zeros(last - first + 2, np.uint32)
    for block in _blocks(codes.size):
        np.add.at(table, _places(codes, first, counted, block), np.uint32(1))
    table[0] = 0
    of_codes: Counts = table.astype(np.uint16) if table.max() <= MAX_SHORT_COUNT else table
    counts = np.empty(codes.size, of_codes.dtype)
    for block in _blocks(codes.size):
        _look_up(of_codes, _places(codes, first, counted, block), counts[block])
    return counts


def weigh_rows(counts: Counts, *, most: int, scale: int) -> NDArray[np.int32]:
    """What each row weighs, in parts of 1 / scale: scale · most // n, and scale if n ≤ most.

    n is the row's count; where it is 0, so is the weight. `scale` is below 2^31.
    """
    largest = int(counts.max(initial=0))
    most = min(most, largest)  # so scale · most is below 2^63
    weights = np.empty(counts.size, np.int32)
    table = _weigh(np.arange(largest + 1), most, scale) if largest < counts.size // 16 else None
    for block in _blocks(counts.size):
        here = counts[block].astype(np.int64)
        if table is None:
            weights[block] = _weigh(here, most, scale)
        else:
            _look_up(table, here, weights[block])
    return weights


def narrow_codes(codes: Codes) -> Codes:
    """Codes that are equal where these are, in a range of at most three times the rows, or 2^16.

    These themselves, if they are such. To be kept where the same rows are counted again.
    """
    return _narrowed(codes)[0] if codes.size else codes


def _narrowed(codes: Codes) -> tuple[Codes, int, int]:
    """Narrow codes, and the least and the largest that there can be."""
    first, last = int(codes.min()), int(codes.max())
    if last - first < max(3 * codes.size, FEW_ROWS):
        return codes, first, last
    narrow, rows, odd, below = np.empty(codes.size, np.int64), None, 1, 0
    # At most a quarter of the rows is the number of a round's places: of all, below 3 · rows.
    for _ in range(ROUNDS):
        left = codes.size if rows is None else rows.size
        if left <= FEW_ROWS:
            break
        odd, bits = odd * ODD % 2**64, (left // 8).bit_length()
        rows = _place(codes, rows, narrow, odd=odd, bits=bits, below=below)
        below += 1 << bits
    here = slice(None) if rows is None else rows
    numbers = number_codes(codes[here])
    narrow[here] = numbers + below
    return narrow, 0, below + int(numbers.max(initial=0))


def _place(
    codes: Codes, rows: Codes | None, narrow: Codes, *, odd: int, bits: int, below: int
) -> Codes:
    """Gives these rows (None: all) one of 2^bits places from `below`; the rows still without."""
    owners = np.empty(1 << bits, np.int64)
    factor, shift = np.uint64(odd), np.uint64(64 - bits)
    blocks = _blocks(codes.size if rows is None else rows.size)
    for block in blocks:
        here = block if rows is None else rows[block]
        mine = codes[here]
        # The product is modulo 2^64, of which the upper bits depend on all of the code's.
        places = ((mine.view(np.uint64) * factor) >> shift).view(np.int64)
        owners[places] = mine
        narrow[here] = places
    left: list[Codes] = []
    for block in blocks:
        here = block if rows is None else rows[block]
        places = narrow[here]
        others = np.flatnonzero(owners.take(places, mode="clip") != codes[here])
        left.append(others + block.start if rows is None else rows[block][others])
        narrow[here] = places + below
    return np.concatenate(left)


def _counted(missing: Mask, passes: Mask | None) -> Mask | None:
    """Which rows count; None for all."""
    if not missing.any():
        return passes
    return ~missing if passes is None else passes & ~missing


def _places(codes: Codes, first: int, counted: Mask | None, block: slice) -> Codes:
    """From 1 by the code; 0 for rows that do not count."""
    places = codes[block] - first
    places += 1
    if counted is not None:
        places *= counted[block]
    return places


def _look_up(table: NDArray[Any], places: Codes, out: NDArray[Any]) -> None:
    # Every place is one of the table's, and not to look whether it is takes half the time.
    np.take(table, places, out=out, mode="clip")


def _weigh(counts: NDArray[np.int64], most: int, scale: int) -> NDArray[np.int32]:
    shares = scale * most // np.maximum(counts, 1)
    weights = np.where(counts <= most, scale, shares)
    return np.where(counts == 0, 0, weights).astype(np.int32)


def _blocks(rows: int) -> list[slice]:
    ends = [*range(0, rows, BLOCK_ROWS), rows]
    return [slice(start, end) for start, end in pairwise(ends)]
