"""AboveThreshold: exact probabilities of all answers, published wrong variants, draws."""

from itertools import pairwise, product
from math import log

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace

from letalone.errors import ParameterError
from letalone.mechanisms import AboveThreshold
from letalone.privacy import ADD_REMOVE, PureDP
from mechanisms.frequencies import FALSE_ALARM, fit
from seeded import SeededBits


def outcomes(length, count):
    """All answers to `length` queries that end with the count-th True, or never."""
    for answers in product((False, True), repeat=length):
        if sum(answers) < count:
            yield answers
    for size in range(1, length + 1):
        for answers in product((False, True), repeat=size):
            if answers[-1] and sum(answers) == count:
                yield answers


def probability(answers, values, *, threshold_scale, query_scale):
    """P[answers], by integrating over the threshold's noise (threshold 0)."""

    def given(z):
        above = laplace.sf(z, loc=np.array(values[: len(answers)]), scale=query_scale)
        return float(np.prod(np.where(answers, above, 1 - above)))

    if threshold_scale == 0:
        return given(0.0)
    breaks = sorted({0.0, *map(float, values)})
    edges = [-60 * threshold_scale, *breaks, 60 * threshold_scale]
    return sum(
        quad(lambda z: given(z) * laplace.pdf(z, scale=threshold_scale), a, b, epsabs=1e-13)[0]
        for a, b in pairwise(edges)
    )


def worst_loss(values, moves, count, **scales):
    """The largest loss over all answers and over neighbours that move by `moves`."""
    neighbours = [np.add(values, move) for move in moves]
    answers = list(outcomes(len(values), count))
    law = {a: probability(a, values, **scales) for a in answers}
    return max(
        abs(log(law[a] / probability(a, other, **scales))) for other in neighbours for a in answers
    )


def scales_of(mechanism):
    return {
        "threshold_scale": float(mechanism.threshold_scale),
        "query_scale": float(mechanism.query_scale),
    }


MOVES = [(1, -1, 1), (1, 1, -1), (-1, -1, 1), (1, 1, 1), (-1, -1, -1)]


@pytest.mark.few("1")
@pytest.mark.parametrize("count", [1, 2])
def test_no_answers_are_further_apart_than_epsilon(count):
    mechanism = AboveThreshold(epsilon=1, sensitivity=1, threshold=0, count=count)
    worst = worst_loss([-1.0, 0.5, 1.0], MOVES, count, **scales_of(mechanism))
    assert worst <= 1 + 1e-6
    assert worst > 0.3, "the noise is not far too large"


@pytest.mark.long  # others of this file stay
def test_monotone_queries_need_less_noise_and_others_would_break_it():
    mechanism = AboveThreshold(epsilon=1, sensitivity=1, threshold=0, count=2, monotone=True)
    assert (
        2 * mechanism.query_scale
        == AboveThreshold(epsilon=1, sensitivity=1, threshold=0, count=2).query_scale
    )
    moves = [(1, 1, 1), (0, 1, 1), (-1, -1, -1), (-1, 0, -1)]
    assert worst_loss([-1.0, 0.5, 1.0], moves, 2, **scales_of(mechanism)) <= 1 + 1e-6
    assert mechanism.privacy == PureDP(1).with_neighbours(ADD_REMOVE)


def test_a_threshold_without_noise_is_not_private():
    """Forty queries at the threshold: each False then costs, and all say False."""
    mechanism = AboveThreshold(epsilon=1, sensitivity=1, threshold=0)
    values, answers = [0.0] * 40, (False,) * 40
    wrong = {"threshold_scale": 0, "query_scale": float(mechanism.query_scale)}
    right = scales_of(mechanism)

    def loss(scales):
        return abs(
            log(probability(answers, values, **scales) / probability(answers, [1.0] * 40, **scales))
        )

    assert loss(wrong) > 5
    assert loss(right) <= 1 + 1e-6


def test_query_noise_that_ignores_the_count_is_not_private():
    """A published variant: noise 2Δ/ε₂ however many times True is said."""
    right = AboveThreshold(epsilon=1, sensitivity=1, threshold=0, count=6)
    wrong = {"threshold_scale": 2.0, "query_scale": 4.0}
    # The first are pushed down and the last up: the threshold cannot hide both.
    values, other = [6.0] * 6 + [-6.0] * 6, [7.0] * 6 + [-7.0] * 6
    answers = (False,) * 6 + (True,) * 6

    def loss(scales):
        return abs(
            log(probability(answers, values, **scales) / probability(answers, other, **scales))
        )

    assert loss(wrong) > 1.2
    assert loss(scales_of(right)) <= 1 + 1e-6


