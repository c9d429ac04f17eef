"""TopK: exact laws of small rankings, draws, both methods' prices, refusals."""

from fractions import Fraction
from itertools import permutations, product
from math import log

import pytest

from letalone.errors import ParameterError
from letalone.mechanisms import TopK
from letalone.mechanisms.top_k import TopKMethod
from letalone.privacy import ADD_REMOVE, ZCDP, BoundedRange, PureDP
from mechanisms.frequencies import FALSE_ALARM, exponential_law, fit, permute_and_flip_law
from seeded import SeededBits

UTILITIES = [0.0, 1.0, 1.0, 3.0]
ROUND_LAWS = {"peeling": permute_and_flip_law, "one-shot": exponential_law}


def ranking_law(method, utilities, factor, k):
    """The probability of each order of k, round by round."""
    rounds = ROUND_LAWS[method]
    law = {}
    for order in permutations(range(len(utilities)), k):
        left, likely = list(range(len(utilities))), 1.0
        for winner in order:
            one_round = rounds([utilities[i] for i in left], factor)
            likely *= float(one_round[left.index(winner)])
            left.remove(winner)
        law[order] = likely
    return law


def worst_loss(method, factor, k, steps=(-1, 1)):
    law, worst = ranking_law(method, UTILITIES, factor, k), 0.0
    for moves in product(steps, repeat=4):
        moved = [u + move for u, move in zip(UTILITIES, moves, strict=True)]
        other = ranking_law(method, moved, factor, k)
        worst = max(worst, *(abs(log(law[order] / other[order])) for order in law))
    return worst


