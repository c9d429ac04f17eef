"""Risks against the sum over the sizes that a group of the population may have."""

from math import comb

import numpy as np
import pytest
from flint import arb, ctx

from letalone.anonymity.risk import SMALL, risk_of


def expected(size: int, share: float) -> float:
    """The mean of 1/F for F = size plus a negative binomial draw."""
    terms = range(size, size + 6000)
    return sum(comb(f - 1, size - 1) * share**size * (1 - share) ** (f - size) / f for f in terms)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_the_journalists_chance_is_the_mean_of_one_in_f(size: int, share: float) -> None:
    sizes = np.full(100, size)
    found = risk_of(sizes, round(100 * size / share))
    share = 100 * size / round(100 * size / share)
    assert found.journalist == pytest.approx(expected(size, share), rel=1e-9)
    assert found.marketer == pytest.approx(expected(size, share), rel=1e-9)
    assert found.is_estimate


def test_a_table_that_is_the_population_has_the_prosecutors_risk() -> None:
    sizes = np.array([1, 3, 4])
    alone, whole = risk_of(sizes, None), risk_of(sizes, 8)
    for found in (alone, whole):
        assert (found.prosecutor, found.journalist, found.population_uniques) == (1, 1, 1)
        assert found.marketer == pytest.approx(3 / 8)


def test_a_larger_population_hides_people_better_and_says_it_is_an_estimate() -> None:
    sizes = np.array([1, 1, 2])
    risks = [risk_of(sizes, people).journalist for people in (4, 40, 4000, 4 * 10**9)]
    assert risks == sorted(risks, reverse=True)
    assert risks[-1] < 1e-6
    assert risk_of(sizes, 40).population_uniques == pytest.approx(0.2)
    assert "about" in str(risk_of(sizes, 40))


@pytest.mark.parametrize("population", [10**6, 10**9, 10**12, 10**17, 10**30])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 50])
def test_a_very_large_population_is_told_by_the_integral(size: int, population: int) -> None:
    """Against the integral in ball arithmetic; 2F1 in floats is infinite at 10^17."""
    with ctx.workprec(300):
        odds = arb(1) / (arb(population) / size - 1)
        first = (1 + 1 / odds).log() * odds
        for number in range(1, size):
            first = odds * (arb(1) / number - first)
        found = risk_of(np.array([size]), population).journalist
        exact = 1e-12 if size / population < SMALL else 1e-7
        assert found == pytest.approx(float(first), rel=exact, abs=0)
