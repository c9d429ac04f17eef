"""Frequency oracles: exact laws over all inputs and outputs, draws, estimates, intervals."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.exact.balls import ball, is_positive
from letalone.local import (
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    SubsetSelection,
    UnaryEncoding,
)
from letalone.local.frequencies.local_hashing import (
    HashFamily,
    collision_chance,
    list_inverses,
    prime_from,
)
from letalone.local.frequencies.subset_selection import subset_chances
from letalone.privacy import REPLACE
from letalone.privacy.curves.finite import between
from local.exact_laws import SMALL, exact_law
from mechanisms.frequencies import FALSE_ALARM, fit
from seeded import SeededBits

CASES = pytest.mark.parametrize("oracle", SMALL, ids=repr)
KINDS = [KaryResponse, SubsetSelection, UnaryEncoding, LocalHashing, HadamardResponse]
MANY = [
    KaryResponse(16, epsilon=1),
    SubsetSelection(16, epsilon=1),
    SubsetSelection(66, epsilon=1),
    UnaryEncoding(16, epsilon=1),
    UnaryEncoding(16, epsilon=1, symmetric=True),
    LocalHashing(16, epsilon=1),
    HadamardResponse(16, epsilon=1),
]


@CASES
def test_no_report_is_more_than_e_to_the_epsilon_times_as_likely(oracle):
    laws = [exact_law(oracle, value) for value in range(oracle.size)]
    assert all(sum(law.values()) == 1 for law in laws)
    largest = max(one[y] / other[y] for one, other in permutations(laws, 2) for y in one)
    assert largest == oracle.ratio
    assert is_positive(lambda: ball(oracle.epsilon).exp() - ball(largest))
    assert float(oracle.epsilon) - 1e-9 < oracle.privacy.epsilon(0) <= oracle.epsilon


@CASES
def test_the_curve_is_that_of_the_worst_two_values(oracle):
    """Against the hockey-stick divergence of whole laws, for every pair of values."""
    laws = [exact_law(oracle, value) for value in range(oracle.size)]
    pairs = [between(one.values(), [other[y] for y in one]) for one, other in permutations(laws, 2)]
    assert oracle.privacy.neighbours == REPLACE
    for x in (Fraction(0), Fraction(1, 7), oracle.epsilon * Fraction(3, 5)):
        largest = max(float(pair.delta(x)) for pair in pairs)
        assert float(oracle.privacy.delta(x)) == pytest.approx(largest, rel=1e-12)


@CASES
def test_a_report_supports_values_as_often_as_stated(oracle):
    """In rationals, over all reports: so estimates are unbiased, and their variance is exact."""
    for value in range(oracle.size):
        chances = np.zeros(oracle.size, dtype=object)
        for report, likely in exact_law(oracle, value).items():
            chances += likely * oracle.count(oracle.read(report)).astype(object)
        stated = [
            oracle.chances.held if x == value else oracle.chances.other for x in range(oracle.size)
        ]
        assert chances.tolist() == stated


@pytest.mark.parametrize("oracle", SMALL[::2], ids=repr)
def test_reports_follow_their_law(oracle):
    """False-positive rate over seeds: 1e-6; power against an epsilon 25 % larger."""
    value = oracle.size - 1
    reports = oracle.privatize(np.full(40_000, value), bits=SeededBits(7))
    drawn = reports.tolist() if reports.ndim == 1 else [row.tobytes() for row in reports]
    law = exact_law(oracle, value)
    assert fit(drawn, {y: float(p) for y, p in law.items()}) > FALSE_ALARM
    extra = {"symmetric": oracle.symmetric} if isinstance(oracle, UnaryEncoding) else {}
    wrong = exact_law(
        type(oracle)(oracle.size, epsilon=oracle.epsilon * Fraction(5, 4), **extra), value
    )
    if set(wrong) == set(law):
        assert fit(drawn, {y: float(p) for y, p in wrong.items()}) < FALSE_ALARM


def test_sets_that_are_not_listed_are_drawn_as_evenly_as_those_that_are(monkeypatch):
    """False-positive rate over seeds: 1e-6."""
    monkeypatch.setattr("letalone.local.frequencies.subset_selection.MOST_LISTED", 0)
    oracle = SubsetSelection(6, epsilon=1)
    for value in (0, 3, 5):
        reports = oracle.privatize(np.full(20_000, value), bits=SeededBits(8))
        law = exact_law(oracle, value)
        drawn = [row.tobytes() for row in reports]
        assert fit(drawn, {y: float(p) for y, p in law.items()}) > FALSE_ALARM
        wrong = exact_law(oracle, (value + 1) % 6)
        assert fit(drawn, {y: float(p) for y, p in wrong.items()}) < FALSE_ALARM


@pytest.mark.parametrize("oracle", MANY, ids=repr)
def test_estimates_have_the_stated_variance_and_intervals_cover(oracle):
    """20 surveys of 1,000; each standardised square has mean 1 and a variance near 2.

    Values of one survey are nearly independent: 5.5 standard errors of the mean of all squares
    fail with probability below 1e-6, and 6 for the share of covering intervals.
    """
    bits, surveys, people = SeededBits(11), 20, 1000
    values = np.minimum(np.arange(people) % (2 * oracle.size), oracle.size - 1)
    shares = np.bincount(values, minlength=oracle.size) / people
    variances = np.array([oracle.variance(people, float(share)) for share in shares])
    squares, covered = [], []
    for _ in range(surveys):
        estimate = oracle.estimate(oracle.privatize(values, bits=bits))
        squares.append((estimate.value - shares) ** 2 / variances)
        covered.append((estimate.low <= shares) & (shares <= estimate.high))
    count = surveys * oracle.size
    assert abs(np.mean(squares) - 1) < 5.5 * np.sqrt(2 / count) * 1.2
    assert np.mean(covered) > 0.95 - 6 * np.sqrt(0.95 * 0.05 / count)
    assert np.mean(covered) < 0.995


def test_the_size_of_sets_is_the_best_of_all():
    for size in (3, 5, 16, 40):
        for epsilon in (0.1, 1, 2, 4):
            oracle = SubsetSelection(size, epsilon=epsilon)

            def total(k, r=oracle.ratio, d=size):
                p, q = chances = subset_chances(r, d, k)
                return (p * (1 - p) + (d - 1) * q * (1 - q)) / chances.contrast**2

            assert total(oracle.chosen) == min(total(k) for k in range(1, size))


def test_subset_selection_has_the_smallest_variance_at_16_values():
    variances = [kind(16, epsilon=1).variance(1) for kind in KINDS]
    assert [round(v, 2) for v in variances] == [5.66, 3.11, 3.68, 3.17, 4.68]


def test_hash_families_collide_as_often_as_stated():
    for prime, g in ((3, 2), (5, 3), (7, 2), (11, 4)):
        family, functions = HashFamily(prime, g), np.arange(prime * (prime - 1))
        hashes = [family.apply(functions, np.full(functions.size, x)) for x in range(prime)]
        for one, other in permutations(hashes, 2):
            assert Fraction(int((one == other).sum()), functions.size) == family.collision
        assert collision_chance(prime, g) == family.collision
        assert np.all(list_inverses(prime)[1:] * np.arange(1, prime) % prime == 1)
    assert [prime_from(n) for n in (2, 3, 4, 9, 1024, 2**20)] == [2, 3, 5, 11, 1031, 1048583]


def test_hashing_counts_as_one_report_at_a_time_would():
    oracle = LocalHashing(50, epsilon=1)
    values = np.arange(3000) % 50
    reports = oracle.privatize(values, bits=SeededBits(3))
    family, counts = oracle.family, np.zeros(50, int)
    for code in reports.tolist():
        function, hashed = divmod(code, family.hashes)
        a, b = 1 + function // family.prime, function % family.prime
        counts += np.array(
            [((a * x + b) % family.prime) % family.hashes == hashed for x in range(50)]
        )
    assert np.array_equal(oracle.count(reports), counts)


@pytest.mark.parametrize("kind", KINDS)
def test_one_value_gives_one_report_and_labels_are_read(kind):
    oracle = kind(["tea", "coffee", "water"], epsilon=1)
    report = oracle.privatize("tea", bits=SeededBits(1))
    assert isinstance(report, int | bytes)
    assert oracle.count(oracle.read(report)).shape == (3,)
    assert len(oracle.privatize(["tea", "water"], bits=SeededBits(1))) == 2
    assert len(oracle.privatize([])) == 0
    with pytest.raises(ParameterError, match="not one of the 3 categories") as refused:
        oracle.privatize("secret juice")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_out_of_range_are_refused(kind):
    for epsilon in (0, -1, 0.0001, 21, float("nan"), "1"):
        with pytest.raises(ParameterError, match="epsilon"):
            kind(4, epsilon=epsilon)
    for domain in (1, 0, 2.5, ["a"], ["a", "a"]):
        with pytest.raises(ParameterError):
            kind(domain, epsilon=1)
    with pytest.raises(ParameterError, match="no reports"):
        kind(4, epsilon=1).estimate(kind(4, epsilon=1).privatize([]))


def test_a_domain_too_large_for_rows_of_bits_is_refused_with_what_to_use_instead():
    with pytest.raises(ParameterError, match="CountMeanSketch"):
        UnaryEncoding(1 << 17, epsilon=1)
