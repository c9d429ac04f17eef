"""The count-mean sketch: its law, counts, unbiasedness over seeds, intervals, refusals."""

from itertools import permutations, product

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.local import CountMeanSketch, UnaryEncoding, from_bytes, to_bytes
from letalone.local.frequencies.count_mean_sketch import hash_affine, list_functions
from local.exact_laws import unary_law
from seeded import SeededBits

SMALL = CountMeanSketch(7, epsilon=1, buckets=3, functions=2)


def test_no_report_of_a_sketch_is_more_than_e_to_the_epsilon_times_as_likely():
    bits, laws = UnaryEncoding(3, epsilon=1), []
    for value in range(7):
        hashes = hash_affine(list_functions(SMALL), np.full(2, value), SMALL.family).tolist()
        parts = [unary_law(bits, hashed) for hashed in hashes]
        laws.append({(j, row): parts[j][row] / 2 for j, row in product(range(2), parts[0])})
    assert all(sum(law.values()) == 1 for law in laws)
    assert (
        max(one[y] / other[y] for one, other in permutations(laws, 2) for y in one) <= SMALL.ratio
    )


def test_a_sketch_counts_as_one_report_at_a_time_would():
    oracle = CountMeanSketch(50, epsilon=1, buckets=11, functions=5)
    rows = oracle.privatize(np.arange(200) % 50, bits=SeededBits(1))
    counts = np.zeros(50, int)
    for row in rows:
        a, b = list_functions(oracle)[int.from_bytes(row[:2].tobytes())].tolist()
        bits = np.unpackbits(row[2:])
        counts += np.array([bits[(a * x + b) % oracle.family.prime % 11] for x in range(50)])
    assert np.array_equal(oracle.count(oracle.read(rows)), counts)
    assert np.array_equal(oracle.count_some(rows, np.array([3, 49])), counts[[3, 49]])
    assert np.array_equal(from_bytes(oracle, to_bytes(oracle, rows)), rows)


def test_a_sketch_is_unbiased_over_seeds_and_its_intervals_cover():
    """100 seeds with few functions, so that collisions matter; 5.5 standard errors: below 1e-6."""
    bits, values = SeededBits(2), np.repeat([0, 1, 2], [600, 300, 100])
    shares, estimates, misses = np.array([0.6, 0.3, 0.1]), [], 0
    for seed in range(100):
        oracle = CountMeanSketch(50, epsilon=3, buckets=4, functions=8, seed=str(seed))
        estimate = oracle.estimate(oracle.privatize(values, bits=bits))
        estimates.append(estimate.value[:3])
        misses += np.sum((estimate.low[:3] > shares) | (estimate.high[:3] < shares))
    error = np.std(estimates, axis=0) / np.sqrt(100)
    assert np.all(np.abs(np.mean(estimates, axis=0) - shares) < 5.5 * error)
    assert np.max(np.std(estimates, axis=0)) > 1.5 * np.sqrt(oracle.variance(1000))
    assert misses < 0.05 * 300


def test_some_values_are_estimated_as_among_all_and_of_a_huge_domain_only_some():
    oracle = CountMeanSketch(50, epsilon=4, buckets=11, functions=5)
    reports = oracle.privatize(np.arange(500) % 50, bits=SeededBits(3))
    some, every = oracle.estimate_some(reports, [7, 0]), oracle.estimate(reports)
    for part in ("value", "low", "high"):
        assert np.array_equal(getattr(some, part), getattr(every, part)[[7, 0]])
    assert some.labels == (7, 0)
    huge = CountMeanSketch(1 << 31, epsilon=4, buckets=11, functions=5)
    reports = huge.privatize(np.full(500, (1 << 31) - 1), bits=SeededBits(4))
    shares = huge.estimate_some(reports, [(1 << 31) - 1, 1])
    assert (shares.low <= [1, 0]).all()
    assert (shares.high >= [1, 0]).all()
    with pytest.raises(ParameterError, match=r"Name those.*estimate_some\(reports, values\)"):
        huge.estimate(reports)
    with pytest.raises(ParameterError, match="not one of the"):
        huge.estimate_some(reports, [1 << 31])


def test_the_values_that_are_estimated_have_the_labels_of_the_domain():
    oracle = CountMeanSketch([f"v{n}" for n in range(40)], epsilon=4, buckets=5, functions=3)
    reports = oracle.privatize(["v3"] * 50, bits=SeededBits(5))
    assert oracle.estimate_some(reports, ["v3", "v7"]).labels == ("v3", "v7")


def test_functions_and_buckets_out_of_range_are_refused():
    for wrong in ({"functions": 1 << 17}, {"functions": 1}, {"buckets": 1}, {"buckets": 200}):
        with pytest.raises(ParameterError):
            CountMeanSketch(100, epsilon=1, **{"buckets": 16, **wrong})
    with pytest.raises(ParameterError, match="seed is 7, but must be a text"):
        CountMeanSketch(100, epsilon=1, buckets=16, seed=7)
    row = SMALL.privatize(1, bits=SeededBits(1))
    with pytest.raises(ParameterError, match="not one of CountMeanSketch"):
        SMALL.read(b"\x00\x02" + row[2:])
