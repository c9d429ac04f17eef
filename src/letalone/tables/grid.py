"""The grid on which sums are exact: x becomes the whole number floor(x · 2^shift), clamped.

The grid is as fine as whole numbers allow: from `low` to `high` it has about 2^BITS steps, and
no value on it is beyond 2^52, so that a double holds each exactly. Its width is even, so that
its middle is a whole number, too. Bounds that are not on the grid are moved outwards to it;
sensitivities are taken from the grid's bounds (rule 26 of docs/explanation/soundness.md).

A place is not its value: it falls `short` of it by less than a step, and is `past` it where the
grid's upper bound lies beyond the one that was given and the value beyond both. Whole numbers on
steps that divide 1 are their places. Which of it a grid has follows from the bounds and the type.
  Proven:   docs/explanation/proofs/tables.md, section 3: intervals allow for it

`CellScale` has the values that cells stand for: whole numbers themselves, or the middles of small
ranges.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from letalone.engines.core.measures import CellCounts
from letalone.plans.expressions import Expression
from letalone.tables.columns import Floats, Integers, NoisyColumn

MAX_BITS = 30  # squares of places have 60 bits
MIN_BITS = 8
MAX_SHIFT = 900  # 2^shift is a double


@dataclass(frozen=True, slots=True)
class Grid:
    """Whole numbers from low to high; i stands for the value i / 2^shift.

    A value within the bounds lies between i − past and i + short, in steps.
    """

    low: int
    high: int
    shift: int
    short: Fraction = Fraction(0)
    past: Fraction = Fraction(0)

    @property
    def width(self) -> int:
        """How many steps there are; even."""
        return self.high - self.low

    @property
    def middle(self) -> int:
        return (self.low + self.high) // 2

    @property
    def step(self) -> Fraction:
        return Fraction(2) ** -self.shift

    @property
    def centre(self) -> float:
        """The value of the middle."""
        return float(self.middle * self.step)

    @property
    def radius(self) -> float:
        """The value of half the width."""
        return float(self.step * self.width / 2)

    @property
    def strays(self) -> tuple[float, float]:
        """The least and the most that a value is above that of its place."""
        return float(-self.past * self.step), float(self.short * self.step)

    @property
    def offset(self) -> float:
        """The middle of the two."""
        return float((self.short - self.past) * self.step / 2)

    @property
    def slack(self) -> float:
        """How far a value is from that of its place plus the offset, at most."""
        return float((self.short + self.past) * self.step / 2)


def bits_for(noise: Fraction) -> int:
    """How fine a grid may be if noise is up to so many rows: its scale stays below 2^50.

    Where that is less than usual, the noise of even a billion rows' mean exceeds a step.
    """
    return max(MIN_BITS, min(MAX_BITS, 48 - _find_exponent(noise)))


def grid_for(
    lower: Fraction, upper: Fraction, bits: int, *, whole: bool, largest: int = 52
) -> Grid:
    """The finest grid of at most 2^bits steps, or two more; places are at most 2^largest.

    `whole` says that all values are whole numbers, by their type.
    """
    finest = min(bits - _find_exponent(upper - lower), largest - _find_exponent(max(-lower, upper)))
    shift = max(-MAX_SHIFT, min(finest, MAX_SHIFT))
    scale = Fraction(2) ** shift
    low, high = floor(lower * scale), ceil(upper * scale)
    high += (high - low) % 2
    short = lower * scale - low if whole and shift >= 0 else Fraction(1)
    return Grid(low, high, shift, short, high - upper * scale)


def _find_exponent(number: Fraction) -> int:
    """An e with number < 2^e, at most twice as large as it must be."""
    return number.numerator.bit_length() - number.denominator.bit_length() + 1


@dataclass(frozen=True, slots=True)
class CellScale:
    """Cells from `lower` to `upper`; the last is for what is clamped to `upper`."""

    of: Expression
    lower: Fraction
    upper: Fraction
    step: Fraction
    whole: bool

    @property
    def cells(self) -> CellCounts:
        count = floor((self.upper - self.lower) / self.step) + 1
        return CellCounts(self.of, self.lower, self.step, count)

    def answer(self, place: Integers, low: Integers, high: Integers) -> NoisyColumn:
        """The values of places; −1 and beyond the last are the bounds."""
        inside = 0.0 if self.whole else 0.5
        # Where a cell ends, in steps: at its last whole number, or at the next cell.
        last = float(1 - 1 / self.step) if self.whole else 1.0
        return NoisyColumn(self._at(place, inside), self._at(low, 0.0), self._at(high, last))

    def _at(self, places: Integers, within: float) -> Floats:
        inside: Floats = np.clip(places, 0, self.cells.count - 1).astype(np.float64) + within
        values = float(self.lower) + inside * float(self.step)
        return np.clip(values, float(self.lower), float(self.upper))
