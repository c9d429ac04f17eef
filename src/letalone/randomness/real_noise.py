"""Ideal real-valued noise, added to an exact value and rounded once.

The value's exact binary number plus an ideal Laplace or Gaussian number, rounded half up to
a grid 2^k: this is post-processing of the textbook mechanism, so it has the textbook's
curve, in any dimension, with no floating-point leak and no growth of the sensitivity. The
grid depends on the scale alone: 2^28 to 2^29 steps a scale, so that rounding moves an
answer by less than 2e-9 scales.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 6
  Tested:   word for word against exact arithmetic; the law, with power; low bits
  Assumed:  the words are independent and uniform
"""

from fractions import Fraction

import numpy as np

from letalone.randomness.bits import BitSource
from letalone.randomness.bulk import FEW_DRAWS, Floats, draw_all
from letalone.randomness.draws import sampler
from letalone.randomness.rounding import OntoGrid, onto_grid
from letalone.randomness.ziggurat import EXPONENTIAL, HALF_GAUSSIAN, Density

GRID_BITS = 28


def add_laplace(value: float, scale: Fraction, bits: BitSource) -> float:
    """value + a number with density ∝ e^(−|x|/scale), on the grid."""
    return _add(EXPONENTIAL, value, scale, bits)


def add_laplaces(values: Floats, scale: Fraction, bits: BitSource) -> Floats:
    """Each value + its own number with density ∝ e^(−|x|/scale), on the grid."""
    return _add_all(EXPONENTIAL, values, scale, bits)


def add_gaussian(value: float, sigma: Fraction, bits: BitSource) -> float:
    """value + a number with density ∝ e^(−x²/2σ²), on the grid."""
    return _add(HALF_GAUSSIAN, value, sigma, bits)


def add_gaussians(values: Floats, sigma: Fraction, bits: BitSource) -> Floats:
    """Each value + its own number with density ∝ e^(−x²/2σ²), on the grid."""
    return _add_all(HALF_GAUSSIAN, values, sigma, bits)


def grid_of(scale: Fraction) -> Fraction:
    """The step of the grid that results for this scale lie on."""
    return Fraction(2) ** grid_exponent(scale)


def grid_exponent(scale: Fraction, bits: int = GRID_BITS) -> int:
    """The largest k with scale ≥ 2^bits · 2^k."""
    top, bottom = scale.numerator, scale.denominator
    k = top.bit_length() - bottom.bit_length()
    fits = bottom << k <= top if k >= 0 else bottom <= top << -k
    return (k if fits else k - 1) - bits


def _add(density: Density, value: float, scale: Fraction, bits: BitSource) -> float:
    noise = sampler(density, bits.word_size).draw(bits)
    exponent = grid_exponent(scale)
    top, bottom = _in_units(scale, exponent)
    return onto_grid(value, noise.affine(top, 0, bottom), exponent, bits)


def _in_units(scale: Fraction, exponent: int) -> tuple[int, int]:
    """scale / 2^exponent as a ratio."""
    if exponent < 0:
        return scale.numerator << -exponent, scale.denominator
    return scale.numerator, scale.denominator << exponent


def _add_all(density: Density, values: Floats, scale: Fraction, bits: BitSource) -> Floats:
    exponent = grid_exponent(scale)
    if values.size < FEW_DRAWS:
        sums = [_add(density, float(value), scale, bits) for value in values.flat]
        return np.array(sums, np.float64).reshape(values.shape)
    flat = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
    out = np.empty_like(flat)
    rounding = OntoGrid(flat, out, exponent)
    draw_all(density, Fraction(*_in_units(scale, exponent)), flat.size, rounding, bits)
    return out.reshape(values.shape)
