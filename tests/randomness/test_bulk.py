"""Many draws at once: word for word what the reference gives, ties and tails included."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray

from letalone.randomness.bulk import draw_all
from letalone.randomness.draws import Sampler, sampler
from letalone.randomness.lazy import LazyReal
from letalone.randomness.rounding import AwayFromZero, OntoGrid, ToNearest, _floors, _Whole
from letalone.randomness.ziggurat import EXPONENTIAL, HALF_GAUSSIAN, HEIGHT_BITS, Density
from seeded import ScriptedBits, SeededBits

ALL_ONES = (1 << 64) - 1


class Size(_Whole):
    """The whole number below the absolute value."""

    def floats(self, y, places, margin):
        floors, unsure = _floors(y, 0.0, margin)
        sizes = floors.astype(np.int64)
        sizes ^= sizes >> 63  # −1 − n becomes n
        self.out[places] = sizes
        return unsure

    def exact(self, real, place, bits):
        floor = real.floor(bits)
        self.put(floor if floor >= 0 else -1 - floor, place)


class FirstWords:
    """Given words for the first block, then seeded ones."""

    word_size = 64

    def __init__(self, words: NDArray[np.uint64], then: SeededBits) -> None:
        self._words, self._then = words, then
        self.word = then.word

    def fill(self, out: NDArray[np.uint64]) -> None:
        if self._words.size:
            out[...], self._words = self._words, self._words[:0]
        else:
            self._then.fill(out)


def exactly(kind: str, real: LazyReal) -> int:
    """The rounding by its definition, in rational arithmetic on the middle of the interval."""
    middle = Fraction(2 * real.low + real.width, 2 * real.denominator)
    floor = middle.__floor__()
    match kind:
        case "nearest":
            return (middle + Fraction(1, 2)).__floor__()
        case "away":
            return floor + 1 if middle > 0 else floor
        case _:
            return abs(middle).__floor__()


KINDS: dict[str, Callable[[NDArray[np.int64]], object]] = {
    "nearest": ToNearest,
    "away": AwayFromZero,
    "size": Size,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("density", [EXPONENTIAL, HALF_GAUSSIAN])
@pytest.mark.parametrize(
    "scale",
    [Fraction(1, 1 << 20), Fraction(1, 3), Fraction(10), Fraction(10**6), Fraction(1 << 40)],
)
@pytest.mark.few("scale0", "scale3")
def test_quick_draws_equal_the_reference_word_for_word(
    kind: str, density: Density, scale: Fraction
):
    """12,000 words each; at scale 2^40 about one in a hundred is left to the reference."""
    words = np.empty(12_000, np.uint64)
    SeededBits(7).fill(words)
    out = np.zeros(words.size, np.int64)
    draw_all(density, scale, words.size, KINDS[kind](out), FirstWords(words, SeededBits(8)))
    source = sampler(density)
    compared = 0
    for word, result in zip(words.tolist(), out.tolist(), strict=True):
        layer, position = source.parts(word)
        quick = source.quick_positions[layer]
        if -quick < position < quick - 1:
            real = source.inside(layer, position).times(scale)
            low, high = (exactly(kind, LazyReal(end, 0, real.denominator)) for end in real.ends())
            assert min(low, high) <= result <= max(low, high)
            compared += 1
    assert compared > 11_000


@pytest.mark.parametrize("kind", ["nearest", "away", "size"])
@pytest.mark.parametrize("density", [EXPONENTIAL, HALF_GAUSSIAN])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_draw_that_straddles_a_border_is_decided_by_the_next_bits(
    kind: str, density: Density, sign: int
):
    """The scale is chosen so that the border lies in the middle of the position's cell."""
    source = sampler(density)
    layer, position = 500, sign * (source.half // 3)
    border = Fraction(7) - (Fraction(1, 2) if kind == "nearest" else 0)
    middle = source.table.width(layer) * Fraction(2 * position + 1, 2 * source.half)
    scale = border / abs(middle)
    word = (position << 10 | layer) & ALL_ONES
    found = []
    for following in (0, ALL_ONES):
        out = np.zeros(1, np.int64)
        bits = ScriptedBits([word, following])
        draw_all(density, scale, 1, KINDS[kind](out), bits)
        found.append(int(out[0]))
        assert bits.asked == 2, "one word more, and only one"
    low, high = sorted(found)
    assert high - low == 1, "both sides of the border are reached"
    sides = [Fraction(border) * sign + Fraction(side, 10**6) for side in (-1, 1)]
    expected = [exactly(kind, LazyReal(s.numerator, 0, s.denominator)) for s in sides]
    assert found == expected


@pytest.mark.parametrize("density", [EXPONENTIAL, HALF_GAUSSIAN])
def test_values_on_a_grid_equal_exact_arithmetic(density: Density):
    """Odd values: tiny, huge, negative, just below a border, subnormal."""
    odd = [
        0.0,
        -0.0,
        0.1,
        -0.3,
        5e-324,
        -5e-324,
        1e300,
        -1e300,
        2.0**53 + 2,
        0.5,
        -0.5,
        0.49999999999999994,
    ]
    values = np.array((odd * 1000)[:9000])
    words = np.empty(values.size, np.uint64)
    SeededBits(5).fill(words)
    scale, exponent = Fraction(1 << 28) * Fraction(13, 10), -28
    out = np.zeros(values.size)
    draw_all(
        density,
        scale,
        values.size,
        OntoGrid(values, out, exponent),
        FirstWords(words, SeededBits(6)),
    )
    source = sampler(density)
    step = Fraction(2) ** exponent
    for word, value, result in zip(words.tolist(), values.tolist(), out.tolist(), strict=True):
        layer, position = source.parts(word)
        quick = source.quick_positions[layer]
        if -quick < position < quick - 1:
            real = source.inside(layer, position).times(scale)
            ends = [Fraction(end, real.denominator) + Fraction(value) / step for end in real.ends()]
            allowed = {float((end + Fraction(1, 2)).__floor__() * step) for end in ends}
            assert result in allowed


def test_results_lie_on_the_grid_whatever_the_value():
    """The low bits of a float sum betray the value (Mironov 2012); these do not."""
    values = np.random.default_rng(3).normal(size=20_000) * 1e-3
    out = np.empty_like(values)
    draw_all(EXPONENTIAL, Fraction(1 << 28), values.size, OntoGrid(values, out, -28), SeededBits(4))
    assert np.array_equal(np.rint(out * 2.0**28), out * 2.0**28)
    naive = values + np.random.default_rng(4).laplace(size=values.size)
    assert not np.array_equal(np.rint(naive * 2.0**28), naive * 2.0**28)


@pytest.mark.parametrize("density", [EXPONENTIAL, HALF_GAUSSIAN])
def test_points_outside_the_quick_part_are_kept_as_the_reference_keeps_them(density: Density):
    """Words just outside the quick part, all layers: kept or redrawn as exact arithmetic says."""
    source = sampler(density)
    layers = np.arange(1, 1024)
    positions = np.array(
        [source.quick_positions[k] + (source.half - source.quick_positions[k]) // 3 for k in layers]
    )
    words = (positions.astype(np.uint64) << np.uint64(10)) | layers.astype(np.uint64)
    out = np.full(layers.size, -1, np.int64)
    heights = np.empty(layers.size, np.uint64)
    SeededBits(9).fill(heights)
    scale = Fraction(1 << 30)
    draw_all(density, scale, layers.size, Size(out), FirstWords(words, SeededBits(9)))
    kept = 0
    for layer, position, height, result in zip(
        layers.tolist(), positions.tolist(), heights.tolist(), out.tolist(), strict=True
    ):
        level = LazyReal(height >> 11, 1, 1 << 53)
        real = source.settle(layer, source.inside(layer, position), SeededBits(1), level)
        mine = source.inside(layer, position).times(scale).floor(SeededBits(1))
        assert (abs(result - mine) <= 1) == (real is not None)
        kept += real is not None
    assert 200 < kept < 1000


class Blocks:
    """Given arrays for the first fills, then seeded words."""

    word_size = 64

    def __init__(self, *blocks: NDArray[np.uint64]) -> None:
        self._blocks, self._then = list(blocks), SeededBits(11)
        self.word = self._then.word

    def fill(self, out: NDArray[np.uint64]) -> None:
        if self._blocks:
            out[...] = np.resize(self._blocks.pop(0), out.shape)
        else:
            self._then.fill(out)


@pytest.mark.parametrize("density", [EXPONENTIAL, HALF_GAUSSIAN])
def test_points_next_to_the_border_are_kept_as_the_reference_keeps_them(density: Density):
    """Just outside the quick part, and as high as the density: there floats cannot tell."""
    source = sampler(density)
    layers = np.arange(1, 1024)
    steps = (5 * (1 + layers % 700)).astype(np.int64)  # up to 3,500 positions beyond
    positions = np.array([source.quick_positions[k] for k in layers]) + steps
    assert (positions < source.half).all()
    borders = [_border(source, int(k), int(p)) for k, p in zip(layers, positions, strict=True)]
    under = np.array([int(low) for low, _ in borders]) - 2 - layers % 100
    over = np.array([int(high) for _, high in borders]) + 1 + layers % 100
    heights = np.clip(np.where(layers % 2, under, over), 0, (1 << 53) - 1).astype(np.uint64)
    words = (positions.astype(np.uint64) << np.uint64(10)) | layers.astype(np.uint64)
    out = np.full(layers.size, -1, np.int64)
    scale = Fraction(1 << 20)  # no draw straddles a whole number, so each has its height
    draw_all(density, scale, layers.size, Size(out), Blocks(words, heights << np.uint64(11)))
    seen = {True: 0, False: 0}
    for layer, position, height, result, (low, high) in zip(
        layers.tolist(), positions.tolist(), heights.tolist(), out.tolist(), borders, strict=True
    ):
        if height + 1 < low or height > high:  # whatever bits follow
            mine = source.inside(layer, position).times(scale).floor(SeededBits(1))
            assert (abs(result - mine) <= 1) == (height < low)
            seen[height < low] += 1
    assert min(seen.values()) > 300


def _border(source: Sampler, layer: int, position: int) -> tuple[mpf, mpf]:
    """The density at both ends of a position's cell, in 2^-53 of the layer's rise."""
    table, found = source.table, []
    with mp.workdps(60):
        for end in (position + 1, position):
            x = mpf(end) / source.half * table.area / table.rises[layer]
            height = mp.exp(-x if table.density.power == 1 else -(x**2) / 2) * 2**HEIGHT_BITS
            found.append((height - table.heights[layer]) / table.rises[layer] * 2**53)
    return found[0], found[1]


MARGIN = 2.0**-10


@pytest.mark.parametrize("kind", [*KINDS, "grid"])
def test_a_float_that_is_off_by_its_margin_is_rounded_rightly_or_left_open(kind: str):
    """For floats y and true numbers up to a margin away, on both sides of every border."""
    for whole, away, side in product((-3, -1, 0, 2), range(-8, 9), (-1, 1)):
        y = whole - (0.5 if kind in ("nearest", "grid") else 0.0) + away * MARGIN / 4
        true = Fraction(y) + Fraction(side * MARGIN) * Fraction(999, 1000)
        out = np.zeros(1, np.float64 if kind == "grid" else np.int64)
        rounding = OntoGrid(np.zeros(1), out, 0) if kind == "grid" else KINDS[kind](out)
        if not rounding.floats(np.array([y]), slice(0, 1), MARGIN).size:
            real = LazyReal(true.numerator, 0, true.denominator)
            assert out[0] == exactly("nearest" if kind == "grid" else kind, real)


def test_no_draw_takes_longer_because_its_value_is_large():
    """A word for the tail and one for the middle: both take a handful of words."""
    source = sampler(EXPONENTIAL)
    tail = (source.half - 1) << 10
    for first in (tail, 12345 << 10 | 700):
        bits = ScriptedBits([first, 12345 << 10 | 700, 1 << 40], SeededBits(2))
        source.draw(bits)
        assert bits.asked <= 4
