"""PrivUnit: the exact law for any near directions, unbiasedness, error, coverage, refusals."""

import struct
from fractions import Fraction
from itertools import combinations, permutations
from math import cos, log, pi, sin, sqrt

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from mpmath import mp
from scipy.stats import binom, chi2

from letalone.errors import FormatError, ParameterError
from letalone.exact.balls import ball, is_positive
from letalone.local import PrivUnit, ShuffledBatch, from_bytes, from_json, to_bytes, to_json
from letalone.local.vectors.directions import SEED_BYTES, all_directions, named_directions
from letalone.local.vectors.priv_unit import draw_rank, draw_units
from letalone.local.vectors.pulls import (
    best_chosen,
    ideal_cosine,
    largest_cosines,
    pull_of,
    squared_error,
)
from letalone.privacy.curves.finite import between
from mechanisms.frequencies import FALSE_ALARM, fit
from seeded import SeededBits

SMALL = PrivUnit(8, epsilon=4, directions=64)
VECTOR = np.array([3, -1, 0, 2, 0, 0, 1, 1]) * (0.9 / 4)


def rank_law(ratio, chosen, directions):
    weights = [ratio if rank < chosen else Fraction(1) for rank in range(directions)]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
@pytest.mark.parametrize("directions", [2, 5, 6])
def test_the_ratio_is_r_whatever_the_near_directions_are(epsilon, directions):
    """Every set of k, however it was found: so no float can break it. In rationals."""
    oracle = PrivUnit(3, epsilon=epsilon, directions=directions)
    near, far = (rank_law(oracle.ratio, oracle.chosen, directions)[rank] for rank in (0, -1))
    sets = combinations(range(directions), oracle.chosen)
    laws = [[near if place in held else far for place in range(directions)] for held in sets]
    assert all(sum(law) == 1 for law in laws)
    ratios = [p / q for a, b in permutations(laws, 2) for p, q in zip(a, b, strict=True)]
    assert max(ratios) == oracle.ratio
    assert is_positive(lambda: ball(oracle.epsilon).exp() - ball(oracle.ratio))
    for at in (Fraction(0), oracle.epsilon / 3, oracle.epsilon * 9 / 10):
        largest = max(float(between(p, q).delta(at)) for p, q in permutations(laws, 2))
        assert float(oracle.privacy.delta(at)) == pytest.approx(largest, rel=1e-12)


@pytest.mark.long  # others of this file stay
def test_ranks_follow_their_law():
    """False-positive rate over seeds: 1e-6; power against one near direction more, and r + 20 %."""
    ratio, bits = Fraction(7, 2), SeededBits(3)
    drawn = [draw_rank(ratio, 3, 9, bits) for _ in range(20_000)]
    for law, is_right in (
        (rank_law(ratio, 3, 9), True),
        (rank_law(ratio, 4, 9), False),
        (rank_law(ratio * Fraction(6, 5), 3, 9), False),
    ):
        assert (fit(drawn, dict(enumerate(map(float, law)))) > FALSE_ALARM) == is_right


def test_a_report_names_a_direction_near_the_vector_as_often_as_stated():
    """The whole way, from the bytes. Rate 1e-6; power against r/2 and a vector turned round."""
    unit = VECTOR / np.linalg.norm(VECTOR)
    reports = SMALL.privatize(np.tile(unit, (2000, 1)), bits=SeededBits(8))
    ranks = []
    for report in reports:
        cosines = all_directions(report[:SEED_BYTES].tobytes(), 64, 8) @ unit
        ranks.append(int((cosines > cosines[report[SEED_BYTES]]).sum()))
    law = rank_law(SMALL.ratio, SMALL.chosen, 64)
    assert fit(ranks, dict(enumerate(map(float, law)))) > FALSE_ALARM
    weaker = rank_law(SMALL.ratio / 2, SMALL.chosen, 64)
    for wrong in (law[::-1], weaker):
        assert fit(ranks, dict(enumerate(map(float, wrong)))) < FALSE_ALARM


@pytest.mark.parametrize(("chosen", "directions"), [(1, 2), (3, 10), (57, 256), (2048, 4096)])
def test_cosines_in_three_dimensions_are_exact(chosen, directions):
    """There they are even on [−1, 1], and the i-th largest is 1 − 2 Beta(i, M + 1 − i)."""
    n = directions + 1
    means = [Fraction(i, n) for i in range(1, chosen + 1)]
    spreads = [Fraction(i * (n - i), n * n * (n + 1)) for i in range(1, chosen + 1)]
    first = sum(1 - 2 * mean for mean in means)
    second = sum((1 - 2 * m) ** 2 + 4 * v for m, v in zip(means, spreads, strict=True))
    found = largest_cosines(chosen, directions, 3)
    assert found == pytest.approx((float(first), float(second)), rel=1e-10)


