"""value + noise, rounded exactly, for numbers that floats leave open: with balls, bit by bit.

It reads the same bits as the floats did, and further ones of the same key from places that nothing
else uses, so the result is a function of the key, the step and the index here, too.

  Proven:   docs/explanation/proofs/device_noise.md, section 4
  Tested:   tests/randomness/test_keyed.py: everything left open gives what the floats gave
"""

from fractions import Fraction

import numpy as np

from letalone.exact.balls import START_BITS, Ball, ball, whole_below, with_bits
from letalone.randomness.bits import Words
from letalone.randomness.keyed.cipher import blocks
from letalone.randomness.keyed.law import ANGLE_BITS, KeyedLaw, place_of
from letalone.randomness.keyed.run_keys import NoiseKey
from letalone.randomness.lazy import LazyReal
from letalone.randomness.rounding import float_of_grid

WORDS_A_BLOCK = 8  # of 64 bits
RADIUS, ANGLE = 1, 2  # streams of further bits; 0 has the first ones


class FurtherBits:
    """The bits of one pair's radius or angle after the first word."""

    word_size = 64

    def __init__(self, key: NoiseKey, step: int, pair: int, kind: int) -> None:
        self._key, self._step, self._pair, self._kind, self._read = key, step, pair, kind, 0

    def word(self) -> int:
        block, place = divmod(self._read, WORDS_A_BLOCK)
        self._read += 1
        words = words_at(self._key, self._pair, (self._step, self._kind + 2 * block))
        return words[2 * place] << 32 | words[2 * place + 1]

    def fill(self, out: Words) -> None:
        for place in np.ndindex(out.shape):
            out[place] = self.word()


class WordPair:
    """U and the angle of two Gaussian numbers, as far as their bits are read."""

    def __init__(self, key: NoiseKey, step: int, pair: int) -> None:
        block, inside = divmod(pair, 4)
        first, second, top, low = words_at(key, block, (step, 0))[4 * inside : 4 * inside + 4]
        turn = (top << 32 | low) & ((1 << ANGLE_BITS) - 1)
        self.part = top >> 29
        self.uniform = LazyReal(first << 32 | second, 1, 1 << 64)
        self.angle = LazyReal(turn, 1, 1 << (ANGLE_BITS + 2))  # in half turns
        self._further = [FurtherBits(key, step, pair, kind) for kind in (RADIUS, ANGLE)]

    def refine(self) -> None:
        """Reads one more word of both."""
        for real, bits in zip((self.uniform, self.angle), self._further, strict=True):
            real.refine(bits)

    def gaussian(self, second: int) -> Ball:
        """The first or the second number."""
        angle, swaps = self.angle.enclosure(), self.part >> 2
        line = angle.sin_pi() if swaps ^ second else angle.cos_pi()
        is_negative = self.part >> (1 - second) & 1
        radius = (-2 * self.uniform.enclosure().log()).sqrt()
        return -(radius * line) if is_negative else radius * line


def exact_sum(value: float, law: KeyedLaw, key: NoiseKey, step: int, index: int) -> float:
    """value + the noise of this step and index, on the law's grid, half up."""
    block, lane = place_of(index)
    pair, second = WordPair(key, step, 4 * block + lane // 2), lane % 2
    start = Fraction(value) / Fraction(2) ** law.exponent + Fraction(1, 2)
    precision = START_BITS
    while True:
        floor = with_bits(
            lambda: whole_below(ball(start) + ball(law.units) * pair.gaussian(second)), precision
        )
        if floor is not None:
            return float_of_grid(floor, law.exponent)
        pair.refine()
        precision += 2 * FurtherBits.word_size


def words_at(key: NoiseKey, place: int, tail: tuple[int, int]) -> list[int]:
    """The 16 words of one block."""
    return blocks(key.words, np.array([place], np.uint64), tail)[:, 0].tolist()
