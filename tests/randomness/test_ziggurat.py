"""The table covers the density, certified here once more by other means."""

from fractions import Fraction

import mpmath
import pytest
from scipy.stats import chisquare

from letalone.randomness.draws import Sampler, sampler
from letalone.randomness.lazy import LazyReal
from letalone.randomness.ziggurat import EXPONENTIAL, HALF_GAUSSIAN, ONE, Density, ziggurat
from seeded import ScriptedBits, SeededBits, StringBits
from trees import contradicts, law_of

DENSITIES = [EXPONENTIAL, HALF_GAUSSIAN]


def f(density: Density, x: Fraction) -> mpmath.mpf:
    exact = mpmath.mpf(x.numerator) / x.denominator
    return mpmath.exp(-exact if density.power == 1 else -exact * exact / 2)


@pytest.mark.parametrize("layer_bits", [1, 2, 3, 8, 10])
@pytest.mark.parametrize("density", DENSITIES)
def test_the_rectangles_have_equal_area_and_cover_the_density(density: Density, layer_bits: int):
    table = ziggurat(density, layer_bits)
    layers = 1 << layer_bits
    with mpmath.workdps(50):
        assert len(table.rises) == len(table.quick_widths) == layers
        assert table.heights[0] == 0
        assert table.heights[layers] >= ONE, "the top is covered"
        for i in range(layers):
            assert table.heights[i + 1] - table.heights[i] == table.rises[i]
            assert table.width(i) * table.rises[i] == table.area, "areas are equal, exactly"
            if i >= 1 and table.heights[i] < ONE:
                assert f(density, table.width(i)) * ONE <= table.heights[i], "nothing sticks out"
            if table.quick_widths[i]:
                roof = mpmath.mpf(table.heights[i + 1]) / ONE
                assert f(density, table.quick_widths[i]) >= roof, "quick means under the density"
            assert table.quick_widths[i] <= table.width(i)


@pytest.mark.parametrize("layer_bits", [2, 10])
@pytest.mark.parametrize("density", DENSITIES)
def test_the_lowest_layer_stands_for_a_box_and_an_envelope_of_the_tail(
    density: Density, layer_bits: int
):
    table = ziggurat(density, layer_bits)
    start, scale = table.tail_start, table.tail_scale
    assert table.width(0) == start + scale, "the envelope's area is Y1 times its scale"
    with mpmath.workdps(50):
        first = mpmath.mpf(table.heights[1]) / ONE
        assert f(density, start) <= first
        for step in range(400):
            beyond = Fraction(step, 20)
            envelope = first * mpmath.exp(
                -mpmath.mpf(beyond.numerator)
                / beyond.denominator
                / mpmath.mpf(scale.numerator)
                * scale.denominator
            )
            assert f(density, start + beyond) <= envelope


@pytest.mark.few("density0")
@pytest.mark.parametrize("density", DENSITIES)
def test_every_string_of_bits_together_gives_the_law(density: Density):
    """Eight layers, words of five bits, all strings of up to three words; scale 3/2, floors.

    One attempt gives n with probability (area under f over n's interval) / (area of all
    rectangles) and None with what is left: checked from both sides.
    """
    table = ziggurat(density, 3)
    source = Sampler(table, 5)

    def attempt(bits: StringBits) -> int | None:
        real = source.attempt(bits)
        return None if real is None else real.times(Fraction(3, 2)).floor(bits)

    masses, undecided = law_of(attempt, 5, 3)
    whole = 2 * 8 * table.area / ONE
    root = mpmath.sqrt(mpmath.pi / 2)

    def area(x: float) -> mpmath.mpf:
        """The area under f from 0 to x."""
        return 1 - mpmath.exp(-x) if density.power == 1 else root * mpmath.erf(x / mpmath.sqrt(2))

    def truth(scale: float):
        def mass(n: object) -> float:
            if not isinstance(n, int):
                return float(1 - 2 * area(mpmath.inf) / whole)
            low, high = (n, n + 1) if n >= 0 else (-n - 1, -n)
            return float((area(high / scale) - area(low / scale)) / whole)

        return mass

    assert undecided < 0.07
    assert not contradicts(masses, undecided, truth(1.5))
    assert contradicts(masses, undecided, truth(1.65)), "too few strings to see a 10 % error"


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_tail_is_reached_and_stays_on_its_side(density: Density, sign: int):
    """The outermost position of the lowest layer, then an excess of at most one."""
    source = sampler(density)
    position = source.half - 1 if sign > 0 else 1 << 63 >> 10
    word = (position << 10) & ((1 << 64) - 1)
    excess = (source.half // 2) << 10 | 1000  # a layer in the middle, half way out
    real = source.draw(ScriptedBits([word, excess, 1 << 20], SeededBits(1)))
    assert real.is_negative() == (sign < 0)
    assert abs(real.near()) > float(source.table.tail_start)


@pytest.mark.parametrize("height_bits", [0, 53])
def test_the_tail_beyond_has_the_law_of_the_density(height_bits: int):
    """Draws forced into the tail, by balls (no bit of the height known) and by floats.

    Chi-square over four classes of equal probability, α = 1e-6; the envelope alone fails.
    """
    source = sampler(HALF_GAUSSIAN)
    bits = SeededBits(3)
    seen: list[float] = []
    while len(seen) < 12_000:
        real = source.inside(0, source.half - 1 - bits.word() % (source.half // 40))
        height = LazyReal(bits.word() >> (64 - height_bits), 1, 1 << height_bits)
        kept = source.settle(0, real, bits, height)
        if kept is not None:
            seen.append(kept.near())
    start = float(source.table.tail_start)
    whole = mpmath.ncdf(-start)
    borders = [float(-mpmath.erfinv(2 * (whole * q / 4) - 1) * mpmath.sqrt(2)) for q in (3, 2, 1)]
    classes = [
        sum(low <= x < high for x in seen)
        for low, high in zip([start, *borders], [*borders, 99.0], strict=True)
    ]
    assert chisquare(classes).pvalue > 1e-6
    scale = float(source.table.tail_scale)
    envelope = [start - scale * float(mpmath.log(q / mpmath.mpf(4))) for q in (3, 2, 1)]
    wrong = [
        sum(low <= x < high for x in seen)
        for low, high in zip([start, *envelope], [*envelope, 99.0], strict=True)
    ]
    assert chisquare(wrong).pvalue < 1e-6, "too few draws to tell the density from its envelope"
