"""Spark: letalone's question beside the same one without privacy, on the same Spark.

    python bench/engines.py --spark [--rows 10000000] [--rounds 3] [--json]

The rows are made by Spark itself, with the shape of `bench/tables_data.py`: a tenth as many users
as rows, user u with about 1 / sqrt(u) of them. local[2], Parquet files, wall-clock time. The first
question is apart: Spark compiles its statement then, and the side table is written.

Tumult Analytics beside ours on one Spark is `--tumult`, in engines_tumult.py.
"""

import argparse
import platform
import statistics
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from tables_data import DEPARTMENTS, Job

from letalone.engines.spark import open_spark
from tables import MEASURES, groups_scope, scope_of

ASKED = 3.0
COPY = "visits_ranked"
PLAIN = "SELECT department, count(*), avg(amount) FROM {} GROUP BY department"


def session(folder: Path) -> Any:
    from pyspark.sql import SparkSession

    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.memory": "6g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    builder = SparkSession.builder.master("local[2]").appName("letalone bench")
    for name, value in options.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    return found


def generate(spark: Any, path: Path, rows: int) -> None:
    """The amounts are gamma(2, 200): minus 200 times the logarithm of two uniform numbers."""
    users = max(1, rows // 10)
    columns = [
        f"CAST({users} * POW(RAND(1), 2) AS BIGINT) AS user",
        f"CAST({DEPARTMENTS} * RAND(2) AS INT) AS number",
        "-200e0 * LN((1 - RAND(3)) * (1 - RAND(4))) AS amount",
        "CAST(40 + 5 * RANDN(5) AS INT) AS age",
    ]
    named = "CONCAT('department ', LPAD(CAST(number AS STRING), 2, '0')) AS department"
    made = spark.range(rows).selectExpr(*columns).selectExpr("*", named)
    made.write.parquet(str(path))


def wall(job: Job) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def side_by_side(ours: Job, theirs: Job, rounds: int) -> dict[str, float]:
    first = wall(ours)
    theirs()
    pairs = [(wall(ours), wall(theirs)) for _ in range(rounds)]
    mine, plain = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    return {"first": first, "seconds": mine, "plain_seconds": plain, "ratio": mine / plain}


def questions(engine: Any, copy: Any, rounds: int) -> dict[str, tuple[Any, Any, int]]:
    """What is asked of whom, and how often; the first question of the copy writes it."""
    row, user = (scope_of(engine, "department", level) for level in ("row", "user"))
    groups = groups_scope(engine)
    return {
        "row level": (engine, row, rounds),
        "user level, side table": (copy, user, rounds),
        "three groups a user, side table": (copy, groups, 1),
        "user level, ranks in the query": (engine, user, rounds),
        "three groups a user, in the query": (engine, groups, 1),
    }


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    spark = session(folder)
    path = folder / "visits"
    generate(spark, path, options.rows)
    frame = spark.read.parquet(str(path))
    frame.createOrReplaceTempView("visits")
    with closing(open_spark(frame)) as engine, closing(open_spark(frame, side_table=COPY)) as copy:
        exact = {
            name: side_by_side(
                lambda on=on, scope=scope: on.measure(scope, MEASURES),
                lambda: spark.sql(PLAIN.format("visits")).toArrow(),
                rounds,
            )
            for name, (on, scope, rounds) in questions(engine, copy, options.rounds).items()
        }
    found = {"machine": f"{platform.machine()}, Spark {spark.version}", "exact": exact}
    spark.stop()
    return found


def show(found: dict[str, Any], rows: int) -> None:
    print(f"{found['machine']}, local[2]; {rows:,} rows, wall-clock time")
    print(f"\n{'exact part':36}{'first s':>9}{'ours s':>9}{'plain s':>9}{'ratio':>8}{'asked':>8}")
    for name, row in found["exact"].items():
        seconds = f"{row['first']:9.2f}{row['seconds']:9.2f}{row['plain_seconds']:9.2f}"
        print(f"{name:36}{seconds}{row['ratio']:8.2f}{f'≤ {ASKED}':>8}")
