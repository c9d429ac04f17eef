"""Every mechanism of every part, with what it is given: together they cost what was typed.

Neighbours are tables; losses are those of the mechanisms that ran, with their own scales and the
exact numbers that they were given. So a share that is paid twice, noise for half of what a unit
moves, or a delta that two parts have each, is seen, whatever the plan says about itself. That the
price is reached shows that the neighbours tried are the worst ones: a factor of two cannot hide.
"""

from fractions import Fraction
from itertools import combinations, product
from math import exp
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from letalone.mechanisms import Geometric
from letalone.plans.aggregates.of_columns import (
    Count,
    CountPresent,
    CountUnits,
    CountValues,
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
from letalone.plans.aggregates.of_pairs import Correlation, Covariance, Regression, Slope
from letalone.plans.expressions import Case, Comparison, Literal
from letalone.plans.plan import Aggregate
from letalone.privacy import ADD_REMOVE, REPLACE, GaussianDP, Neighbours
from letalone.randomness.bits import SYSTEM
from letalone.tables.compiled import Compiled, compile_plan
from letalone.tables.noise import root_above
from letalone.tables.parts.discovery import Discovery
from letalone.tables.parts.quantiles import RankPart
from tables.memory_engine import Row
from tables.plans_for_tests import A, F, X, plan_of
from tables.watched import Loss, losses, measured, watched

EPSILON, DELTA = F(1), F(1, 10**6)
ME, KEYS = 0, ("A", "B", "C", "D")
X_ENDS, A_ENDS = (F(-100), F(1000)), (F(0), F(120))
PAIR = (*X_ENDS, *A_ENDS)
OLD = Case(((Comparison(">", A, Literal(60)), Literal(1)),), Literal(0))
MANY: dict[str, Aggregate] = {
    "count": Count(),
    "units": CountUnits(),
    "present": CountPresent(X),
    "values": CountValues(X),
    "sum": Sum(X, *X_ENDS),
    "sum of whole numbers": Sum(A, *A_ENDS),
    "sum above 0": Sum(A, F(60), F(120)),
    "mean": Mean(X, *X_ENDS),
    "variance": Variance(X, *X_ENDS),
    "deviation": Deviation(A, *A_ENDS),
    "covariance": Covariance(X, A, *PAIR),
    "slope": Slope(X, A, *PAIR),
    "correlation": Correlation(X, A, *PAIR),
    "line": Regression(X, (A,), *X_ENDS, (A_ENDS[0],), (A_ENDS[1],)),
    "plane": Regression(X, (A, OLD), *X_ENDS, (A_ENDS[0], F(0)), (A_ENDS[1], F(1))),
    "median": Quantiles(A, *A_ENDS, (F(1, 2),), F(1)),
    "few cells": Quantiles(A, *A_ENDS, (F(9, 10),), F(40)),
    "quartiles": Quantiles(A, *A_ENDS, (F(1, 4), F(3, 4)), F(1)),
    "largest": Extreme(A, *A_ENDS, True, F(1)),
    "histogram": Histogram(A, (F(0), F(18), F(65), F(120))),
    "top": MostFrequent(A, 2, (0, 120, 60)),
    "bounds": PrivateBounds(X),
}
REACHED = {  # by these neighbours, where it is less than all of epsilon: the proofs allow for more
    ("plane", "one group", REPLACE): F(3, 5),
    ("top", "people", REPLACE): F(3, 4),
    ("top", "rows", REPLACE): F(3, 4),
    ("bounds", "one group", ADD_REMOVE): F(3, 4),
    ("bounds", "people", ADD_REMOVE): F(3, 4),
    ("bounds", "people", REPLACE): F(3, 4),
    ("bounds", "rows", ADD_REMOVE): F(3, 4),
    ("bounds", "rows", REPLACE): F(3, 4),
}
Bounding = dict[str, Any]
BOUNDINGS: dict[str, Bounding] = {
    "people": {"unit": "u", "max_rows": 2, "max_groups": 2},
    "rows": {},
    "one group": {"unit": "u", "max_rows": 3, "grouped": False},
}


OTHERS: list[Row] = [
    {"u": place, "d": key, "x": 400.0, "a": 60} for place, key in enumerate(KEYS, start=1)
]
MANY_OTHERS = 10**6  # so many in the middle that no utility of a rank is cut off


def mine(keys: str, x: float | None, a: int, *, apart: int = 0) -> list[Row]:
    """Rows of one person: more than are kept, so that bounding has something to do."""
    return [
        {"u": ME, "d": key, "x": None if x is None else x - apart * turn, "a": a}
        for key in keys
        for turn in range(4)
    ]


def contributions(bounding: Bounding) -> list[list[Row]]:
    """What one unit may be: nothing, or rows at ends of the values, in some groups or others."""
    kinds = [(1000.0, 120), (-100.0, 0), (1000.0, 0), (-100.0, 120), (None, 120)]
    found = [mine(keys, x, a) for (x, a), keys in product(kinds, ("AB", "CD"))]
    found += [mine(keys, 999.0, 120, apart=1) for keys in ("AB", "CD")]
    if "unit" not in bounding:
        found = [rows[:1] for rows in found]
    return [[], *found]


def worst(
    whole: Compiled, bounding: Bounding, relation: Neighbours, *, tried: int | None = None
) -> list[Loss]:
    """What neighbours lose: those who differ in one unit's rows, or in that it is there."""
    units = contributions(bounding)[:tried]
    others = measured(whole, OTHERS, times=MANY_OTHERS)
    seen = [watched(whole, others + measured(whole, rows)) for rows in units]
    if relation is REPLACE:
        return [losses(one, other) for one, other in combinations(seen, 2)]
    return [losses(seen[0], other) for other in seen]


def priced(names: Any, bounding: Bounding, relation: Neighbours, **price: Any) -> Compiled:
    keys = price.pop("keys", KEYS)
    asked = {name: MANY[name] for name in names}
    plan = plan_of(asked, keys=keys, neighbours=relation, **bounding)
    return compile_plan(plan, **{"epsilon": EPSILON, **price})


def check(name: str, bounding: str, relation: Neighbours) -> None:
    bounds = BOUNDINGS[bounding]
    whole = priced([name], bounds, relation)
    tried = 5 if name == "bounds" else None  # there are hundreds of measures: the first ones do
    most = max(loss.pure for loss in worst(whole, bounds, relation, tried=tried))
    reached = REACHED.get((name, bounding, relation), F(1)) * EPSILON
    # Rounded products and the number of rows of a sum are paid for a little more.
    assert reached * F(9999, 10000) <= most <= reached, (name, bounding, relation)


@pytest.mark.parametrize("name", MANY)
def test_a_part_costs_its_epsilon_and_no_more(name: str) -> None:
    for relation in (ADD_REMOVE, REPLACE):
        check(name, "one group", relation)
        check(name, "people", relation)


@pytest.mark.long
@pytest.mark.parametrize("name", MANY)
def test_a_part_of_rows_costs_its_epsilon_and_no_more(name: str) -> None:
    for relation in (ADD_REMOVE, REPLACE):
        check(name, "rows", relation)


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
def test_ends_that_are_chosen_cost_a_quarter_each(relation: Neighbours) -> None:
    with patch.object(RankPart, "by_tree", False):
        check("median", "one group", relation)
        check("few cells", "people", relation)


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("name", ["count", "mean", "sum"])
def test_clipped_totals_cost_their_epsilon_and_no_more(name: str, relation: Neighbours) -> None:
    bounds = {"unit": "u", "max_groups": 2, "clip": True}
    whole = priced([name], bounds, relation)
    most = max(loss.pure for loss in worst(whole, bounds, relation))
    assert F(9999, 10000) * EPSILON <= most <= EPSILON


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
def test_parts_together_cost_the_epsilon_and_no_more(relation: Neighbours) -> None:
    """The parts of a plan that are reached by the same neighbours."""
    names = ["count", "units", "mean", "variance", "covariance", "median", "quartiles", "histogram"]
    bounds = BOUNDINGS["people"]
    most = max(loss.pure for loss in worst(priced(names, bounds, relation), bounds, relation))
    assert F(99, 100) * EPSILON <= most <= EPSILON


def delta_of(loss: Loss, epsilon: Fraction) -> float:
    """What Gaussian noises leave, where pure parts have taken their own epsilon."""
    if not loss.squares:
        return 0.0 if loss.pure <= epsilon else 1.0
    return GaussianDP(root_above(loss.squares)).delta(epsilon - loss.pure)


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("chosen", [[], ["median"]])
def test_gaussian_parts_and_choices_cost_epsilon_and_delta_and_no_more(
    chosen: list[str], relation: Neighbours
) -> None:
    names = ["count", "mean", "variance", "covariance", "quartiles", "histogram", *chosen]
    bounds = BOUNDINGS["people"]
    whole = priced(names, bounds, relation, delta=F(1, 10))
    found = worst(whole, bounds, relation)
    assert all(loss.squares for loss in found[1:2])
    most = max(delta_of(loss, EPSILON) for loss in found)
    assert 0.099 < most <= 0.1


def leaks(found: Discovery, groups: int) -> float:
    """How likely one of the keys that nobody but one unit has is listed."""
    scale = 0.0

    def plain(self: Geometric, value: Any, **_: Any) -> Any:
        nonlocal scale
        scale = float(self.scale)
        return np.array(value)

    with patch.object(Geometric, "release", plain):
        least = next(n for n in range(1, 10**6) if found.choose([(("A",), n)], SYSTEM))
    return groups * exp(-(least - 1) / scale) / (1 + exp(-1 / scale))


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize(("names", "delta"), [(["mean"], DELTA), (["mean", "count"], F(1, 10))])
def test_keys_and_values_cost_epsilon_and_delta_and_no_more(
    names: list[str], delta: Fraction, relation: Neighbours
) -> None:
    """The second is with Gaussian noise, which has half of the delta."""
    bounds = BOUNDINGS["people"]
    whole = priced(names, bounds, relation, delta=delta, keys=None)
    assert whole.discovery is not None
    differing = bounds["max_groups"] * (2 if relation is REPLACE else 1)
    leak, found = leaks(whole.discovery, differing), worst(whole, bounds, relation)
    most = leak + max(delta_of(loss, EPSILON) for loss in found)
    assert max(loss.pure for loss in found) <= EPSILON
    assert 0.4 * delta < most <= delta
    assert ("Gaussian noise" in {part.words for part in whole.parts}) == (delta == F(1, 10))
