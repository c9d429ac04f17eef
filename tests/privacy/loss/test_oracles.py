"""The accountant on random lists of releases: the truth lies between its bounds, and close.

The truth is a contour integral (`contour`), right to a relative 1e-8 in delta, or an exact sum with
60 digits. Bounds are compared in delta: epsilon is an upper bound if the true delta there is at
most the one asked for. No tolerance but that of the truth itself.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import exp, expm1, inf, log1p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import binomial, mpf, ncdf
from mpmath import exp as long_exp

import contour
from contour import ACCURACY, Contour, Law
from letalone.privacy import (
    ApproxDP,
    BoundedRange,
    GaussianDP,
    GeometricPrivacy,
    LaplacePrivacy,
    Privacy,
    PureDP,
    RandomizedResponsePrivacy,
    advanced,
    basic,
    compose,
    optimal,
)
from stages import pick

F = Fraction
Job = tuple[Privacy, tuple[Law, Law], int]  # a curve, its loss in both orders, how often


# The curves, each with its loss law for a record removed and for a record added.


def both(curve: Privacy, law: Law) -> tuple[Privacy, tuple[Law, Law]]:
    return curve, (law, law)


@cache
def laplace(ratio: Fraction) -> tuple[Privacy, tuple[Law, Law]]:
    return both(LaplacePrivacy(ratio), contour.laplace(float(ratio)))


@cache
def gaussian(mu: Fraction) -> tuple[Privacy, tuple[Law, Law]]:
    return both(GaussianDP(mu), contour.gaussian(float(mu)))


@cache
def pure(epsilon: Fraction) -> tuple[Privacy, tuple[Law, Law]]:
    return both(PureDP(epsilon), contour.pure(float(epsilon)))


@cache
def leaky(epsilon: Fraction, delta: Fraction) -> tuple[Privacy, tuple[Law, Law]]:
    return both(ApproxDP(epsilon, delta), contour.pure(float(epsilon), float(delta)))


@cache
def answers(truth: Fraction, categories: int) -> tuple[Privacy, tuple[Law, Law]]:
    curve = RandomizedResponsePrivacy(truth=truth, categories=categories)
    return both(curve, contour.randomized_response(float(truth), categories))


@cache
def geometric(sensitivity: int, scale: int) -> tuple[Privacy, tuple[Law, Law]]:
    return both(GeometricPrivacy(sensitivity, scale), contour.geometric(sensitivity, scale))


@cache
def bounded_range(epsilon: Fraction) -> tuple[Privacy, tuple[Law, Law]]:
    return both(BoundedRange(epsilon), contour.bounded_range(float(epsilon)))


@cache
def sampled_gaussian(sigma: Fraction, rate: Fraction) -> tuple[Privacy, tuple[Law, Law]]:
    removed, added = (
        contour.sampled_gaussian(float(sigma), float(rate), removed=order)
        for order in (True, False)
    )
    return GaussianDP(1 / sigma).sampled(rate), (removed, added)


@cache
def sampled_laplace(ratio: Fraction, rate: Fraction) -> tuple[Privacy, tuple[Law, Law]]:
    removed, added = (
        contour.sampled_laplace(float(ratio), float(rate), removed=order) for order in (True, False)
    )
    return LaplacePrivacy(ratio).sampled(rate), (removed, added)


@cache
def sampled_pure(epsilon: Fraction, rate: Fraction) -> tuple[Privacy, tuple[Law, Law]]:
    removed, added = (
        contour.sampled_atoms(contour.pure(float(epsilon)), float(rate), removed=order)
        for order in (True, False)
    )
    return PureDP(epsilon).sampled(rate), (removed, added)


class Truth:
    """The worse of both orders, near an epsilon."""

    def __init__(self, jobs: Sequence[Job], near: float) -> None:
        removed = [(laws[0], count) for _, laws, count in jobs]
        added = [(laws[1], count) for _, laws, count in jobs]
        same = all(laws[0] is laws[1] for _, laws, _ in jobs)
        self.orders = [Contour(removed, near)] + ([] if same else [Contour(added, near)])

    def delta(self, epsilon: float) -> float:
        return max(order.delta(epsilon) for order in self.orders)


def whole_of(jobs: Sequence[Job]) -> Privacy:
    return compose(*(curve * count for curve, _, count in jobs))


def check_enclosed(jobs: Sequence[Job], delta: float) -> None:
    """upper >= truth >= lower, for epsilon at a delta and for delta at an epsilon near it."""
    whole = whole_of(jobs)
    low, high = whole.epsilon_bounds(delta)
    near = Truth(jobs, high)
    assert near.delta(high) <= delta * (1 + ACCURACY), "the upper bound lies below the truth"
    if low > 0:
        there = near if low > 0.99 * high else Truth(jobs, low)
        assert there.delta(low) >= delta * (1 - ACCURACY), "the lower bound lies above the truth"
    least, most = whole.delta_bounds(high)
    truth = near.delta(high)
    assert least <= truth * (1 + ACCURACY)
    assert truth * (1 - ACCURACY) <= most <= delta


# The truth itself.


def balle_wang(mu: object, epsilon: object) -> mpf:
    """Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu), with 60 digits."""
    m, e = mpf(mu), mpf(epsilon)
    return ncdf(m / 2 - e / m) - long_exp(e) * ncdf(-m / 2 - e / m)


def binomial_sum(epsilon: object, times: int, at: object) -> mpf:
    """delta of `times` randomized responses, by its definition, with 60 digits."""
    e, x = mpf(epsilon), mpf(at)
    told = 1 / (1 + long_exp(-e))
    return sum(
        binomial(times, k)
        * told**k
        * (1 - told) ** (times - k)
        * -mp_expm1(x - (2 * k - times) * e)
        for k in range(times + 1)
        if (2 * k - times) * e > x
    )


def mp_expm1(x: mpf) -> mpf:
    return long_exp(x) - 1


@pytest.mark.parametrize(
    ("jobs", "epsilon", "truth"),
    [
        ([(contour.gaussian(0.1), 100)], 11.0, lambda: balle_wang(1, 11)),
        ([(contour.gaussian(0.001), 10**7)], 9.0, lambda: balle_wang(mpf(10) ** mpf("0.5"), 9)),
        ([(contour.pure(0.5), 300)], 50.0, lambda: binomial_sum("0.5", 300, 50)),
        ([(contour.laplace(1.0), 1)], 0.5, lambda: -expm1(-0.25)),
        ([(contour.bounded_range(1.0), 1)], 0.3, lambda: exp(0.3) * expm1(0.35) ** 2 / expm1(1)),
        (
            [(contour.gaussian(0.5), 1), (contour.pure(0.1), 1)],
            1.5,
            lambda: (
                balle_wang(0.5, 1.4) / (1 + long_exp(mpf("-0.1")))
                + balle_wang(0.5, 1.6) / (1 + long_exp(mpf("0.1")))
            ),
        ),
    ],
    ids=["gaussians", "many gaussians", "pure", "laplace", "bounded range", "mixed"],
)
def test_the_contour_integral_has_the_accuracy_that_it_states(jobs, epsilon, truth):
    assert abs(Contour(jobs, epsilon).delta(epsilon) / truth() - 1) < ACCURACY


def test_the_contour_integral_does_not_depend_on_the_contour():
    """Job c: two lines through the plane, two step sizes."""
    jobs = [(contour.sampled_gaussian(0.8, 0.01, removed=True), 10**4)]
    one, other = Contour(jobs, 10.05), Contour(jobs, 8.0)
    assert abs(one.tilt / other.tilt - 1) > 0.1
    assert abs(one.delta(10.05) / other.delta(10.05) - 1) < ACCURACY


# Random lists.

COUNTS = st.sampled_from([1, 2, 7, 30, 200, 2000])
DELTAS = st.sampled_from([1e-3, 1e-5, 1e-8, 1e-12])
SMOOTH = [  # with one of these the integral is quick
    (*gaussian(F(1, 4)), 1),
    (*gaussian(F(1)), 2),
    (*laplace(F(1, 10)), 2000),
    (*laplace(F(1, 2)), 120),
    (*sampled_gaussian(F(1), F(1, 10)), 400),
    (*sampled_gaussian(F(2), F(1, 50)), 2000),
    (*sampled_laplace(F(1), F(1, 10)), 700),
    (*bounded_range(F(1, 5)), 200),
]
ANY = [
    laplace(F(1, 10)),
    laplace(F(1)),
    pure(F(1, 10)),
    pure(F(1, 2)),
    leaky(F(1, 4), F(1, 10**14)),
    answers(F(3, 4), 2),
    answers(F(2, 5), 5),
    geometric(1, 5),
    geometric(3, 20),
    sampled_pure(F(1), F(1, 10)),
]


@pytest.mark.long
@settings(max_examples=pick(6, 15))
@given(
    st.sampled_from(SMOOTH),
    st.lists(st.tuples(st.sampled_from(ANY), COUNTS), max_size=2),
    DELTAS,
)
def test_the_truth_of_random_lists_lies_between_both_bounds(smooth, others, delta):
    check_enclosed([smooth, *((*curve, count) for curve, count in others)], delta)


ATOMS = [
    pure(F(1, 10)),
    pure(F(2)),
    answers(F(3, 4), 2),
    geometric(2, 3),
    sampled_pure(F(2), F(1, 3)),
]


@settings(max_examples=pick(5, 10))
@given(st.sampled_from(ATOMS), st.sampled_from([30, 200, 2000]), DELTAS)
def test_the_truth_of_equal_finite_releases_lies_between_both_bounds(curve, count, delta):
    """All sums of atoms, enumerated."""
    check_enclosed([(*curve, count)], delta)


@pytest.mark.long
@pytest.mark.parametrize("count", [2, 10])
@pytest.mark.parametrize("ratio", [F(1, 10), F(2)])
def test_the_truth_of_few_laplace_releases_lies_between_both_bounds(ratio, count):
    check_enclosed([(*laplace(ratio), count)], 1e-3)


@pytest.mark.parametrize(("epsilon", "times"), [("0.1", 1000), ("1", 40), ("0.001", 2000)])
@pytest.mark.parametrize("share", ["0.05", "0.2", "0.6"])
def test_the_truth_of_pure_lists_by_exact_sums_lies_between_both_bounds(epsilon, times, share):
    """The optimal composition of Kairouz, Oh and Viswanath; no tolerance at all."""
    at = F(epsilon) * times * F(share)
    low, high = (PureDP(F(epsilon)) * times).delta_bounds(at)
    truth = binomial_sum(epsilon, times, mpf(at.numerator) / at.denominator)
    assert low <= truth <= high
    assert high <= truth * (1 + 1e-6) + mpf(10) ** -40
    assert low >= truth * (1 - 1e-6) - mpf(10) ** -40


@pytest.mark.parametrize(
    ("base", "rate", "times", "epsilon"), [(F(1), F(1, 10), 20, 0.05), (F(2), F(9, 10), 10, 2.0)]
)
def test_the_worse_order_is_reported_where_that_is_adding_a_record(base, rate, times, epsilon):
    """Poisson sampling: removing a record is mostly worse, and here it is not."""
    curve, (removed, added) = sampled_pure(base, rate)
    one, other = (Contour([(law, times)], epsilon).delta(epsilon) for law in (removed, added))
    assert other > one * (1 + 1e-3)
    assert (curve * times).delta(epsilon) >= other * (1 - ACCURACY)
    assert (curve * times).delta_bounds(epsilon)[0] <= other * (1 + ACCURACY)


# How close.


def tightness(jobs: Sequence[Job], delta: float) -> tuple[float, float]:
    """How far the bounds on epsilon are from the truth, relative to it: (below, above)."""
    low, high = whole_of(jobs).epsilon_bounds(delta)
    near = Truth(jobs, high)
    order = max(near.orders, key=lambda order: order.delta(high))
    truth = order.epsilon(delta, high * 0.9, high * (1 + 1e-6) + 1e-9)
    return 1 - low / truth, high / truth - 1


@pytest.mark.parametrize(
    ("jobs", "delta"),
    [
        ([(*laplace(F(1, 10)), 1000)], 1e-6),
        ([(*sampled_gaussian(F(4, 5), F(1, 100)), 10**4)], 1e-5),
        ([(*sampled_gaussian(F(1), F(1, 10)), 400)], 1e-8),
        ([(*laplace(F(1, 10)), 300), (*gaussian(F(1, 4)), 100), (*pure(F(1, 10)), 50)], 1e-6),
        ([(*sampled_laplace(F(1), F(1, 10)), 643)], 5e-4),
        ([(*laplace(F(1)), 2)], 1e-3),
    ],
    ids=["a", "c", "sampled", "mixed", "laplace", "few"],
)
def test_the_upper_bound_is_within_a_ten_thousandth_and_the_lower_within_a_thousandth(jobs, delta):
    below, above = tightness(jobs, delta)
    assert above <= 1e-4
    assert below <= 1e-3


@pytest.mark.parametrize(
    ("jobs", "delta", "measured"),
    [
        (
            [(*sampled_pure(F(1), F(1, 10)), 1105), (*sampled_gaussian(F(2), F(1, 10)), 119)],
            1e-11,
            1.7e-3,
        ),
        ([(*geometric(3, 20), 1495), (*laplace(F(1)), 213)], 3e-6, 3.0e-3),
        ([(*pure(F(1, 10)), 571), (*answers(F(11, 20), 2), 11)], 3e-5, 1.2e-3),
    ],
    ids=["atoms", "integers", "odds"],
)
def test_atoms_that_no_grid_holds_cost_the_lower_bound_a_known_little(jobs, delta, measured):
    """Measured, not promised: from below, an atom off the grid is lowered by up to half a step."""
    below, above = tightness(jobs, delta)
    assert above <= 1e-4
    assert below <= measured


# Laws.


@pytest.mark.parametrize(
    "ladder",
    [
        [(GaussianDP(1).sampled(F(rate, 1000)) * 500, 1e-6) for rate in (10, 15, 22)],
        [(GaussianDP(1).sampled(F(1, 50)) * steps, 1e-6) for steps in (300, 400, 500)],
        [(GaussianDP(F(mu, 100)).sampled(F(1, 50)) * 500, 1e-6) for mu in (80, 90, 100)],
        [(GaussianDP(1).sampled(F(1, 50)) * 500, delta) for delta in (1e-4, 1e-6, 1e-9)],
        [(LaplacePrivacy(F(ratio, 100)) * 200, 1e-6) for ratio in (9, 10, 11)],
    ],
    ids=["rate", "steps", "noise", "delta", "ratio"],
)
def test_bounds_rise_with_rate_and_steps_and_fall_with_noise_and_delta(ladder):
    """Certified: what is dearer has its lower bound above the upper bound of what is cheaper."""
    bounds = [curve.epsilon_bounds(delta) for curve, delta in ladder]
    assert all(one[1] < other[0] for one, other in pairwise(bounds))


def test_order_nesting_and_repeats_do_not_matter():
    a, b, c = LaplacePrivacy(F(1, 7)), PureDP(F(1, 10)), GaussianDP(1).sampled(F(1, 20))
    flat = compose(a * 6, b * 4, c * 30)
    assert compose(c * 30, b * 4, a * 6) == flat
    assert compose(*[a] * 6, *[b] * 4, c * 30) == flat
    assert compose(compose(a, b, c * 10) * 2, compose(a * 4, b * 2, c * 10)) == flat
    assert compose(a * 3, b * 2, c * 15) * 2 == flat
    assert compose(flat, a * 0) == flat
    bounds = flat.epsilon_bounds(1e-6)
    assert compose(c * 30, b * 4, a * 6).epsilon_bounds(1e-6) == bounds


def many_ratios(count: int) -> tuple[Privacy, list[tuple[Law, int]]]:
    """That many distinct Laplace ratios and two Gaussians, and their losses."""
    ratios = [F(k, 10**5) for k in range(1000, 1000 + count)]
    noise = [GaussianDP(F(1, 2)), GaussianDP(F(1, 3))]

    def log_moment(z: np.ndarray) -> np.ndarray:
        return sum((contour.laplace(float(r))(z) for r in ratios), np.zeros(z.size) + 0j)

    laws = [(Law(log_moment), 1), (contour.gaussian((1 / 4 + 1 / 9) ** 0.5), 1)]
    return compose(*(LaplacePrivacy(r) for r in ratios), *noise), laws


@pytest.mark.long
def test_two_thousand_different_releases_have_a_tight_upper_bound():
    whole, laws = many_ratios(2000)
    high = whole.epsilon(1e-6)
    truth = Contour(laws, high)
    assert truth.delta(high) <= 1e-6 * (1 + ACCURACY)
    assert truth.delta(high / (1 + 1e-4)) >= 1e-6


def test_many_different_releases_are_enclosed_by_the_truth():
    whole, laws = many_ratios(60)
    low, high = whole.epsilon_bounds(1e-6)
    truth = Contour(laws, high)
    assert truth.delta(high) <= 1e-6 * (1 + ACCURACY)
    assert truth.delta(low) >= 1e-6 * (1 - ACCURACY)
    assert high <= low * (1 + 1e-3)


@pytest.mark.parametrize(
    ("job", "delta"),
    [
        (laplace(F(1, 1000)), 1e-5),
        (sampled_gaussian(F(1), F(3, 10000)), 1e-5),
    ],
    ids=["laplace", "sampled"],
)
def test_ten_million_releases_are_enclosed_by_the_truth(job, delta):
    check_enclosed([(*job, 10**7)], delta)


# D6, P4, P5 for compositions.


def best_miss(epsilon: str, times: int, false_alarm: Fraction) -> mpf:
    """Neyman and Pearson on the number of true answers out of `times` randomized responses."""
    e, left = mpf(epsilon), mpf(false_alarm.numerator) / false_alarm.denominator
    likely = 1 / (1 + long_exp(-e))
    missed = mpf(1)
    for k in range(times, -1, -1):
        ways = binomial(times, k)
        one = ways * likely**k * (1 - likely) ** (times - k)
        other = ways * (1 - likely) ** k * likely ** (times - k)
        if other >= left:
            return missed - one * left / other
        missed, left = missed - one, left - other
    return mpf(0)


@pytest.mark.parametrize("rate", [F(1, 1000), F(1, 20), F(1, 3), F(4, 5)])
def test_d6_the_tradeoff_of_a_composition_is_that_of_the_best_test(rate):
    truth = best_miss("0.1", 100, rate)
    lower, upper = (PureDP(F(1, 10)) * 100).tradeoff_bounds(rate)
    assert lower <= truth <= upper
    assert lower >= truth * (1 - 1e-3), "any smaller would promise too little"


def test_d6_no_event_of_a_composition_breaks_either_inequality_and_one_nearly_does():
    """P_MD + e^e P_FA >= 1 - d, both ways round, for all threshold tests on 60 answers."""
    epsilon, times = "0.2", 60
    curve = PureDP(F(epsilon)) * times
    likely = 1 / (1 + long_exp(-mpf(epsilon)))
    law = [binomial(times, k) * likely**k * (1 - likely) ** (times - k) for k in range(times + 1)]
    for at in (0.5, 2.0, 4.0):
        slack = []
        for last in range(times + 2):
            told, alarm = sum(law[last:], mpf(0)), sum(law[: times + 1 - last], mpf(0))
            slack.append(1 - told + long_exp(mpf(at)) * alarm - (1 - curve.delta(at)))
            assert slack[-1] >= 0
            assert alarm + long_exp(mpf(at)) * (1 - told) >= 1 - curve.delta(at)
        assert min(slack) <= mpf(10) ** -5


@pytest.mark.parametrize(("epsilon", "times"), [(0.1, 100), (0.01, 10_000), (1, 30)])
@pytest.mark.parametrize("slack", [1e-3, 1e-8])
def test_p4_the_accountant_is_at_most_optimal_advanced_and_basic(epsilon, times, slack):
    """And optimal composition lies within the accountant's two bounds: both are the exact curve."""
    low, high = (PureDP(epsilon) * times).epsilon_bounds(slack)
    assert high <= advanced(epsilon, times=times, slack=slack).epsilon(slack)
    assert high <= basic(epsilon, times=times).epsilon(slack)
    if times <= 100:
        exact = optimal(epsilon, times=times).epsilon_bounds(slack)
        assert low <= exact[1]
        assert exact[0] <= high <= exact[1] * (1 + 1e-4)


