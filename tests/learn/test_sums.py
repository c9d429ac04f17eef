"""Several noisy sums of one fit: the split, the law of the noise, what it reveals."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from letalone.audit import Verdict, audit
from letalone.learn.noisy_sums.sums import (
    ROUNDING,
    UNIT,
    Measure,
    NoisySums,
    in_a_box,
    noisy_sums,
    of_rows,
    products_in_a_ball,
    root_above,
)
from letalone.mechanisms import Gaussian
from letalone.privacy import PureDP
from seeded import SeededBits


@pytest.mark.parametrize("number", [Fraction(0), Fraction(1, 3), Fraction(2), Fraction(10**9)])
def test_a_root_is_never_below_the_true_one(number):
    assert 0 <= root_above(number) ** 2 - number <= Fraction(1, 10**6)


def test_gaussian_noise_of_all_measures_together_costs_what_was_asked():
    """Each measure moves by its l2 in each of its askings: the squares of all ratios add up."""
    asked = (Measure("a", 1, Fraction(1), 3, 5), Measure("b", 7, Fraction(5), 2, 1))
    noise = NoisySums(Fraction(1), Fraction(1, 10**6), asked, gaussian=True)
    scales = [Fraction(scale) for _, _, scale in noise.described()["measures"]]
    total = sum((one.l2 / s) ** 2 * one.times for one, s in zip(asked, scales, strict=True))
    unit = Gaussian(epsilon=1, delta=1e-6, sensitivity=1)
    assert noise.privacy == unit.privacy.with_neighbours(noise.privacy.neighbours)
    assert (1 - Fraction(1, 2**30)) / unit.sigma**2 <= total <= 1 / unit.sigma**2


def test_geometric_noise_of_all_measures_together_costs_epsilon():
    asked = (Measure("a", 1, Fraction(1), 3, 5), Measure("b", 7, Fraction(5), 2, 1))
    noise = noisy_sums(asked, epsilon=0.7, delta=0)
    assert noise.privacy == PureDP(0.7).with_neighbours(noise.privacy.neighbours)
    spent = sum(
        one.times * one.l1 / Fraction(scale)
        for one, (_, _, scale) in zip(asked, noise.described()["measures"], strict=True)
    )
    assert spent == Fraction(7, 10)


def test_few_numbers_get_geometric_noise_and_many_gaussian():
    few = noisy_sums([in_a_box("x", 1, degree=1)], epsilon=1, delta=1e-6)
    many = noisy_sums([in_a_box("x", 100, degree=1)], epsilon=1, delta=1e-6)
    assert (few.family, many.family) == ("geometric", "Gaussian")
    assert noisy_sums([in_a_box("x", 100, degree=1)], epsilon=1, delta=0).family == "geometric"


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_noise_on_the_diagonal_is_there_and_above_it_smaller_by_root_two(delta):
    """A rival leaves the diagonal of XᵀX exact. Over seeds a right law is refused once in 10^6 (by
    Kolmogorov and Smirnov), and one that is 15 % wider is refused."""
    noise = noisy_sums([products_in_a_ball("xx", 150)], epsilon=1, delta=delta)
    assert noise.gaussian == bool(delta)
    exact = np.zeros((150, 150), np.int64)
    drawn = noise.release_symmetric("xx", exact, SeededBits(1))
    assert np.array_equal(drawn, drawn.T)
    above = drawn[np.triu_indices(150, 1)]
    assert np.all(np.diagonal(drawn) != 0)
    assert _fits(above, noise.deviation("xx", symmetric=True), delta)
    assert not _fits(above, 1.15 * noise.deviation("xx", symmetric=True), delta)
    ratio = noise.deviation("xx") / noise.deviation("xx", symmetric=True)
    assert ratio == pytest.approx(np.sqrt(2) if delta else 1)
    many = noise.release("xx", np.zeros(20_000, np.int64), SeededBits(2))
    assert _fits(many, noise.deviation("xx"), delta)


def test_sums_beyond_what_doubles_hold_exactly_are_not_clamped_and_move_little_more():
    """2^53 rows of steps is where mechanisms on floats stop: a million full rows are beyond it."""
    noise = noisy_sums([products_in_a_ball("xx", 100)], epsilon=1e9, delta=1e-6)
    noise = NoisySums(noise.epsilon, noise.delta, noise.measures, gaussian=True)
    big = np.full(3, 2**58 + 1, np.int64)
    assert noise.release("xx", big, SeededBits(1)) == pytest.approx(2.0**58, rel=1e-6)
    for one in range(2**61 - 3, 2**61 + 3):
        assert abs(float(one + UNIT**2) - float(one) - UNIT**2) <= ROUNDING


def _fits(drawn, deviation, delta):
    scaled = np.sort(drawn / deviation)
    law = stats.norm() if delta else stats.laplace(scale=1 / np.sqrt(2))
    return stats.kstest(scaled, law.cdf).pvalue > 1e-6


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_the_auditor_finds_no_more_than_epsilon_in_all_sums_and_nearly_as_much(delta):
    """A row that moves every measure by all that it may. An honest claim is accused by one seed in
    20 at most; half of it is accused with this one."""
    measures = (of_rows(), in_a_box("sums", 1, degree=1, weight=2))
    noise = noisy_sums(measures, epsilon=2, delta=0)
    noise = NoisySums(noise.epsilon, Fraction(delta), measures, gaussian=bool(delta))
    bits = SeededBits(5)

    def mechanism(rows, count):
        counts = noise.release("rows", np.full(count, rows), bits)
        sums = noise.release("sums", np.full(count, rows * UNIT), bits) / UNIT
        weights = noise.deviation("rows") ** -2, (noise.deviation("sums") / UNIT) ** -2
        return weights[0] * counts + weights[1] * sums

    claim = {"claimed_delta": delta, "samples": 20_000, "many": True}
    assert audit(mechanism, 3, 4, claimed_epsilon=2, **claim).verdict is Verdict.CONSISTENT
    least = 0.6 if delta else 1
    assert audit(mechanism, 3, 4, claimed_epsilon=least, **claim).verdict is Verdict.ACCUSED
