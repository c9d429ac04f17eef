"""The theorem of one-run audits: no mechanism guesses better, and bounds are rarely wrong."""

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from scipy import optimize, sparse, stats

from letalone.audit.bound import RightGuesses, epsilon_of_guesses

F = Fraction


def best_attack(coins: int, right: int, epsilon: float, delta: float) -> float:
    """The largest P[so many right] of any (epsilon, delta)-DP mechanism that guesses all coins.

    A linear programme: the law of the guesses for every outcome of the coins, and for every pair
    that differs in one coin and every guess the excess over e^epsilon, whose sum is at most delta.
    """
    sides = list(product((0, 1), repeat=coins))
    size = len(sides)
    pairs = [(i, i ^ (1 << k)) for i in range(size) for k in range(coins)]
    laws, excess = size * size, len(pairs) * size
    value = np.zeros(laws + excess)
    for i, s in enumerate(sides):
        hits = [sum(a == b for a, b in zip(s, t, strict=True)) >= right for t in sides]
        value[i * size : (i + 1) * size] = np.array(hits) / size
    rows, limits = [], []
    for place, (i, j) in enumerate(pairs):
        slack = laws + place * size
        for t in range(size):
            rows.append({i * size + t: 1.0, j * size + t: -exp(epsilon), slack + t: -1.0})
            limits.append(0.0)
        rows.append({slack + t: 1.0 for t in range(size)})
        limits.append(delta)
    matrix = sparse.lil_matrix((len(rows), laws + excess))
    for place, row in enumerate(rows):
        for column, number in row.items():
            matrix[place, column] = number
    sums = sparse.lil_matrix((size, laws + excess))
    for i in range(size):
        sums[i, i * size : (i + 1) * size] = 1
    found = optimize.linprog(
        -value, matrix.tocsr(), limits, sums.tocsr(), np.ones(size), method="highs"
    )
    return -found.fun


def bound(coins: int, right: int, epsilon: float, delta: float) -> float:
    rate = 1 / (1 + exp(-epsilon))
    tails = stats.binom.sf(right - 1 - np.arange(right), coins, rate)
    steps = np.arange(1, right + 1)
    return float(np.min((coins * delta / 2 + np.cumsum(tails)) / steps))


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.1, 0.3])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_no_mechanism_guesses_better_than_the_theorem_allows(epsilon: float, delta: float) -> None:
    for coins in (1, 2, 3):
        for right in range(1, coins + 1):
            found = best_attack(coins, right, epsilon, delta)
            assert found <= bound(coins, right, epsilon, delta) + 1e-9
            if delta == 0:
                tail = stats.binom.sf(right - 1, coins, 1 / (1 + exp(-epsilon)))
                assert found == pytest.approx(tail)


def test_that_check_would_notice_a_bound_without_its_delta_term() -> None:
    assert best_attack(2, 2, 0.5, 0.1) > bound(2, 2, 0.5, 0.0) + 0.01


def least_accused(canaries: int, *, delta: Fraction, claim: float = 1.0) -> int:
    """The fewest right guesses that accuse; more accuse as well, since the bound rises."""
    low, high = 0, canaries + 1
    while high - low > 1:
        middle = (low + high) // 2
        found = epsilon_of_guesses(
            RightGuesses(canaries, canaries, middle), delta=delta, miss=F(1, 20)
        )
        low, high = (low, middle) if found > claim else (middle, high)
    return high


@pytest.mark.parametrize("canaries", [50, 200])
def test_randomized_response_is_accused_by_at_most_one_run_in_twenty(canaries: int) -> None:
    """It is the worst case for delta = 0; the bound is as large as that allows."""
    rate = 1 / (1 + exp(-1))
    accused = least_accused(canaries, delta=F(0))
    assert stats.binom.sf(accused - 1, canaries, rate) <= 0.05
    assert stats.binom.sf(accused - 2, canaries, rate) > 0.05


def test_a_leak_of_probability_delta_does_not_make_it_wrong() -> None:
    """All coins are told with probability delta, else randomized response; without the delta
    term the rate would be above what was promised."""
    canaries, delta, rate = 60, 0.02, 1 / (1 + exp(-1))

    def wrong(accused: int) -> float:
        return delta + (1 - delta) * stats.binom.sf(accused - 1, canaries, rate)

    assert wrong(least_accused(canaries, delta=F(1, 50))) <= 0.05
    assert wrong(least_accused(canaries, delta=F(0))) > 0.05


def test_the_bound_is_that_of_exact_sums_rounded_down() -> None:
    for made, right, delta in ((40, 35, F(0)), (200, 150, F(1, 10**5)), (500, 500, F(1, 10**6))):
        found = epsilon_of_guesses(RightGuesses(made, made, right), delta=delta, miss=F(1, 20))
        below, above = found - 1e-6, found + 1e-6
        assert bound_with_one_step_or_more(made, right, below, delta) <= 0.05
        assert bound_with_one_step_or_more(made, right, above, delta) > 0.05


def bound_with_one_step_or_more(made: int, right: int, epsilon: float, delta: Fraction) -> float:
    if delta == 0:
        return float(stats.binom.sf(right - 1, made, 1 / (1 + exp(-epsilon))))
    return bound(made, right, epsilon, float(delta))


def test_few_right_guesses_say_nothing_and_more_say_more() -> None:
    found = [
        epsilon_of_guesses(RightGuesses(100, 50, right), delta=F(1, 10**6), miss=F(1, 20))
        for right in range(0, 51, 5)
    ]
    assert found[:6] == [0.0] * 6
    assert found == sorted(found)
    assert found[-1] > 2.5
    several = epsilon_of_guesses(RightGuesses(10**6, 50, 50), delta=F(1, 10**3), miss=F(1, 20))
    assert several == 0
