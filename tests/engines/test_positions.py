"""Ranks belong to rows by position: whatever the files, threads and filters, to the right ones."""

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from letalone.engines.duck import open_duck
from letalone.engines.failure import EngineFailed
from letalone.engines.measures import DistinctUnits, GridSum, Rows, RowScope
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.types import Type
from seeded import SeededBits

ROWS = 300_000


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
def test_no_unit_keeps_more_than_its_rows_and_ranks_sit_at_their_rows(source, tmp_path):
    """Ranks that were off by one row would give units of this table three rows and more."""
    types = TYPES if source is csv_file else None
    engine = open_duck(source(tmp_path), types=types, bits=SeededBits(3), threads=2)
    schema = engine.schema()
    scope = RowScope(schema.protecting("unit"), None, (), (), (), None, Bounding(max_rows=2))
    engine.prepare(scope)
    name = engine._ranks_name(scope)
    ranks = np.array(engine._duck.connection.sql(f"FROM {name}").fetchnumpy()["rank"])
    kept = _kept(source, ranks)
    where = (col("x") < 0.25) & (col("row") >= 1_000)
    filtered = RowScope(scope.schema, where, (), (), (), None, Bounding(max_rows=2))
    for asked, rows in ((scope, kept), (filtered, kept[(kept.x < 0.25) & (kept.row >= 1_000)])):
        grid = GridSum(col("row"), 0, 2**30, 0)
        found = engine.measure(asked, [Rows(), DistinctUnits(), grid])
        assert found == [[len(rows)], [rows.unit.nunique()], [rows.row.sum()]]
    assert kept.groupby("unit").size().max() == 2
    engine.close()


def _kept(source, ranks):
    frame = table().to_pandas()
    if source is database:
        frame = frame[frame.row % 50_000 != 7]
    return frame[ranks <= 2]


def test_nothing_that_filters_is_moved_below_the_join_by_position(tmp_path):
    engine = open_duck(one_file(tmp_path), bits=SeededBits(3))
    schema = engine.schema().protecting("unit")
    scope = RowScope(schema, col("x") < 0.001, (), (), (), None, Bounding(max_rows=1))
    engine.prepare(scope)
    statement = engine.sql(scope, [Rows()]).replace(
        '"all"', f"read_parquet('{tmp_path / 'all.parquet'}')"
    )
    plan = engine._duck.connection.execute("EXPLAIN " + statement).fetchall()[0][1]
    below = plan[plan.upper().index("POSITIONAL") :]
    assert "0.001" in plan
    assert "0.001" not in below
    assert "Filter" not in below
    engine.close()


def test_a_busy_unit_takes_no_row_groups_away_from_the_others(tmp_path):
    """Only its rows are put in order: a filter on units below the join would shift the ranks."""
    rows = table().to_pandas()
    rows["unit"] = rows.row // 2
    rows.loc[150_000:150_100, "unit"] = 75_000
    rows["half"] = rows.x < 0.5
    rows.to_parquet(tmp_path / "all.parquet", row_group_size=5_000)
    engine = open_duck(tmp_path / "all.parquet", bits=SeededBits(3), threads=2)
    half = GroupColumn("half", col("half"), Type.BOOLEAN)
    schema = engine.schema().protecting("unit")
    bounding = Bounding(max_groups=1, max_rows=2)
    scope = RowScope(schema, None, (), (), (half,), ((False,), (True,)), bounding)
    found = engine.measure(scope, [Rows(), GridSum(col("row"), 0, 2**30, 0)])
    name = engine._ranks_name(scope)
    rows["rank"] = engine._duck.connection.sql(f"FROM {name}").fetchnumpy()["rank"]
    rows = rows.sort_values("rank")
    own = rows[rows["half"] == rows.groupby("unit")["half"].transform("first")]
    kept = own[own.groupby("unit").cumcount() < 2].groupby("half").row
    assert found == [list(kept.count()), list(kept.sum())]
    engine.close()


def test_a_file_that_changes_under_its_ranks_is_not_read(tmp_path):
    path = one_file(tmp_path)
    engine = open_duck(path, bits=SeededBits(3))
    scope = RowScope(
        engine.schema().protecting("unit"), None, (), (), (), None, Bounding(max_rows=1)
    )
    engine.measure(scope, [Rows()])
    pq.write_table(table(seed=2), path)
    with pytest.raises(EngineFailed):
        engine.measure(scope, [Rows()])
    engine.close()