@pytest.mark.parametrize("method", ROUND_LAWS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_m7_no_ranking_is_further_than_epsilon_from_a_neighbours(method, k):
    mechanism = TopK(k=k, epsilon=0.9, method=method, sensitivity=1)
    assert mechanism.per_round == Fraction(9, 10) / k
    assert worst_loss(method, float(mechanism.factor), k) <= 0.9 + 1e-12


@pytest.mark.parametrize("method", ROUND_LAWS)
def test_m7_rounds_that_do_not_split_epsilon_break_the_promise(method):
    unsplit = float(TopK(k=1, epsilon=0.9, method=method, sensitivity=1).factor)
    assert worst_loss(method, unsplit, 3) > 0.9


@pytest.mark.long
@pytest.mark.parametrize("method", ROUND_LAWS)
def test_rankings_follow_the_law_and_not_one_of_a_twenty_percent_larger_factor(method):
    """False-positive rate over seeds: 1e-6."""
    mechanism, bits = TopK(k=2, epsilon=4, method=method, sensitivity=1), SeededBits(80)
    draws = [tuple(mechanism.choose_indices(UTILITIES, bits=bits)) for _ in range(8000)]
    assert fit(draws, ranking_law(method, UTILITIES, 1.0, 2)) > FALSE_ALARM
    assert fit(draws, ranking_law(method, UTILITIES, 1.2, 2)) < FALSE_ALARM


def test_with_delta_one_shot_spends_more_in_each_round_and_keeps_its_promise():
    pure = TopK(k=100, epsilon=1, method="one-shot", sensitivity=1)
    approximate = TopK(k=100, epsilon=1, delta=1e-6, method="one-shot", sensitivity=1)
    assert pure.per_round == Fraction(1, 100)
    assert approximate.per_round > 3 * pure.per_round
    assert approximate.privacy == ZCDP(100 * approximate.per_round**2 / 8)
    assert approximate.privacy.delta(1) <= 1e-6
    more = approximate.per_round * (1 + Fraction(1, 10**9))
    assert ZCDP(100 * more**2 / 8).delta(1) > 1e-6


def test_with_few_rounds_the_pure_split_is_better_even_with_delta():
    mechanism = TopK(k=1, epsilon=1, delta=1e-9, method="one-shot", sensitivity=1)
    assert mechanism.per_round == 1
    assert mechanism.privacy == BoundedRange(1)


def test_the_prices():
    assert TopK(k=5, epsilon=1, sensitivity=1).privacy == PureDP(1)
    assert TopK(k=5, epsilon=1, method=TopKMethod.ONE_SHOT, sensitivity=1).privacy.epsilon(0) == 1
    assert TopK(k=5, epsilon=1, monotone=True, sensitivity=1).privacy.neighbours == ADD_REMOVE
    assert (
        TopK(k=5, epsilon=1, monotone=True, sensitivity=1).factor
        == 2 * TopK(k=5, epsilon=1, sensitivity=1).factor
    )


@pytest.mark.parametrize("method", ROUND_LAWS)
def test_candidates_come_best_first(method):
    mechanism = TopK(k=3, epsilon=3000, method=method, sensitivity=1)
    assert mechanism.choose("abcd", [5, 90, 60, 30], bits=SeededBits(81)) == ["b", "c", "d"]
    assert mechanism.choose(["aa", "b", "cccc"], len, bits=SeededBits(81)) == ["cccc", "aa", "b"]
    assert mechanism.choose_indices([5, 90, 60, 30], bits=SeededBits(81)) == [1, 2, 3]


@pytest.mark.parametrize("method", ROUND_LAWS)
def test_each_choice_falls_short_as_rarely_as_stated(method):
    """By the exact law; a fifth of the bound is exceeded more often, so this could fail."""
    mechanism, broken = TopK(k=2, epsilon=2, method=method, sensitivity=1), 0

    def short(order, utilities):
        left, gaps = list(utilities), []
        for winner in order:
            gaps.append(max(left) - left[winner])
            left[winner] = -1.0
        return max(gaps)

    for gap, confidence in product((1.0, 2.0, 4.0, 8.0), (0.05, 0.3, 0.9)):
        utilities = [0.0, 0.0, 0.0, gap]
        law = ranking_law(method, utilities, float(mechanism.factor), 2)
        bound = mechanism.shortfall(len(utilities), confidence)
        gaps = [(short(order, utilities), likely) for order, likely in law.items()]
        assert sum(likely for size, likely in gaps if size > bound) <= 1 - confidence
        broken += sum(likely for size, likely in gaps if size > bound / 5) > 1 - confidence
    assert broken


def test_wrong_parameters_are_refused():
    with pytest.raises(ParameterError, match=r"k is 3, but .* 2 candidates only. Lower k to 2"):
        TopK(k=3, epsilon=1, sensitivity=1).choose_indices([1, 2])
    with pytest.raises(ParameterError, match="method is 'best', but must be"):
        TopK(k=3, epsilon=1, method="best", sensitivity=1)
    with pytest.raises(ParameterError, match=r"k is 3, but .* 1 candidate only"):
        TopK(k=3, epsilon=1, sensitivity=1).choose_indices([1])
    with pytest.raises(ParameterError, match="must be 0 for method='peeling'"):
        TopK(k=3, epsilon=1, delta=1e-6, sensitivity=1, method="peeling")
    with pytest.raises(ParameterError, match="not a finite number"):
        TopK(k=1, epsilon=1, sensitivity=1).choose_indices([1, float("nan")])
    with pytest.raises(ParameterError, match="no candidate"):
        TopK(k=1, epsilon=1, sensitivity=1).choose([], [])


def test_it_prints_epsilon_delta_and_shortfall():
    text = repr(TopK(k=30, epsilon=1, delta=1e-6, method="one-shot", sensitivity=1))
    assert text.startswith(
        "TopK(k = 30, ε = 1, δ = 1e-6, one-shot, sensitivity 1, each at most 300.3"
    )


def test_the_delta_chooses_the_method_where_none_is_given():
    assert TopK(k=3, epsilon=1, sensitivity=1).method is TopKMethod.PEELING
    assert TopK(k=3, epsilon=1, delta=1e-6, sensitivity=1).method is TopKMethod.ONE_SHOT


@pytest.mark.parametrize("epsilon", [0.3, 0.7, 1.1])
def test_the_curve_never_says_more_than_the_epsilon_typed(epsilon):
    mechanism = TopK(k=50, epsilon=epsilon, delta=1e-6, sensitivity=1)
    assert mechanism.privacy.epsilon(1e-6) <= epsilon
