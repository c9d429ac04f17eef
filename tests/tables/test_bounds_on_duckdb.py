"""Bounds on a person's rows in a group, by DuckDB: at most so many, or one clipped total."""

from math import ceil
from typing import Any

import pyarrow as pa

import letalone as la
from letalone.engines.core.measures import (
    WEIGHT_BITS,
    DistinctUnits,
    GridSum,
    Measure,
    Rows,
    RowsWith,
)
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.tables.compiled import compile_plan

S = 1 << WEIGHT_BITS
ROWS = {
    "u": [1, 1, 1, 1, 2, 2, 3],
    "d": ["A", "A", "A", "B", "A", "A", "A"],
    "x": [4.0, 5.0, None, 9.0, -7.0, -7.0, None],
}


def measured(bounds: dict[str, Any], **asked: Any) -> list[tuple[Measure, Any]]:
    table = pa.table(ROWS)
    with la.open(table, unit="u", budget=la.Budget(epsilon=10)) as session:
        grouped = session.group_by("d", keys=["A", "B"]).agg(**asked)
        whole = compile_plan(grouped.bound(max_groups=2, **bounds).plan, epsilon=1)
    engine = open_duck(table, schema=whole.plan.schema)
    try:
        return list(zip(whole.measures, engine.measure(whole.scope, whole.measures), strict=True))
    finally:
        engine.close()


def test_a_person_has_at_most_max_rows_in_a_group() -> None:
    for most, counted in ((1, [3, 1]), (2, [5, 1]), (3, [6, 1])):
        ((_, exact),) = measured({"max_rows": most}, n=la.count())
        assert [ceil(n / S) for n in exact] == counted  # weights are rounded down
        assert max(k * S - n for k, n in zip(counted, exact, strict=True)) < 6


def test_a_person_counts_once_in_a_group_however_many_rows_they_have() -> None:
    """Person 3 has no value, and counts as a row and not as one with a value."""
    bounds = {"lower": 0, "upper": 8}
    asked = {"n": la.count(), "m": la.mean("x", **bounds), "k": la.count_distinct()}
    found = {type(measure): exact for measure, exact in measured({"clip": True}, **asked)}
    assert found[Rows] == [3 * S, S]
    assert found[RowsWith] == [2 * S, S]
    assert found[DistinctUnits] == [3 * S, S]


def test_a_persons_total_is_clipped_at_both_ends() -> None:
    ((grid, exact),) = [
        pair
        for pair in measured({"clip": True}, n=la.count(), s=la.sum("x", lower=-10, upper=8))
        if isinstance(pair[0], GridSum)
    ]
    assert isinstance(grid, GridSum)
    assert exact == [S * (grid.high - grid.low) + 0, S * (grid.high - grid.low)]
