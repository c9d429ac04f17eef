"""What is released of several columns is audited on two neighbours, and with less noise accused.

Audited are the noisy vectors themselves, of which all answers are functions, and their sum. A
release of many groups with the same rows is as many draws. The claims are true, so over seeds one
run of this file in a million would accuse a correct release: the error is shared by all.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from letalone.audit import Verdict, audit, confidence_of_each
from letalone.plans.aggregates.of_columns import CountValues
from letalone.plans.aggregates.of_pairs import Correlation, Covariance, Regression, Slope
from letalone.plans.expressions import col
from letalone.plans.plan import Aggregate
from letalone.tables.compiled import compile_plan
from letalone.tables.parts.part import VectorPart
from seeded import SeededBits
from tables.memory_engine import MemoryEngine
from tables.plans_for_tests import A, D, F, X, plan_of

U = col("u")
ENDS = (F(0), F(1), F(0), F(9))
FEW = [("A", 0.0, 0)] * 3
TELLING = ("B", 1.0, 9)
SEVERAL = Regression(X, (A, U), F(0), F(1), (F(0), F(0)), (F(9), F(3)))

# What is asked, how often it is drawn, how many times the epsilon is accused, a delta.
CASES: dict[str, tuple[Aggregate, int, int, Fraction]] = {
    "values": (CountValues(D), 10_000, 2, F(0)),
    "covariance": (Covariance(X, A, *ENDS), 10_000, 2, F(0)),
    "correlation": (Correlation(X, A, *ENDS), 10_000, 2, F(0)),
    "slope": (Slope(X, A, *ENDS), 10_000, 2, F(0)),
    "gaussian": (Correlation(X, A, *ENDS), 10_000, 2, F(1, 5)),
    "features": (SEVERAL, 10_000, 4, F(0)),
    "gaussian features": (SEVERAL, 10_000, 3, F(1, 1000)),
}
SURE = confidence_of_each(len(CASES), Fraction(999_999, 1_000_000))


def squared(rows: Any) -> list[dict[str, Any]]:
    return [{"u": i, "d": d, "x": x, "a": a} for i, (d, x, a) in enumerate(rows)]


def verdict(name: str, times: int) -> Verdict:
    asked, samples, _, delta = CASES[name]
    bits = SeededBits(1)

    def many(rows: Any, count: int) -> Any:
        keys = tuple(f"k{place}" for place in range(count))
        price = {"epsilon": times, "delta": delta}
        whole = compile_plan(plan_of({"z": asked}, keys=keys), **price)
        single = compile_plan(plan_of({"z": asked}, grouped=False), **price)
        ((place, part),) = enumerate(whole.split.parts.parts)
        assert isinstance(part, VectorPart)
        exact = MemoryEngine(squared(rows)).measure(single.scope, part.measures)
        vector = part.vector([np.array(values * count, dtype=object) for values in exact])
        noisy = whole.split.noises[place].release(vector, bits)
        return np.column_stack([noisy, noisy.sum(axis=1)])

    found = audit(
        many,
        FEW,
        [*FEW, TELLING],
        claimed_epsilon=1,
        claimed_delta=delta,
        samples=samples,
        confidence=SURE,
        many=True,
    )
    return found.verdict


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_a_release_keeps_its_claim(name: str) -> None:
    assert verdict(name, 1) is Verdict.CONSISTENT


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_a_release_with_too_little_noise_is_accused(name: str) -> None:
    assert verdict(name, CASES[name][2]) is Verdict.ACCUSED


@pytest.mark.parametrize("name", ["gaussian", "gaussian features"])
def test_gaussian_noise_is_among_what_is_audited(name: str) -> None:
    asked, _, _, delta = CASES[name]
    (part,) = compile_plan(plan_of({"z": asked}), epsilon=1, delta=delta).parts
    assert part.words == "Gaussian noise"
