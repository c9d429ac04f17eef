"""Every aggregate is audited on two neighbouring tables, and with too little noise accused.

A release of many groups with the same rows is as many draws. The claims are true, so over seeds
one run of this file in a million would accuse a correct aggregate: the error is shared by all.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from letalone.audit import Audit, Verdict, audit, confidence_of_each
from letalone.plans.aggregates.formula_trees import Constant, Operation, PartValue
from letalone.plans.aggregates.formulas import Formula
from letalone.plans.aggregates.of_columns import (
    Count,
    CountPresent,
    CountUnits,
    Deviation,
    Extreme,
    Histogram,
    Mean,
    MostFrequent,
    PrivateBounds,
    Quantiles,
    Sum,
    Variance,
)
from letalone.plans.plan import Aggregate
from letalone.tables.compiled import compile_plan
from seeded import SeededBits
from tables.memory_engine import MemoryEngine
from tables.plans_for_tests import PRESENT, A, D, F, X, plan_of

MEDIAN = Quantiles(A, F(0), F(9), (F(1, 2),), F(1))
QUARTILES = Quantiles(A, F(0), F(9), (F(1, 4), F(1, 2), F(3, 4)), F(1))
FEW = [("A", 0.0, 0)] * 3
TWICE = Formula((Count(),), Operation("*", Constant(F(2)), PartValue(0)))
Options = dict[str, Any]

# what is asked, rows of one table, the row that the other has more, draws, how it is asked
CASES: dict[str, tuple[dict[str, Aggregate], Any, Any, int, Options]] = {
    "count": ({"n": Count()}, FEW, ("A", 1.0, 1), 20_000, {}),
    "units": ({"n": CountUnits()}, FEW, ("A", 1.0, 1), 20_000, {}),
    "present": ({"n": CountPresent(X)}, FEW, ("A", 1.0, 1), 20_000, {}),
    "formula": ({"f": TWICE}, FEW, ("A", 1.0, 1), 20_000, {}),
    "sum": ({"s": Sum(X, F(-1), F(1))}, FEW, ("A", 1.0, 1), 20_000, {}),
    "moments": (
        {"n": Count(), "s": Sum(X, F(0), F(1)), "m": Mean(X, F(0), F(1))},
        FEW,
        ("A", 1.0, 1),
        20_000,
        {"where": PRESENT},
    ),
    "missing": (
        {"n": Count(), "s": Sum(X, F(0), F(1)), "m": Mean(X, F(0), F(1))},
        FEW,
        ("A", None, 1),
        20_000,
        {},
    ),
    "squares": (
        {"v": Variance(X, F(0), F(1)), "z": Deviation(X, F(0), F(1)), "s": Sum(X, F(0), F(1))},
        FEW,
        ("A", 1.0, 1),
        20_000,
        {},
    ),
    "gaussian": ({"n": Count()}, FEW, ("A", 1.0, 1), 20_000, {"delta": F(1, 5)}),
    "histogram": ({"h": Histogram(A, (F(0), F(2), F(9)))}, FEW, ("A", 1.0, 5), 20_000, {}),
    "quartiles": ({"q": QUARTILES}, FEW, ("A", 1.0, 9), 20_000, {}),
    "median": ({"q": MEDIAN}, [("A", 0.0, 0)], ("A", 1.0, 9), 4000, {}),
    "interval": ({"q": MEDIAN}, FEW, ("A", 1.0, 9), 4000, {"ends": True}),
    "largest": (
        {"e": Extreme(A, F(0), F(9), True, F(1))},
        [*FEW, *[("A", 0.0, 9)] * 2],
        ("A", 1.0, 9),
        1500,
        {},
    ),
    "top": ({"t": MostFrequent(D, 1, ("A", "B"))}, [], ("B", 0.0, 0), 2000, {}),
    "bounds": (
        {"b": PrivateBounds(A)},
        [*[("A", 0.0, 1)] * 3, *[("A", 0.0, 8)] * 2],
        ("A", 0.0, 8),
        1000,
        {},
    ),
}
SURE = confidence_of_each(len(CASES), Fraction(999_999, 1_000_000))
# Noise: halved. Choices reach their worst case on other tables than these small ones.
ACCUSED = {
    **dict.fromkeys(CASES, 2),
    "top": 3,
    "median": 8,
    "interval": 10,
    "largest": 16,
    "bounds": 16,
}


def drawn(name: str, epsilon: Any) -> Callable[..., Any]:
    asked, _, _, _, options = CASES[name]
    price = {"delta": options["delta"]} if "delta" in options else {}
    where, bits = options.get("where"), SeededBits(1)

    def many(rows: Any, count: int) -> Any:
        keys = tuple(f"k{place}" for place in range(count))
        whole = compile_plan(plan_of(asked, keys=keys, where=where), epsilon=epsilon, **price)
        one = plan_of(asked, grouped=False, where=where)
        table = [{"u": i, "d": d, "x": x, "a": a} for i, (d, x, a) in enumerate(rows)]
        single = compile_plan(one, epsilon=epsilon, **price)
        exact = MemoryEngine(table).measure(single.scope, whole.measures)
        answers = whole.finish([values * count for values in exact], bits).answers.values()
        columns = [np.asarray(answer.values).reshape(count, -1) for answer in answers]
        if "ends" in options:
            columns += [end.reshape(count, -1) for one in answers for end in (one.low, one.high)]
        labels = [answer.labels == "B" for answer in answers if answer.labels is not None]
        return np.concatenate([*columns, *labels], axis=1)

    return many


def audited(name: str, epsilon: Any) -> Audit:
    _, rows, more, samples, options = CASES[name]
    return audit(
        drawn(name, epsilon),
        rows,
        [*rows, more],
        claimed_epsilon=1,
        claimed_delta=options.get("delta", 0),
        samples=samples,
        confidence=SURE,
        many=True,
    )


def test_gaussian_noise_is_among_what_is_audited() -> None:
    (part,) = compile_plan(plan_of({"n": Count()}), epsilon=1, delta=F(1, 5)).parts
    assert part.words == "Gaussian noise"


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_an_aggregate_keeps_its_claim(name: str) -> None:
    assert audited(name, 1).verdict is Verdict.CONSISTENT


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_an_aggregate_with_too_little_noise_is_accused(name: str) -> None:
    assert audited(name, ACCUSED[name]).verdict is Verdict.ACCUSED
