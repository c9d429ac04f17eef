"""Ranges and quantiles on a tree of bins; the square wave: laws, moments, coverage, refusals."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.local import Ranges, SquareWave, SubsetSelection, from_bytes, to_bytes
from letalone.local.numeric.ranges import node_moments, nodes_of, range_moments
from letalone.local.numeric.square_wave import (
    bin_numbers,
    likeliest_shares,
    report_chances,
    value_weights,
)
from letalone.local.numeric.window_law import WindowLaw
from local.exact_laws import exact_law
from seeded import SeededBits
from stages import pick


@pytest.mark.parametrize("bins", [2, 16, 21])
def test_a_range_is_made_of_disjoint_nodes(bins):
    oracle = Ranges(0, 1, epsilon=1, bins=bins)
    for first, last in combinations(range(bins + 1), 2):
        covered = np.zeros(4**4, int)
        for level, nodes in enumerate(nodes_of(oracle, ((first, last),))):
            width = oracle.bins_of_a_node(level)
            for node in nodes:
                covered[node * width : (node + 1) * width] += 1
        assert covered[:bins].tolist() == [first <= x < last for x in range(bins)]


@pytest.mark.parametrize("size", [2, 3, 5, 6])
def test_moments_of_sums_are_those_of_the_exact_law(size):
    oracle = SubsetSelection(size, epsilon=1)
    p, q = oracle.chances
    for count in range(1, size + 1):
        outside, inside, farthest = node_moments(oracle, count)
        for value, stated in ((0, inside), (size - 1, inside if count == size else outside)):
            exact, far = Fraction(0), Fraction(0)
            for report, likely in exact_law(oracle, value).items():
                supports = int(oracle.count(oracle.read(report))[:count].sum())
                z = (supports - count * q) / (p - q)
                exact, far = exact + likely * z**2, max(far, abs(z))
            assert exact == stated
            assert far == farthest


def test_the_variance_of_a_range_is_the_stated_one_at_most_and_nearly():
    """150 surveys: a sample variance is off by 60 % or more with probability below 1e-6."""
    oracle, bits = Ranges(0, 16, epsilon=1, bins=16), SeededBits(5)
    nodes = nodes_of(oracle, ((3, 12),))
    stated = range_moments(oracle, nodes).variance
    values = np.full(400, 5.0)
    found = [oracle.estimate(oracle.privatize(values, bits=bits))._sum(nodes) for _ in range(150)]
    assert 0.4 < np.var(found) / (stated / 400) < 1.6
    assert abs(np.mean(found) - 1) < 5 * np.sqrt(stated / 400 / 150)


def test_intervals_of_ranges_and_quantiles_cover():
    """Bennett's intervals at 90 % cover far more often: more than 3 misses of 30 would be odd."""
    oracle, bits, misses = Ranges(0, 100, epsilon=2, bins=20), SeededBits(6), 0
    numbers = np.concatenate((np.linspace(0, 50, 3000), np.linspace(50, 100, 1000)))
    below = np.sort(numbers)
    for _ in range(10):
        answers = oracle.estimate(oracle.privatize(numbers, bits=bits), confidence=0.9)
        share, rest = answers.share(15, 65), answers.share(0, 95)
        median = answers.quantile(0.5)
        truth = np.mean((numbers >= 15) & (numbers < 65)), np.mean(numbers < 95)
        misses += not share.low <= truth[0] <= share.high
        misses += not rest.low <= truth[1] <= rest.high
        misses += not median.low <= below[2000] <= median.high
        assert median.high - median.low < 60
    assert misses <= 3
    assert answers.share(0, 100).value == 1
    assert answers.share(50, 50).value == 0
    for ends in ((60, 40), (float("nan"), 40)):
        with pytest.raises(ParameterError, match="low must not be above high"):
            answers.share(*ends)
    assert answers.share(-np.inf, np.inf).value == 1
    with pytest.raises(ParameterError, match="low is 'x', but must be a number"):
        answers.share("x", 40)


def test_reports_of_ranges_are_read_and_others_refused():
    oracle = Ranges(0, 1, epsilon=1, bins=16)
    rows = oracle.privatize(np.linspace(0, 1, 50), bits=SeededBits(7))
    assert np.array_equal(from_bytes(oracle, to_bytes(oracle, rows)), rows)
    assert len(oracle.privatize(0.5)) == oracle.report_bytes == 3
    coarse = rows[rows[:, 0] == 0][:1].copy()
    for place, byte in ((0, 2), (1, 255), (2, 1)):
        wrong = coarse.copy()
        wrong[0, place] = byte
        with pytest.raises(ParameterError, match="not one of Ranges"):
            oracle.estimate(wrong)
    with pytest.raises(ParameterError, match="no reports"):
        oracle.estimate(rows[:0])
    with pytest.raises(ParameterError, match="bins"):
        Ranges(0, 1, epsilon=1, bins=1 << 15)
    assert oracle.privacy.epsilon(0) == 1


def test_numbers_fall_into_their_bins():
    assert bin_numbers(np.array([0.0, 0.24, 0.25, 0.99, 1.0, 7.0]), 0.0, 1.0, 4).tolist() == [
        0,
        0,
        1,
        3,
        3,
        3,
    ]
    assert bin_numbers(np.array([1.0]), 0.0, 1.0, 1 << 16).tolist() == [(1 << 16) - 1]


def test_the_square_wave_finds_a_distribution_and_says_that_it_is_biased():
    """The mean of 20,000 numbers is found to 0.1: more than 10 standard errors at this epsilon."""
    oracle = SquareWave(0, 10, epsilon=2, bins=32)
    numbers = np.concatenate((np.linspace(2, 4, 10_000), np.linspace(7, 7.5, 10_000)))
    found = oracle.estimate(oracle.privatize(numbers, bits=SeededBits(8)))
    middles = (np.arange(32) + 0.5) * 10 / 32
    assert (found.value * middles).sum() == pytest.approx(numbers.mean(), abs=0.1)
    assert found.value[5:14].sum() == pytest.approx(0.5, abs=0.1)
    assert found.value.sum() == pytest.approx(1)
    assert found.biased
    assert oracle.privacy.epsilon(0) <= 2


def test_expectation_maximisation_follows_the_law_and_never_loses_likelihood():
    law = WindowLaw(5, 3, Fraction(4))
    matrix = np.array(
        [[4.0 if i <= j < i + 3 else 1.0 for i in range(6)] for j in range(8)]
    ) * float(law.outside)
    shares = np.array([0.1, 0.2, 0.3, 0.2, 0.15, 0.05])
    assert report_chances(law, shares) == pytest.approx(matrix @ shares)
    assert value_weights(law, np.arange(8.0)) == pytest.approx(matrix.T @ np.arange(8.0))
    found = likeliest_shares(law, matrix @ shares, smooth=False)

    def likelihood(at):
        return ((matrix @ shares) * np.log(matrix @ at)).sum()

    assert likelihood(found) >= likelihood(shares) - 1e-6
    assert likelihood(found) > likelihood(np.full(6, 1 / 6))


@pytest.mark.long
def test_intervals_of_many_bins_cover():
    oracle, bits = Ranges(0, 1, epsilon=1, bins=256), SeededBits(9)
    numbers = np.linspace(0, 1, 20_000) ** 2
    for _ in range(pick(1, 10)):
        answers = oracle.estimate(oracle.privatize(numbers, bits=bits), confidence=0.99)
        median = answers.quantile(0.5)
        assert median.low <= 0.25 <= median.high
