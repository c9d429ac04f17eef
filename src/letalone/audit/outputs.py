"""What a mechanism returned, read so that events about it can be stated.

Every output becomes a row of numbers, where it holds some, and a name of 64 bits that stands
for exactly this output: the bits of its floats, or a digest of how it prints. Reading is
a function of the output alone, once the number of columns is fixed by the first draws.
So an event about what was read is an event about the output.

Dicts, sets, tuples and records are taken apart by `leaves`: the row is then a digest of all
that is no number (keys in order, labels, the shape), followed by the numbers. Two outputs
may share a name; that only makes events coarser. Whole numbers beyond ±2^53 are read as the
nearest float.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.audit.failures import Failure
from letalone.audit.leaves import printed, taken_apart

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Raw = Sequence[object] | NDArray[Any]

NO_BIT = 1100  # the place of zero's lowest set bit: above every other
_MANTISSA = np.uint64((1 << 52) - 1)
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, hence invertible modulo 2^64


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """Many outputs on one input: rows of numbers (NaN where an output is none), and names."""

    numbers: Floats
    names: Integers
    shown: dict[int, str] = field(default_factory=dict[int, str])
    forms: dict[int, str] = field(default_factory=dict[int, str])  # what column 0 stands for

    def part(self, first: int, last: int) -> "Outputs":
        """The draws from place `first` up to, not including, `last`."""
        return Outputs(self.numbers[first:last], self.names[first:last], self.shown, self.forms)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def width(self) -> int:
        """How many numbers an output consists of; 0 where outputs are not numbers."""
        return self.numbers.shape[1]

    def column(self, place: int) -> Floats:
        """One number of each output."""
        return self.numbers[:, place]

    def words_for(self, name: int) -> str:
        """How the output with this name prints."""
        if name in self.shown:
            return self.shown[name]
        row = self.numbers[np.flatnonzero(self.names == name)[0]].tolist()
        if self.forms:
            return f"{self.forms.get(int(np.nan_to_num(row[0])), '')} with {row[1:]}"
        return repr(row[0] if len(row) == 1 else row)


def width_of(raw: Raw) -> int:
    """How many numbers each of these outputs consists of; 0 if that cannot be said.

    One more for those that are taken apart: the digest of what is no number.
    """
    matrix = _as_matrix(raw)
    if matrix is not None:
        return matrix.shape[1]
    kept = (output for output in raw if not isinstance(output, Failure))
    counts = {len(taken_apart(output)[1]) for output in kept}
    return 1 + counts.pop() if len(counts) == 1 and counts != {0} else 0


def read(raw: Raw, width: int) -> Outputs:
    """The outputs as rows of `width` numbers; as names only where the width is 0."""
    if width == 0:
        return _read_names(raw)
    matrix = _as_matrix(raw)
    forms: dict[int, str] = {}
    if matrix is None or matrix.shape[1] != width:
        matrix = np.stack([_row(output, width, forms) for output in raw])
    return Outputs(matrix, _names_of_rows(matrix), forms=forms)


def lowest_bits(numbers: Floats) -> Floats:
    """The exponent of the lowest set bit of each float; NO_BIT for zero, NaN for no number."""
    mantissas, exponents = _parts(numbers)
    lowest = mantissas & (~mantissas + np.uint64(1))
    places = exponents + np.frexp(lowest.astype(np.float64))[1] - 1
    return np.where(np.isfinite(numbers), np.where(numbers == 0, NO_BIT, places), np.nan)


def trailing_zeros(numbers: Floats) -> Floats:
    """How many bits at the end of each float's 53 are zero; NaN for no number."""
    return np.where(numbers == 0, 53, lowest_bits(numbers) - _parts(numbers)[1])


def _parts(numbers: Floats) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    bits = np.ascontiguousarray(numbers).view(np.uint64)
    exponents = ((bits >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)
    hidden = np.where(exponents > 0, np.uint64(1 << 52), np.uint64(0))
    return (bits & _MANTISSA) | hidden, np.maximum(exponents, 1) - 1075


def _as_matrix(raw: Raw) -> Floats | None:
    try:
        array = np.asarray(raw)
    except (TypeError, ValueError):  # rows of different lengths
        return None
    if array.dtype.kind not in "biuf" or array.size == 0:
        return None
    return np.ascontiguousarray(array.reshape(len(array), -1), dtype=np.float64)


def _row(output: object, width: int, forms: dict[int, str]) -> Floats:
    matrix = _as_matrix([output])
    if matrix is not None and matrix.shape[1] == width:
        return matrix[0]
    text, numbers = taken_apart(output)
    if isinstance(output, Failure) and width > 1:  # a form of its own, without numbers
        numbers = (np.nan,) * (width - 1)
    if not numbers or len(numbers) + 1 != width:
        return np.full(width, np.nan)
    form = _digest(text) >> 11  # 53 bits, which a float holds
    forms[form] = text
    return np.array([float(form), *numbers])


def _names_of_rows(matrix: Floats) -> Integers:
    bits = matrix.view(np.uint64)
    names = bits[:, 0].copy()
    for place in range(1, matrix.shape[1]):
        names = (names ^ (names >> np.uint64(29))) * _MIX + bits[:, place]
    return names.view(np.int64)


def _read_names(raw: Raw) -> Outputs:
    outputs = raw.tolist() if isinstance(raw, np.ndarray) else raw
    prints = [printed(output) for output in outputs]
    digests = {text: _digest(text) for text in set(prints)}
    names = np.array([digests[text] for text in prints], dtype=np.int64)
    return Outputs(np.empty((len(names), 0)), names, {name: t for t, name in digests.items()})


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)
