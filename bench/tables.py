"""Private tables: letalone's bounded, exact sums beside the same question without privacy.

    python bench/tables.py [--rows 10000000] [--rounds 9] [--threads 2] [--json]

The question: for each of 100 departments, how many rows and the mean amount clipped to
[0, 1000], with each user counting with at most ten rows. Generated data: a tenth as many users
as rows, skewed, so that the busiest has thousands. CPU time of one process, the two taking turns
over the same Parquet file; a ratio is our time over plain DuckDB's, so 1 means as fast.
"""

import argparse
import json
import platform
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import letalone
from letalone.engines.duck import DuckEngine, open_duck
from letalone.engines.measures import GridSum, Rows, RowsWith, Scope
from letalone.plans.expressions import col
from letalone.plans.query import Bounding, GroupColumn

DEPARTMENTS = 100
BLOCK = 1_000_000
ASKED = 2.0  # times the plain query, at user level, once ranks exist
AMOUNT = GridSum(col("amount"), 0, 1000 << 10, 10)
MEASURES = [Rows(), RowsWith(col("amount")), AMOUNT]

Job = Callable[[], object]


def generate(path: Path, rows: int) -> None:
    """User u of n has about 1 / sqrt(u) of the rows."""
    generator = np.random.default_rng(1)
    users = max(1, rows // 10)
    writer = None
    for start in range(0, rows, BLOCK):
        size = min(BLOCK, rows - start)
        number = generator.integers(0, DEPARTMENTS, size)
        block = pa.table(
            {
                "user": (users * generator.random(size) ** 2).astype(np.int64),
                "number": number.astype(np.int32),
                "department": np.char.mod("department %02d", number),
                "amount": generator.gamma(2, 200, size),
            }
        )
        writer = writer or pq.ParquetWriter(path, block.schema)
        writer.write_table(block)
    if writer is not None:
        writer.close()


def cpu(job: Job) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def side_by_side(ours: Job, theirs: Job, rounds: int) -> dict[str, float]:
    """Median CPU seconds of each; they take turns so that both meet the same disturbances."""
    ours(), theirs()
    pairs = [(cpu(ours), cpu(theirs)) for _ in range(rounds)]
    mine, plain = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    return {"seconds": mine, "plain_seconds": plain, "ratio": mine / plain}


def scope_of(engine: DuckEngine, group: str, bounding: Bounding, unit: str | None) -> Scope:
    schema = engine.schema().protecting(unit)
    column = GroupColumn(group, col(group), schema.column(group).type)
    numbers = range(DEPARTMENTS)
    keys = [n if group == "number" else f"department {n:02d}" for n in numbers]
    return Scope(schema, None, (), (), (column,), tuple((key,) for key in keys), bounding)


def measure(rows: int, rounds: int, threads: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        generate(path, rows)
        return measure_file(path, rows, rounds, threads)


def measure_file(path: Path, rows: int, rounds: int, threads: int) -> dict[str, object]:
    plain = duckdb.connect(config={"threads": threads})
    engine = open_duck(path, threads=threads)
    bounded = scope_of(engine, "number", Bounding(max_rows=10), "user")
    ranks = cpu(lambda: engine.prepare(bounded))
    window = "SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY user ORDER BY amount)"
    window += f" AS r FROM '{path}') WHERE r <= 10"
    found: dict[str, object] = {}
    for group in ("number", "department"):
        query = f"SELECT {group}, count(*), avg(amount) FROM '{path}' GROUP BY {group}"
        user = scope_of(engine, group, Bounding(max_rows=10), "user")
        row = scope_of(engine, group, Bounding(), None)
        for level, scope in (("user", user), ("row", row)):
            found[f"{level} level, by {group}"] = side_by_side(
                lambda scope=scope: engine.measure(scope, MEASURES),
                lambda query=query: plain.execute(query).fetchall(),
                rounds,
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # before the window's own
    window_seconds = cpu(lambda: plain.execute(window).fetchall())
    engine.close()
    return {
        "machine": f"{platform.machine()}, Python {platform.python_version()},"
        f" DuckDB {duckdb.__version__}, letalone {letalone.__version__}",
        "rows": rows,
        "threads": threads,
        "exact": found,
        "ranks": {"seconds": ranks, "window_seconds": window_seconds},
        "peak_megabytes": peak,
    }


def show(result: dict[str, object]) -> None:
    print(f"{result['machine']}; {result['rows']:,} rows, {result['threads']} threads, CPU time")
    print(f"{'exact part':32}{'ours s':>9}{'plain s':>9}{'ratio':>8}{'asked':>8}")
    for name, row in result["exact"].items():  # type: ignore[attr-defined]
        asked = f"≤ {ASKED}" if name.startswith("user") else ""
        print(
            f"{name:32}{row['seconds']:9.3f}{row['plain_seconds']:9.3f}{row['ratio']:8.2f}{asked:>8}"
        )
    ranks = result["ranks"]
    print(
        f"ranks, once: {ranks['seconds']:.2f} s; one window over the data:"  # type: ignore[index]
        f" {ranks['window_seconds']:.2f} s; peak {result['peak_megabytes']:.0f} MB"  # type: ignore[index]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    outcome = measure(options.rows, options.rounds, options.threads)
    print(json.dumps(outcome)) if options.json else show(outcome)
