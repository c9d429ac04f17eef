"""Uniform whole numbers, exactly.

Take as many bits as the largest allowed number has; if they name a number that is too large,
take others. All allowed numbers are equally likely, and at least half of the tries succeed.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 2
  Tested:   by enumeration of bits; chi-square against the multiply-and-divide shortcut
  Assumed:  the words are independent and uniform
"""

import numpy as np

from letalone.randomness.bits import BitSource
from letalone.randomness.bulk import Wholes


def sample_below(bound: int, bits: BitSource) -> int:
    """A uniform whole number from 0 to bound − 1."""
    length = (bound - 1).bit_length()
    while True:
        number, known = 0, 0
        while known < length:
            number, known = (number << bits.word_size) | bits.word(), known + bits.word_size
        number >>= known - length
        if number < bound:
            return number


def sample_belows(bound: int, count: int, bits: BitSource) -> Wholes:
    """Independent uniform whole numbers from 0 to bound − 1, for bound ≤ 2^63."""
    if bound > 1 << 63:
        raise ValueError("an int64 holds whole numbers below 2^63 only")
    out = np.zeros(count, np.int64)
    again = np.arange(count if bound > 1 else 0)
    shift = np.uint64(64 - (bound - 1).bit_length() if bound > 1 else 0)
    while again.size:
        words = np.empty(again.size, np.uint64)
        bits.fill(words)
        numbers = (words >> shift).view(np.int64)
        out[again] = numbers
        again = again[numbers >= bound]
    return out
