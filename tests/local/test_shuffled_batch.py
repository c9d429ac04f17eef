"""Shuffled batches of local reports, against exact sums over all small batches."""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import comb, exp

import numpy as np
import pytest
from mpmath import mp, mpf

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.local import (
    CountMeanSketch,
    Duchi,
    HadamardResponse,
    HeavyHitters,
    Hybrid,
    KaryResponse,
    LocalHashing,
    Piecewise,
    ShuffledBatch,
    SubsetSelection,
    UnaryEncoding,
)
from letalone.local.frequencies.local_hashing import HashFamily, common_hash_chance
from letalone.local.numeric.window_law import WindowLaw
from letalone.local.shuffling.likelihoods import atoms_under_blanket
from letalone.local.shuffling.positive_sums import (
    merge_onto,
    positive_mean_above,
    positive_mean_below,
    spread_onto,
)
from letalone.local.shuffling.shuffled_batch import clones_epsilon, gain_law
from letalone.mechanisms import RandomizedResponse
from letalone.privacy import REPLACE
from local.exact_laws import exact_law
from local.test_numbers import window_law

SMALL = [
    KaryResponse(3, epsilon=1),
    KaryResponse(2, epsilon=1),
    SubsetSelection(4, epsilon=0.5),
    UnaryEncoding(3, epsilon=1),
    UnaryEncoding(2, epsilon=2, symmetric=True),
    HadamardResponse(3, epsilon=1),
]
ALL_KINDS = [
    KaryResponse(16, epsilon=2),
    SubsetSelection(16, epsilon=2),
    UnaryEncoding(16, epsilon=2),
    LocalHashing(16, epsilon=2),
    HadamardResponse(16, epsilon=2),
    CountMeanSketch(1000, epsilon=2),
    Duchi(0, 1, epsilon=2),
    Piecewise(0, 1, epsilon=2),
    Hybrid(0, 1, epsilon=2),
]


def batch_law(laws, values):
    """The exact law of the set of reports of people with these values."""
    law = {(): Fraction(1)}
    for value in values:
        grown = defaultdict(Fraction)
        for reports, likely in law.items():
            for report, chance in laws[value].items():
                grown[tuple(sorted((*reports, report)))] += likely * chance
        law = grown
    return law


def exact_delta(laws, values, one, other, epsilon):
    first, second = (batch_law(laws, (x, *values)) for x in (one, other))
    power = mp.exp(mpf(epsilon))
    terms = (
        mpf(p.numerator) / p.denominator - power * mpf(second[y].numerator) / second[y].denominator
        for y, p in first.items()
    )
    return float(sum(term for term in terms if term > 0))


@pytest.mark.parametrize("oracle", SMALL, ids=repr)
def test_bounds_hold_the_worst_of_all_small_batches(oracle):
    """Three reports: every pair of values, whatever the two others hold."""
    laws = [exact_law(oracle, value) for value in range(oracle.size)]
    others = list(combinations_with_replacement(range(oracle.size), 2))
    for epsilon in (0.0, float(oracle.epsilon) / 3):
        worst = max(
            exact_delta(laws, values, one, other, epsilon)
            for values in others
            for one, other in ((0, 1), (1, 0))
        )
        low, high = ShuffledBatch(oracle, reports=3).delta_bounds(epsilon)
        assert low <= worst * (1 + 1e-9)
        assert worst <= high * (1 + 1e-12)


@pytest.mark.parametrize("oracle", [SMALL[0], SMALL[2], SMALL[3]], ids=repr)
def test_the_lower_bound_is_that_of_a_batch_that_exists(oracle):
    """If all others hold a third value the batch reveals what is stated, nearly exactly."""
    laws = [exact_law(oracle, value) for value in range(oracle.size)]
    for epsilon in (0.0, 0.3):
        reached = exact_delta(laws, (2, 2), 0, 1, epsilon)
        low, _ = ShuffledBatch(oracle, reports=3).delta_bounds(epsilon)
        assert reached * 0.999 < low <= reached * (1 + 1e-9)


