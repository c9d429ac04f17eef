"""Lazy reals, by walking every string of bits."""

from fractions import Fraction

import pytest

from letalone.exact.balls import ball
from letalone.randomness.lazy import LazyReal, decide, is_above, lazy_uniform
from seeded import StringBits
from trees import contradicts, law_of


@pytest.mark.parametrize("factor", [Fraction(7, 3), Fraction(-5, 2)])
@pytest.mark.parametrize("shift", [Fraction(0), Fraction(1, 7), Fraction(-13, 4)])
def test_the_floor_of_an_affine_image_has_the_law_of_the_real_number(
    factor: Fraction, shift: Fraction
):
    masses, undecided = law_of(
        lambda bits: lazy_uniform().times(factor).plus(shift).floor(bits), 3, 4
    )
    low, high = sorted([shift, shift + factor])

    def truth(n: object) -> float:
        assert isinstance(n, int)
        return float(max(0, min(high, n + 1) - max(low, n)) / (high - low))

    assert undecided < Fraction(1, 500)
    assert not contradicts(masses, undecided, truth)
    assert contradicts(masses, undecided, lambda n: 0.9 * truth(n))


def test_a_uniform_number_is_below_a_rational_with_that_probability():
    masses, undecided = law_of(lambda bits: lazy_uniform().is_below(Fraction(5, 13), bits), 2, 6)
    assert masses[True] <= Fraction(5, 13) <= masses[True] + undecided
    assert undecided == Fraction(1, 4**6)


def test_two_numbers_are_compared_without_ties():
    """Pr[3U > 2V + 1/2] is the area of a triangle over a rectangle, 49/96 by hand."""

    def draw(bits: StringBits) -> bool:
        left = lazy_uniform().times(Fraction(3))
        right = lazy_uniform().times(Fraction(2)).plus(Fraction(1, 2))
        return is_above(left, right, bits)

    masses, undecided = law_of(draw, 2, 8)
    truth = Fraction(1, 2)  # 3U − 2V − 1/2 has mean 0 and is symmetric about it
    assert masses[True] <= truth <= masses[True] + undecided
    assert undecided < Fraction(1, 8)


def test_a_claim_about_real_numbers_is_decided_with_its_probability():
    """Pr[U² < 1/2] = √(1/2)."""

    def draw(bits: StringBits) -> bool:
        real = lazy_uniform()
        return decide(lambda: ball(Fraction(1, 2)) - real.enclosure() ** 2, [real], bits)

    masses, undecided = law_of(draw, 3, 4)
    assert not contradicts(masses, undecided, lambda out: 0.5**0.5 if out else 1 - 0.5**0.5)
    assert contradicts(masses, undecided, lambda out: 0.51**0.5 if out else 1 - 0.51**0.5)


def test_what_is_decided_stays_decided_when_more_bits_come():
    real = LazyReal(5, 3, 8)
    real.refine(StringBits((7,), 3))
    assert real.ends() == (61, 64)
    assert real.denominator == 64
