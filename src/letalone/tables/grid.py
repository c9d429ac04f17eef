"""The grid on which sums are exact: x becomes the whole number floor(x · 2^shift), clamped.

The grid is as fine as whole numbers allow: from `low` to `high` it has about 2^BITS steps, and
no value on it is beyond 2^52, so that a double holds each exactly. Its width is even, so that
its middle is a whole number, too. Bounds that are not on the grid are moved outwards to it;
sensitivities are taken from the grid's bounds (SOUNDNESS 17).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

GEOMETRIC_BITS = 30
"""2^31 rows of this width stay below 2^62, to which geometric noise clamps sums."""

GAUSSIAN_BITS = 24
"""2^28 rows of this width stay below 2^53, to which Gaussian noise clamps sums."""

FEWEST_BITS = 8
MOST_SHIFT = 900  # 2^shift is a double


@dataclass(frozen=True, slots=True)
class Grid:
    """Whole numbers from low to high; i stands for the value i / 2^shift."""

    low: int
    high: int
    shift: int

    @property
    def width(self) -> int:
        """How many steps there are; even."""
        return self.high - self.low

    @property
    def middle(self) -> int:
        """The place half way."""
        return (self.low + self.high) // 2

    @property
    def step(self) -> Fraction:
        """The value of one step."""
        return Fraction(2) ** -self.shift

    @property
    def centre(self) -> float:
        """The value of the middle."""
        return float(self.middle * self.step)

    @property
    def radius(self) -> float:
        """The value of half the width."""
        return float(self.step * self.width / 2)


def bits_for(noise: Fraction) -> int:
    """How fine a grid may be if noise is up to so many rows: its scale stays below 2^50.

    Where that is less than usual, the noise of even a billion rows' mean exceeds a step.
    """
    return max(FEWEST_BITS, min(GEOMETRIC_BITS, 48 - _exponent(noise)))


def grid_for(lower: Fraction, upper: Fraction, bits: int, *, largest: int = 52) -> Grid:
    """The finest grid of at most 2^bits steps, or two more; places are at most 2^largest."""
    finest = min(bits - _exponent(upper - lower), largest - _exponent(max(-lower, upper)))
    shift = max(-MOST_SHIFT, min(finest, MOST_SHIFT))
    scale = Fraction(2) ** shift
    low, high = floor(lower * scale), ceil(upper * scale)
    return Grid(low, high + (high - low) % 2, shift)


def _exponent(number: Fraction) -> int:
    """An e with number < 2^e, at most twice as large as it must be."""
    return number.numerator.bit_length() - number.denominator.bit_length() + 1
