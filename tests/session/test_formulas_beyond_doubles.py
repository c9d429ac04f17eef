"""A formula whose numbers leave the doubles has no value, and nothing fails or freezes."""

from math import isfinite

import pyarrow as pa
import pytest

import letalone as la

BEYOND = (
    "COUNT(*) / 1e-320",
    "SUM(cost) * 1e70 * 1e70 * 1e70 * 1e70 * 1e70",
    "COUNT(*) / 1e-300",
)


@pytest.fixture(scope="module")
def visits():
    schema = la.Schema("visits", (la.Column("cost", "number", lower=0, upper=9),))
    table = pa.table({"cost": [1.0, 2.0, 3.0]})
    with la.open(table, schema=schema, budget=la.Budget(50)) as session:
        yield session


@pytest.mark.parametrize("epsilon", [1, 1e-9])
@pytest.mark.parametrize("formula", BEYOND)
def test_a_formula_beyond_the_doubles_has_no_value_or_a_finite_one(visits, formula, epsilon):
    (row,) = visits.sql(f"SELECT {formula} AS a FROM visits", epsilon=epsilon).rows()
    assert set(row) == {"a", "a_low", "a_high"}
    assert row["a"] is None or isfinite(row["a"])
    assert visits.agg(n=la.count()).release(epsilon=1).rows()
