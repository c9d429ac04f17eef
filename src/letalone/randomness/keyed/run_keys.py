"""The key of one run's noise, and that no step draws with it twice.

Two sums with the same noise would show their difference. So a run draws a key of its own when its
first noise is asked for, each step may take it once, in rising order, and another process (a fork
holds a copy) draws another. A key is not stored or copied: a run that goes on from a file has a new
one, and its steps are drawn anew.

  Proven:   docs/explanation/proofs/device_noise.md, section 1
  Tested:   tests/randomness/test_keyed.py
"""

import os
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from letalone.randomness.bits import BitSource

KEY_WORDS = 8  # of 32 bits
STEPS = 1 << 32  # a step is one word of the cipher's input


class NoiseKey:
    """256 secret bits."""

    __slots__ = ("words",)

    def __init__(self, words: Sequence[int]) -> None:
        self.words = tuple(words)

    def __repr__(self) -> str:
        return "NoiseKey(secret)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A key of noise is neither stored nor copied: draw another.")


class RunKeys:
    """Hands the key to each step of a run, once."""

    def __init__(self, bits: BitSource) -> None:
        self._bits, self._process, self._last = bits, -1, 0
        self._key = NoiseKey(())

    def claim(self, step: int) -> NoiseKey:
        """The key, for a step after all that had it."""
        if self._process != os.getpid():
            self._process, self._last, self._key = os.getpid(), 0, _draw_key(self._bits)
        if not self._last < step < STEPS:
            raise RuntimeError(
                f"Noise for step {step} cannot be drawn with this run's key after step"
                f" {self._last}: steps must rise and stay below 2^32. Start another run."
            )
        self._last = step
        return self._key


def _draw_key(bits: BitSource) -> NoiseKey:
    words = np.empty(KEY_WORDS // 2, np.uint64)
    bits.fill(words)
    return NoiseKey([half for word in words.tolist() for half in (word & 0xFFFFFFFF, word >> 32)])
