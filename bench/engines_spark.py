"""Spark: letalone's question beside the same one without privacy, on the same Spark.

    python bench/engines.py --spark [--rows 2000000] [--rounds 5] [--json]

The rows are made by Spark itself, with the shape of `bench/tables_data.py`: a tenth as many users
as rows, user u with about 1 / sqrt(u) of them. local[2], Parquet files; processor seconds of this
process and of Java's. The first question is apart: Spark compiles its statement then. Java goes on
compiling for some rounds, which are not counted, of either.

Tumult Analytics beside ours on one Spark is `--tumult`, in engines_tumult.py.
"""

import argparse
import platform
from contextlib import closing
from pathlib import Path
from typing import Any

from processors import TreeMeter, show_rows, side_by_side
from tables_data import DEPARTMENTS

from letalone.engines.spark.spark_engine import open_spark
from tables import MEASURES, groups_scope, scope_of

ROW, USER, GROUPS = "row level", "user level", "three groups a user"
ASKED = {ROW: 3.0, USER: 5.5}
WARM = 4
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


def questions(engine: Any, rounds: int) -> dict[str, tuple[Any, int]]:
    """What is asked, and how often."""
    row, user = (scope_of(engine, "department", level) for level in ("row", "user"))
    return {ROW: (row, rounds), USER: (user, rounds), GROUPS: (groups_scope(engine), 1)}


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    spark = session(folder)
    path = folder / "visits"
    generate(spark, path, options.rows)
    frame = spark.read.parquet(str(path))
    frame.createOrReplaceTempView("visits")
    read = TreeMeter().read
    plain = (lambda: spark.sql(PLAIN.format("visits")).toArrow(), read)
    with closing(open_spark(frame)) as engine:
        exact = {
            name: side_by_side(
                (lambda scope=scope: engine.measure(scope, MEASURES), read), plain, rounds, WARM
            )
            for name, (scope, rounds) in questions(engine, options.rounds).items()
        }
    found = {"machine": f"{platform.machine()}, Spark {spark.version}", "exact": exact}
    spark.stop()
    return found


def show(found: dict[str, Any], rows: int) -> None:
    print(f"{found['machine']}, local[2]; {rows:,} rows")
    show_rows(found["exact"], ASKED)