def test_queries_without_noise_are_not_private():
    """A published variant: then (False, True) for equal values has probability zero."""
    almost_none = {"threshold_scale": 2.0, "query_scale": 0.02}
    one = probability((False, True), [0.0, 0.0], **almost_none)
    other = probability((False, True), [-1.0, 1.0], **almost_none)
    assert log(other / one) > 1.5


@pytest.mark.long
def test_releases_follow_the_law_and_not_one_with_fresh_threshold_noise():
    """False-positive rate over seeds: 1e-6."""
    mechanism = AboveThreshold(epsilon=6, sensitivity=1, threshold=2.5, count=2)
    values, bits = [2, 2.5, 3.5], SeededBits(70)
    draws = [tuple(mechanism.release(values, bits=bits)) for _ in range(20_000)]
    shifted = [value - 2.5 for value in values]
    law = {a: probability(a, shifted, **scales_of(mechanism)) for a in outcomes(3, 2)}
    assert sum(law.values()) == pytest.approx(1, abs=1e-9)
    assert fit(draws, law) > FALSE_ALARM

    def refreshed(answers):
        each = [
            probability((a,), [v], **scales_of(mechanism))
            for a, v in zip(answers, shifted, strict=False)
        ]
        return float(np.prod(each))

    fresh = {a: refreshed(a) for a in outcomes(3, 2)}
    assert fit(draws, fresh) < FALSE_ALARM, "too few draws to see that noise is drawn anew"
    wider = scales_of(mechanism) | {"query_scale": 1.3 * float(mechanism.query_scale)}
    assert fit(draws, {a: probability(a, shifted, **wider) for a in outcomes(3, 2)}) < FALSE_ALARM


def test_the_answers_end_after_count_times_true():
    mechanism = AboveThreshold(epsilon=100, sensitivity=1, threshold=50, count=2)
    answers = mechanism.release([0, 100, 0, 100, 100, 0], bits=SeededBits(71))
    assert answers == [False, True, False, True]
    assert mechanism.release([], bits=SeededBits(71)) == []


def test_a_stream_asks_for_the_next_value_only_after_answering():
    mechanism = AboveThreshold(epsilon=1000, sensitivity=1, threshold=50)
    asked, answers = [], []

    def questions():
        while True:
            asked.append(10 * 2 ** len(answers))
            yield asked[-1]

    for answer in mechanism.stream(questions(), bits=SeededBits(72)):
        answers += [answer]
    assert asked == [10, 20, 40, 80]
    assert answers == [False, False, False, True]


def test_the_error_holds_at_least_as_often_as_stated():
    """2000 runs at 90 %: the bound is loose, so no correct seed fails."""
    mechanism = AboveThreshold(epsilon=1, sensitivity=1, threshold=0, count=1)
    width, bits = mechanism.error(0.9, size=5), SeededBits(73)
    wrong = sum(
        any(mechanism.release([-width] * 5, bits=bits))
        + (mechanism.release([width], bits=bits) != [True])
        for _ in range(1000)
    )
    assert wrong <= 200


def test_whole_numbers_are_exact_and_other_values_refused():
    mechanism = AboveThreshold(epsilon=1, sensitivity=1, threshold=2**80)
    assert mechanism.release([2**80 - 10**6, 2**80 + 10**6], bits=SeededBits(74)) == [False, True]
    for wrong in (float("nan"), float("inf"), True, "x", None):
        with pytest.raises(ParameterError, match="value"):
            mechanism.release([wrong])


def test_it_prints_epsilon_and_error():
    assert repr(AboveThreshold(epsilon=1, sensitivity=1, threshold=3)) == (
        "AboveThreshold(ε = 1, sensitivity 1, threshold 3, ends after 1,"
        " error 22.14 for one value at 95 %)"
    )


@pytest.mark.parametrize("values", [5, None, {1: 2}, {1, 2}, "12", np.array(5)])
def test_values_in_a_wrong_container_are_refused_at_once(values):
    mechanism = AboveThreshold(epsilon=1, sensitivity=1, threshold=5)
    for ask in (mechanism.release, mechanism.stream):
        with pytest.raises(ParameterError, match="The values have the type"):
            ask(values)
