"""Many draws at once: floats where they provably agree with the reference, else the reference.

Each block reads one word a draw and computes y = scale · width · position in float64. If the
reference lies within `margin` of y, and rounding gives the same whole number at both ends of
that margin, the float's answer *is* the reference's answer for these bits, whatever bits
would follow. The others (about one in 10^5 at scale 2^28, fewer below) and the tail
go to the reference with the same layer and position and further bits on demand.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 4: the margins
  Tested:   word for word against the reference, ties included
  Assumed:  IEEE 754 arithmetic; numpy's exp is right to 2^-40 (it is to 2^-51)
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from letalone.randomness.bits import BitSource, Words
from letalone.randomness.draws import Sampler, sampler
from letalone.randomness.lazy import LazyReal
from letalone.randomness.ziggurat import HEIGHT_BITS, Density

FEW_DRAWS = 32  # below this many draws the reference is as fast as a block
BLOCK = 32768  # a block's buffers stay in the second-level cache
WEDGE_MARGIN = 2.0**-38  # more than exp, the level and the position can be off together

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]
NOWHERE: Places = np.empty(0, np.intp)


class Rounding(Protocol):
    """What becomes of the real numbers: written to their places as the rounded result."""

    def floats(self, y: Floats, places: slice | Places, margin: float) -> Places:
        """Writes the results for y, right to `margin`, and returns where that leaves them open.

        May overwrite y.
        """
        ...

    def exact(self, real: LazyReal, place: int, bits: BitSource) -> None:
        """Writes the result for an exact number."""
        ...


@dataclass(frozen=True, slots=True)
class _Table:
    """A sampler's table as float arrays."""

    sampler: Sampler
    widths: Floats
    quick: Floats
    heights: Floats
    rises: Floats


@cache
def _table(density: Density) -> _Table:
    source = sampler(density)
    table = source.table
    unit = 2.0**-HEIGHT_BITS
    rises = np.array(table.rises, dtype=np.float64)
    return _Table(
        source,
        widths=float(table.area) / rises / source.half,
        # Two less than the reference's: safe for either sign, and for a word rounded to a float.
        quick=np.array([max(q - 2, 0) for q in source.quick_positions], dtype=np.float64),
        heights=np.array(table.heights[:-1], dtype=np.float64) * unit,
        rises=rises * unit,
    )


def draw_all(
    density: Density, scale: Fraction, count: int, rounding: Rounding, bits: BitSource
) -> None:
    """Rounds `count` independent numbers scale · X, X with density ∝ f(|x|), into their places."""
    # Whatever the caller wants to hear about overflow: here it would depend on the values.
    with np.errstate(all="ignore"):
        drawing = _Drawing(_table(density), scale, rounding, bits, min(count, BLOCK))
        for start in range(0, count, BLOCK):
            drawing.block(slice(start, min(start + BLOCK, count)))
        places = drawing.settle()
        while places.size:
            for start in range(0, places.size, BLOCK):
                drawing.block(places[start : start + BLOCK])
            places = drawing.settle()


