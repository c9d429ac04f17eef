"""A small model of text: how often each sign follows each few signs before it.

Text is read over a declared alphabet: small letters, digits, a space, the end of a line, and one
sign for all others. A line is cut, so that with its end it has at most `length` signs; each is
counted once, in the cell of the signs before it and itself. A model is this table of counts. Its
probabilities fall back on fewer signs before where there was little to count, down to none.

Theorem.  Adding or removing a line moves the table by at most `length` in L1, whatever the line:
each of its signs adds 1 to one cell, and the cells of other lines do not depend on it. So geometric
noise of that sensitivity on every cell, those with nothing in them too, gives ε to the whole model.
What is computed from the noisy table costs nothing; the threshold is known without the data.
  Proven:   docs/explanation/proofs/geometric.md, and the sentence above
  Tested:   tests/attacks/test_canaries.py: no line moves the table by more
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from letalone.exact.typed import Number
from letalone.mechanisms import Geometric
from letalone.randomness.bits import SYSTEM, BitSource

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

END, OTHER = "\n", "?"
SIGNS = END + " abcdefghijklmnopqrstuvwxyz0123456789" + OTHER
ALPHABET_SIZE = len(SIGNS)
STRENGTH = 0.5  # what fewer signs before are worth, in counts
_CODES = np.full(128, SIGNS.index(OTHER), np.int64)
_CODES[np.frombuffer(SIGNS.encode(), np.uint8)] = np.arange(ALPHABET_SIZE)


@dataclass(frozen=True, slots=True)
class Reading:
    """How text is read: so many signs before each, and at most so many signs in a line."""

    context: int = 2
    length: int = 48

    def counts(self, lines: Sequence[str]) -> Whole:
        """How often each sign followed each few signs before it; an axis a place."""
        cells = ALPHABET_SIZE ** (self.context + 1)
        text, is_sign = _matrix(lines, self.length)
        before = np.zeros((len(lines), self.context), np.int64)  # a line begins as one ends
        cell_numbers = _cell_numbers(np.hstack([before, text]), self.context + 1)[is_sign]
        return np.bincount(cell_numbers, minlength=cells).reshape(
            (ALPHABET_SIZE,) * (self.context + 1)
        )

    def noise(self, epsilon: Number) -> Geometric:
        return Geometric(epsilon=epsilon, sensitivity=self.length)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """The logarithm (base 2) of the probability of the last sign, given those before it."""

    scores: Floats

    @property
    def context(self) -> int:
        return self.scores.ndim - 1

    def of_texts(self, texts: Whole, start: int) -> Floats:
        """The score of each row of signs, from the place `start` on; start is at least context."""
        cell_numbers = _cell_numbers(texts[:, start - self.context :], self.context + 1)
        return self.scores.reshape(-1)[cell_numbers].sum(axis=1)

    def bits_per_sign(self, lines: Sequence[str], length: int) -> float:
        """How many bits a sign of these lines takes: less is a better model."""
        counts = Reading(self.context, length).counts(lines)
        return float(-(counts * self.scores).sum() / counts.sum())


def train_model(counts: Floats | Whole) -> Model:
    """The ordinary model of a table of counts."""
    chance = np.full(ALPHABET_SIZE, 1 / ALPHABET_SIZE)
    for before in range(counts.ndim):
        seen = counts.sum(axis=tuple(range(counts.ndim - 1 - before)))
        chance = (seen + STRENGTH * chance) / (seen.sum(axis=-1, keepdims=True) + STRENGTH)
    return Model(np.log2(chance))


def train_privately(
    counts: Whole, noise: Geometric, *, bits: BitSource = SYSTEM, threshold: float | None = None
) -> Model:
    """The model of a table with noise; cells below a threshold are taken for empty.

    Without a threshold it is so high that of N empty cells about √N / 2 pass it.
    """
    least = float(noise.scale) * log(counts.size) / 2 if threshold is None else threshold
    noisy = noise.release(counts, bits=bits)
    return train_model(np.where(noisy >= max(least, 0), noisy, 0))


def encode_text(text: str) -> Whole:
    """A text as numbers of signs."""
    plain = text.lower().encode("ascii", "replace")
    return _CODES[np.frombuffer(plain, np.uint8)]


def _matrix(lines: Sequence[str], length: int) -> tuple[Whole, NDArray[np.bool_]]:
    """A row a line, cut and filled with ends; and where its signs are, its first end among them."""
    cut = [line.lower().replace(END, OTHER)[: length - 1] for line in lines]
    text = encode_text("".join(line.ljust(length, END) for line in cut)).reshape(len(lines), length)
    sizes = np.array([len(line) for line in cut], np.int64)
    return text, np.arange(length) <= sizes[:, None]


def _cell_numbers(text: Whole, width: int) -> Whole:
    """The number of the cell of each sign that has enough signs before it."""
    last = text.shape[1] - width + 1
    cell_numbers = np.zeros((text.shape[0], last), np.int64)
    for place in range(width):
        cell_numbers = cell_numbers * ALPHABET_SIZE + text[:, place : place + last]
    return cell_numbers
