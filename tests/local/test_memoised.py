"""Answers again and again: exact laws of memo and report, and what many reports reveal."""

from fractions import Fraction
from itertools import permutations, product
from math import exp, log

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.local import Rappor
from local.exact_laws import unary_law
from seeded import SeededBits


def many_reports_law(rappor, value, reports):
    """All reports about one value of two, by summing over memos, in rationals."""
    keep, memos = rappor.kept, unary_law(rappor.forever, value)
    law = {}
    for rows in product(memos, repeat=reports):
        law[rows] = Fraction(0)
        for memo, likely in memos.items():
            for row in rows:
                wrong = bin(row[0] ^ memo[0]).count("1")
                likely *= keep ** (2 - wrong) * (1 - keep) ** wrong
            law[rows] += likely
    return law


@pytest.mark.parametrize("reports", [1, 2, 3])
def test_many_reports_reveal_what_is_stated_and_never_more_than_forever(reports):
    rappor = Rappor(2, forever=2, once=1)
    laws = [many_reports_law(rappor, value, reports) for value in range(2)]
    assert all(sum(law.values()) == 1 for law in laws)
    largest = max(one[y] / other[y] for one, other in permutations(laws, 2) for y in one)
    stated = rappor.epsilon_of(reports)
    assert log(largest) <= stated <= log(largest) + 1e-12
    assert stated <= min(reports * 1, 2)
    assert rappor.privacy.epsilon(0) <= 2


def test_the_total_cost_does_not_grow_beyond_forever():
    rappor = Rappor(10, forever=3, once=0.5)
    costs = [rappor.epsilon_of(count) for count in (1, 2, 10, 100, 10**6)]
    assert costs == sorted(costs)
    assert costs[0] <= 0.5
    assert costs[-1] == pytest.approx(3, abs=1e-9)
    assert costs[-1] <= 3


def test_one_report_has_the_law_of_a_symmetric_unary_encoding():
    rappor = Rappor(2, forever=2, once=1)
    for value in range(2):
        assert many_reports_law(rappor, value, 1) == {
            (row,): likely for row, likely in unary_law(rappor.once, value).items()
        }
    memos = rappor.memoise(np.zeros(50_000, int), bits=SeededBits(1))
    reports = rappor.privatize(memos, bits=SeededBits(2))
    held = np.unpackbits(memos, axis=1, count=2)
    same = np.mean(held == np.unpackbits(reports, axis=1, count=2))
    # 5 standard errors: false-positive rate below 1e-6
    assert abs(same - float(rappor.kept)) < 5 * np.sqrt(0.25 / 100_000)
    assert abs(held[:, 0].mean() - exp(1) / (1 + exp(1))) < 5 * np.sqrt(0.25 / 50_000)
    value = rappor.estimate(reports).value
    assert abs(value[0] - 1) < 5 * np.sqrt(rappor.variance(50_000, 1))
    assert abs(value[1]) < 5 * np.sqrt(rappor.variance(50_000))


def test_one_memo_gives_one_report_and_once_must_be_smaller():
    rappor = Rappor(["a", "b"], forever=2, once=1)
    assert len(rappor.privatize(rappor.memoise("a"))) == rappor.report_bytes == 1
    with pytest.raises(ParameterError, match="smaller than forever"):
        Rappor(2, forever=1, once=1)
