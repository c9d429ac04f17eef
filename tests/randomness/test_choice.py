"""Selection: the exact law, whatever the floats say."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from math import exp

import numpy as np
import pytest
from scipy.stats import chisquare

from letalone.exact.balls import ball, floor_scaled
from letalone.randomness import choice
from letalone.randomness.chance import exp_minus
from letalone.randomness.choice import Scores, choose, choose_in_order, permute_and_flip
from seeded import ScriptedBits, SeededBits

ALPHA = 1e-6
ALL_ONES = (1 << 64) - 1


def scores(utilities: list[float], factor: Fraction = Fraction(1, 2)) -> Scores:
    return Scores(np.array(utilities), factor)


def softmax(utilities: list[float], factor: float) -> np.ndarray:
    weights = np.exp(factor * (np.array(utilities) - max(utilities)))
    return weights / weights.sum()


def p_value(draw: Callable[[], object], chances: dict[object, float], count: int) -> float:
    seen = Counter(draw() for _ in range(count))
    assert set(seen) <= set(chances)
    return float(
        chisquare([seen[key] for key in chances], [count * p for p in chances.values()]).pvalue
    )


def test_candidates_are_chosen_in_proportion_to_e_to_the_score():
    """20,000 draws, α = 1e-6; the same draws reject a factor that is 10 % off."""
    utilities = [0.0, 1.0, 2.5, 2.5, 5.0]
    for factor, fits in [(0.5, True), (0.55, False)]:
        bits = SeededBits(1)
        law = dict(enumerate(softmax(utilities, factor)))
        p = p_value(lambda bits=bits: choose(scores(utilities), bits), law, 20_000)
        assert (p > ALPHA) is fits


def test_a_multiplicity_counts_as_that_many_candidates():
    bits = SeededBits(2)
    grouped = Scores(np.array([3.0, 0.0]), Fraction(1, 2), np.array([1, 5], np.int64))
    weights = np.array([exp(1.5), 5.0])
    law = dict(enumerate(weights / weights.sum()))
    assert p_value(lambda: choose(grouped, bits), law, 10_000) > ALPHA


@pytest.mark.long  # others of this file stay
def test_a_draw_in_order_is_a_draw_from_those_left():
    """All ordered pairs of four, against the product of the two laws; 20,000 draws."""
    utilities, bits = [0.0, 1.0, 3.0, 3.0], SeededBits(3)
    first = softmax(utilities, 0.5)
    law = {(i, j): first[i] * first[j] / (1 - first[i]) for i, j in permutations(range(4), 2)}
    draw = lambda: tuple(choose_in_order(scores(utilities), 2, bits))  # noqa: E731
    assert p_value(draw, law, 20_000) > ALPHA


def test_scores_are_scaled_anew_when_the_heavy_ones_are_gone():
    """Gaps of e^1000: the order is certain, and nothing underflows to a guess."""
    picked = choose_in_order(scores([0.0, 4000.0, 2000.0, -1e300, 1e300]), 5, SeededBits(4))
    assert picked == [4, 1, 2, 0, 3]
    after = Counter(
        choose_in_order(scores([1e6, 0.0, 0.0]), 2, SeededBits(k))[1] for k in range(200)
    )
    assert min(after[1], after[2]) > 50


@pytest.mark.parametrize("following", [0, ALL_ONES])
def test_a_word_on_the_border_of_two_shares_is_decided_by_the_next_bits(following: int):
    """Equal weights: the border lies at 1/2, and the word says 1/2 minus less than 2^-64."""
    bits = ScriptedBits([(1 << 63) - 1, following])
    assert choose(scores([7.0, 7.0]), bits) == 0
    assert choose(scores([7.0, 7.0]), ScriptedBits([1 << 63, following])) == 1
    third = (1 << 64) // 3
    got = choose(scores([7.0, 7.0, 7.0]), ScriptedBits([third, following]))
    assert got == (0 if following == 0 else 1)


@pytest.mark.parametrize("utility", [k / 7 for k in range(1, 60)])
def test_words_next_to_an_irrational_border_fall_on_their_side(utility: float):
    """The border of two shares to 64 digits; floats alone see 53 of them."""
    depth = Fraction(utility) / 2
    border = floor_scaled(lambda: 1 / (1 + (-ball(depth)).exp()), 64)
    for offset in (-2500, -900, -1, 1, 900, 2500):
        picked = choose(scores([utility, 0.0]), ScriptedBits([border + offset]))
        assert picked == (0 if offset < 0 else 1)


def test_the_best_candidate_always_shows_heads():
    """The largest word is 1 as a float, and 1 is not below 1."""
    assert permute_and_flip(scores([3.0]), ScriptedBits([ALL_ONES])) == 0


@pytest.mark.parametrize("word", [0, ALL_ONES])
def test_extreme_words_choose_an_end_and_never_a_removed_one(word: int):
    pool = scores([0.0, 0.0, 0.0, 0.0])
    picked = [choose_in_order(pool, 4, ScriptedBits([word] * 40, SeededBits(1)))]
    assert sorted(picked[0]) == [0, 1, 2, 3]
    assert picked[0][0] == (0 if word == 0 else 3)


@pytest.mark.long  # others of this file stay
def test_floats_and_balls_agree_on_every_word(monkeypatch: pytest.MonkeyPatch):
    """With a slack of 1 every draw goes to the exact road: same words, same answers."""
    utilities = list(np.random.default_rng(5).normal(size=300) * 3)
    quick = [choose(scores(utilities), SeededBits(seed)) for seed in range(150)]
    monkeypatch.setattr("letalone.randomness.choice.RELATIVE", 1.0)
    exact = [choose(scores(utilities), SeededBits(seed)) for seed in range(150)]
    assert quick == exact
    assert len(set(quick)) > 30


def flip_law(utilities: list[float], factor: float) -> dict[object, float]:
    """Permute-and-flip by its definition: over all orders, the first heads."""
    heads = [exp(factor * (u - max(utilities))) for u in utilities]
    law = dict.fromkeys(range(len(utilities)), 0.0)
    orders = list(permutations(range(len(utilities))))
    for order in orders:
        still = 1.0
        for k in order:
            law[k] += still * heads[k] / len(orders)
            still *= 1 - heads[k]
    return dict(law)


@pytest.mark.long
def test_permute_and_flip_has_the_law_of_its_definition():
    """20,000 draws, α = 1e-6; the exponential mechanism's law is rejected."""
    utilities, bits = [0.0, 1.0, 2.0, 4.0], SeededBits(6)
    draw = lambda: permute_and_flip(scores(utilities), bits)  # noqa: E731
    assert p_value(draw, flip_law(utilities, 0.5), 20_000) > ALPHA
    assert p_value(draw, dict(enumerate(softmax(utilities, 0.5))), 20_000) < ALPHA


