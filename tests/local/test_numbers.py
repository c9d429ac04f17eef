"""Means from local reports: exact laws, draws, variances, intervals, refusals."""

from fractions import Fraction
from itertools import permutations
from math import exp

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.exact.balls import ball, is_positive
from letalone.local import Duchi, Hybrid, Piecewise, from_json, to_json
from letalone.local.numeric.mean_intervals import bennett_width
from letalone.local.numeric.numbers import FINE, STEPS, place_numbers, round_at_random
from letalone.local.numeric.window_law import WindowLaw
from letalone.local.ratios import ratio_below
from letalone.privacy import REPLACE
from letalone.privacy.curves.finite import between
from mechanisms.frequencies import FALSE_ALARM, fit
from seeded import SeededBits

KINDS = [Duchi, Piecewise, Hybrid]
WINDOWS = [
    WindowLaw(4, 2, Fraction(5, 2)),
    WindowLaw(3, 5, Fraction(3)),
    WindowLaw(1, 1, Fraction(7)),
]


def window_law(law, step):
    weights = [
        law.ratio if step <= j < step + law.width else Fraction(1) for j in range(law.reports)
    ]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("law", WINDOWS, ids=repr)
def test_a_window_law_is_what_it_says(law):
    laws = [window_law(law, step) for step in range(law.steps + 1)]
    ratios = [
        p / q for one, other in permutations(laws, 2) for p, q in zip(one, other, strict=True)
    ]
    assert max(ratios) == law.ratio
    assert min(laws[0]) == law.outside
    for step, exact in enumerate(laws):
        assert law.mean(Fraction(step)) == sum(j * p for j, p in enumerate(exact))
        assert law.second_moment(Fraction(step)) == sum(j * j * p for j, p in enumerate(exact))
    for x in (Fraction(0), Fraction(1, 3), Fraction(4, 5)):
        largest = max(float(between(p, q).delta(x)) for p, q in permutations(laws, 2))
        assert float(law.curve().delta(x)) == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize("law", WINDOWS[:2], ids=repr)
def test_reports_in_a_window_follow_their_law(law):
    """False-positive rate over seeds: 1e-6; power against the window one step on."""
    drawn = law.draw(np.full(20_000, 1), SeededBits(4)).tolist()
    assert fit(drawn, dict(enumerate(map(float, window_law(law, 1))))) > FALSE_ALARM
    assert fit(drawn, dict(enumerate(map(float, window_law(law, 2))))) < FALSE_ALARM


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 5, 20])
def test_no_report_about_a_number_is_more_than_e_to_the_epsilon_times_as_likely(epsilon):
    ratio = ratio_below(Fraction(str(epsilon)))
    assert is_positive(lambda: ball(Fraction(str(epsilon))).exp() - ball(ratio))
    for kind in KINDS:
        oracle = kind(0, 10, epsilon=epsilon)
        assert epsilon - 1e-9 < oracle.privacy.epsilon(0) <= epsilon
        assert oracle.privacy.neighbours == REPLACE
        assert getattr(oracle, "window", WindowLaw(2, 1, ratio)).ratio == ratio


@pytest.mark.parametrize("x", [0.0, 0.2, 1.0])
def test_duchis_bit_follows_its_law(x):
    """False-positive rate over seeds: 1e-6; power against an x that is 0.05 off."""
    reports = Duchi(0, 1, epsilon=1).privatize(np.full(60_000, x), bits=SeededBits(2)).tolist()

    def law(at):
        one = (1 + at * (exp(1) - 1)) / (1 + exp(1))
        return {1: one, 0: 1 - one}

    assert fit(reports, law(x)) > FALSE_ALARM
    assert fit(reports, law(abs(x - 0.05))) < FALSE_ALARM


