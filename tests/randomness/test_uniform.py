"""Uniform whole numbers: exact, and better than the shortcut word mod n."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from letalone.randomness.uniform import sample_below, sample_belows
from seeded import SeededBits
from trees import law_of


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 8, 11, 20])
def test_every_number_below_the_bound_is_equally_likely(bound: int):
    masses, undecided = law_of(lambda bits: sample_below(bound, bits), 3, 6)
    assert set(masses) == set(range(bound))
    assert len(set(masses.values())) == 1, "the shares are equal to the last bit"
    assert undecided < Fraction(1, 4)


def test_a_bound_of_any_size_is_served_and_each_digit_is_used():
    draws = [sample_below(10**40, SeededBits(seed)) for seed in range(200)]
    assert max(draws) > 9 * 10**39
    assert len({draw % 10 for draw in draws}) == 10


@pytest.mark.parametrize("bound", [1, 2, 3, 1000, 3 << 61, 1 << 63])
def test_many_equal_the_law_of_one(bound: int):
    """Chi-square over ten classes, α = 1e-6; at 3·2^61 the remainder of a word would fail."""
    draws = sample_belows(bound, 30_000, SeededBits(bound % 1000))
    assert draws.min() >= 0
    assert draws.max() < bound
    if bound >= 1000:
        classes = np.bincount((draws / bound * 10).astype(int), minlength=10)
        assert chisquare(classes).pvalue > 1e-6
    if bound == 3 << 61:
        words = np.empty(30_000, np.uint64)
        SeededBits(1).fill(words)
        shortcut = words % np.uint64(bound)
        wrong = np.bincount((shortcut / bound * 10).astype(int), minlength=10)
        assert chisquare(wrong).pvalue < 1e-6, "too few draws to see the shortcut's bias"
