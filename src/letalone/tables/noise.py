"""Noise for vectors of whole numbers: geometric or Laplace's, or Gaussian where a delta allows it.

Whole rows get geometric noise; parts of rows, whose lattice is fine, Laplace's, of which it is the
law on whole numbers. Both need the L1 sensitivity, Gaussian noise the L2 one. A vector of all
groups gets its noise at once, in one release with one charge. Sums may have any size: what real
noise is added to is the part of a number that is not a multiple of a power of two, and the rest is
added to what comes out.

Theorem.  A release is a function of the numbers plus ideal noise, for numbers of any size.
  Proven:   docs/explanation/proofs/tables.md, section 3
  Tested:   tests/tables/test_many_rows.py: at 10^9 and 10^10 rows; against exact arithmetic
  Assumed:  no noise is 2^23 deviations (Gaussian), 2^23 scales (Laplace) or 2^12 scales (geometric)
            or more: that has a probability below e^(−2^45), e^(−2^23) and e^(−2^12)
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.errors import ParameterError
from letalone.exact.balls import ball, certain, upper
from letalone.exact.typed import Number
from letalone.mechanisms import Gaussian, Geometric, Laplace
from letalone.privacy import Privacy
from letalone.randomness.bits import BitSource
from letalone.randomness.real_noise import grid_exponent
from letalone.tables.columns import Floats
from letalone.tables.intervals import Family, NoiseLaw
from letalone.tables.sensitivity import Moved

LARGEST_SCALE = 1 << 50
APART = 48  # bits of the noise's grid that are left to the mechanism: a float holds 53
EXACT_BITS = 53
EXACT = 1 << EXACT_BITS
WORDS = {
    Geometric: "geometric noise (Laplace's law on whole numbers)",
    Laplace: "Laplace noise",
    Gaussian: "Gaussian noise",
}
LONG = range(10, 62)  # multiples of such powers of two are floats where they have 63 bits


@dataclass(frozen=True, slots=True)
class Noise:
    """A mechanism for a vector of numbers in parts of 1/lattice, with the law of its noise."""

    mechanism: Geometric | Laplace | Gaussian
    lattice: int = 1

    @property
    def law(self) -> NoiseLaw:
        """The law, for intervals; geometric noise is taken as Laplace noise of its scale."""
        family = Family.GAUSSIAN if isinstance(self.mechanism, Gaussian) else Family.LAPLACE
        return NoiseLaw(family, float(self._size / self.lattice))

    @property
    def _size(self) -> Fraction:
        mechanism = self.mechanism
        return mechanism.sigma if isinstance(mechanism, Gaussian) else mechanism.scale

    @property
    def privacy(self) -> Privacy:
        return self.mechanism.privacy

    @property
    def words(self) -> str:
        return WORDS[type(self.mechanism)]

    def width(self, confidence: Number) -> float:
        """One number stays within this, at least this often; exact for geometric noise."""
        return float(self.mechanism.error(confidence)) / self.lattice

    def release(self, vector: NDArray[Any], bits: BitSource) -> Floats:
        """The vector of whole numbers with noise, as the nearest floats."""
        if isinstance(self.mechanism, Geometric):
            noise = self.mechanism.release(np.zeros(vector.shape, np.int64), bits=bits)
            # Python's integers, or numbers of rows; the lattice is a power of two.
            return (vector + noise).astype(np.float64) / self.lattice
        # A multiple of the noise's grid may be added after the noise as well as before it.
        exponent = min(max(0, grid_exponent(self._size) + APART), EXACT_BITS)
        apart = 1 << exponent
        if vector.dtype == object or exponent not in LONG:
            vector = np.clip(vector.astype(object), -apart * EXACT, apart * EXACT)
        near = vector % apart  # below 2^53, so a double holds it
        far = (vector - near).astype(np.float64)  # exactly: a multiple of `apart`
        noisy = far + self.mechanism.release(near.astype(np.float64), bits=bits)
        return noisy / self.lattice


def pure_noise(moved: Moved, epsilon: Fraction, lattice: int = 1) -> Noise:
    """Noise that costs epsilon: geometric, or Laplace's for parts of rows."""
    if lattice > 1:
        real = Laplace(epsilon=epsilon, sensitivity=moved.l1)
        if grid_exponent(real.scale) > EXACT_BITS:
            raise too_small(epsilon)
        return Noise(real, lattice)
    mechanism = Geometric(epsilon=epsilon, sensitivity=moved.l1)
    # Noise has 63 bits, which is far out only for a scale much smaller than that.
    if mechanism.scale > LARGEST_SCALE:
        raise too_small(epsilon)
    return Noise(mechanism)


def too_small(epsilon: Fraction) -> ParameterError:
    """The refusal of an epsilon whose noise would be too large for exact sums."""
    return ParameterError(
        f"A part of the answer gets epsilon {float(epsilon):.3g}, for which the noise would not fit"
        " into 64 bits. Give a larger epsilon, or bound units to fewer rows."
    )


def gaussians(
    moved: list[tuple[Moved, int]], weights: list[Fraction], *, epsilon: Fraction, delta: Fraction
) -> list[Noise]:
    """Gaussian noises that together cost (epsilon, delta); larger weights get less noise.

    moved: of each vector, with its lattice.

    With mu = sensitivity / sigma in proportion to the weights, the squares of all mu add up
    to that of one mechanism for (epsilon, delta).
    """
    unit = Gaussian(epsilon=epsilon, delta=delta, sensitivity=1).sigma
    total = sum((weight**2 for weight in weights), Fraction(0))
    noises: list[Noise] = []
    for (change, lattice), weight in zip(moved, weights, strict=True):
        size = root_above(Fraction(change.l2_squared))
        sigma = root_above((size * unit / weight) ** 2 * total)
        if grid_exponent(sigma) > EXACT_BITS:
            raise too_small(epsilon)
        noises.append(Noise(Gaussian(sigma=sigma, sensitivity=size), lattice))
    return noises


def root_above(square: Fraction) -> Fraction:
    """A rational at or above the square root, to 53 bits."""
    return Fraction(upper(certain(lambda: ball(square).sqrt())))
