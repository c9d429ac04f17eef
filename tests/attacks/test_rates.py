"""Rates of a test: their intervals, and the alarm where D6 is broken beyond sampling error."""

import numpy as np
import pytest
from scipy.stats import binom

from letalone.attacks.rates import Rates, judge_scores, least, most
from letalone.privacy import PureDP


@pytest.mark.parametrize("hits", [0, 1, 7, 20])
def test_the_ends_are_where_the_binomial_tail_is_the_miss(hits: int) -> None:
    low, high = least(hits, 20, 0.01), most(hits, 20, 0.01)
    assert low <= hits / 20 <= high
    if hits:
        assert binom.sf(hits - 1, 20, low) == pytest.approx(0.01)
    if hits < 20:
        assert binom.cdf(hits, 20, high) == pytest.approx(0.01)


def test_d6_a_test_at_the_corner_of_the_curve_is_not_accused_and_one_beyond_it_is() -> None:
    corner = 1 / (1 + np.e)  # false alarms and misses of randomised response at ε = 1
    caught, alarms = round(10_000 * (1 - corner)), round(10_000 * corner)
    fair = Rates(caught, 10_000, alarms, 10_000)
    assert not fair.exceeds(PureDP(1))
    assert fair.exceeds(PureDP(0.9))
    assert Rates(caught + 300, 10_000, alarms, 10_000).exceeds(PureDP(1))


def test_d6_the_other_direction_is_looked_at_too() -> None:
    """Never a false alarm in many trials is as telling as never a miss."""
    assert Rates(10_000, 10_000, 7_000, 10_000).exceeds(PureDP(0.3))
    assert Rates(3_000, 10_000, 0, 10_000).exceeds(PureDP(0.3))


def test_the_accused_share_of_fair_tests_is_below_the_stated_one() -> None:
    """Seeded; 300 fair tests at 95 % confidence. More than 30 accused: below 1e-4 by chance."""
    generator = np.random.default_rng(9)
    corner = 1 / (1 + np.e)
    caught, alarms = generator.binomial(400, [1 - corner, corner], (300, 2)).T
    pairs = zip(caught.tolist(), alarms.tolist(), strict=True)
    accused = sum(Rates(c, 400, a, 400).exceeds(PureDP(1)) for c, a in pairs)
    assert accused <= 30


def test_the_threshold_comes_from_the_first_half_alone() -> None:
    outside = np.concatenate([np.arange(100.0), np.full(100, 1e9)])
    found = judge_scores(np.full(200, 98.5), outside, 0.05)
    assert (found.alarms, found.outsiders) == (100, 100)
    assert (found.caught, found.members) == (100, 100)
    assert found.interval()[0] > 0.95
