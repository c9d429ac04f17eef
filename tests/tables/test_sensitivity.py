"""Claimed sensitivities against the true change of bounded aggregates, for every neighbour."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letalone.engines.measures import (
    CellCounts,
    DistinctUnits,
    GridSum,
    Measure,
    Rows,
    RowsWith,
    scope_of,
)
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.plans.aggregates import Count, CountUnits, Mean, Quantiles
from letalone.plans.plan import Plan
from letalone.privacy import ADD_REMOVE, REPLACE
from letalone.tables.candidates import TopPart
from letalone.tables.grid import Grid, grid_for
from letalone.tables.moments import Corners
from letalone.tables.part import ChoicePart, VectorPart
from letalone.tables.parts import parts_of
from letalone.tables.quantiles import TreePart
from letalone.tables.sensitivity import (
    Contribution,
    Moved,
    contribution,
    count_utility_moves,
    number_moves,
    rank_moves,
    sensitivity_of,
    shares_move,
)
from stages import pick
from tables.memory_engine import MemoryEngine, Row
from tables.plans_for_tests import F, X, plan_of

SMALL = GridSum(X, -1, 3, 0)  # a row adds from 0 to 4
SIGNED = Grid(-1, 3, 0)
CELLS = CellCounts(X, F(-1), F(2), 3)

BOUNDINGS: dict[str, dict[str, Any]] = {
    "row": {},
    "two rows": {"unit": "u", "max_rows": 2},
    "two groups of two rows": {"unit": "u", "max_rows": 2, "max_groups": 2},
    "one group of two rows": {"unit": "u", "max_rows": 2, "max_groups": 1},
    "two groups, clipped": {"unit": "u", "max_groups": 2, "clip": True},
}
RELATIONS = {"add/remove": ADD_REMOVE, "replace": REPLACE}
Vector = Callable[[Plan, MemoryEngine], np.ndarray[Any, Any]]


def measured(*measures: Measure) -> Vector:
    """All values of measures, over all groups, as one list of whole numbers."""

    def vector(plan: Plan, engine: MemoryEngine) -> np.ndarray[Any, Any]:
        return np.array(engine.measure(scope_of(plan), measures), dtype=object).reshape(-1)

    return vector


def corners(degree: Any, *, missing: bool, grid: Grid = SIGNED) -> tuple[Corners, Vector]:
    shared = Corners(X, grid, degree, missing=missing)

    def vector(plan: Plan, engine: MemoryEngine) -> np.ndarray[Any, Any]:
        exact = engine.measure(scope_of(plan), shared.measures)
        return shared.shares([np.array(one, dtype=object) for one in exact]).reshape(-1)

    return shared, vector


def signed_sum(plan: Plan, engine: MemoryEngine) -> np.ndarray[Any, Any]:
    rows, above = engine.measure(scope_of(plan), (RowsWith(X), SMALL))
    return np.array(above, dtype=object) + SIGNED.low * np.array(rows, dtype=object)


LINE, LINE_VECTOR = corners(1, missing=True)
CURVE, CURVE_VECTOR = corners(2, missing=False)
CLAIMS: dict[str, tuple[Vector, Callable[[Contribution], Moved]]] = {
    "rows": (measured(Rows()), lambda c: sensitivity_of(Rows(), c)),
    "rows with": (measured(RowsWith(X)), lambda c: sensitivity_of(RowsWith(X), c)),
    "units": (measured(DistinctUnits()), lambda c: sensitivity_of(DistinctUnits(), c)),
    "grid sum": (measured(SMALL), lambda c: sensitivity_of(SMALL, c)),
    "signed sum": (signed_sum, lambda c: number_moves(SIGNED.low, SIGNED.high, c)),
    "corners": (LINE_VECTOR, LINE.moves),
    "squares": (
        measured(GridSum(X, -1, 3, 0, 2)),
        lambda c: sensitivity_of(GridSum(X, -1, 3, 0, 2), c),
    ),
    "corners of degree two": (CURVE_VECTOR, CURVE.moves),
    "cells": (measured(CELLS), lambda c: sensitivity_of(CELLS, c)),
}
UNCLIPPED = ("squares", "corners of degree two", "cells")


def cases() -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    for claim, bounding, relation in product(CLAIMS, BOUNDINGS, RELATIONS):
        if not (bounding.endswith("clipped") and claim in UNCLIPPED):
            for keys in ((), ("A",), ("A", "B"), ("A", "B", "C", "D")):
                yield claim, bounding, relation, keys


def question(bounding: str, relation: str, keys: tuple[str, ...]) -> Plan:
    """Any plan with this scope; what it asks does not matter here."""
    options = dict(BOUNDINGS[bounding])
    if not keys:
        options["max_groups"] = 1 if "max_groups" in options else None
    return plan_of(
        {"n": CountUnits()},
        keys=keys,
        grouped=bool(keys),
        neighbours=RELATIONS[relation],
        **options,
    )


def moved(vector: Vector, plan: Plan, one: list[Row], other: list[Row]) -> tuple[int, int]:
    change = vector(plan, MemoryEngine(one)) - vector(plan, MemoryEngine(other))
    return sum(abs(x) for x in change), sum(x * x for x in change)


def rows_of(unit: int, cells: Any) -> list[Row]:
    return [{"u": unit, "d": d, "x": x, "a": 0} for d, x in cells]


a_row = st.tuples(st.sampled_from("ABCDE"), st.sampled_from([None, -5, -1, 0, 1, 2.5, 3, 9]))
a_unit = st.lists(a_row, max_size=5)


@pytest.mark.parametrize("claim", CLAIMS)
@settings(max_examples=pick(25, 60), deadline=None)
@given(
    bounding=st.sampled_from(sorted(BOUNDINGS)),
    keys=st.sampled_from([(), ("A",), ("A", "B"), ("A", "B", "C", "D")]),
    others=st.lists(a_unit, max_size=3),
    one=a_unit,
    other=a_unit,
)
def test_no_neighbour_moves_a_measure_further_than_claimed(
    claim: str,
    bounding: str,
    keys: tuple[str, ...],
    others: list[Any],
    one: list[Any],
    other: list[Any],
) -> None:
    if bounding.endswith("clipped") and claim in UNCLIPPED:
        return
    vector, said = CLAIMS[claim]
    table = [row for place, unit in enumerate(others) for row in rows_of(place, unit)]
    if bounding == "row":
        one, other = one[:1], other[:1]
    for relation, partner in (("add/remove", []), ("replace", other)):
        plan = question(bounding, relation, keys)
        l1, squares = moved(vector, plan, table + rows_of(99, one), table + rows_of(99, partner))
        claimed = said(contribution(plan))
        assert l1 <= claimed.l1
        assert squares <= claimed.l2_squared


TELLING = [("A", None), ("A", -1), ("A", 3), ("B", 3), ("C", 3), ("D", 3), ("A", 1), ("B", -1)]


def extreme_units(most: int) -> list[list[Any]]:
    """Contributions at the corners: all rows alike, or two kinds, or one in each group."""
    kinds = [list(pair) for pair in product(TELLING, repeat=2)]
    found = [[]] + [[a] * i + [b] * (most - i) for a, b in kinds for i in range(most + 1)]
    return found if most > 1 else [unit[:1] for unit in found]


@pytest.mark.few("-row-add/remove", "-two groups of two rows-replace", "clipped-add/remove")
@pytest.mark.parametrize(("claim", "bounding", "relation", "keys"), list(cases()))
def test_what_is_claimed_is_reached_by_some_neighbours(
    claim: str, bounding: str, relation: str, keys: tuple[str, ...]
) -> None:
    """But for corners of degree two, whose sums are rounded: those come within the rounding."""
    vector, said = CLAIMS[claim]
    plan = question(bounding, relation, keys)
    claimed = said(contribution(plan))
    units = extreme_units({"row": 1, "two groups of two rows": 4}.get(bounding, 2))
    vectors = [vector(plan, MemoryEngine(rows_of(1, unit))) for unit in units]
    distinct = {tuple(v): v for v in vectors}.values()
    partners = distinct if relation == "replace" else [np.zeros_like(vectors[0])]
    changes = [one - other for one in distinct for other in partners]
    l1 = max(sum(abs(x) for x in change) for change in changes)
    squares = max(sum(x * x for x in change) for change in changes)
    if claim == "corners of degree two":
        assert claimed.l1 - 12 * (1 + len(keys)) <= l1 <= claimed.l1
    else:
        assert (l1, squares) == (claimed.l1, claimed.l2_squared)


def ranks(cells: list[int], share: Fraction) -> list[Fraction]:
    """The utility of each cell and of the places beyond, from the definition."""
    total = sum(cells)
    target = share * total
    below = [Fraction(sum(cells[:j])) for j in range(len(cells) + 1)]
    inside = [
        -max(Fraction(0), below[j] - target, target - below[j + 1]) for j in range(len(cells))
    ]
    return [-target, *inside, -(total - target)]


@pytest.mark.long
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bounding", ["row", "two rows", "two groups of two rows"])
@pytest.mark.parametrize("keys", [(), ("A", "B", "C", "D")])
@pytest.mark.parametrize("share", [F(0), F(1, 2), F(9, 10)])
def test_rank_utilities_move_by_the_claim_at_most_and_reach_it(
    relation: str, bounding: str, keys: tuple[str, ...], share: Fraction
) -> None:
    """The sum over groups of the largest change of any candidate's utility."""
    plan = question(bounding, relation, keys)
    units = extreme_units({"row": 1, "two groups of two rows": 4}.get(bounding, 2))
    table = rows_of(1, [(d, x) for d in "ABCD" for x in (-1, 0, 1, 2, 3)] * 3)
    for place, row in enumerate(table):
        row["u"] = place
    cells = CellCounts(X, F(-1), F(1), 5)

    def utilities(unit: list[Any]) -> list[list[Fraction]]:
        engine = MemoryEngine(table + rows_of(99, unit))
        return [ranks(group, share) for group in engine.measure(scope_of(plan), [cells])[0]]

    found = {str(u): u for u in map(utilities, units)}
    partners = list(found.values()) if relation == "replace" else [utilities([])]

    def change(one: Any, other: Any) -> Fraction:
        pairs = (zip(*groups, strict=True) for groups in zip(one, other, strict=True))
        return sum((max(abs(p - q) for p, q in group) for group in pairs), Fraction(0))

    largest = max(change(one, other) for one in found.values() for other in partners)
    claimed = rank_moves(share, contribution(plan))
    assert largest <= claimed
    # Under replace one unit leaves high ranks of some groups and enters low ranks of others.
    assert largest >= claimed * F(1, 2)
    if relation == "add/remove":
        assert largest == claimed


