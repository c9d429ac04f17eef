"""Counts the rows of each unit, and weighs each row by the number of its unit's.

Rows are counted in a table that has a place for each code of a unit. Codes that lie far apart are
narrowed first: a hash gives each a place; of the codes that share one, one keeps it, and the
others are placed again, by another hash, in places of their own. A dictionary numbers the last.

Theorem.  The number at a row's place is how many rows of its unit count, and 0 if the row does not
count itself. So it depends on the rows of that unit alone.
  Proven:   different codes have different places. A place of a round belongs to the one code that
            is written there in the end; all rows with that code take it, and no others; rounds
            and the dictionary have no place in common. Rows that do not count have the last place,
            which no code has and whose number is made 0. The table's numbers can hold all rows
            (MAX_ROWS).
  Tested:   tests/engines/test_row_counts.py, against a count in Python
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.engines.core.failure import EngineFailed
from letalone.engines.frames.arrow import number_codes

Whole = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]
Counts = NDArray[np.unsignedinteger[Any]]

BLOCK_ROWS = 1 << 16  # rows at a time: temporary arrays stay in the processor's cache
MAX_ROWS = 1 << 32
MAX_SHORT_COUNT = np.iinfo(np.uint16).max
FEW_ROWS = 1 << 16  # have their codes numbered by a dictionary, or as many places
ROUNDS = 8  # of hashing; each leaves fewer codes without a place, and the dictionary does the rest
ODD = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio: its powers spread what they multiply


@dataclass(frozen=True, slots=True, eq=False)
class RowCounts:
    """How many rows the unit of each row has: the number at the row's place, 0 if the row does not
    count."""

    places: Whole
    numbers: Whole

    def beside_rows(self) -> Counts:
        """The number of each row, in 16 bits where all fit, else in 32."""
        short = self.numbers.max(initial=0) <= MAX_SHORT_COUNT
        return _look_up(self.numbers.astype(np.uint16 if short else np.uint32), self.places)


def count_rows(codes: Whole, missing: Mask | None, *, passes: Mask | None = None) -> RowCounts:
    """How many rows have the code of each row.

    Rows whose unit is missing, or that do not pass, are not counted and have 0.
    """
    if codes.size >= MAX_ROWS:
        raise EngineFailed
    codes = narrow_codes(codes)
    last = int(codes.max()) + 1 if codes.size else 0
    counted = _find_counted(missing, passes)
    places = codes if counted is None else _place_codes(codes, counted, last)
    numbers = np.zeros(last + 1, np.uint32)
    for block in _blocks(codes.size):
        np.add.at(numbers, places[block].astype(np.int64), np.uint32(1))
    numbers[last] = 0
    return RowCounts(places, numbers)


def counts_beside(rows: Whole) -> RowCounts:
    """Counts of which each row's number is known."""
    return RowCounts(rows, np.arange(int(rows.max(initial=0)) + 1, dtype=np.uint32))


def weigh_rows(counts: RowCounts, *, most: int, scale: int) -> NDArray[np.int32]:
    """What each row weighs, in parts of 1 / scale: scale · most // n, and scale if n ≤ most.

    n is the row's count; where it is 0, so is the weight. `scale` is below 2^31.
    """
    numbers = counts.numbers
    largest = int(numbers.max(initial=0))
    most = min(most, largest)  # so scale · most is below 2^63
    is_small = largest < numbers.size // 16
    table = _weigh(np.arange(largest + 1) if is_small else numbers, most, scale)
    return _look_up(_look_up(table, numbers) if is_small else table, counts.places)


def narrow_codes(codes: Whole) -> Whole:
    """Codes that are equal where these are: none negative, below three times the rows, or 2^16.

    These themselves, if they are such. To be kept where the same rows are counted again.
    """
    if not codes.size:
        return codes
    first, last, enough = int(codes.min()), int(codes.max()), max(3 * codes.size, FEW_ROWS)
    if first >= 0 and last < enough:
        return codes
    narrow = np.empty(codes.size, np.uint32 if enough < 1 << 32 else np.int64)
    if last - first < enough:
        return np.subtract(codes, first, out=narrow, dtype=np.int64, casting="unsafe")
    _hash(codes, narrow)
    return narrow


def _hash(codes: Whole, narrow: Whole) -> None:
    rows, odd, below = None, 1, 0
    # At most a quarter of the rows is the number of a round's places: of all, below 3 · rows.
    for _ in range(ROUNDS):
        size = codes.size if rows is None else rows.size
        if size <= FEW_ROWS:
            break
        odd, bits = odd * ODD % 2**64, (size // 8).bit_length()
        rows = _place(codes, rows, narrow, odd=odd, bits=bits, below=below)
        below += 1 << bits
    here = slice(None) if rows is None else rows
    narrow[here] = number_codes(codes[here]) + below


def _place(
    codes: Whole, rows: Whole | None, narrow: Whole, *, odd: int, bits: int, below: int
) -> Whole:
    """Gives these rows (None: all) one of 2^bits places from `below`; the rows still without."""
    owners = np.empty(1 << bits, codes.dtype)
    factor, shift = np.uint64(odd), np.uint64(64 - bits)
    blocks = _blocks(codes.size if rows is None else rows.size)
    for block in blocks:
        here = block if rows is None else rows[block]
        mine = codes[here]
        # The product is modulo 2^64, of which the upper bits depend on all of the code's.
        places = ((mine.astype(np.uint64) * factor) >> shift).view(np.int64)
        owners[places] = mine
        narrow[here] = places
    shared: list[Whole] = []
    for block in blocks:
        here = block if rows is None else rows[block]
        places = narrow[here].astype(np.int64)
        others = np.flatnonzero(owners.take(places, mode="clip") != codes[here])
        shared.append(others + block.start if rows is None else rows[block][others])
        narrow[here] = places + below
    return np.concatenate(shared)


def _find_counted(missing: Mask | None, passes: Mask | None) -> Mask | None:
    """Which rows count; None for all."""
    if missing is None:
        return passes
    return ~missing if passes is None else passes & ~missing


def _place_codes(codes: Whole, counted: Mask, last: int) -> Whole:
    """The codes of rows that count, and the last place for all others."""
    places = np.full(codes.size, last, np.uint32 if last < 1 << 32 else np.int64)
    np.copyto(places, codes, where=counted, casting="unsafe")
    return places


def _look_up(table: NDArray[Any], places: Whole) -> NDArray[Any]:
    values = np.empty(places.size, table.dtype)
    for block in _blocks(places.size):
        # Every place is one of the table's, and not to look whether it is takes half the time.
        np.take(table, places[block].astype(np.int64), out=values[block], mode="clip")
    return values


def _weigh(counts: Whole, most: int, scale: int) -> NDArray[np.int32]:
    weights = np.empty(counts.size, np.int32)
    for block in _blocks(counts.size):
        here = counts[block].astype(np.int64)
        shares = scale * most // np.maximum(here, 1)
        bounded = np.where(here <= most, scale, shares)
        weights[block] = np.where(here == 0, 0, bounded)
    return weights


def _blocks(rows: int) -> list[slice]:
    ends = [*range(0, rows, BLOCK_ROWS), rows]
    return [slice(start, end) for start, end in pairwise(ends)]