class _Drawing:
    """One call's buffers and constants, and what its blocks have left undecided."""

    def __init__(
        self, table: _Table, scale: Fraction, rounding: Rounding, bits: BitSource, size: int
    ) -> None:
        self.table, self.scale, self.rounding, self.bits = table, scale, rounding, bits
        # Blocks work with whole words, of which the low bits are the layer: harmless digits
        # behind the last place of the position.
        per_word = 0.5**table.sampler.table.layer_bits
        self.edges = table.quick / per_word
        self.widths = table.widths * float(scale) * per_word
        reach = float(scale) * float(table.sampler.table.largest_width)
        self.margin = (reach + 2) * 2.0**-49
        self.words: Words = np.empty(size, np.uint64)
        self.layers: Places = np.empty(size, np.intp)
        self.floats = np.empty((3, size), np.float64)
        self.flags = np.empty(size, np.bool_)
        self.again: list[Places] = []
        self.pending: list[tuple[Places, Wholes, Places]] = []

    def block(self, places: slice | Places) -> None:
        """Draws for these places, and notes which of them `settle` must look at."""
        count = places.stop - places.start if isinstance(places, slice) else places.size
        words, layers = self._read(count)
        word, y, edge = (row[:count] for row in self.floats)
        np.copyto(word, words)
        np.take(self.edges, layers, out=edge, mode="clip")
        np.abs(word, out=y)
        outside = sparse_places(np.greater(y, edge, out=self.flags[:count]))
        np.take(self.widths, layers, out=y, mode="clip")
        np.multiply(y, word, out=y)
        unsure = self.rounding.floats(y, places, self.margin)
        if unsure.size:
            self._resolve(unsure, outside, places)
            outside = np.setdiff1d(outside, unsure)
        self.pending.append((_numbers(outside, places), words[outside], layers[outside]))

    def _resolve(self, unsure: Places, outside: Places, places: slice | Places) -> None:
        """Takes the reference for draws whose rounding the floats leave open."""
        numbers = _numbers(unsure, places).tolist()
        positions = self._positions(self.words.view(np.int64)[unsure]).tolist()
        layers = self.layers[unsure].tolist()
        quick = ~np.isin(unsure, outside)
        for number, position, layer, sure in zip(numbers, positions, layers, quick, strict=True):
            real = self.table.sampler.inside(layer, position)
            kept = real if sure else self.table.sampler.settle(layer, real, self.bits)
            self._write(kept, number)

    def settle(self) -> Places:
        """Decides for points outside the quick part whether they lie under the density.

        Returns all places that must be drawn again.
        """
        places, words, layers = (np.concatenate(part) for part in zip(*self.pending, strict=True))
        positions = self._positions(words)
        self.pending.clear()
        heights = np.empty(places.size, np.uint64)
        self.bits.fill(heights)
        heights >>= np.uint64(11)
        room, beyond = self._room(positions, layers, heights)
        clear = ~beyond & (np.abs(room) >= WEDGE_MARGIN)
        self.again.append(places[clear & (room < 0)])
        for k in np.flatnonzero(~clear).tolist():
            layer, height = int(layers[k]), LazyReal(int(heights[k]), 1, 1 << 53)
            real = self.table.sampler.inside(layer, int(positions[k]))
            kept = self.table.sampler.settle(layer, real, self.bits, height)
            self._write(kept, int(places[k]))
        again = np.concatenate([*self.again, NOWHERE])
        self.again.clear()
        return again

    def _read(self, count: int) -> tuple[Wholes, Places]:
        words, layers = self.words[:count], self.layers[:count]
        self.bits.fill(words)
        layer_bits = self.table.sampler.table.layer_bits
        np.bitwise_and(words, np.uint64((1 << layer_bits) - 1), out=layers.view(np.uint64))
        return words.view(np.int64), layers

    def _positions(self, words: Wholes) -> Wholes:
        # An arithmetic shift: the high bits are a position in two's complement.
        return words >> self.table.sampler.table.layer_bits

    def _room(self, positions: Wholes, layers: Places, heights: Words) -> tuple[Floats, Flags]:
        """How far the density is above each point, and which points stand for the tail."""
        table, ziggurat = self.table, self.table.sampler.table
        x = np.abs(positions + 0.5) * table.widths[layers]
        level = heights * 2.0**-53 * table.rises[layers] + table.heights[layers]
        room = np.exp(-x if ziggurat.density.power == 1 else -(x * x) / 2) - level
        return room, (layers == 0) & (x > float(ziggurat.tail_start) - WEDGE_MARGIN)

    def _write(self, real: LazyReal | None, place: int) -> None:
        """Rounds a number exactly, or notes that its place must be drawn again."""
        if real is None:
            self.again.append(np.array([place]))
        else:
            self.rounding.exact(real.times(self.scale), place, self.bits)


def sparse_places(flags: Flags) -> Places:
    """The places of the true flags, in order, read eight at a time; fast where there are few."""
    in_eights = flags.size & ~7
    eights = (flags[:in_eights].view(np.uint64) != 0).nonzero()[0]
    inside = flags[:in_eights].reshape(-1, 8)[eights].reshape(-1).nonzero()[0]
    places = (eights[inside >> 3] << 3) + (inside & 7)
    if in_eights == flags.size:
        return places
    return np.concatenate([places, flags[in_eights:].nonzero()[0] + in_eights])


def _numbers(local: Places, places: slice | Places) -> Places:
    return local + places.start if isinstance(places, slice) else places[local]
