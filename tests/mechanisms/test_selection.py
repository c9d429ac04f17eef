"""Exponential and permute-and-flip: exact laws of neighbours, draws, refusals."""

from fractions import Fraction
from functools import partial
from itertools import product
from math import log

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.mechanisms import AboveThreshold, Exponential, PermuteAndFlip, TopK
from letalone.mechanisms.sensitivity import count
from letalone.privacy import ADD_REMOVE, REPLACE, BoundedRange, PureDP
from mechanisms.frequencies import (
    FALSE_ALARM,
    exponential_law,
    fit,
    largest_loss,
    permute_and_flip_law,
)
from seeded import SeededBits

UTILITIES = [0.0, 1.0, 1.5, 4.0]
LAWS = {Exponential: exponential_law, PermuteAndFlip: permute_and_flip_law}
both = pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])


def worst_loss(kind, mechanism, steps):
    """The largest loss between UTILITIES, or ties, and all that differ by `steps`."""
    law, factor = LAWS[kind], float(mechanism.factor)
    starts = (UTILITIES, [0.0] * 4)
    moved = [
        [a + d for a, d in zip(u, s, strict=True)] for u in starts for s in product(*[steps] * 4)
    ]
    origins = [law(u, factor) for u in starts for _ in range(len(steps) ** 4)]
    return max(
        largest_loss(law(other, factor), one) for other, one in zip(moved, origins, strict=True)
    )


@both
def test_m6_no_neighbour_is_further_than_epsilon_by_enumeration(kind):
    mechanism = kind(epsilon=0.8, sensitivity=2)
    assert mechanism.factor == Fraction(1, 5)
    worst = worst_loss(kind, mechanism, (-2, 0, 2))
    assert worst <= 0.8 + 1e-12
    assert worst > 0.4, "the factor is not far too small"


@both
def test_m6_monotone_utilities_need_half_the_noise(kind):
    mechanism = kind(epsilon=0.8, sensitivity=2, monotone=True)
    assert mechanism.factor == 2 * kind(epsilon=0.8, sensitivity=2).factor
    assert worst_loss(kind, mechanism, (0, 2)) <= 0.8 + 1e-12
    assert worst_loss(kind, mechanism, (-2, 0)) <= 0.8 + 1e-12
    assert worst_loss(kind, mechanism, (-2, 0, 2)) > 0.8, "monotone is no free lunch"


@pytest.mark.long
@both
def test_m6_choices_follow_the_law_and_not_one_of_a_ten_percent_larger_factor(kind):
    """False-positive rate over seeds: 1e-6."""
    mechanism, bits = kind(epsilon=2, sensitivity=1), SeededBits(50)
    draws = [mechanism.choose_index(UTILITIES, bits=bits) for _ in range(25_000)]

    def stated(factor):
        return dict(enumerate(map(float, LAWS[kind](UTILITIES, factor))))

    assert fit(draws, stated(1.0)) > FALSE_ALARM
    assert fit(draws, stated(1.1)) < FALSE_ALARM, "too few draws to see 10 %"


def test_permute_and_flip_is_never_worse_than_exponential_in_expectation():
    for utilities in product([0.0, 0.5, 2.0], repeat=4):
        exponential = sum(
            p * u for p, u in zip(exponential_law(utilities, 1.0), utilities, strict=True)
        )
        flips = permute_and_flip_law(list(utilities), 1.0)
        assert sum(p * u for p, u in zip(flips, utilities, strict=True)) >= exponential - 1e-12


def test_the_exponential_curve_is_bounded_range_and_permute_and_flip_only_pure():
    assert Exponential(epsilon=0.3, sensitivity=1).privacy == BoundedRange(Fraction(3, 10))
    assert PermuteAndFlip(epsilon=0.3, sensitivity=1).privacy == PureDP(Fraction(3, 10))


def test_m6_the_exponential_loss_has_a_range_of_at_most_epsilon():
    """What BoundedRange claims; permute-and-flip exceeds it, so it may not claim it."""

    def loss_range(law, factor):
        one = law(UTILITIES, factor)
        ranges = []
        for steps in product((-1, 0, 1), repeat=4):
            other = law([u + s for u, s in zip(UTILITIES, steps, strict=True)], factor)
            losses = [float(log(p / q)) for p, q in zip(one, other, strict=True)]
            ranges.append(max(losses) - min(losses))
        return max(ranges)

    assert loss_range(exponential_law, 0.4) <= 0.8 + 1e-12
    assert loss_range(permute_and_flip_law, 0.4) > 0.8