@pytest.mark.parametrize(
    "oracle", [*SMALL, LocalHashing(3, epsilon=1), SubsetSelection(5, epsilon=1)], ids=repr
)
def test_patterns_are_those_of_the_exact_law(oracle):
    """Summed over all reports, in rationals; and the blanket is below every law."""
    laws = [exact_law(oracle, value) for value in range(oracle.size)]
    blanket = {y: min(law[y] for law in laws) for y in laws[0]}
    stated = defaultdict(Fraction)
    for mass, one, other in atoms_under_blanket(oracle.support_patterns(2), oracle.ratio):
        stated[one, other] += mass
    assert sum(stated.values()) <= sum(blanket.values())
    for (one, other), mass in stated.items():
        reports = [
            y
            for y in laws[0]
            if (laws[0][y], laws[1][y]) == (one * least(oracle, y), other * least(oracle, y))
        ]
        assert mass == sum(least(oracle, y) for y in reports)
        assert all(least(oracle, y) <= blanket[y] for y in reports)
    if oracle.size > 2:
        exact, summed = defaultdict(Fraction), defaultdict(Fraction)
        for y, mass in laws[2].items():
            exact[laws[0][y] / mass, laws[1][y] / mass] += mass
        for mass, one, other in oracle.crowds()[0]:
            summed[one, other] += mass
        assert summed == exact


def least(oracle, report):
    """The chance of a report from a value that it does not support."""
    supports = oracle.count(oracle.read(report))
    law = exact_law(oracle, 0)[report]
    return law / oracle.ratio if supports[0] else law


def test_triples_of_values_are_hashed_alike_as_often_as_counted():
    for prime, g in ((5, 2), (11, 3)):
        family, functions = HashFamily(prime, g), np.arange(prime * (prime - 1))
        first, second, third = (
            family.apply(functions, np.full(functions.size, x)) for x in range(3)
        )
        alike = int(((first == second) & (second == third)).sum())
        assert common_hash_chance(prime, g) == Fraction(alike, functions.size)


def test_windows_overlap_as_stated():
    law = WindowLaw(4, 3, Fraction(2))
    for steps in ((4, 0), (4, 0, 2), (1, 0)):
        laws = [window_law(law, step) for step in steps]
        exact = defaultdict(Fraction)
        for column in zip(*laws, strict=True):
            exact[tuple(int(p > law.outside) for p in column)] += law.outside
        assert law.patterns(steps) == exact


LAWS = [
    [
        (Fraction(3, 2), Fraction(1, 5)),
        (Fraction(-2), Fraction(3, 10)),
        (Fraction(0), Fraction(1, 2)),
    ],
    [
        (Fraction(17, 10), Fraction(1, 10)),
        (Fraction(-21, 10), Fraction(2, 10)),
        (Fraction(-1, 100), Fraction(1, 5)),
        (Fraction(-1, 37), Fraction(1, 20)),
        (Fraction(0), Fraction(9, 20)),
    ],
]


def exact_positive_mean(law, count):
    sums = {Fraction(0): Fraction(1)}
    for _ in range(count):
        grown = defaultdict(Fraction)
        for (total, likely), (value, mass) in product(sums.items(), law):
            grown[total + value] += likely * mass
        sums = grown
    return sum(total * likely for total, likely in sums.items() if total > 0)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("count", [2, 8])
