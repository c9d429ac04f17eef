"""Bit sources for tests: seeded, scripted, enumerated. Shipped code cannot import them."""

from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray


class SeededBits:
    """The same words every time: PCG64, which is fine for tests and for nothing else."""

    word_size = 64

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def word(self) -> int:
        return int(self._generator.integers(0, 1 << 64, dtype=np.uint64))

    def fill(self, out: NDArray[np.uint64]) -> None:
        out[...] = self._generator.integers(0, 1 << 64, size=out.shape, dtype=np.uint64)


class ScriptedBits:
    """The given words first, then those of another source."""

    word_size = 64

    def __init__(self, words: Iterable[int], then: SeededBits | None = None) -> None:
        self._words = list(words)[::-1]
        self._then = then or SeededBits(0)
        self.asked = 0

    def word(self) -> int:
        self.asked += 1
        return self._words.pop() if self._words else self._then.word()

    def fill(self, out: NDArray[np.uint64]) -> None:
        flat = out.reshape(-1)
        for place in range(flat.size):
            flat[place] = self.word()


class OutOfBits(Exception):  # noqa: N818
    """The string of bits is too short for this draw."""


class StringBits:
    """Exactly the given words of a small size, then OutOfBits."""

    def __init__(self, words: tuple[int, ...], word_size: int) -> None:
        self.word_size, self._words = word_size, iter(words)

    def word(self) -> int:
        try:
            return next(self._words)
        except StopIteration:
            raise OutOfBits from None

    def fill(self, out: NDArray[np.uint64]) -> None:
        for place in range(out.size):
            out[place] = self.word()


def all_strings(word_size: int, length: int) -> Iterator[StringBits]:
    """Every string of `length` words, each equally likely."""
    for words in product(range(1 << word_size), repeat=length):
        yield StringBits(words, word_size)