@pytest.mark.parametrize(("chosen", "directions", "dimension"), [(2, 6, 2), (3, 7, 4), (1, 5, 16)])
def test_cosines_in_other_dimensions_agree_with_a_slow_integral(chosen, directions, dimension):
    """M ∫ c f(c) P[fewer than k of M − 1 others are larger] dc, in 20 digits."""
    with mp.workdps(20):
        shape = mp.mpf(dimension - 3) / 2
        scale = mp.beta(mp.mpf(1) / 2, mp.mpf(dimension - 1) / 2)

        def above(c):
            half = mp.betainc(mp.mpf(dimension - 1) / 2, 0.5, 0, 1 - c * c, regularized=True) / 2
            return half if c >= 0 else 1 - half

        def term(angle):  # c = sin(angle)
            c, tail = mp.sin(angle), above(mp.sin(angle))
            few = sum(
                mp.binomial(directions - 1, i) * tail**i * (1 - tail) ** (directions - 1 - i)
                for i in range(chosen)
            )
            return c * mp.cos(angle) ** (2 * shape + 1) / scale * few

        slow = directions * mp.quad(term, [-mp.pi / 2, 0, mp.pi / 2])
    assert largest_cosines(chosen, directions, dimension)[0] == pytest.approx(float(slow), rel=1e-9)


@pytest.mark.parametrize(("epsilon", "dimension"), [(0.5, 2), (2, 16), (6, 100)])
def test_no_other_number_of_near_directions_is_better(epsilon, dimension):
    ratio = PrivUnit(2, epsilon=epsilon).ratio
    cosines = [pull_of(ratio, k, 128, dimension).cosine for k in range(1, 128)]
    assert cosines[best_chosen(ratio, 128, dimension) - 1] == max(cosines[:64])
    assert max(cosines) == max(cosines[:64])


@pytest.mark.parametrize("dimension", [2, 16, 1000])
def test_by_default_the_error_is_within_one_per_cent_of_a_whole_cap(dimension):
    """Of PrivUnit with a whole cap, the best of a large family (Asi, Feldman and Talwar)."""
    for epsilon in (0.5, 2, 6):
        oracle = PrivUnit(dimension, epsilon=epsilon)
        ideal = squared_error(ideal_cosine(oracle.ratio, dimension))
        assert ideal < oracle.variance(1) <= ideal * 1.01
    assert PrivUnit(16, epsilon=2, directions=512).variance(1) == pytest.approx(24.68, abs=0.01)
    ratio = PrivUnit(16, epsilon=2).ratio
    assert squared_error(ideal_cosine(ratio, 16)) == pytest.approx(24.58, abs=0.01)


def distance(reported, truth):
    """The p-value of a mean that is as far from a truth, in any direction, or farther."""
    off = reported.mean(axis=0) - truth
    statistic = len(reported) * off @ np.linalg.solve(np.cov(reported.T), off)
    return chi2.sf(statistic, len(truth))


def test_the_estimate_is_unbiased_with_the_stated_error_and_not_with_another_pull():
    """Rate 1e-6 each; power against m 10 % off, and m of three times as many."""
    people = 6000
    vectors = SMALL.unbias(SMALL.privatize(np.tile(VECTOR, (people, 1)), bits=SeededBits(1)))
    assert distance(vectors, VECTOR) > FALSE_ALARM
    assert distance(vectors * 1.1, VECTOR) < FALSE_ALARM
    far = pull_of(SMALL.ratio, SMALL.chosen * 3, 64, 8).cosine
    assert distance(vectors * SMALL.pull.cosine / far, VECTOR) < FALSE_ALARM
    squares = ((vectors - VECTOR) ** 2).sum(axis=1)
    off = (squares.mean() - SMALL.variance(1, np.linalg.norm(VECTOR))) / squares.std()
    assert abs(off) * sqrt(people) < 4.9


def test_intervals_hold_the_mean_vector_at_least_as_often_as_stated():
    """320 intervals at 80 %; independent right ones would miss 110 once in 10^7. Halved ones do."""
    misses = narrow = 0
    for survey in range(40):
        reports = SMALL.privatize(np.tile(VECTOR, (60, 1)), bits=SeededBits(100 + survey))
        found = SMALL.estimate(reports, confidence=0.8)
        misses += int(((found.low > VECTOR) | (found.high < VECTOR)).sum())
        vectors = SMALL.unbias(reports)
        spread = vectors.std(axis=0) / sqrt(60)
        narrow += int((np.abs(found.value - VECTOR) > spread / 2).sum())
    assert misses <= 110
    assert narrow > 110
    assert binom.sf(109, 320, 0.2) < 1e-7


def test_directions_are_as_documented():
    """By hand: AES of a counter, two words a block, Box and Muller, divided by the length."""
    seed, blocks = bytes(range(16)), []
    stream = Cipher(AES(seed), ECB()).encryptor()
    for counter in range(2 * 5, 2 * 5 + 2):
        blocks += struct.unpack("<QQ", stream.update(counter.to_bytes(16, "big")))
    numbers = []
    for a, b in (blocks[:2], blocks[2:]):
        radius = sqrt(-2 * log(((a >> 11) + 0.5) / 2**53))
        angle = 2 * pi * (b >> 11) / 2**53
        numbers += [radius * cos(angle), radius * sin(angle)]
    kept = np.array(numbers[:3]) / np.linalg.norm(numbers[:3])
    assert named_directions([seed], [5], 3)[0] == pytest.approx(kept, rel=1e-12)
    assert np.array_equal(all_directions(seed, 7, 3)[5], named_directions([seed], [5], 3)[0])


