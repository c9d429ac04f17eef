"""Coins: exact at every word size, and decided by further bits in a tie."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from letalone.exact.balls import ball
from letalone.randomness.chance import Chance, exp_minus, sample_bernoulli, sample_bernoullis
from seeded import ScriptedBits
from trees import law_of


@pytest.mark.parametrize(
    "probability",
    [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(3, 8), Fraction(1, 3), Fraction(99, 100)],
)
@pytest.mark.parametrize("word_size", [1, 2, 5])
def test_a_rational_coin_has_its_probability_exactly(probability: Fraction, word_size: int):
    masses, undecided = law_of(
        lambda bits: sample_bernoulli(Chance(probability), bits), word_size, 10 // word_size
    )
    heads = masses.get(True, Fraction(0))
    assert heads <= probability <= heads + undecided
    dyadic = probability.denominator & (probability.denominator - 1) == 0
    assert undecided == (0 if dyadic else Fraction(1, 1 << (10 // word_size * word_size)))


@pytest.mark.parametrize("exponent", [Fraction(1, 1000), Fraction(1), Fraction(7, 3)])
def test_the_coin_e_to_the_minus_x_has_its_probability(exponent: Fraction):
    masses, undecided = law_of(lambda bits: sample_bernoulli(exp_minus(exponent), bits), 4, 5)
    heads = masses.get(True, Fraction(0))
    assert float(heads) <= exp(-exponent) <= float(heads + undecided)
    assert undecided == Fraction(1, 2**20)


def test_many_coins_break_ties_with_further_bits():
    """16 bits equal p's, then 64: zeros after them mean heads, ones mean tails."""
    third = Chance(Fraction(1, 3))
    tie, sixteen, rest = (1 << 64) // 3, 0x5555, 0x5555_5555_5555 << 16
    two = sixteen << 16 | sixteen
    heads = sample_bernoullis(third, 2, ScriptedBits([two, rest, rest, 0, (1 << 64) - 1]))
    assert heads.tolist() == [True, False]
    again = sample_bernoullis(third, 1, ScriptedBits([sixteen, rest, tie, 0]))
    assert again.tolist() == [True]
    sooner = sample_bernoullis(third, 2, ScriptedBits([two, rest - (1 << 16), rest + (1 << 16)]))
    assert sooner.tolist() == [True, False]


def test_many_coins_fall_as_their_bits_say():
    """Every beginning of sixteen bits, against the probability's own digits."""
    chance = Chance(lambda: ball(Fraction(1, 3)).exp() / 2)
    tossed: list[bool] = []
    for start in range(0, 1 << 14, 1 << 12):
        words = [sum((4 * k + j) << (16 * j) for j in range(4)) for k in range(start, start + 4096)]
        tossed += sample_bernoullis(chance, 1 << 14, ScriptedBits(words)).tolist()
    many = np.array(tossed)
    digits = chance.digits(64) >> 48
    expected = np.arange(1 << 16) < digits
    expected[digits] = many[digits]
    assert np.array_equal(many, expected)


@pytest.mark.parametrize(("probability", "expected"), [(Fraction(0), False), (Fraction(1), True)])
def test_certainty_stays_certain_for_extreme_words(probability: Fraction, expected: bool):
    for words in ([0] * 4, [(1 << 64) - 1] * 4):
        assert sample_bernoulli(Chance(probability), ScriptedBits(words)) is expected
        many = sample_bernoullis(Chance(probability), 2, ScriptedBits(words))
        assert np.all(many == expected)
