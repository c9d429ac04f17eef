"""Draws ranks: a uniformly random order of each unit's rows, drawn once.

A row has 32 random bits of its own. Rows are sorted once, as 64-bit keys: the unit above, as many
of the row's bits as there is room for, the row's position below. The few rows of a unit that
agree in these are then put in the order of all their bits. The place of a row among those of
its unit is its rank, from 1.

Theorem.  The order of a unit's rows depends on that unit's rows and on bits that no other
row uses. So neighbours, whose other units have the same rows and the same bits, keep the
same rows of all other units (rule 22 of docs/explanation/soundness.md).
  Proven:   two rows of a unit are ordered by their 32 bits, and where these agree, by which comes
            first in the table: the keys decide it if they differ above the position, and else
            `_untie` does, by the same rule. How many bits have room depends on all rows, but
            the order does not depend on it. Rows of other units do not enter, nor does their
            number.
  Uniform:  two rows agree in 32 bits with probability 2^-32; for a unit of m rows the order is
            uniform up to m² / 2^33 in total variation. Soundness does not rest on it, only
            how well the kept rows stand for all.
  Tested:   tests/engines/test_ranks.py
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.engines.arrow import number_codes
from letalone.engines.failure import EngineFailed
from letalone.randomness.bits import BitSource

Codes = NDArray[np.int64]
Keys = NDArray[np.uint64]
Progress = Callable[[float], None]

BLOCK_ROWS = 1 << 18  # rows at a time: temporary arrays stay in the processor's cache
MAX_SHORT_RANK = np.iinfo(np.uint16).max
RANDOM_BITS = 32  # random bits of a row
BITS_IN_KEY = 12  # of these should have room in the key, or ties would be many
MAX_ROWS = 1 << 32


def draw_ranks(
    codes: Codes, missing: NDArray[np.bool_], *, bits: BitSource, progress: Progress
) -> NDArray[np.unsignedinteger[Any]]:
    """The rank of each row among the rows with its code; in 16 bits where they suffice.

    Rows whose unit is missing take no part: their rank is 0.
    """
    if not missing.any():
        return _ranks(codes, bits, progress)
    present = ~missing
    some = _ranks(codes[present], bits, progress)
    ranks = np.zeros(codes.size, some.dtype)
    ranks[present] = some
    return ranks


def _ranks(codes: Codes, bits: BitSource, progress: Progress) -> NDArray[np.unsignedinteger[Any]]:
    if not codes.size:
        return np.empty(0, np.uint16)
    if codes.size > MAX_ROWS:
        raise EngineFailed
    position = max(1, int(codes.size - 1).bit_length())
    codes, unit = _compact(codes, 64 - position - BITS_IN_KEY)
    chance = min(RANDOM_BITS, 64 - unit - position)
    words = np.empty(codes.size, np.uint32)
    keys = _keys(codes, words, bits, chance=chance, position=position)
    progress(0.5)
    keys.sort()
    progress(0.7)
    if chance < RANDOM_BITS:
        _untie(keys, words, position)
    progress(0.8)
    return _places(keys, below=chance + position, position=position)


def _compact(codes: Codes, most_bits: int) -> tuple[Codes, int]:
    """Codes in a narrow range, and its bits: as they are, or numbered anew if it is too wide."""
    bits = (int(codes.max()) - int(codes.min())).bit_length()
    if bits > most_bits:
        codes = number_codes(codes)
        bits = int(codes.max()).bit_length()
    return codes, max(1, bits)


def _keys(
    codes: Codes, words: NDArray[np.uint32], bits: BitSource, *, chance: int, position: int
) -> Keys:
    """For each row its unit, some of its random bits, its position; `words` gets all its bits."""
    smallest = np.uint64(int(codes.min()) % 2**64)
    keys = np.empty(codes.size, np.uint64)
    for start in range(0, codes.size, BLOCK_ROWS):
        block, here = keys[start : start + BLOCK_ROWS], codes[start : start + BLOCK_ROWS]
        bits.fill(block)
        block >>= np.uint64(64 - RANDOM_BITS)
        words[start : start + BLOCK_ROWS] = block
        block >>= np.uint64(RANDOM_BITS - chance)
        # Differences of 64-bit integers are right modulo 2^64, and they are below it.
        block |= (here.view(np.uint64) - smallest) << np.uint64(chance)
        block <<= np.uint64(position)
        block |= np.arange(start, start + block.size, dtype=np.uint64)
    return keys


def _untie(keys: Keys, words: NDArray[np.uint32], position: int) -> None:
    """Puts rows whose keys agree above the position in the order of all their random bits."""
    below = np.uint64(1 << position)
    ties: list[NDArray[np.int64]] = []
    for start in range(0, keys.size, BLOCK_ROWS):
        block = keys[start : start + BLOCK_ROWS + 1]
        ties.append(np.flatnonzero((block[1:] ^ block[:-1]) < below) + start)
    first = np.concatenate(ties)
    tied = np.union1d(first, first + 1)
    some = keys[tied]
    chances = words[(some & (below - np.uint64(1))).view(np.int64)]
    # Stable: then by position.
    keys[tied] = some[np.lexsort((chances, some >> np.uint64(position)))]


def _places(keys: Keys, *, below: int, position: int) -> NDArray[np.unsignedinteger[Any]]:
    """The place of each row among those of its unit, in the order of the table."""
    ranks: NDArray[np.unsignedinteger[Any]] = np.empty(keys.size, np.uint16)
    mask, next_unit = np.uint64((1 << position) - 1), np.uint64(1 << below)
    began = 0  # where the unit at the end of the last block began
    for start in range(0, keys.size, BLOCK_ROWS):
        block, second = keys[start : start + BLOCK_ROWS], max(start, 1)
        here = keys[second : start + BLOCK_ROWS]
        changed = (here ^ keys[second - 1 : second - 1 + here.size]) >= next_unit
        fresh = np.flatnonzero(changed) + (second - start)
        firsts = np.concatenate(([began - start], fresh))
        lengths = np.diff(np.concatenate(([0], fresh, [block.size])))
        places = np.arange(1, block.size + 1) - np.repeat(firsts, lengths)
        if ranks.dtype == np.uint16 and places.max() > MAX_SHORT_RANK:
            ranks = ranks.astype(np.uint32)
        ranks[(block & mask).view(np.int64)] = places
        began = start + int(firsts[-1])
    return ranks