def test_positive_means_lie_between_their_bounds(law, count):
    exact = float(exact_positive_mean(law, count))
    low, high = positive_mean_below(law, count, 1 << 14), positive_mean_above(law, count, 1 << 14)
    assert exact * 0.99 < low <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= high < exact * 1.01


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    "step", [Fraction(1, 3), Fraction(1, 8), Fraction(1, 64), Fraction(1, 1000)]
)
def test_spreading_and_merging_are_larger_and_smaller_in_convex_order(law, step):
    """Exactly: equal means, and E[max(X − t, 0)] in order at every kink."""
    spread = [(place * step, mass) for place, mass in spread_onto(law, step).items()]
    cells, centre = merge_onto(law, step)
    merged = [(centre + place * step, mass) for place, mass in cells.items()]

    def mean(of, above=None):
        return sum(m * (v if above is None else max(v - above, 0)) for v, m in of)

    for lower, higher in ((merged, law), (law, spread)):
        assert sum(m for _, m in lower) == sum(m for _, m in higher) == 1
        assert mean(lower) == mean(higher)
        assert all(mass >= 0 for _, mass in lower)
        for kink, _ in [*lower, *higher]:
            assert mean(lower, kink) <= mean(higher, kink)


@pytest.mark.parametrize("oracle", ALL_KINDS, ids=lambda oracle: type(oracle).__name__)
def test_a_batch_reveals_less_than_a_report_and_bounds_are_in_order(oracle):
    batch = ShuffledBatch(oracle, reports=1000)
    low, high = batch.delta_bounds(0.25)
    assert 0 <= low <= high < float(oracle.privacy.delta(0.25)) / 10
    assert batch.delta_bounds(2.5)[1] == 0
    fewer = ShuffledBatch(oracle, reports=900)
    assert fewer.delta_bounds(0.25)[1] > high


def test_randomized_response_agrees_with_the_game_of_its_own():
    """`Shuffled` computes the same batches in another way: sums over binomials."""
    oracle = KaryResponse(3, epsilon=1)
    for epsilon in (0.05, 0.1):
        low, high = ShuffledBatch(oracle, reports=1000).delta_bounds(epsilon)
        other = oracle.privacy.shuffled(reports=1000).delta_bounds(epsilon)
        assert low == pytest.approx(float(other[0]), rel=0.01)
        assert high == pytest.approx(float(other[1]), rel=0.02)
        assert low <= float(other[1])
        assert float(other[0]) <= high


@pytest.mark.long
def test_epsilon_is_where_the_bounds_of_delta_are():
    batch = ShuffledBatch(SubsetSelection(16, epsilon=4), reports=10_000)
    low, high = batch.epsilon_bounds(1e-6)
    assert batch.delta_bounds(high)[1] <= 1e-6
    assert batch.delta_bounds(low)[0] >= 1e-6
    assert high / low < 1.01
    price = batch.privacy(1e-6)
    assert price.epsilon(1e-6) == high
    assert price.neighbours == REPLACE
    assert "one closed batch" in repr(batch)


def test_the_closed_form_is_larger_and_has_its_range():
    batch = ShuffledBatch(SubsetSelection(16, epsilon=2), reports=100_000)
    closed = batch.closed_form(1e-6)
    assert closed is not None
    assert batch.delta_bounds(closed / 4)[1] < 1e-6 < batch.delta_bounds(closed / 10)[0]
    assert clones_epsilon(6, 1000, 1e-6) is None
    assert clones_epsilon(1, 100, 1e-6) is None
    grown = 8 * (exp(1) * np.log(4e6) / 1e5) ** 0.5 + 8 * exp(1) / 1e5
    share = (1 - exp(-1)) / (1 + exp(-1) / (1 + grown))
    assert clones_epsilon(1, 10**5, 1e-6) == pytest.approx(np.log(1 + share * grown))


def test_what_is_not_proven_is_refused():
    with pytest.raises(UnsupportedQuery, match="one closed batch"):
        ShuffledBatch(HeavyHitters(epsilon=1), reports=1000)
    with pytest.raises(UnsupportedQuery, match=r"takes KaryResponse,.*privacy\.shuffled\(reports="):
        ShuffledBatch(RandomizedResponse(epsilon=1), reports=1000)
    for reports in (1, 0, 2.5):
        with pytest.raises(ParameterError, match="reports"):
            ShuffledBatch(KaryResponse(4, epsilon=1), reports=reports)
    with pytest.raises(ParameterError, match="delta"):
        ShuffledBatch(KaryResponse(4, epsilon=1), reports=10).epsilon(0)