def test_rounding_at_random_keeps_the_mean():
    """False-positive rate over seeds: 1e-6."""
    places = np.full(40_000, 3 * (FINE // STEPS) + FINE // STEPS // 4)
    assert fit(round_at_random(places, SeededBits(1)).tolist(), {3: 0.75, 4: 0.25}) > FALSE_ALARM
    ends = round_at_random(np.array([0, FINE]), SeededBits(1))
    assert ends.tolist() == [0, STEPS]


def test_numbers_beyond_the_bounds_count_as_the_bound():
    places = place_numbers(np.array([-1e300, -1.0, 0.0, 3.0, 1e300]), -1.0, 3.0)
    assert places.tolist() == [0, 0, FINE // 4, FINE, FINE]
    assert place_numbers(np.array([0.1]), 0.0, 0.1).tolist() == [FINE]


@pytest.mark.parametrize("epsilon", [0.4, 1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_estimated_means_have_the_stated_variance_and_intervals_cover(kind, epsilon):
    """60 surveys of 1,000: the squares' mean is off by 6 standard errors once in 10^8.

    Bennett's intervals cover far more often than 95 %, Clopper and Pearson's nearly so: 60 of
    them miss 14 times or more with probability below 1e-6.
    """
    oracle, bits, people = kind(-2, 6, epsilon=epsilon), SeededBits(12), 1000
    values = np.full(people, 4.5)
    estimates = [oracle.estimate(oracle.privatize(values, bits=bits)) for _ in range(60)]
    squares = [(e.value - 4.5) ** 2 / oracle.variance(people, 4.5) for e in estimates]
    assert abs(np.mean(squares) - 1) < 6 * np.sqrt(2 / 60)
    assert sum(not e.low <= 4.5 <= e.high for e in estimates) < 14
    assert all(-2 <= e.low <= e.high <= 6 for e in estimates)


def test_variances_are_those_of_the_papers():
    """On [-1, 1]: Duchi's C² − x², the piecewise one's formula, and the mix in the worst case."""
    for epsilon in (0.5, 1, 3):
        root, c = exp(epsilon / 2), (exp(epsilon) + 1) / (exp(epsilon) - 1)
        assert Duchi(-1, 1, epsilon=epsilon).variance(1, 0.5) == pytest.approx(c**2 - 0.25)
        near = 0.25 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
        assert Piecewise(-1, 1, epsilon=epsilon).variance(1, 0.5) == pytest.approx(near, rel=1e-3)
        hybrid = Hybrid(-1, 1, epsilon=epsilon).variance(1)
        assert hybrid <= min(kind(-1, 1, epsilon=epsilon).variance(1) for kind in KINDS[:2])
    mixed = (exp(0.5) + 3) / (3 * exp(0.5) * (exp(0.5) - 1)) + (exp(1) + 1) ** 2 / (
        exp(0.5) * (exp(1) - 1) ** 2
    )
    assert Hybrid(-1, 1, epsilon=1).variance(1) == pytest.approx(mixed, rel=1e-3)


def test_bennetts_width_is_enough_and_not_too_much():
    for people, variance, largest in ((100, 1.0, 3.0), (10**6, 4.0, 2.5), (3, 0.1, 9.0)):
        width = bennett_width(people, variance, largest, 0.95)

        def bound(t, n=people, v=variance, b=largest):
            u = b * t / v
            return 2 * exp(-n * v / b**2 * ((1 + u) * np.log1p(u) - u))

        assert bound(width) <= 0.05 < bound(width * 0.999)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_number_or_no_report_is_refused(kind):
    oracle = kind(0, 1, epsilon=1)
    for wrong in (float("nan"), [float("inf")], ["a"], [True]):
        with pytest.raises(ParameterError):
            oracle.privatize(wrong)
    for bounds in ((1, 1), (2, 1), (0, float("inf")), ("a", 1), (-1e308, 1e308)):
        with pytest.raises(ParameterError, match="lower and upper"):
            kind(*bounds, epsilon=1)
    for wrong in ([oracle.most_codes()], [-1], [0.5], []):
        with pytest.raises(ParameterError, match="eport"):
            oracle.estimate(wrong)
    for wrong in (float("nan"), "x", []):
        with pytest.raises(ParameterError, match=r"value is .* must be a finite number"):
            oracle.variance(10, wrong)
    report = oracle.privatize(0.5, bits=SeededBits(3))
    assert isinstance(report, int)
    assert from_json(oracle, to_json(oracle, [report])).tolist() == [report]


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_that_are_hardly_finite_have_an_infinite_variance_and_no_error(kind):
    oracle = kind(-1e308, 7e307, epsilon=1)
    assert oracle.variance(1) == oracle.variance(10, 0.5) == float("inf")
    assert "variance up to inf/n" in repr(oracle)