def test_a_tree_moves_as_its_levels_do() -> None:
    plan = plan_of({"q": Quantiles(X, F(0), F(500), (F(1, 4), F(1, 2)), F(1))})
    (tree,) = parts_of(plan, bits=30).parts
    assert isinstance(tree, TreePart)
    levels = tree.tree.levels
    assert levels > 1

    def vector(rows: list[Row]) -> Any:
        exact = MemoryEngine(rows).measure(scope_of(plan), tree.measures)
        return tree.vector([np.array(one, dtype=object) for one in exact])

    change = vector(rows_of(1, [("A", 7)])) - vector([])
    assert abs(change).sum() == tree.moved.l1 == levels
    assert (change**2).sum() == tree.moved.l2_squared == levels


def test_candidates_of_top_k_move_as_counts() -> None:
    unit = contribution(plan_of({"n": Count()}, unit="u", max_rows=3, max_groups=2))
    part = TopPart(("t",), unit, X, 1, (1, 2))
    assert isinstance(part, ChoicePart)
    assert count_utility_moves(unit) == shares_move(1, unit).l1 == 6


def test_without_a_bound_on_rows_only_units_are_counted() -> None:
    unit = contribution(plan_of({"n": CountUnits()}, unit="u", max_groups=2))
    assert sensitivity_of(DistinctUnits(), unit) == Moved(2, 2)
    with pytest.raises(ParameterError, match=r"Give max_rows="):
        sensitivity_of(Rows(), unit)


