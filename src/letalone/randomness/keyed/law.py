"""Where each number's bits lie, the grid that sums are rounded to, and what floats can be off.

A block of the cipher has 512 bits: four pairs of real numbers, U in (0, 1) from 64 bits and an
angle from three bits (one of eight parts of the circle) and 61 more; further bits of both are drawn
where they matter. By Box and Muller a pair is two Gaussian numbers, so a block is eight. Blocks lie
in tiles of 256, whose 2,048 numbers are in the order of lanes, so that neighbours of a processor
write to neighbouring places.

The grid is coarser than that of `real_noise`: 2^16 to 2^17 steps to a σ, less than what rounding to
single precision does to a number of that size, and floats that are right to 2^-48 leave one number
in 10^9 open.

  Proven:   docs/explanation/proofs/device_noise.md, sections 1 to 3
  Tested:   tests/randomness/test_keyed.py: the margins against balls, at the edges too
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ldexp, pi

import numpy as np

from letalone.randomness.bulk import Floats
from letalone.randomness.real_noise import grid_exponent

KEYED_GRID_BITS = 16
TILE_BLOCKS, LANES = 256, 8  # blocks that lie side by side; numbers of a block
TILE = TILE_BLOCKS * LANES
ANGLE_BITS = 61
PART_MASK = (1 << 29) - 1  # of the angle's first word, without the three bits of the part
WIDEST = 1 << 60  # σ and 1/σ are at most this: no float of the law is near the ends of its range

# In units of the float 1.0's rounding error, 2^-53, and of sigma in grid steps (proof, section 3).
PER_RADIUS = 2.0**-48  # log, sqrt, sin, cos right to 2^-50, and seven roundings
PER_ROUNDING = 2.0**-51  # U is a rounded float, divided by the radius
PER_UNREAD = 2.0**-62  # bits of U not read, divided by U and the radius
FLAT = 2.0**-40  # roundings of the value's place between grid points


@dataclass(frozen=True)
class KeyedLaw:
    """Gaussian noise of deviation sigma, as the numbers that every implementation uses."""

    sigma: Fraction

    @cached_property
    def exponent(self) -> int:
        """Of the grid, a power of two that depends on sigma alone."""
        return grid_exponent(self.sigma, KEYED_GRID_BITS)

    @cached_property
    def units(self) -> Fraction:
        """sigma in steps of the grid."""
        return self.sigma / Fraction(2) ** self.exponent

    @cached_property
    def constants(self) -> Floats:
        """σ in steps, steps to 1, a step, the angle's last bit, and the four parts of a margin."""
        steps = float(self.units)
        margins = (PER_RADIUS * steps, PER_ROUNDING * steps, PER_UNREAD * steps, FLAT)
        grid = (ldexp(1.0, -self.exponent), ldexp(1.0, self.exponent))
        return np.array([steps, *grid, ldexp(pi / 4, -ANGLE_BITS), *margins])

    @property
    def fits(self) -> bool:
        """Whether floats of usual size can hold it."""
        return Fraction(1, WIDEST) <= self.sigma <= WIDEST


def place_of(index: int) -> tuple[int, int]:
    """The block and the lane of a number; no two numbers share both."""
    tile, inside = divmod(index, TILE)
    lane, block = divmod(inside, TILE_BLOCKS)
    return tile * TILE_BLOCKS + block, lane
