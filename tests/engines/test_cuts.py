"""What a cut keeps of a person depends on that person's rows alone, however values are spelled."""

import os
from contextlib import closing

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import letalone as la
from engines import on_postgres
from letalone.engines.core.failure import FileChanged
from letalone.engines.core.measures import DistinctValues, Rows, RowScope
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.postgres.postgres_engine import open_postgres
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.types import Type

PEOPLE = 600


def scope(schema, unit, **more):
    return RowScope(schema.protecting(unit), None, (), (), (), None, Bounding(max_rows=1), **more)


@pytest.mark.parametrize("threads", [1, 2])
def test_both_zeros_are_one_value_in_a_cut_whoever_else_is_there(tmp_path, threads):
    """A person has 0.0, -0.0 and a value of their own, and counts with one. Where the spelling of
    zero was the engine's choice, another person's rows moved the count by dozens."""
    found = []
    for more in (0, 30_000):
        units = [*range(PEOPLE)] + [10**6] * more + [*range(PEOPLE)] * 2
        values = (
            [0.0] * PEOPLE + [5.0] * more + [-0.0] * PEOPLE + [1000.0 + n for n in range(PEOPLE)]
        )
        path = tmp_path / f"{more}.parquet"
        pq.write_table(pa.table({"u": units, "x": values}), path, row_group_size=2048)
        with closing(open_duck(path, threads=threads)) as engine:
            asked = scope(engine.schema(), "u")
            ((number,),) = engine.measure(asked, [DistinctValues(col("x"))])
        found.append(number // asked.lattice)
    assert found[1] - found[0] == 1
    assert 1 < found[0] < PEOPLE, "some keep a zero, others their own value"


def test_a_time_beyond_the_calendar_tells_people_apart_and_nothing_fails():
    for cell in (4, -(2**63) + 5):
        times = pa.py_buffer(np.array([1, 2, 3, cell]))
        born = pa.Array.from_buffers(pa.timestamp("us"), 4, [None, times])
        table = pa.table({"born": born, "x": [1.0, 2.0, 3.0, 4.0]})
        with la.open(table, unit="born", budget=la.Budget(epsilon=10)) as session:
            asked = session.bound(max_rows=1).agg(k=la.count_distinct("x"))
            assert len(asked.release(epsilon=1).rows()) == 1


def test_numbers_of_postgresql_that_are_equal_are_one_person_with_one_cut():
    """1.0 and 1.00 are equal, and which of them stands for both may depend on other rows."""
    on_postgres.run('DROP TABLE IF EXISTS "spelled"')
    on_postgres.run('CREATE TABLE "spelled" (u numeric, d text)')
    on_postgres.run(
        'INSERT INTO "spelled" SELECT CASE WHEN k = 1 THEN n::numeric ELSE n::numeric(20, 2) END,'
        " CASE WHEN (n + k) % 2 = 0 THEN 'A' ELSE 'B' END"
        " FROM generate_series(1, 200) n, generate_series(0, 1) k"
    )
    with closing(open_postgres(on_postgres.address("spelled"))) as engine:
        ward = GroupColumn("d", col("d"), Type.TEXT)
        schema = engine.schema().protecting("u")
        asked = RowScope(schema, None, (), (), (ward,), None, Bounding(max_groups=1))
        before = engine.discover(asked)
        on_postgres.run("INSERT INTO \"spelled\" SELECT 1000, 'C' FROM generate_series(1, 5000)")
        on_postgres.run('ANALYZE "spelled"')
        after = engine.discover(asked)
    assert sum(number for _, number in before) == 200
    assert after == [*before, (("C",), 1)]


def test_a_file_that_was_rewritten_in_place_is_noticed_whatever_its_time_says(tmp_path):
    path = tmp_path / "rows.parquet"

    def write(units):
        pq.write_table(pa.table({"u": units, "x": np.arange(1000)}), path, compression="none")

    write(np.arange(1000))
    with closing(open_duck(path)) as engine:
        asked = scope(engine.schema(), "u")
        engine.measure(asked, [Rows()])
        status = path.stat()
        content = path.read_bytes()
        with path.open("r+b") as file:
            file.write(content)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        with pytest.raises(FileChanged):
            engine.measure(asked, [Rows()])