def test_a_clipped_total_has_no_quantile() -> None:
    unit = contribution(plan_of({"n": Count()}, unit="u", max_groups=2, clip=True))
    with pytest.raises(UnsupportedQuery, match=r"max_rows= without clip"):
        sensitivity_of(CELLS, unit)
    with pytest.raises(UnsupportedQuery, match=r"max_rows= without clip"):
        rank_moves(F(1, 2), unit)


@settings(max_examples=pick(60, 200), deadline=None)
@given(
    low=st.fractions(-(10**12), 10**12),
    length=st.fractions(0, 10**12).filter(lambda x: x > 0),
    bits=st.sampled_from([8, 24, 30]),
)
def test_a_grid_holds_its_bounds_has_a_middle_and_fits_a_double(
    low: Fraction, length: Fraction, bits: int
) -> None:
    grid = grid_for(low, low + length, bits, whole=False)
    assert grid.low * grid.step <= low
    assert grid.high * grid.step >= low + length
    assert grid.width % 2 == 0
    assert 2 <= grid.width <= 2**bits + 3
    assert max(-grid.low, grid.high) < 2**53
    assert grid.low * grid.step > low - 2 * grid.step


def test_every_part_moves_by_whole_numbers() -> None:
    asked = {"m": Mean(X, F(0), F(1)), "n": Count()}
    for part in parts_of(plan_of(asked), bits=30).parts:
        assert isinstance(part, VectorPart)
        assert isinstance(part.moved.l1, int)
        assert isinstance(part.moved.l2_squared, int)