def test_directions_are_isotropic():
    """Means of 1, products and fourth powers. Rate 1e-6 each; power against a cube's corners."""
    drawn = all_directions(bytes(16), 40_000, 4)
    pairs = np.einsum("ni,nj->nij", drawn, drawn).reshape(-1, 16)[:, [0, 1, 2, 3, 5, 6, 7, 10, 11]]
    expected = np.array([0.25, 0, 0, 0, 0.25, 0, 0, 0.25, 0])
    assert distance(drawn, np.zeros(4)) > FALSE_ALARM
    assert distance(pairs, expected) > FALSE_ALARM
    assert distance(drawn**4, np.full(4, 3 / 24)) > FALSE_ALARM
    signs = np.sign(drawn) * (1 + 0.01 * drawn) / 2
    assert distance(signs**4, np.full(4, 3 / 24)) < FALSE_ALARM


def test_shorter_vectors_are_mixed_from_two_signs():
    """The mean is the vector. Rate 1e-6; power against always the same sign."""
    units = draw_units(np.tile([0.3, 0.0, -0.4], (20_000, 1)), SeededBits(6))
    assert np.linalg.norm(units, axis=1) == pytest.approx(1, rel=1e-15)
    kept = int((units[:, 0] > 0).sum())
    assert abs(kept / 20_000 - 0.75) < 4.9 * sqrt(0.75 * 0.25 / 20_000)
    zeros = draw_units(np.zeros((20_000, 2)), SeededBits(7))
    assert abs((zeros[:, 0] > 0).mean() - 0.5) < 4.9 / 2 / sqrt(20_000)


@pytest.mark.parametrize("factor", [1, 1.0001, 5, 1e300, 1e308])
def test_longer_vectors_count_as_their_direction(factor):
    unit = np.array([[0.6, -0.8]])
    found = draw_units(np.repeat(unit * factor, 50, axis=0), SeededBits(2))
    assert found == pytest.approx(np.repeat(unit, 50, axis=0))


def test_tiny_vectors_have_a_direction():
    assert np.isfinite(draw_units(np.array([[5e-324, 0.0], [1e-310, 1e-310]]), SeededBits(2))).all()


@pytest.mark.parametrize(
    "values",
    [[0.5] * 7, [[0.5] * 9], 0.5, [], [[[0.1] * 8]], ["a"] * 8, [0.1] * 7 + [float("nan")]],
)
def test_what_is_no_vector_is_refused(values):
    with pytest.raises(ParameterError):
        SMALL.privatize(values)


def test_the_refusal_says_how_many_coordinates():
    with pytest.raises(ParameterError, match=r"shape \(2, 3\), but must have 8 coordinates each"):
        SMALL.privatize([[0.1, 0.2, 0.3]] * 2)
    with pytest.raises(ParameterError, match=r"dimension is 1, but must be .*Hybrid"):
        PrivUnit(1, epsilon=1)
    with pytest.raises(ParameterError, match="directions is 1, but must be"):
        PrivUnit(8, epsilon=1, directions=1)
    with pytest.raises(ParameterError, match="epsilon"):
        PrivUnit(8, epsilon=-1)
    for wrong in (2, -0.1, float("nan"), "x"):
        with pytest.raises(ParameterError, match=r"length is .* must be a number from 0 to 1"):
            SMALL.variance(10, wrong)
    with pytest.raises(ParameterError, match="no reports"):
        SMALL.estimate(np.empty((0, SMALL.report_bytes), np.uint8))


def test_reports_are_written_and_read_and_others_refused():
    single = SMALL.privatize(VECTOR, bits=SeededBits(4))
    many = SMALL.privatize([VECTOR, -VECTOR], bits=SeededBits(4))
    assert len(single) == SMALL.report_bytes == 17
    assert many.shape == (2, 17)
    assert SMALL.estimate(single).value.shape == (8,)
    assert np.array_equal(from_bytes(SMALL, to_bytes(SMALL, many)), many)
    assert np.array_equal(from_json(SMALL, to_json(SMALL, many)), many)
    for wrong in (single[:-1], single + b"\0", bytes(16) + b"\x40", [1, 2], "text"):
        with pytest.raises(ParameterError, match="A report is not one of PrivUnit"):
            SMALL.estimate(wrong)
    with pytest.raises(FormatError, match="another oracle"):
        from_json(PrivUnit(8, epsilon=3, directions=64), to_json(SMALL, many))
    assert PrivUnit(3, epsilon=1, directions=300).report_bytes == 18


def test_a_shuffled_batch_is_bounded_from_above():
    """By two vectors with no near direction in common; relative to the blanket, for any seed."""
    atoms = SMALL.blanket_atoms()
    assert sum(mass * one for mass, one, _ in atoms) == 1
    assert sum(mass * other for mass, _, other in atoms) == 1
    low, high = ShuffledBatch(SMALL, reports=10_000).delta_bounds(0.5)
    assert low == 0 < high < float(SMALL.privacy.delta(0.5)) / 10
