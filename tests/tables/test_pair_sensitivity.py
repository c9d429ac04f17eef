"""Claimed sensitivities of products and of different values, for every neighbour."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letalone.engines.core.measures import DistinctValues, GridSum, ProductSum, RowScope
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.errors import UnsupportedQuery
from letalone.plans.aggregates.of_columns import Count, CountValues
from letalone.tables.grid import Grid
from letalone.tables.parts.cross import CrossCorners, GridAxis
from letalone.tables.parts.regression import RegressionPart
from letalone.tables.sensitivity import Contribution, Moved, contribution, sensitivity_of
from stages import pick
from tables.memory_engine import MemoryEngine, Row
from tables.plans_for_tests import A, D, X, plan_of
from tables.test_sensitivity import (
    BOUNDINGS,
    KEYS,
    ROW_UNIT,
    Vector,
    moved,
    question,
    scope_of,
    sized,
)

Claim = tuple[Vector, Callable[[Contribution], Moved]]
WIDE, SMALL = Grid(-1, 3, 0), Grid(0, 2, 0)
PRODUCT = ProductSum((GridSum(X, -1, 3, 0), GridSum(A, 0, 2, 0)), (2, 1))
UNCLIPPED = [name for name in BOUNDINGS if not name.endswith("clipped")]


def crossed(first: Any, second: Any, bits: int) -> Claim:
    def corners(lattice: int) -> CrossCorners:
        axes = GridAxis(X, WIDE, first), GridAxis(A, SMALL, second)
        return CrossCorners(*axes, bits, lattice)

    def vector(scope: RowScope, engine: Any) -> Any:
        exact = engine.measure(scope, corners(scope.lattice).measures)
        found = corners(scope.lattice).shares([np.array(one, dtype=object) for one in exact])
        return found.reshape(-1)

    return vector, lambda unit: corners(unit.lattice).moves(unit)


def regressed() -> Claim:
    def part(unit: Contribution) -> RegressionPart:
        return RegressionPart(("r",), unit, GridAxis(X, WIDE, 1), (GridAxis(A, SMALL, 1),), 4)

    def vector(scope: RowScope, engine: Any) -> Any:
        mine = part(replace(ROW_UNIT, lattice=scope.lattice))
        exact = engine.measure(scope, mine.measures)
        return mine.vector([np.array(one, dtype=object) for one in exact]).reshape(-1)

    return vector, lambda unit: part(unit).moved


CLAIMS: dict[str, Claim] = {
    "values": sized(DistinctValues(X)),
    "product": sized(PRODUCT),
    "2 × 2": crossed(1, 1, 30),
    "3 × 2": crossed(2, 1, 30),
    "3 × 3": crossed(2, 2, 30),
    "3 × 3, rounded": crossed(2, 2, 3),
    "regression": regressed(),
}
EXACT = ("values", "product")
CROSSED = ("2 × 2", "3 × 2", "3 × 3")


def rows_of(unit: int, cells: Any) -> list[Row]:
    return [{"u": unit, "d": d, "x": x, "a": a} for d, x, a in cells]


a_row = st.tuples(
    st.sampled_from("ABCDE"),
    st.sampled_from([None, -5, -1, 0, 1, 2.5, 3, 9]),
    st.sampled_from([None, 0, 1, 2, 7]),
)
a_unit = st.lists(a_row, max_size=5) | st.lists(a_row, min_size=6, max_size=20)


@pytest.mark.parametrize("claim", CLAIMS)
@settings(max_examples=pick(12, 30), deadline=None)
@given(
    bounding=st.sampled_from(UNCLIPPED),
    keys=st.sampled_from(KEYS),
    others=st.lists(a_unit, max_size=2),
    one=a_unit,
    other=a_unit,
)
def test_no_neighbour_moves_a_vector_further_than_claimed(
    claim: str, bounding: str, keys: Any, others: list[Any], one: list[Any], other: list[Any]
) -> None:
    vector, said = CLAIMS[claim]
    table = [row for place, unit in enumerate(others) for row in rows_of(place, unit)]
    if bounding == "row":
        one, other = one[:1], other[:1]
    for relation, partner in (("add/remove", []), ("replace", other)):
        plan = question(bounding, relation, keys)
        claimed = said(contribution(plan))
        for norm in (1, 2):
            tables = table + rows_of(99, one), table + rows_of(99, partner)
            l1, squares = moved(vector, scope_of(plan, norm), *tables)
            assert squares <= claimed.l2_squared
            assert l1 <= claimed.l1 or norm == 2


TELLING = [
    ("A", -1, 0),
    ("A", 3, 2),
    ("A", 3, 0),
    ("B", 3, 2),
    ("C", 3, 2),
    ("D", 3, 2),
    ("A", 1, 0),
    ("B", -1, 0),
]


def extreme_units(most: int) -> list[list[Any]]:
    kinds = list(product(TELLING, repeat=2))
    found = [[]] + [[a] * i + [b] * (most - i) for a, b in kinds for i in range(most + 1)]
    different = [[(d, n, 2) for n in range(-most, 0)] for d in "AB"]  # all values differ
    different += [[("A", 3 - n, 2) for n in range(most)]]
    different += [[("A" if n < 2 else "B", n, 2) for n in range(most)]]
    different += [[("C" if n < 2 else "D", 9 + n, 2) for n in range(most)]]
    return [unit[:most] for unit in [*found, *different]]


@pytest.mark.long
@pytest.mark.parametrize("claim", EXACT + CROSSED)
@pytest.mark.parametrize("bounding", UNCLIPPED)
@pytest.mark.parametrize("keys", [(), ("A", "B"), ("A", "B", "C", "D")])
def test_what_is_claimed_is_reached_by_some_neighbours(
    claim: str, bounding: str, keys: tuple[str, ...]
) -> None:
    """Corners of both columns are rounded where rows are weighed: they come within that."""
    vector, said = CLAIMS[claim]
    units = extreme_units({"row": 1, "two groups of two rows": 4}.get(bounding, 2))
    for relation in ("add/remove", "replace"):
        plan = question(bounding, relation, keys)
        vectors = [vector(scope_of(plan), MemoryEngine(rows_of(1, unit))) for unit in units]
        distinct = {tuple(v): v for v in vectors}.values()
        partners = distinct if relation == "replace" else [np.zeros_like(vectors[0])]
        changes = [one - other for one in distinct for other in partners]
        l1 = max(sum(abs(x) for x in change) for change in changes)
        squares = max(sum(x * x for x in change) for change in changes)
        unit = contribution(plan)
        claimed = said(unit)
        assert l1 <= claimed.l1
        assert squares <= claimed.l2_squared
        rounding = 0 if claim in EXACT or unit.lattice == 1 else 9 * max(1, len(keys))
        assert l1 >= claimed.l1 - rounding
        if claim in EXACT or unit.lattice == 1:
            assert squares == claimed.l2_squared


def test_a_regression_moves_by_its_number_of_products() -> None:
    """Five products, in sixteenths of a row; a number of each of two groups is rounded."""
    unit = contribution(plan_of({"n": Count()}, unit="u", max_rows=3, max_groups=2))
    assert CLAIMS["regression"][1](unit).l1 == 5 * 16 * 3 * 2 + 5 * 2


def test_rounding_moves_sums_further_than_one_row_and_the_claim_knows() -> None:
    """Other rows bring sums just below a whole number of units, and one row lifts many above."""
    vector, said = CLAIMS["3 × 3, rounded"]
    plan = question("row", "add/remove", ())
    generator = np.random.Generator(np.random.PCG64(2))
    telling = [{"u": 99, "d": "A", "x": 0, "a": 1}]
    largest = 0
    for _ in range(100):
        cells = [("A", int(x), int(a)) for x, a in generator.integers(0, 3, (6, 2)) - [1, 0]]
        l1, _ = moved(vector, scope_of(plan), rows_of(1, cells) + telling, rows_of(1, cells))
        largest = max(largest, l1)
    assert 16 < largest <= said(contribution(plan)).l1


@pytest.mark.few("[two rows")
@pytest.mark.parametrize("bounding", ["two rows", "two groups of two rows"])
def test_neighbours_in_duckdb_move_as_little(bounding: str) -> None:
    """Every neighbour of one small table."""
    base = [("A", 3, 2), ("B", -1, 0), ("A", None, 1)]
    person = [("A", 3, 2), ("A", -1, 2), ("B", 3, 0), ("A", 1, 1), ("B", 0, None)]
    plan = question(bounding, "add/remove", ("A", "B"))

    def vectors(cells: list[Any]) -> list[Any]:
        units = list(range(3)) + [99] * (len(cells) - 3)
        columns = [units, *zip(*cells, strict=True)]
        kinds = (pa.int64(), pa.string(), pa.float64(), pa.int64())
        arrays = [pa.array(one, kind) for one, kind in zip(columns, kinds, strict=True)]
        table = pa.table(arrays, names=["u", "d", "x", "a"])
        engine = open_duck(table, schema=plan.schema, threads=1)
        found = [vector(scope_of(plan), engine) for vector, _ in CLAIMS.values()]
        engine.close()
        return found

    without = vectors(base)
    for size in range(1, len(person) + 1):
        for (_, said), one, other in zip(
            CLAIMS.values(), vectors(base + person[:size]), without, strict=True
        ):
            assert sum(abs(one - other)) <= said(contribution(plan)).l1


def test_a_clipped_total_has_no_products_and_no_different_values() -> None:
    unit = contribution(plan_of({"n": Count()}, unit="u", max_groups=2, clip=True))
    for measure in (DistinctValues(X), PRODUCT):
        with pytest.raises(UnsupportedQuery, match=r"max_rows= without clip"):
            sensitivity_of(measure, unit)
    with pytest.raises(UnsupportedQuery, match="max_rows"):
        plan_of({"n": CountValues(D)}, unit="u", max_groups=2, clip=True)
    with pytest.raises(UnsupportedQuery, match="max_rows"):
        RegressionPart(("r",), unit, GridAxis(X, WIDE, 1), (GridAxis(A, SMALL, 1),), 4)
