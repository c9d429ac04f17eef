"""The ziggurat: the area under a density, covered by rectangles of exactly equal size.

For a decreasing density f on [0, ∞) with f(0) = 1, choose heights 0 = Y0 < Y1 < … < Yn
with Yn ≥ 1 and widths Xi = area / (Y(i+1) − Yi). The rectangles [0, Xi] × [Yi, Y(i+1)]
have the same area and cover the region under f if f(Xi) ≤ Yi for i ≥ 1; the lowest one
stands for [0, tail_start] × [0, Y1] and the tail envelope Y1·e^(−(x − tail_start)/tail_scale).
A point drawn uniformly from a uniformly drawn rectangle, kept if it lies under f, has
the first coordinate's density proportional to f. Whenever |x| is below the quick width,
the whole column lies under f and no second coordinate is needed.

All heights are integers over 2^64 and all widths are ratios of integers, so equality of
the areas is exact, and the covering is certified by balls while the table is built.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 3
  Tested:   the covering, and the law by enumeration of small tables
  Assumed:  nothing beyond Arb

Marsaglia, Tsang: The ziggurat method for generating random variables (2000).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, exp, log, sqrt

from letalone.exact.balls import Ball, ball, certain, fraction_above, fraction_below

HEIGHT_BITS = 64
ONE = 1 << HEIGHT_BITS


@dataclass(frozen=True, slots=True)
class Density:
    """The density e^(−x^power / power) on x ≥ 0: exponential (1) or half a Gaussian (2)."""

    power: int

    def log_height(self, x: Ball) -> Ball:
        return -x if self.power == 1 else -(x * x) / 2

    def rough_log_height(self, x: float) -> float:
        """The same in floats."""
        return -x if self.power == 1 else -x * x / 2

    def inverse(self, height: int) -> Ball:
        """The x at which the density falls to height / 2^64."""
        log_height = -(ball(Fraction(height, ONE)).log())
        return log_height if self.power == 1 else (2 * log_height).sqrt()

    def rough_inverse(self, height: float) -> float:
        """The same in floats, to find where to start building."""
        return -log(height) if self.power == 1 else sqrt(-2 * log(height))


EXPONENTIAL, HALF_GAUSSIAN = Density(power=1), Density(power=2)


@dataclass(frozen=True, slots=True)
class Ziggurat:
    """A table of 2^layer_bits rectangles; layer i is `area / rises[i]` wide."""

    density: Density
    layer_bits: int
    area: int
    heights: tuple[int, ...]
    rises: tuple[int, ...]
    quick_widths: tuple[Fraction, ...]
    tail_start: Fraction
    tail_scale: Fraction

    def width(self, layer: int) -> Fraction:
        return Fraction(self.area, self.rises[layer])

    @property
    def largest_width(self) -> Fraction:
        return Fraction(self.area, min(self.rises))


@cache
def ziggurat(density: Density, layer_bits: int = 10) -> Ziggurat:
    """The table with 2^layer_bits layers."""
    layers = 1 << layer_bits
    start = _rough_tail_start(density, layers)
    while True:  # a little lower means a little more area: until the certificate holds
        table = _build(density, layer_bits, Fraction(start))
        if table.heights[-1] >= ONE:
            return table
        start *= 1 - 2.0**-40


def _build(density: Density, layer_bits: int, start: Fraction) -> Ziggurat:
    # The tail envelope must fall no faster than the density does beyond `start`.
    tail_scale = Fraction(1) if density.power == 1 else Fraction(ceil(1024 / start), 1024)
    first = ceil(ONE * fraction_above(certain(lambda: density.log_height(ball(start)).exp())))
    area = ceil(first * (start + tail_scale))
    heights, rises, quick = [0, first], [first], list[Fraction]()
    for _ in range(1, 1 << layer_bits):
        crossing = certain(lambda: density.inverse(heights[-1])) if heights[-1] < ONE else None
        if crossing is None:  # covered already: the layers left over are never under f
            quick.append(Fraction(0))
            rises.append(rises[-1])
        else:
            quick.append(fraction_below(crossing))
            rises.append(int(area / fraction_above(crossing)))
        heights.append(heights[-1] + rises[-1])
    quick.append(Fraction(0))
    return Ziggurat(
        density,
        layer_bits,
        area,
        tuple(heights),
        tuple(rises),
        tuple(quick),
        Fraction(area, first) - tail_scale,
        tail_scale,
    )


def _rough_tail_start(density: Density, layers: int) -> float:
    low, high = 0.5, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _covers(density, layers, middle) else (low, middle)
    return low


def _covers(density: Density, layers: int, start: float) -> bool:
    height = exp(density.rough_log_height(start))
    area = height * (start + (1 if density.power == 1 else 1 / start))
    for _ in range(1, layers):
        if height >= 1:
            return True
        height += area / density.rough_inverse(height)
    return height >= 1
