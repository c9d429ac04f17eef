"""Three ways to round a real number, each by floats with a margin and exactly.

  OntoGrid     value + noise, to the nearest point of a grid 2^k, half up
  ToNearest    to the nearest whole number, half up
  AwayFromZero to the whole number next away from zero

A float t = y + offset + margin, with |error| ≤ margin, has the same floor as the true sum
unless t lies less than 2 · margin above a whole number: those are the unsure ones.
"""

from math import ldexp
from typing import cast

import numpy as np

from letalone.randomness.bits import BitSource
from letalone.randomness.bulk import BLOCK, NOWHERE, Floats, Places, Wholes
from letalone.randomness.lazy import LazyReal

LARGEST_FLOAT = 1.7976931348623157e308
WHOLE_LIMIT = (1 << 62) - 1  # with a value of as much the sum has 64 bits


class OntoGrid:
    """value + noise on a grid; the noise arrives in units of the grid."""

    def __init__(self, values: Floats, out: Floats, exponent: int) -> None:
        self.values, self.out, self.exponent = values, out, exponent
        self.step, self.per_unit = ldexp(1.0, exponent), ldexp(1.0, -exponent)
        self.buffers = np.empty((2, min(values.size, BLOCK)))

    def floats(self, y: Floats, places: slice | Places, margin: float) -> Places:
        # A huge value on a fine grid overflows here: it becomes NaN, which is unsure, so that
        # the exact road keeps its result finite. On a coarse grid nothing can overflow.
        units, floors = (buffer[: y.size] for buffer in self.buffers)
        np.multiply(self.values[places], self.per_unit, out=units)
        np.floor(units, out=floors)
        np.subtract(units, floors, out=units)
        np.add(units, 0.5 + margin, out=units)
        np.add(units, y, out=units)
        np.floor(units, out=y)
        np.subtract(units, y, out=units)
        # Both are whole numbers in float64, so the sum is the exact one rounded once.
        np.add(floors, y, out=floors)
        if isinstance(places, slice):
            np.multiply(floors, self.step, out=self.out[places])
        else:
            self.out[places] = floors * self.step
        return _below(units, 2 * margin)

    def exact(self, real: LazyReal, place: int, bits: BitSource) -> None:
        value = float(self.values[place])
        self.out[place] = onto_grid(value, real, self.exponent, bits)


class _Whole:
    """Whole numbers. Those beyond the limit are kept aside: no draw is ever clamped."""

    def __init__(self, out: Wholes) -> None:
        self.out, self.far = out, dict[int, int]()

    def put(self, whole: int, place: int) -> None:
        """Writes one that was rounded exactly: only those can be beyond the limit."""
        if abs(whole) <= WHOLE_LIMIT:
            self.out[place] = whole
        else:
            self.far[place] = whole

    def drawn(self) -> Wholes:
        """All of them: an array of int64, or of Python's ints where one is beyond the limit."""
        return with_far(self.out, self.far)


class ToNearest(_Whole):
    """The nearest whole number, half up; `farthest` is the largest size rounded exactly."""

    farthest = 0

    def floats(self, y: Floats, places: slice | Places, margin: float) -> Places:
        floors, unsure = _floors(y, 0.5, margin)
        self.out[places] = floors
        return unsure

    def exact(self, real: LazyReal, place: int, bits: BitSource) -> None:
        nearest = real.affine(2, 1, 2).floor(bits)
        self.farthest = max(self.farthest, abs(nearest))
        self.put(nearest, place)


class AwayFromZero(_Whole):
    """The whole number next away from zero."""

    def floats(self, y: Floats, places: slice | Places, margin: float) -> Places:
        floors, unsure = _floors(y, 0.0, margin)
        outward = floors.astype(np.int64)
        outward += outward >= 0
        self.out[places] = outward
        return unsure

    def exact(self, real: LazyReal, place: int, bits: BitSource) -> None:
        floor = real.floor(bits)
        self.put(floor + (floor >= 0), place)


def onto_grid(value: float, noise: LazyReal, exponent: int, bits: BitSource) -> float:
    """value + 2^exponent · noise, on the grid 2^exponent, half up, as the nearest float."""
    top, bottom = value.as_integer_ratio()
    if exponent < 0:
        top <<= -exponent
    else:
        bottom <<= exponent
    return float_of_grid(
        noise.affine(2 * bottom, 2 * top + bottom, 2 * bottom).floor(bits), exponent
    )


def float_of_grid(whole: int, exponent: int) -> float:
    """whole · 2^exponent, rounded once and kept finite."""
    try:
        return whole / (1 << -exponent) if exponent < 0 else float(whole << exponent)
    except OverflowError:
        return LARGEST_FLOAT if whole > 0 else -LARGEST_FLOAT


def wholes_of(draws: list[int]) -> Wholes:
    """Few draws as an array; see `_Whole.drawn`."""
    far = {place: number for place, number in enumerate(draws) if abs(number) > WHOLE_LIMIT}
    return with_far(np.array([0 if n in far else d for n, d in enumerate(draws)], np.int64), far)


def with_far(out: Wholes, far: dict[int, int]) -> Wholes:
    """The array, with Python's ints in it where there are any that are far out."""
    if not far:
        return out
    numbers = out.astype(object)
    numbers[list(far)] = list(far.values())
    return cast("Wholes", numbers)


def _floors(y: Floats, offset: float, margin: float) -> tuple[Floats, Places]:
    np.add(y, offset + margin, out=y)
    floors = np.floor(y)
    np.subtract(y, floors, out=y)
    return floors, _below(y, 2 * margin)


def _below(values: Floats, limit: float) -> Places:
    """Where the values are below the limit, or not numbers."""
    if values.min(initial=1.0) >= limit:
        return NOWHERE
    return np.flatnonzero(~(values >= limit))
