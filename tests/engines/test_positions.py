"""Counts belong to rows by position: whatever the files, threads and filters, to the right ones."""

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from letalone.engines.core.failure import EngineFailed
from letalone.engines.core.measures import WEIGHT_BITS, DistinctUnits, GridSum, Rows, RowScope
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding
from letalone.plans.types import Type

ROWS = 300_000
S = 1 << WEIGHT_BITS


def table(seed=1):
    generator = np.random.default_rng(seed)
    unit = generator.integers(0, 9_000, ROWS)
    return pa.table({"unit": unit, "row": np.arange(ROWS), "x": generator.random(ROWS)})


def many_files(folder):
    """Files and row groups of odd sizes: no boundary of one is a boundary of the other."""
    whole, start = table(), 0
    for number, size in enumerate([1, 70_001, 2_047, 0, 120_000, ROWS]):
        part = whole.slice(start, size)
        start += size
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=7_001)
    return str(folder / "*.parquet")


def one_file(folder):
    pq.write_table(table(), folder / "all.parquet", row_group_size=5_000)
    return folder / "all.parquet"


def chunked(folder):
    parts, start = [], 0
    for size in [3, 99_999, 2_048, 50_000, ROWS]:
        parts.append(table().slice(start, size))
        start += size
    return pa.concat_tables(parts)


def csv_file(folder):
    table().to_pandas().to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def database(folder):
    connection = duckdb.connect(folder / "rows.duckdb")
    connection.register("rows", table())
    connection.execute("CREATE TABLE t AS FROM rows")
    connection.execute("DELETE FROM t WHERE row % 50000 = 7")
    connection.close()
    return folder / "rows.duckdb"


TYPES = {"unit": Type.INTEGER, "row": Type.INTEGER, "x": Type.NUMBER}
SOURCES = [many_files, one_file, chunked, csv_file, database]


@pytest.mark.few("many_files", "database")
@pytest.mark.parametrize("source", SOURCES)
def test_every_row_has_the_weight_of_its_own_unit(source, tmp_path):
    """Counts that were off by one row would give most rows of this table another weight."""
    types = TYPES if source is csv_file else None
    engine = open_duck(source(tmp_path), types=types, threads=2)
    schema = engine.schema().protecting("unit")
    frame = table().to_pandas()
    if source is database:
        frame = frame[frame.row % 50_000 != 7]
    where = (col("x") < 0.25) & (col("row") >= 1_000)
    some = frame[(frame.x < 0.25) & (frame.row >= 1_000)]
    for condition, rows, k in ((None, frame, 20), (where, some, 5)):
        scope = RowScope(schema, condition, (), (), (), None, Bounding(max_rows=k))
        n = rows.groupby("unit")["row"].transform("size").to_numpy()
        weights = np.where(n <= k, S, S * k // n)
        grid = GridSum(col("row"), 0, 2**30, 0)
        found = engine.measure(scope, [Rows(), DistinctUnits(), grid])
        sums = [weights.sum(), S * rows.unit.nunique(), (weights * rows.row.to_numpy()).sum()]
        assert found == [[number] for number in sums]
        assert (n > k).any()
        assert (n <= k).any()
    engine.close()


def test_nothing_that_filters_is_moved_below_the_join_by_position(tmp_path):
    engine = open_duck(one_file(tmp_path))
    schema = engine.schema().protecting("unit")
    scope = RowScope(schema, col("x") < 0.001, (), (), (), None, Bounding(max_rows=1))
    engine.prepare(scope)
    statement = engine.sql(scope, [Rows()]).replace(
        '"all"', f"read_parquet('{tmp_path / 'all.parquet'}')"
    )
    plan = engine._duck.connection.execute("EXPLAIN " + statement).fetchall()[0][1]
    below = plan[plan.upper().index("POSITIONAL") :]
    assert "Filter" not in below
    engine.close()


def test_counts_of_one_filter_are_not_used_for_another(tmp_path):
    """Nor are those of another unit."""
    engine = open_duck(one_file(tmp_path))
    frame = table().to_pandas()
    for unit in ("unit", "x", "unit"):
        for limit in (0.5, 0.25, 0.5, None):
            rows = frame if limit is None else frame[frame.x < limit]
            where = None if limit is None else col("x") < limit
            schema = engine.schema().protecting(unit)
            scope = RowScope(schema, where, (), (), (), None, Bounding(max_rows=7))
            n = rows.groupby(unit)["row"].transform("size").to_numpy()
            weights = np.where(n <= 7, S, S * 7 // n)
            assert engine.measure(scope, [Rows()]) == [[weights.sum()]]
    engine.close()


def test_a_file_that_changes_under_its_counts_is_not_read(tmp_path):
    path = one_file(tmp_path)
    engine = open_duck(path)
    scope = RowScope(
        engine.schema().protecting("unit"), None, (), (), (), None, Bounding(max_rows=1)
    )
    engine.measure(scope, [Rows()])
    pq.write_table(table(seed=2), path)
    with pytest.raises(EngineFailed):
        engine.measure(scope, [Rows()])
    engine.close()