@settings(max_examples=pick(6, 15))
@given(
    st.lists(st.sampled_from([F(1, 10), F(1, 4), F(1, 3), F(1), F(3, 2)]), min_size=2, max_size=7),
    st.sampled_from([0.0, 0.1, 0.35, 1.2]),
)
def test_p5_a_composition_is_the_convolution_of_its_losses(epsilons, at):
    """Every outcome of every release; the truth is exact but for 60 digits."""
    sums = {F(0): mpf(1)}
    for epsilon in epsilons:
        told = 1 / (1 + long_exp(-mpf(epsilon.numerator) / epsilon.denominator))
        more: dict[Fraction, mpf] = {}
        for loss, chance in sums.items():
            more[loss + epsilon] = more.get(loss + epsilon, mpf(0)) + chance * told
            more[loss - epsilon] = more.get(loss - epsilon, mpf(0)) + chance * (1 - told)
        sums = more
    truth = sum(
        (p * -mp_expm1(mpf(at) - mpf(loss.numerator) / loss.denominator))
        for loss, p in sums.items()
        if loss > at
    )
    low, high = compose(*(PureDP(epsilon) for epsilon in epsilons)).delta_bounds(at)
    assert low <= truth <= high
    assert high <= truth + 1e-4


@settings(max_examples=pick(8, 20))
@given(
    st.lists(st.sampled_from([F(1, 5), F(1, 2), F(1)]), min_size=3, max_size=3),
    st.lists(st.sampled_from([F(1, 2), F(2, 3), F(4, 5), F(1)]), min_size=7, max_size=7),
    st.lists(st.booleans(), min_size=7, max_size=7),
    st.sampled_from([0.0, 0.2, 0.7]),
)
def test_p5_questions_may_depend_on_answers_where_the_curves_do_not(epsilons, shares, turned, at):
    """A tree of three questions, each chosen by the answers so far, each within its curve."""

    def divergence(node: int, level: int, p: float, q: float) -> float:
        if level == len(epsilons):
            return max(0.0, p - exp(at) * q)
        epsilon = float(epsilons[level] * shares[node])  # at most what was fixed beforehand
        told = 1 / (1 + exp(-epsilon))
        one, other = (told, 1 - told) if turned[node] else (1 - told, told)
        left = divergence(2 * node + 1, level + 1, p * one, q * other)
        return left + divergence(2 * node + 2, level + 1, p * (1 - one), q * (1 - other))

    whole = compose(*(PureDP(epsilon) for epsilon in epsilons))
    assert divergence(0, 0, 1.0, 1.0) <= whole.delta(at) + 1e-15


def test_no_epsilon_will_do_where_the_delta_asked_for_is_below_the_leak():
    """All losses but the infinite ones are at most 15, which must not be taken for an answer."""
    curve = compose(ApproxDP(F(1, 10), F(1, 10**6)) * 100, LaplacePrivacy(F(1, 10)) * 50)
    for delta in (9.9e-5, 1e-9, 1e-41):
        assert curve.epsilon(delta) == inf
    assert (ApproxDP(F(1, 10), F(1, 10**6)) * 100).epsilon_bounds(1e-9) == (inf, inf)


@pytest.mark.long  # other oracles stay
def test_leaks_in_a_mixed_list_are_charged():
    curve = compose(ApproxDP(F(1, 10), F(1, 10**6)) * 100, LaplacePrivacy(F(1, 10)) * 50)
    assert curve.delta(1000) >= -expm1(100 * log1p(-1e-6)) * (1 - 1e-12)
    check_enclosed([(*leaky(F(1, 10), F(1, 10**6)), 100), (*laplace(F(1, 10)), 50)], 2e-4)
