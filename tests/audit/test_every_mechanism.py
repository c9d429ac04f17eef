"""Every mechanism of letalone is audited, and broken twins of some are accused.

The claims are true, so over seeds a correct mechanism is accused in one run of this file
in a million: the error is shared by all audits of the file.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from letalone import mechanisms
from letalone.audit import Audit, Verdict, audit, confidence_of_each
from letalone.mechanisms import (
    AboveThreshold,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    PermuteAndFlip,
    RandomizedResponse,
    TopK,
)
from seeded import SeededBits

Case = tuple[Any, Callable[..., Any] | None, Any, Any, float]

# mechanism, the function to ask (None: the mechanism itself), two neighbouring inputs, delta
UP, DOWN = [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]
LAPLACE = Laplace(epsilon=1, sensitivity=1)
GEOMETRIC = Geometric(epsilon=1, sensitivity=1)
GAUSSIAN = Gaussian(epsilon=1, delta=0.01, sensitivity=1)
DISCRETE = DiscreteGaussian(epsilon=1, delta=0.01, sensitivity=1)
EXPONENTIAL = Exponential(epsilon=1, sensitivity=1)
PERMUTE = PermuteAndFlip(epsilon=1, sensitivity=1)
RESPONSE = RandomizedResponse(epsilon=1, categories=3)
THRESHOLD = AboveThreshold(epsilon=1, sensitivity=1, threshold=0)
PEELING = TopK(k=2, epsilon=1, sensitivity=1)
ONE_SHOT = TopK(k=2, epsilon=1, delta=0.01, sensitivity=1, method="one-shot")

CASES: dict[str, Case] = {
    "Laplace": (LAPLACE, None, 0.0, 1.0, 0),
    "Laplace, one number": (LAPLACE, LAPLACE.release, 0.25, 1.25, 0),
    "Laplace, vector": (LAPLACE, None, [0.0, 0.0, 5.0], [0.5, -0.5, 5.0], 0),
    "Geometric": (GEOMETRIC, None, 0, 1, 0),
    "Geometric, one number": (GEOMETRIC, GEOMETRIC.release, -7, -8, 0),
    "Gaussian": (GAUSSIAN, None, 0.0, 1.0, 0.01),
    "Gaussian, vector": (GAUSSIAN, None, [0.0, 0.0], [0.6, 0.8], 0.01),
    "DiscreteGaussian": (DISCRETE, None, 0, 1, 0.01),
    "Exponential": (EXPONENTIAL, EXPONENTIAL.choose_index, UP, DOWN, 0),
    "PermuteAndFlip": (PERMUTE, PERMUTE.choose_index, UP, DOWN, 0),
    "RandomizedResponse": (RESPONSE, None, 0, 1, 0),
    "AboveThreshold": (THRESHOLD, None, [-1.0, -1.0, 1.0], [0.0, 0.0, 0.0], 0),
    "TopK, peeling": (PEELING, PEELING.choose_indices, UP, DOWN, 0),
    "TopK, one-shot": (ONE_SHOT, ONE_SHOT.choose_indices, UP, DOWN, 0.01),
}
SURE = confidence_of_each(len(CASES), Fraction(999_999, 1_000_000))


def audited(case: Case, *, confidence: Fraction = SURE, seed: int = 1) -> Audit:
    mechanism, ask, one, other, delta = case
    return audit(
        mechanism if ask is None else ask,
        one,
        other,
        claimed_epsilon=1,
        claimed_delta=delta,
        samples=40_000 if ask is None and mechanism is not THRESHOLD else 4000,
        confidence=confidence,
        bits=SeededBits(seed),
    )


def test_no_public_mechanism_is_left_out() -> None:
    assert {type(case[0]).__name__ for case in CASES.values()} == set(mechanisms.__all__)


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_a_mechanism_of_letalone_keeps_its_claim(name: str) -> None:
    assert audited(CASES[name]).verdict is Verdict.CONSISTENT


def test_the_audits_come_close_to_what_the_mechanisms_reveal() -> None:
    """Otherwise no accusation would mean little. At 95 %, for those with the sharpest law."""
    for name, least in (("Laplace", 0.9), ("Geometric", 0.9), ("RandomizedResponse", 0.9)):
        assert audited(CASES[name], confidence=Fraction(95, 100)).lower > least


class ForgetsTheThreshold:
    """The sparse vector without noise on the threshold: every False costs, unboundedly."""

    def release(self, values: list[float], *, bits: SeededBits) -> list[bool]:
        noise = Laplace(scale=4, sensitivity=1).release(np.zeros(len(values)), bits=bits)
        return [bool(value + z > 0) for value, z in zip(values, noise, strict=True)]


class DoesNotSplit:
    """Two rounds of the exponential mechanism, each with the whole epsilon."""

    def release(self, utilities: list[float], *, bits: SeededBits) -> tuple[int, int]:
        whole = Exponential(epsilon=2, sensitivity=1)
        first = whole.choose_index(utilities, bits=bits)
        rest = [u for place, u in enumerate(utilities) if place != first]
        return first, whole.choose_index(rest, bits=bits)


class RoundsTheNoiseAlone:
    """Geometric noise on a grid that the value is not on."""

    def release(self, value: float, *, bits: SeededBits) -> float:
        return value + 2 * GEOMETRIC.release(0, bits=bits)


class ForgetsHalfTheUtility:
    """The exponential mechanism with exp(ε·u/Δ) for utilities that are not monotone."""

    def release(self, utilities: list[float], *, bits: SeededBits) -> int:
        return Exponential(epsilon=2, sensitivity=1).choose_index(utilities, bits=bits)


@pytest.mark.long
@pytest.mark.parametrize(
    ("twin", "one", "other", "samples"),
    [
        (ForgetsTheThreshold(), [0.0] * 40, [1.0] * 40, 4000),
        (DoesNotSplit(), UP, DOWN, 10_000),
        (RoundsTheNoiseAlone(), 0.0, 1.0, 2000),
        (ForgetsHalfTheUtility(), UP, DOWN, 10_000),
    ],
    ids=lambda thing: type(thing).__name__ if hasattr(thing, "release") else "",
)
def test_a_broken_twin_is_accused(twin: object, one: Any, other: Any, samples: int) -> None:
    found = audit(
        twin,
        one,
        other,
        claimed_epsilon=1,
        samples=samples,
        confidence=SURE,
        bits=SeededBits(2),
    )
    assert found.verdict is Verdict.ACCUSED
