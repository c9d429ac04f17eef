"""Narrow laws on the integers by a table: sixteen bits answer nearly every draw.

Z is the smallest n with U < F(n), for a uniform real number U and the distribution function
F. The table holds the first 64 binary digits of each F(n). Sixteen bits of U settle Z unless
some F(n) begins with the same sixteen bits; 64 bits settle it unless they equal the
first 64 of some F(n), or Z lies beyond the table. What is left goes to the reference, which
compares U with F(n) in balls, with further bits of U on demand.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 8
  Tested:   the digits, every sixteen-bit beginning, forced ties and both tails
  Assumed:  the words are independent and uniform
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from letalone.exact.balls import Ball, floor_scaled
from letalone.randomness.bits import BitSource, Words
from letalone.randomness.bulk import BLOCK, Places, Wholes, sparse_places
from letalone.randomness.lazy import LazyReal, decide

OPEN = -(1 << 15)  # in the guide: sixteen bits are not enough


class NarrowLaw(Protocol):
    """A law on the integers, symmetric about 0, that a table can hold."""

    @property
    def reach(self) -> int:
        """Values from −reach to reach are held; the others are rare."""
        ...

    def above(self, n: int) -> Callable[[], Ball]:
        """Pr[Z > n] for n ≥ 0, for any precision; irrational."""
        ...


@dataclass(frozen=True, slots=True)
class LawTable:
    """digits[k] are the first 64 of F(k − reach); the guide knows each 16-bit beginning."""

    law: NarrowLaw
    digits: Words
    guide: NDArray[np.int16]


def build_table(law: NarrowLaw) -> LawTable:
    """The table of a law."""
    # F(n) = 1 − F(−1 − n), and neither ever ends: so the digits are each other's complement.
    lower = [floor_scaled(law.above(n), 64) for n in reversed(range(law.reach))]
    digits = np.array([*lower, *((1 << 64) - 1 - d for d in reversed(lower))], np.uint64)
    beginnings = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
    first = np.searchsorted(digits, beginnings, side="left")
    last = np.searchsorted(digits, beginnings | np.uint64((1 << 48) - 1), side="right")
    settled = (first == last) & (first > 0) & (first < digits.size)
    return LawTable(law, digits, np.where(settled, first - law.reach, OPEN).astype(np.int16))


def sample_table(table: LawTable, count: int, bits: BitSource) -> Wholes:
    """Independent draws from the law of the table."""
    out = np.empty(count, np.int64)
    short = np.empty(BLOCK // 4, np.uint64)
    for start in range(0, count, BLOCK):
        part = out[start : start + BLOCK]
        words = short[: (part.size + 3) // 4]
        bits.fill(words)
        first = words.view(np.uint16)[: part.size]
        known = table.guide[first]
        part[:] = known
        _finish(table, part, sparse_places(known == OPEN), first, bits)
    return out


def _finish(
    table: LawTable, part: Wholes, places: Places, first: NDArray[np.uint16], bits: BitSource
) -> None:
    """Reads 48 more bits where sixteen were not enough."""
    more = np.empty(places.size, np.uint64)
    bits.fill(more)
    words = (first[places].astype(np.uint64) << np.uint64(48)) | (more >> np.uint64(16))
    above = np.searchsorted(table.digits, words, side="right")
    part[places] = above - table.law.reach
    tie = table.digits[np.maximum(above, 1) - 1] == words
    for k in np.flatnonzero(tie | (above == 0) | (above == table.digits.size)).tolist():
        part[places[k]] = invert(table.law, int(above[k]) - table.law.reach, int(words[k]), bits)


def cumulative(law: NarrowLaw, n: int) -> Callable[[], Ball]:
    """F(n) = Pr[Z ≤ n], by symmetry from the tail above."""
    tail = law.above(n if n >= 0 else -1 - n)
    return (lambda: 1 - tail()) if n >= 0 else tail


def invert(law: NarrowLaw, guess: int, known: int, bits: BitSource) -> int:
    """The smallest n with U < F(n), when `known` is the first word of U."""
    uniform = LazyReal(known, 1, 1 << bits.word_size)

    def is_below(n: int) -> bool:
        compute = cumulative(law, n)
        return decide(lambda: compute() - uniform.enclosure(), [uniform], bits)

    while not is_below(guess):
        guess += 1
    while is_below(guess - 1):
        guess -= 1
    return guess