@pytest.mark.long
@pytest.mark.parametrize("reports", [10**3, 10**4, 10**5, 10**6])
@pytest.mark.parametrize("epsilon", [1, 2, 3, 4, 5, 6])
def test_both_bounds_of_k_ary_response_are_within_five_per_cent(reports, epsilon):
    low, high = ShuffledBatch(KaryResponse(16, epsilon=epsilon), reports=reports).epsilon_bounds(
        1e-6
    )
    assert low <= high < 1.05 * low


@pytest.mark.long
@pytest.mark.parametrize("oracle", [KaryResponse, SubsetSelection, Duchi])
@pytest.mark.parametrize("reports", [10**3, 10**4, 10**5, 10**6])
def test_both_bounds_of_two_answers_are_within_two_per_cent(oracle, reports):
    for epsilon in (1, 2, 3, 4, 5, 6):
        made = oracle(0, 1, epsilon=epsilon) if oracle is Duchi else oracle(2, epsilon=epsilon)
        low, high = ShuffledBatch(made, reports=reports).epsilon_bounds(1e-6)
        assert low <= high < 1.02 * low


def test_every_crowd_is_that_of_a_number_that_can_be_held():
    """Relative to a crowd's own law, likelihoods have mean 1; its masses add up to 1."""
    oracles = [Duchi(0, 1, epsilon=2), Hybrid(0, 1, epsilon=2), KaryResponse(2, epsilon=1)]
    for atoms in (crowd for oracle in oracles for crowd in oracle.crowds()):
        assert sum(mass for mass, _, _ in atoms) == 1
        assert sum(mass * one for mass, one, _ in atoms) == 1
        assert sum(mass * other for mass, _, other in atoms) == 1


@pytest.mark.long
@pytest.mark.parametrize("kind", [SubsetSelection, UnaryEncoding, LocalHashing])
@pytest.mark.parametrize("reports", [10**3, 10**6])
def test_both_bounds_of_the_others_are_within_what_the_page_says(kind, reports):
    for epsilon, most in ((1, 1.13), (2, 1.075), (3, 1.05), (6, 1.05)):
        low, high = ShuffledBatch(kind(16, epsilon=epsilon), reports=reports).epsilon_bounds(1e-6)
        assert low <= high < most * low


@pytest.mark.long
@pytest.mark.parametrize("kind", [SubsetSelection, UnaryEncoding, LocalHashing])
@pytest.mark.parametrize("epsilon", [1, 2, 4, 6])
def test_the_transform_gives_away_less_than_half_a_percent_of_the_blankets_own_bound(kind, epsilon):
    """A little below the returned epsilon the blanket's delta is larger than asked for."""
    oracle = kind(16, epsilon=epsilon)
    for reports in (10**3, 10**6):
        high = ShuffledBatch(oracle, reports=reports).epsilon(1e-6)
        law = gain_law(oracle.blanket_atoms(), Fraction(exp(high / 1.005)))
        assert positive_mean_below(law, reports) / reports > 1e-6


def test_a_mixed_crowd_can_be_worse_than_an_even_one():
    """So the lower bound is no bound from above: what all others hold alike is not the worst."""
    oracle = KaryResponse(3, epsilon=0.7)
    laws = [exact_law(oracle, value) for value in range(3)]

    mixed = exact_delta(laws, (0, 1, 1), 0, 2, 0.35)
    assert mixed > 1.001 * max(exact_delta(laws, (z, z, z), 0, 2, 0.35) for z in range(3))


def test_all_pairs_of_values_of_the_small_oracles_are_alike():
    """What the bounds rely on: one pair stands for all, by symmetry."""
    for oracle in SMALL:
        laws = [exact_law(oracle, value) for value in range(oracle.size)]
        curves = {
            tuple(sorted((one[y], other[y]) for y in one)) for one, other in permutations(laws, 2)
        }
        assert len(curves) == 1
    assert comb(4, SMALL[2].chosen) > 1
