"""Subset selection: a set of k values that holds the true one more often than chance.

Theorem.  Of all sets of k out of d values, those with the true value are r times as likely as the
others: a set holds it with probability p = kr/(kr + d − k), and given that, all such sets are
equally likely. The ratio is r ≤ e^ε. Another value is in the set with probability
q = (p(k − 1) + (1 − p)k)/(d − 1). With k next to d/(e^ε + 1) no other oracle has a smaller
variance.
  Proven:   docs/explanation/proofs/local_frequencies.md, section 4
  Tested:   the exact distribution over all sets; draws, with power; unbiasedness and coverage

A report is a row of d bits, k of them set.

Ye, Barg: Optimal schemes for discrete distribution estimation under locally differential privacy
(2018).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from letalone.local.frequencies.bit_rows import (
    Bytes,
    bytes_of_bits,
    count_columns,
    is_padded,
    set_bits,
)
from letalone.local.frequencies.oracle import BLOCK_CELLS, FrequencyOracle, SupportChances, Wholes
from letalone.local.reports import Reports
from letalone.local.shuffling.likelihoods import Patterns
from letalone.privacy import Privacy
from letalone.privacy.curves.finite import between
from letalone.randomness.bits import BitSource, Words
from letalone.randomness.chance import Chance, sample_bernoullis
from letalone.randomness.uniform import sample_belows

MOST_LISTED = 1 << 16  # so many sets of one size are listed once, and then looked up
WORD = 64


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SubsetSelection(FrequencyOracle):
    """Reports a random set of values, which holds the true one more often than others.

    Parameters: `domain` is how many values there are, or a list of them; `epsilon` is what one
    report costs its owner.
    """

    kind: ClassVar[str] = "subset_selection"
    largest_domain: ClassVar[int] = 1 << 16

    @property
    def chosen(self) -> int:
        """How many values a set has: the better neighbour of d/(r + 1)."""
        return best_subset_size(self.ratio, self.size)

    @property
    def chances(self) -> SupportChances:
        """Whether the set holds the true value, and one certain other value."""
        return subset_chances(self.ratio, self.size, self.chosen)

    @property
    def report_bytes(self) -> int:
        """A bit for each value."""
        return bytes_of_bits(self.size)

    def pair_curve(self) -> Privacy:
        """Sets with the one value only, with the other only, and with both or neither."""
        inside, k, d = self.chances.held, self.chosen, self.size
        first, other = inside * Fraction(d - k, d - 1), (1 - inside) * Fraction(k, d - 1)
        rest = 1 - first - other
        return between((first, other, rest), (other, first, rest))

    def randomise(self, indices: Wholes, bits: BitSource) -> Reports:
        """A set for each value, as a row of bits."""
        held = sample_bernoullis(Chance(self.chances.held), indices.size, bits)
        rows = np.empty((indices.size, self.report_bytes), np.uint8)
        for holds in (True, False):
            people = np.flatnonzero(held == holds)
            for start in range(0, people.size, block := max(1, BLOCK_CELLS // self.size)):
                part = people[start : start + block]
                rows[part] = self._draw(indices[part], holds, bits)
        return rows

    def _draw(self, indices: Wholes, holds: bool, bits: BitSource) -> Bytes:
        """Sets with these values, or without them: the others are chosen evenly."""
        others, more = self.size - 1, self.chosen - holds
        if self.size <= WORD and comb(others, more) <= MOST_LISTED:
            listed = _list_sets(others, more)
            sets = listed[sample_belows(listed.size, indices.size, bits)]
            return _insert(sets, indices, holds)[:, : self.report_bytes]
        flags = np.zeros((indices.size, self.size), np.bool_)
        _choose_evenly(flags, others, more, bits)
        return np.packbits(_move_last(flags, indices, holds), axis=1)

    def count(self, reports: Reports) -> Wholes:
        """How many sets hold each value."""
        return count_columns(cast("Bytes", reports), self.size)

    def is_report(self, rows: Reports) -> NDArray[np.bool_]:
        """Rows with the right number of bits."""
        read = cast("Bytes", rows)
        return is_padded(read, self.size) & (set_bits(read) == self.chosen)

    def support_patterns(self, values: int) -> Patterns:
        """Every set has at least the chance of one without the true value."""
        d, k = self.size, self.chosen
        each = 1 / (comb(d - 1, k - 1) * self.ratio + comb(d - 1, k))
        return {
            held: comb(d - values, k - sum(held)) * each
            for held in product((0, 1), repeat=values)
            if sum(held) <= k
        }

    def parameters(self) -> dict[str, object]:
        """How many values a set has."""
        return {"chosen": self.chosen}


def subset_chances(ratio: Fraction, size: int, chosen: int) -> SupportChances:
    """Of sets of so many values."""
    inside = chosen * ratio / (chosen * ratio + size - chosen)
    other = (inside * (chosen - 1) + (1 - inside) * chosen) / (size - 1)
    return SupportChances(inside, other)


@lru_cache(maxsize=1024)
def best_subset_size(ratio: Fraction, size: int) -> int:
    """The one of both neighbours of d/(r + 1) whose shares have the smaller variance in all."""
    below = max(1, int(size / (ratio + 1)))

    def total_variance(chosen: int) -> Fraction:
        chances = subset_chances(ratio, size, chosen)
        return chances.variance(Fraction(1)) + (size - 1) * chances.variance(Fraction(0))

    return min((k for k in (below, below + 1) if k < size), key=total_variance)


@lru_cache(maxsize=64)
def _list_sets(size: int, chosen: int) -> Words:
    """All sets of so many of the places 0 … size − 1; place x is bit 63 − x of a word."""
    sets = (
        sum(1 << (WORD - 1 - x) for x in places) for places in combinations(range(size), chosen)
    )
    return np.fromiter(sets, np.uint64, comb(size, chosen))


def _insert(sets: Words, indices: Wholes, holds: bool) -> Bytes:
    """Makes room for each value's own bit in the set of the others, and fills it in."""
    behind = np.uint64((1 << WORD) - 1) >> indices.astype(np.uint64)
    own_bit = np.uint64(1 << (WORD - 1)) >> indices.astype(np.uint64) if holds else np.uint64(0)
    words = (sets & ~behind) | ((sets & behind) >> np.uint64(1)) | own_bit
    return words.astype(">u8").view(np.uint8).reshape(-1, WORD // 8)


def _choose_evenly(flags: NDArray[np.bool_], size: int, chosen: int, bits: BitSource) -> None:
    """Sets so many of the first `size` flags of each row: every set is equally likely (Floyd)."""
    rows = np.arange(len(flags))
    for last in range(size - chosen, size):
        drawn = sample_belows(last + 1, len(flags), bits)
        flags[rows, np.where(flags[rows, drawn], last, drawn)] = True


def _move_last(flags: NDArray[np.bool_], indices: Wholes, holds: bool) -> NDArray[np.bool_]:
    """Gives each row's own value its flag; the value that had its place goes to the last one."""
    rows = np.arange(len(flags))
    flags[:, -1] = flags[rows, indices] & (indices != flags.shape[1] - 1)
    flags[rows, indices] = holds
    return flags
