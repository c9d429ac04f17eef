"""One exponential or Gaussian real number, as a lazy real: the reference of every law.

A word names a layer of the ziggurat (low bits) and a position in [−1, 1) (high bits, two's
complement), so x = width · position is uniform in a rectangle that is mirrored at 0. Below
the quick width it is kept. Otherwise a second uniform number decides whether the point
lies under the density, exactly; beyond `tail_start` the lowest layer stands for the tail.

  Proven:   docs/explanation/proofs/exact_sampling.md, section 3
  Tested:   every bit string at a small word size and a small table; forced ties; the tail
  Assumed:  the words are independent and uniform
"""

from dataclasses import dataclass
from functools import cache, cached_property
from math import exp

from letalone.exact.balls import Ball, ball
from letalone.randomness.bits import BitSource
from letalone.randomness.lazy import LazyReal, decide, lazy_uniform
from letalone.randomness.ziggurat import EXPONENTIAL, HEIGHT_BITS, Density, Ziggurat, ziggurat

FINE = 1 << 48  # floats say something only about reals known this well


@dataclass(frozen=True)
class Sampler:
    """A ziggurat, read by words of a given size."""

    table: Ziggurat
    word_size: int = 64

    @cached_property
    def half(self) -> int:
        """Positions are whole numbers from −half to half − 1."""
        return 1 << (self.word_size - self.table.layer_bits - 1)

    @cached_property
    def quick_positions(self) -> tuple[int, ...]:
        """A position from −q to q − 1 lies under the density at every height."""
        table, half = self.table, self.half
        pairs = zip(table.quick_widths, table.rises, strict=True)
        return tuple(int(half * quick * rise / table.area) for quick, rise in pairs)

    def draw(self, bits: BitSource) -> LazyReal:
        """A number with density proportional to f(|x|)."""
        while True:
            kept = self.attempt(bits)
            if kept is not None:
                return kept

    def attempt(self, bits: BitSource) -> LazyReal | None:
        """One point of a rectangle: its x if it lies under the density, else None."""
        layer, position = self.parts(bits.word())
        real, quick = self.inside(layer, position), self.quick_positions[layer]
        return real if -quick <= position < quick else self.settle(layer, real, bits)

    def draw_positive(self, bits: BitSource) -> LazyReal:
        """The absolute value of such a number: density proportional to f."""
        return self.draw(bits).size()

    def parts(self, word: int) -> tuple[int, int]:
        """The layer and the position that a word names."""
        layer = word & ((1 << self.table.layer_bits) - 1)
        position = word >> self.table.layer_bits
        return layer, position - 2 * self.half if position >= self.half else position

    def inside(self, layer: int, position: int) -> LazyReal:
        """The real number of which so far only layer and position are known."""
        area = self.table.area
        return LazyReal(area * position, area, self.table.rises[layer] * self.half)

    def settle(
        self, layer: int, real: LazyReal, bits: BitSource, height: LazyReal | None = None
    ) -> LazyReal | None:
        """The number to keep for a point outside the quick part, or None: draw again."""
        negative, size = real.is_negative(), real.size()
        height = height or lazy_uniform()
        if layer == 0 and not size.is_below(self.table.tail_start, bits):
            kept = self._tail(height, bits)
        else:
            kept = size if self._under(layer, size, height, bits) else None
        return kept.affine(-1, 0, 1) if negative and kept else kept

    def _under(self, layer: int, size: LazyReal, height: LazyReal, bits: BitSource) -> bool:
        table = self.table
        floor, rise = table.heights[layer], table.rises[layer]

        def room() -> Ball:
            level = (height.enclosure() * rise + floor) / (1 << HEIGHT_BITS)
            return table.density.log_height(size.enclosure()).exp() - level

        return decide(room, [size, height], bits)

    def _tail(self, height: LazyReal, bits: BitSource) -> LazyReal | None:
        """Under the envelope: tail_start + tail_scale · E, kept if below the density too."""
        table = self.table
        start, scale = table.tail_start, table.tail_scale
        excess = sampler(EXPONENTIAL, self.word_size, table.layer_bits).draw_positive(bits)

        def room() -> Ball:
            beyond = excess.enclosure()
            inside = table.density.log_height(ball(start) + ball(scale) * beyond) + beyond
            return inside.exp() - height.enclosure() * table.heights[1] / (1 << HEIGHT_BITS)

        kept = decide(room, [excess, height], bits, roughly=self._rough_room(excess, height))
        return excess.times(scale).plus(start) if kept else None

    def _rough_room(self, excess: LazyReal, height: LazyReal) -> float:
        if not (excess.is_known_to(FINE) and height.is_known_to(FINE)):
            return 0.0
        table, beyond = self.table, excess.near()
        x = float(table.tail_start) + float(table.tail_scale) * beyond
        level = height.near() * table.heights[1] / (1 << HEIGHT_BITS)
        return exp(table.density.rough_log_height(x) + beyond) - level


@cache
def sampler(density: Density, word_size: int = 64, layer_bits: int = 10) -> Sampler:
    """The sampler for a density and a size of words; built once."""
    return Sampler(ziggurat(density, layer_bits), word_size)
