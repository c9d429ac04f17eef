"""Places on a grid stay within it, whatever x is; cells start at the double nearest their edge."""

from fractions import Fraction
from math import inf, nan, nextafter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.reference import cell as slow_cell
from engines.reference import place as slow_place
from letalone.engines.core import syntax
from letalone.engines.core.amounts import cell, place
from letalone.engines.core.measures import CellCounts, GridSum
from letalone.engines.core.terms import Levels, SqlTerm
from letalone.engines.duckdb.duck_dialect import DUCKDB
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.plans.expressions import col
from letalone.plans.types import Type
from stages import pick

DUCK = LockedDuck(threads=1)
NASTY = [0.0, -0.0, nan, inf, -inf, 5e-324, -5e-324, 1e-310, -1e-310, 1.8e308 / 2, -1e308, 0.3]
X = st.sampled_from(NASTY) | st.floats() | st.floats(-1000, 1000)


def computed(values, make):
    DUCK.connection.register("values", pa.table({"x": pa.array(values, pa.float64())}))
    levels = Levels("#", DUCKDB)
    term = make(SqlTerm(syntax.column("x"), Type.NUMBER, finite=False, simple=True), levels)
    rows = levels.over(syntax.select([syntax.column("x")], syntax.table("values")))
    return [v for (v,) in DUCK.run(syntax.select([term.sql], syntax.subquery(rows, "rows")))]


def is_missing(x):
    return x is None or x != x or x in (inf, -inf)


GRIDS = st.builds(
    lambda low, size, shift: GridSum(col("x"), low, low + size, shift),
    st.integers(-(2**40), 2**40)
    | st.sampled_from([0, -1, -(2**31), -(2**31) - 1])
    | st.sampled_from([2**52 - 2, 2**52 + 1, -(2**52) - 3, 2**51, -(2**51)]),
    st.integers(1, 2**31 - 1),
    st.integers(-60, 60),
)


@given(st.lists(st.none() | X, min_size=1, max_size=20), GRIDS)
@settings(max_examples=pick(50, 150))
def test_the_place_is_the_floor_within_the_grid(values, grid):
    ends = [grid.low, grid.high, grid.high + 1]
    ends = [float(Fraction(end) / Fraction(2) ** grid.shift) for end in ends]
    values = [*values, *ends, *(nextafter(end, -inf) for end in ends)]
    for x, found in zip(values, computed(values, lambda t, ls: place(t, grid, ls)), strict=True):
        if is_missing(x):
            assert found is None
            continue
        assert grid.low <= found <= grid.high
        tiny = grid.shift < 0 and 0 < -x < 1e-290  # underflows to zero before the floor
        assert found == slow_place(grid, x) or (tiny and found in (0, min(0, grid.high)))


def test_an_underflow_to_zero_does_not_leave_the_grid():
    """-1e-320 / 2^20 is -0.0, whose floor is above a grid that ends at -1."""
    grid = GridSum(col("x"), -10, -1, -20)
    assert computed([-1e-320], lambda t, ls: place(t, grid, ls)) == [-1]


CELLS = st.builds(
    lambda lower, step, count: CellCounts(col("x"), lower, step, count),
    st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(-7, 10), Fraction(10**9)]),
    st.sampled_from([Fraction(1, 100), Fraction(1), Fraction(1, 7), Fraction(10**6), Fraction(3)]),
    st.integers(1, 200),
)


@given(st.lists(X, min_size=1, max_size=10), CELLS, st.data())
@settings(max_examples=pick(40, 100))
def test_a_cell_starts_at_the_double_nearest_to_its_edge(values, cells, data):
    for number in data.draw(st.lists(st.integers(0, cells.count), max_size=10)):
        edge = float(cells.lower + number * cells.step)
        values += [edge, nextafter(edge, -inf), nextafter(edge, inf)]
    for x, found in zip(values, computed(values, lambda t, ls: cell(t, cells, ls)), strict=True):
        assert found == (None if is_missing(x) else slow_cell(cells, x))


def test_prices_in_cents_fall_into_their_own_cells():
    cells = CellCounts(col("x"), Fraction(0), Fraction(1, 100), 1000)
    cents = [number / 100 for number in range(1000)]
    assert computed(cents, lambda t, ls: cell(t, cells, ls)) == list(range(1000))