@both
def test_m6_the_utility_falls_short_as_rarely_as_stated(kind):
    """By the exact law; a bound three times smaller fails somewhere, so this could too."""
    broken = 0
    for gap, options, t in product((0.5, 1, 2, 5), (2, 4, 6), (0.5, 1, 3)):
        utilities = [0.0] * (options - 1) + [float(gap)]
        mechanism = kind(epsilon=2, sensitivity=1)
        law = LAWS[kind](utilities, float(mechanism.factor))
        confidence = 1 - float(np.exp(-t))
        bound = mechanism.shortfall(options, confidence)
        assert bound == pytest.approx(log(options) + t)
        short = float(sum(p for p, u in zip(law, utilities, strict=True) if gap - u > bound))
        assert short <= np.exp(-t)
        short = float(sum(p for p, u in zip(law, utilities, strict=True) if gap - u > bound / 3))
        broken += short > np.exp(-t)
    assert broken > 0


@both
def test_utilities_may_be_a_function_and_candidates_anything(kind):
    mechanism, bits = kind(epsilon=1000, sensitivity=1), SeededBits(51)
    assert mechanism.choose(["a", "bbb", "cc"], len, bits=bits) == "bbb"
    assert mechanism.choose("abc", [1, 7, 3], bits=bits) == "b"
    assert mechanism.choose(range(10, 13), np.array([1, 0, 0], dtype=np.int8), bits=bits) == 10
    assert mechanism.choose([(1, 2)], [0.0], bits=bits) == (1, 2)


@both
def test_extreme_utilities_are_chosen_rightly(kind):
    mechanism, bits = kind(epsilon=1, sensitivity=1), SeededBits(52)
    assert mechanism.choose_index([-1e308, 0.0, 1e308], bits=bits) == 2
    assert mechanism.choose_index([1e-300, 0.0], bits=bits) in (0, 1)
    assert mechanism.choose_index([2**80, 0], bits=bits) == 0


@both
def test_wrong_candidates_and_utilities_are_refused(kind):
    mechanism = kind(epsilon=1, sensitivity=1)
    with pytest.raises(ParameterError, match="no candidate"):
        mechanism.choose([], [])
    with pytest.raises(ParameterError, match="no candidate"):
        mechanism.choose_index([])
    with pytest.raises(ParameterError, match="3 candidates and 2 utilities"):
        mechanism.choose("abc", [1, 2])
    with pytest.raises(ParameterError, match="have 2 dimensions"):
        mechanism.choose_index([[1, 2]])
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ParameterError, match="not a finite number"):
            mechanism.choose("ab", [1, bad])
        with pytest.raises(ParameterError, match="not a finite number"):
            mechanism.choose("ab", lambda _, bad=bad: bad)


@both
def test_monotone_is_a_promise_for_add_remove_only(kind):
    assert kind(epsilon=1, sensitivity=1, monotone=True).privacy.neighbours == ADD_REMOVE
    assert kind(epsilon=1, sensitivity=1).privacy.neighbours is None
    with pytest.raises(ParameterError, match="Only adding or removing"):
        kind(epsilon=1, sensitivity=count(neighbours=REPLACE), monotone=True)
    patient = kind(epsilon=1, sensitivity=count(neighbours=ADD_REMOVE.of("patient")), monotone=True)
    assert patient.privacy.neighbours == ADD_REMOVE.of("patient")


@both
def test_it_prints_epsilon_and_shortfall(kind):
    assert "(ε = 1, sensitivity 1, at most 10.6 below the best of 10 at 95 %)" in repr(
        kind(epsilon=1, sensitivity=1)
    )


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip, partial(TopK, k=1)])
@pytest.mark.parametrize(
    "candidates", [{"A", "B"}, {"A": 1, "B": 2}, iter("AB"), 5, None, np.array(5)]
)
def test_candidates_without_an_order_are_refused(kind, candidates):
    with pytest.raises(ParameterError, match=r"candidates is .* but must be a list"):
        kind(epsilon=1, sensitivity=1).choose(candidates, [1, 2])


@both
def test_one_candidate_is_not_several(kind):
    with pytest.raises(ParameterError, match="1 candidate and 2 utilities"):
        kind(epsilon=1, sensitivity=1).choose("a", [1, 2])
    with pytest.raises(ParameterError, match="2 candidates and 1 utility,"):
        kind(epsilon=1, sensitivity=1).choose("ab", [1])
    with pytest.raises(ParameterError, match="have 0 dimensions"):
        kind(epsilon=1, sensitivity=1).choose("ab", 5)


@pytest.mark.parametrize(
    "kind",
    [Exponential, PermuteAndFlip, partial(TopK, k=1), partial(AboveThreshold, threshold=1)],
)
@pytest.mark.parametrize("flag", ["no", 1, 0, None, [], np.True_])
def test_monotone_is_true_or_false_and_nothing_that_counts_as_one(kind, flag):
    with pytest.raises(ParameterError, match=r"monotone is .* but must be True or False"):
        kind(epsilon=1, sensitivity=1, monotone=flag)
