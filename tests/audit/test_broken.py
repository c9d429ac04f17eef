"""What was published or shipped and is wrong is accused at a claimed epsilon of 1; twins are not.

Accusations are at 99.9 %, so that a lucky one is rare. The correct twins are audited at a shared
confidence under which one run in a thousand would accuse any of them.
"""

from typing import Any

import numpy as np
import pytest

from audit.broken import (
    Noise,
    algorithm_3,
    algorithm_4,
    algorithm_5,
    algorithm_6,
    correct,
)
from letalone.audit import Verdict, audit, confidence_of_each
from letalone.mechanisms import Geometric, RandomizedResponse
from letalone.privacy import Budget
from seeded import SeededBits

SURE = 0.999
HALF = [0.0] * 20, [1.0] * 10 + [-1.0] * 10
LAST = [0.0] * 6 + [1.0], [1.0] * 6 + [0.0]


@pytest.mark.parametrize(
    ("draw", "pair", "samples"),
    [
        (algorithm_3(Noise(1), 1, 1), LAST, 60_000),
        (algorithm_4(Noise(2), 1, 10), HALF, 10_000),
        (algorithm_5(Noise(3), 1), ([0.0, 1.0], [1.0, 0.0]), 2000),
        (algorithm_6(Noise(4), 1), HALF, 10_000),
    ],
    ids=["3", "4", "5", "6"],
)
def test_the_broken_sparse_vectors_are_accused(draw: Any, pair: Any, samples: int) -> None:
    found = audit(draw, *pair, claimed_epsilon=1, samples=samples, confidence=SURE, many=True)
    assert found.verdict is Verdict.ACCUSED


@pytest.mark.parametrize("most", [1, 5])
@pytest.mark.parametrize("pair", [HALF, LAST, ([0.0, 1.0], [1.0, 0.0])])
def test_the_correct_sparse_vector_is_not(most: int, pair: Any) -> None:
    """Six audits share an error of one in a thousand."""
    each = confidence_of_each(6, 0.999)
    draw = correct(Noise(5), 1, most)
    found = audit(draw, *pair, claimed_epsilon=1, samples=10_000, confidence=each, many=True)
    assert found.verdict is Verdict.CONSISTENT


def test_a_biased_coin_is_accused_and_the_right_one_is_not() -> None:
    """Truth with probability 0.75 is an epsilon of ln 3, not 1."""
    generator = np.random.default_rng(6)

    def biased(value: int, count: int) -> np.ndarray:
        return np.where(generator.random(count) < 0.75, value, 1 - value)

    found = audit(biased, 0, 1, claimed_epsilon=1, samples=100_000, confidence=SURE, many=True)
    assert found.verdict is Verdict.ACCUSED
    right = RandomizedResponse(epsilon=1, categories=2)
    bits = SeededBits(6)
    found = audit(right, 0, 1, claimed_epsilon=1, samples=100_000, confidence=SURE, bits=bits)
    assert found.verdict is Verdict.CONSISTENT


class Counter:
    """Answers as long as there is budget; `resets`, it forgets at every question."""

    def __init__(self, *, resets: bool) -> None:
        self.resets, self.bits = resets, SeededBits(7)

    def release(self, value: int) -> tuple[int, ...]:
        left, each, found = Budget(epsilon=1), Budget(epsilon=0.5), []
        for _ in range(4):
            left = Budget(epsilon=1) if self.resets else left
            if left.epsilon < each.epsilon:
                found.append(0)
                continue
            left = left - each
            noise = Geometric(epsilon=0.5, sensitivity=1)
            found.append(noise.release(value, bits=self.bits))
        return tuple(found)


@pytest.mark.long
@pytest.mark.parametrize(("resets", "verdict"), [(True, "accused"), (False, "consistent")])
def test_a_budget_that_resets_is_accused(resets: bool, verdict: str) -> None:
    counter = Counter(resets=resets)
    found = audit(counter, 0, 1, claimed_epsilon=1, samples=3000, confidence=SURE)
    assert found.verdict is Verdict(verdict)


@pytest.mark.parametrize(("rate", "verdict"), [(0.05, "accused"), (0.0, "consistent")])
def test_errors_that_depend_on_the_data_are_accused(rate: float, verdict: str) -> None:
    """Both inputs fail by chance; one of them more often."""
    generator, noise, bits = np.random.default_rng(8), Geometric(epsilon=1, sensitivity=1), 8
    source = SeededBits(bits)

    def fails(value: int) -> int:
        if generator.random() < 0.005 + rate * value:
            raise ValueError("out of range")
        return noise.release(value, bits=source)

    found = audit(fails, 0, 1, claimed_epsilon=1, samples=10_000, confidence=SURE)
    assert found.verdict is Verdict(verdict)
    if rate:
        assert "the error ValueError: out of range" in found.event


def test_where_there_are_only_errors_the_caller_sees_the_first() -> None:
    def fails(value: int) -> None:
        raise ValueError("a") if value else KeyError("b")

    with pytest.raises(KeyError):
        audit(fails, 0, 1, claimed_epsilon=1, samples=200)


def test_an_error_on_one_input_only_is_an_exact_answer() -> None:
    def fails(value: int) -> int:
        if value:
            raise OverflowError
        return 3

    found = audit(fails, 0, 1, claimed_epsilon=1, samples=200, confidence=SURE)
    assert found.verdict is Verdict.ACCUSED
