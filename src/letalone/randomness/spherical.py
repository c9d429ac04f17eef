"""Noise with density ∝ e^(−‖b‖₂/scale) in d dimensions, added to a vector and rounded once.

Its length is scale · (E1 + … + Ed) for independent exponential numbers, and its direction is
that of d independent Gaussian numbers. All 2d numbers are lazy reals; the result is computed
in balls, and each coordinate's ball is cut down by further bits until it lies between two
neighbouring borders of the grid. So every coordinate is the ideal one, rounded.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 10
  Tested:   length and direction against their laws, with power; d = 1 against Laplace
  Assumed:  the words are independent and uniform
"""

from fractions import Fraction

import numpy as np

from letalone.exact.balls import START_BITS, ball, whole_below, with_bits
from letalone.randomness.bits import BitSource
from letalone.randomness.bulk import Floats
from letalone.randomness.draws import sampler
from letalone.randomness.lazy import LazyReal
from letalone.randomness.real_noise import grid_exponent
from letalone.randomness.rounding import float_of_grid
from letalone.randomness.ziggurat import EXPONENTIAL, HALF_GAUSSIAN


def add_spherical(values: Floats, scale: Fraction, bits: BitSource) -> Floats:
    """values + b, where b has density ∝ e^(−‖b‖₂/scale), each coordinate on the grid."""
    exponent = grid_exponent(scale)
    step = Fraction(2) ** exponent
    lengths = [sampler(EXPONENTIAL, bits.word_size).draw_positive(bits) for _ in range(values.size)]
    directions = [sampler(HALF_GAUSSIAN, bits.word_size).draw(bits) for _ in range(values.size)]
    starts = [Fraction(float(value)) / step + Fraction(1, 2) for value in values.flat]
    wholes = _floors(starts, scale / step, lengths, directions, bits)
    return np.array([float_of_grid(n, exponent) for n in wholes]).reshape(values.shape)


def _floors(
    starts: list[Fraction],
    scale: Fraction,
    lengths: list[LazyReal],
    directions: list[LazyReal],
    bits: BitSource,
) -> list[int]:
    precision = START_BITS
    while True:
        wholes = with_bits(lambda: _wholes(starts, scale, lengths, directions), precision)
        decided = [floor for floor in wholes if floor is not None]
        if len(decided) == len(starts):
            return decided
        for real in (*lengths, *directions):
            real.refine(bits)
        precision += 2 * bits.word_size


def _wholes(
    starts: list[Fraction], scale: Fraction, lengths: list[LazyReal], directions: list[LazyReal]
) -> list[int | None]:
    """The floors of the coordinates, where they are certain yet."""
    gaussians = [real.enclosure() for real in directions]
    length = sum((real.enclosure() for real in lengths), ball(0))
    square = sum((gaussian**2 for gaussian in gaussians), ball(0))
    stretch = ball(scale) * length / square.sqrt()
    return [
        whole_below(ball(start) + stretch * gaussian)
        for start, gaussian in zip(starts, gaussians, strict=True)
    ]
