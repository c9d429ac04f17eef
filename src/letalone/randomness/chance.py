"""Coins with an exactly stated probability, rational or real.

A uniform real number U, read word by word, is compared with the probability p: heads if
U < p. The first digits decide unless they equal the first digits of p's binary expansion:
sixteen when many coins are tossed, then 64, then further words of both. So heads comes up
with probability p exactly.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 2
  Tested:   every bit string at a small word size; forced ties
  Assumed:  the words are independent and uniform
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from letalone.exact.balls import Ball, ball, floor_scaled
from letalone.randomness.bits import BitSource
from letalone.randomness.bulk import sparse_places

BLOCK = 16384  # words that stay in the cache


@dataclass(frozen=True, slots=True)
class Chance:
    """A probability: a rational, or an irrational number as a computation of any precision."""

    value: Fraction | Callable[[], Ball]

    def digits(self, count: int) -> int:
        """The first `count` binary digits after the point, as a whole number."""
        return _digits(self, count)

    def ends_within(self, count: int) -> bool:
        """Whether the binary expansion is over after `count` digits."""
        if not isinstance(self.value, Fraction):
            return False
        return (self.value.numerator << count) % self.value.denominator == 0


@lru_cache(maxsize=4096)
def _digits(chance: Chance, count: int) -> int:
    if isinstance(chance.value, Fraction):
        return (chance.value.numerator << count) // chance.value.denominator
    return floor_scaled(chance.value, count)


@lru_cache(maxsize=256)
def exp_minus(exponent: Fraction) -> Chance:
    """The probability e^-x, for a rational x that is 0 or more."""
    if exponent == 0:
        return Chance(Fraction(1))
    return Chance(lambda: (-ball(exponent)).exp())


def sample_bernoulli(chance: Chance, bits: BitSource) -> bool:
    """True with exactly this probability."""
    return settle(chance, bits.word(), bits)


def sample_bernoullis(chance: Chance, count: int, bits: BitSource) -> NDArray[np.bool_]:
    """Independent coins, each True with exactly this probability."""
    heads = np.empty(count, np.bool_)
    threshold = chance.digits(64)
    if threshold >> 64:
        heads.fill(True)  # certainty
        return heads
    for start in range(0, count, BLOCK):
        part = heads[start : start + BLOCK]
        short = np.empty((part.size + 3) // 4, np.uint64)
        bits.fill(short)
        first = short.view(np.uint16)[: part.size]
        np.less(first, np.uint16(threshold >> 48), out=part)
        _read_on(chance, part, sparse_places(first == np.uint16(threshold >> 48)), bits)
    return heads


def _read_on(
    chance: Chance, heads: NDArray[np.bool_], places: NDArray[np.intp], bits: BitSource
) -> None:
    """Decides the coins whose first sixteen bits are those of the probability."""
    words = np.empty(places.size, np.uint64)
    bits.fill(words)
    threshold = chance.digits(64)
    words = (words >> np.uint64(16)) | np.uint64(threshold >> 48 << 48)
    heads[places] = words < np.uint64(threshold)
    for tie in places[words == np.uint64(threshold)].tolist():
        heads[tie] = settle(chance, threshold, bits)


def settle(chance: Chance, known: int, bits: BitSource) -> bool:
    """Whether U < p, when `known` is the first word of U."""
    length = bits.word_size
    while True:
        digits = chance.digits(length)
        if known != digits:
            return known < digits
        if chance.ends_within(length):
            return False  # only zeros follow in p, so U is at or above it
        known = (known << bits.word_size) | bits.word()
        length += bits.word_size
