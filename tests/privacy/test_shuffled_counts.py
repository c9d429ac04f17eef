"""Shuffled answers yes or no, against exact sums over what all others can hold, in rationals."""

from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import comb

import pytest
from mpmath import mp, mpf

from letalone.exact.balls import ball
from letalone.privacy import RandomizedResponsePrivacy
from letalone.privacy.curves.shuffled_counts import MOST_COUNTED, counts_above

LIES = [Fraction(2, 5), Fraction(1, 4), Fraction(1, 20), Fraction(1, 400)]
SHARES = [Fraction(0), Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]


def local(lie):
    return Fraction(float(mp.log(1 / mpf(lie.numerator) * lie.denominator - 1)))


@cache
def binomial(size, share):
    return [comb(size, k) * share**k * (1 - share) ** (size - k) for k in range(size + 1)]


@cache
def counts(yes, no, lie):
    """The law of how many say yes, of those who hold yes and those who hold no."""
    law = [Fraction(0)] * (yes + no + 1)
    for a, p in enumerate(binomial(yes, 1 - lie)):
        for b, q in enumerate(binomial(no, lie)):
            law[a + b] += p * q
    return law


def revealed(yes, no, lie, epsilon):
    """δ of somebody's yes among these others; their no, with the others turned round."""
    with mp.workdps(60):
        power = mp.exp(mpf(epsilon.numerator) / epsilon.denominator)
        likely = Fraction(int(power * mpf(2) ** 190), 2**190)
    one, other = counts(yes + 1, no, lie), counts(yes, no + 1, lie)
    return sum((max(p - likely * q, 0) for p, q in zip(one, other, strict=True)), Fraction(0))


def worst(reports, lie, epsilon):
    return max(revealed(yes, reports - 1 - yes, lie, epsilon) for yes in range(reports))


def bound(reports, lie, epsilon, blocks):
    return counts_above(reports, lambda: ball(lie), epsilon, blocks)


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("reports", [2, 3, 5, 12])
def test_with_a_block_for_each_the_bound_is_the_worst_of_all_batches(reports, lie):
    for share in SHARES:
        truly = worst(reports, lie, share * local(lie))
        found = Fraction(bound(reports, lie, share * local(lie), reports))
        assert truly <= found <= truly * (1 + Fraction(1, 10**5))


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.long  # others of this file stay
def test_fewer_blocks_are_above_and_not_by_much(lie):
    for share in SHARES:
        epsilon = share * local(lie)
        truly = worst(40, lie, epsilon)
        found = [Fraction(bound(40, lie, epsilon, blocks)) for blocks in (40, 10, 3, 1)]
        assert truly <= found[0]
        assert all(finer <= rougher for finer, rougher in pairwise(found))
        assert found[1] <= 1  # 3 people fewer of 40


def test_the_worst_others_do_not_always_agree():
    """Why m runs over all numbers: at n = 5, ln 3 and ε = 1/4 both ends reveal less than another m.

    A proof from the two ends would promise too little here.
    """
    lie, epsilon = Fraction(1, 4), Fraction(1, 4)
    by_yes = [revealed(yes, 4 - yes, lie, epsilon) for yes in range(5)]
    assert max(by_yes) > max(by_yes[0], by_yes[-1]) * Fraction(101, 100)
    assert bound(5, lie, epsilon, 5) >= max(by_yes)


@pytest.mark.parametrize("lie", LIES[:3])
def test_one_report_too_many_and_a_lie_too_likely_are_noticed(lie):
    """Each would promise less than a batch of 12 reveals."""
    for share in SHARES[:3]:
        epsilon = share * local(lie)
        truly = worst(12, lie, epsilon)
        assert bound(13, lie, epsilon, 13) < truly
        assert bound(12, lie * Fraction(101, 100), epsilon, 12) < truly


def test_beyond_the_local_epsilon_nothing_is_revealed():
    assert bound(100, Fraction(1, 4), Fraction(2), 64) == 0
    assert bound(100, Fraction(1, 4), local(Fraction(1, 4)), 64) <= 1e-12


def test_more_reports_than_are_counted_hide_as_well_as_those():
    epsilon = Fraction(1, 2000)
    most = bound(MOST_COUNTED, Fraction(1, 4), epsilon, 4)
    assert bound(10 * MOST_COUNTED, Fraction(1, 4), epsilon, 4) == most


@pytest.mark.long
@pytest.mark.parametrize("reports", [10**3, 10**4, 10**5, 10**6])
@pytest.mark.parametrize("epsilon", [1, 2, 3, 4, 5, 6])
def test_both_bounds_of_two_answers_are_within_two_per_cent(reports, epsilon):
    low, high = RandomizedResponsePrivacy(epsilon).shuffled(reports).epsilon_bounds(1e-6)
    assert low <= high < 1.02 * low