def test_a_coin_on_its_border_is_decided_by_the_next_bits():
    """The second candidate's coin is e^-1; its first word is given as the first word of e^-1."""
    digits = exp_minus(Fraction(1)).digits(128)
    word, rest = digits >> 64, digits & ALL_ONES
    for following, heads in [(rest - 1, True), (rest + 1, False)]:
        bits = ScriptedBits([5, word, following, ALL_ONES])
        winner = permute_and_flip(scores([2.0, 0.0]), bits)
        assert winner == (1 if heads else 0)


def test_ten_million_candidates_are_no_trouble():
    utilities = np.zeros(10_000_000)
    utilities[1234567] = 60.0
    assert choose(Scores(utilities, Fraction(1)), SeededBits(7)) == 1234567


def test_the_margin_of_a_choice_grows_with_the_number_of_sums(monkeypatch):
    """2^18 sums may be off by 2^-34 of the whole: a target 2^-35 inside a share is not settled."""
    monkeypatch.setattr(choice, "PART", 1)
    looked = []
    monkeypatch.setattr(choice._Pool, "_exactly", lambda *a: looked.append(a[1]) or 7)
    many = Scores(np.zeros(1 << 18), Fraction(1))
    at = (5 << 46) + (1 << 29)  # 2^-35 above the end of the fifth share
    assert choose(many, ScriptedBits([at])) == 7
    assert looked == [5]
    assert choose(many, ScriptedBits([at + (1 << 40)])) == 5, "far inside a share"
