"""D7, D8: checking claims about finite pairs, and the fallacies."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import exp

from letalone.errors import ParameterError
from letalone.privacy import Direction, between, loss_tail, satisfies
from privacy import slow_sums as slow

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def test_d7_the_loss_exceeds_zero_half_of_the_time_yet_a_sixth_is_enough():
    p, q = [HALF, HALF], [THIRD, 2 * THIRD]
    assert loss_tail(p, q, 0) == 0.5
    assert satisfies(p, q, epsilon=0, delta=Fraction(1, 6)).holds
    assert not satisfies(p, q, epsilon=0, delta=Fraction(1, 6) - Fraction(1, 10**30)).holds


def test_loss_tail_counts_only_losses_strictly_above():
    assert loss_tail([HALF, HALF], [HALF, HALF], 0) == 0
    assert loss_tail([1, 0], [0, 1], 100) == 1
    assert loss_tail([HALF, HALF], [THIRD, 2 * THIRD], -1) == 1
    assert loss_tail([HALF, HALF], [THIRD, 2 * THIRD], 0.405) == 0.5  # ln 1.5 = 0.40546…
    assert loss_tail([HALF, HALF], [THIRD, 2 * THIRD], 0.406) == 0


laws = st.lists(st.integers(0, 6), min_size=4, max_size=4).filter(any)


@given(laws, laws, st.fractions(0, 3, max_denominator=20))
def test_d7_a_small_loss_tail_both_ways_is_enough(left, right, epsilon):
    p, q = ([Fraction(x, sum(law)) for x in law] for law in (left, right))
    tail = max(loss_tail(p, q, epsilon), loss_tail(q, p, epsilon))
    assert between(p, q).delta_bounds(epsilon)[0] <= tail
    if tail < 1:
        assert satisfies(p, q, epsilon=epsilon, delta=Fraction(tail)).holds


@pytest.mark.parametrize("m", [2, 10, 100])
def test_d8_publishing_everything_with_a_random_number_passes_outcome_by_outcome(m):
    p, q = [Fraction(1, m)] * m + [0] * m, [0] * m + [Fraction(1, m)] * m
    verdict = satisfies(p, q, epsilon=0, delta=Fraction(1, m))
    assert verdict.outcome_by_outcome
    assert not verdict.holds
    assert not verdict
    assert verdict.delta == 1 == between(p, q).delta(0)
    assert set(verdict.event) in ({*range(m)}, {*range(m, 2 * m)})
    assert "outcome-by-outcome fallacy" in str(verdict)


def test_an_honest_failure_is_not_called_a_fallacy():
    verdict = satisfies([1, 0], [0, 1], epsilon=1, delta=0.5)
    assert not verdict.holds
    assert not verdict.outcome_by_outcome
    assert "fallacy" not in verdict.words


@given(laws, laws, st.fractions(0, 2, max_denominator=9), st.fractions(0, 1, max_denominator=9))
def test_d8_the_verdict_is_that_of_all_events(left, right, epsilon, delta):
    p, q = ([Fraction(x, sum(law)) for x in law] for law in (left, right))
    if delta == 1:
        return
    verdict = satisfies(p, q, epsilon=epsilon, delta=delta)
    truth = slow.delta_by_events(p, q, epsilon)
    slack = slow.mpf(10) ** -50
    assert verdict.holds == (truth <= slow.number(delta) + slack)
    one, other = (p, q) if verdict.direction is Direction.P_OVER_Q else (q, p)
    a, b = (slow.number(sum((law[i] for i in verdict.event), Fraction(0))) for law in (one, other))
    assert abs(a - exp(slow.number(epsilon)) * b - truth) < slack


@pytest.mark.parametrize(
    ("p", "q", "words"),
    [
        ([0.5, 0.5], [1], "p has 2 outcomes and q has 1"),
        ([0.5, 0.4], [0.5, 0.5], "p sums to 0.9"),
        ([0.5, 0.5], [0.5, 0.5 + 2e-9], "q sums to"),
        ([Fraction(1, 2), Fraction(499999999999, 10**12)], [1, 0], "p sums to"),
        ([-0.5, 1.5], [1, 0], "a probability of p is -0.5"),
        ([float("nan"), 1], [1, 0], "a probability of p is nan"),
        ([], [], "p sums to 0"),
        (["x", 1], [1, 0], "a probability of p is 'x'"),
    ],
)
def test_what_is_not_a_distribution_is_refused(p, q, words):
    with pytest.raises(ParameterError, match=words):
        between(p, q)


def test_floats_are_normalised_and_mean_their_decimals():
    assert between([0.1] * 10, [1 / 3, 2 / 3, *[0] * 8]).p == (Fraction(1, 10),) * 10
    assert between([1 / 7] * 7, [1, *[0] * 6]).p == (Fraction(1, 7),) * 7


@pytest.mark.parametrize("law", [5, None, "ab", {1: 0.5, 2: 0.5}, {0.5, 1}])
def test_a_law_that_is_no_list_is_refused(law):
    good = [0.5, 0.5]
    for call in (
        lambda: between(law, good),
        lambda: loss_tail(law, good, 1),
        lambda: satisfies(law, good, epsilon=1),
    ):
        with pytest.raises(ParameterError, match=r"p is .* but must be a list of probabilities"):
            call()
    with pytest.raises(ParameterError, match=r"q is .* but must be a list of probabilities"):
        between(good, law)
