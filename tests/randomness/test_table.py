"""Narrow laws by table: its digits, every beginning, ties and both tails."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from letalone.exact.balls import floor_scaled
from letalone.randomness.discrete_gaussian import DiscreteGaussianLaw
from letalone.randomness.geometric import GeometricLaw
from letalone.randomness.table import OPEN, NarrowLaw, build_table, cumulative, invert, sample_table
from seeded import ScriptedBits

LAWS = [
    GeometricLaw(Fraction(1, 3)),
    GeometricLaw(Fraction(10)),
    DiscreteGaussianLaw(Fraction(1, 4)),
    DiscreteGaussianLaw(Fraction(7, 2)),
]


def distribution(law: NarrowLaw, n: int) -> mpmath.mpf:
    if isinstance(law, GeometricLaw):
        a = mpmath.exp(-mpmath.mpf(law.scale.denominator) / law.scale.numerator)
        return 1 - a ** (n + 1) / (1 + a) if n >= 0 else a**-n / (1 + a)
    assert isinstance(law, DiscreteGaussianLaw)
    rate = mpmath.mpf(law.sigma.denominator) ** 2 / (2 * mpmath.mpf(law.sigma.numerator) ** 2)
    mass = {m: mpmath.exp(-m * m * rate) for m in range(-100, 101)}
    return sum(v for m, v in mass.items() if m <= n) / sum(mass.values())


@pytest.mark.parametrize("law", LAWS)
def test_the_digits_are_those_of_the_distribution_function(law: NarrowLaw):
    table = build_table(law)
    with mpmath.workdps(60):
        for k in range(0, table.digits.size, max(1, table.digits.size // 40)):
            truth = distribution(law, k - law.reach)
            assert int(table.digits[k]) == int(mpmath.floor(truth * 2**64))


@pytest.mark.parametrize("law", LAWS)
def test_every_beginning_of_sixteen_bits_is_settled_rightly_or_left_open(law: NarrowLaw):
    """Of each beginning the lowest and the highest continuation must give the guide's answer."""
    table = build_table(law)
    digits = table.digits.tolist()
    for beginning in range(0, 1 << 16, 7):
        value = int(table.guide[beginning])
        if value != OPEN:
            k = value + law.reach
            assert 0 < k < len(digits), "the ends of the table are never settled by a guess"
            low, high = beginning << 48, (beginning << 48) | ((1 << 48) - 1)
            assert digits[k - 1] < low
            assert high < digits[k]
    assert np.mean(table.guide == OPEN) < 0.02


@pytest.mark.parametrize("law", LAWS)
def test_a_word_that_equals_a_border_is_decided_by_the_next_bits(law: NarrowLaw):
    table = build_table(law)
    k = table.digits.size // 2
    border = int(table.digits[k])
    more = floor_scaled(cumulative(law, k - law.reach), 128) & ((1 << 64) - 1)
    first, rest = border >> 48, (border & ((1 << 48) - 1)) << 16
    for next_word, expected in [(max(more, 1) - 1, 0), (more + 1, 1)]:
        bits = ScriptedBits([first, rest, next_word])
        assert sample_table(table, 1, bits).tolist() == [k - law.reach + expected]
        assert bits.asked == 3


@pytest.mark.parametrize("law", LAWS)
def test_draws_beyond_the_table_come_from_the_tail(law: NarrowLaw):
    """The extreme words: the law's mass beyond what is found is about 2^-64."""
    table = build_table(law)
    for word, sign in [(0, -1), ((1 << 64) - 1, 1)]:
        bits = ScriptedBits([word, word, 1 << 63])
        found = int(sample_table(table, 1, bits)[0])
        assert sign * found > 0
        with mpmath.workdps(60):
            assert distribution(law, -abs(found) - 1) * 2**64 < 1
            assert distribution(law, -abs(found) + 1) * 2**64 > mpmath.mpf("0.4")


def test_the_reference_finds_the_value_from_any_guess():
    law = GeometricLaw(Fraction(10))
    word = int(0.7 * 2**64)
    assert {invert(law, guess, word, ScriptedBits([])) for guess in (-5, 5, 6, 20)} == {5}
