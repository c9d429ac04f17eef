"""A Spark of two threads for tests, and rows on it."""

import atexit
import shutil
import tempfile
import warnings
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from engines.makers import Made, arrow_table
from letalone.engines import syntax
from letalone.engines.dialects.spark import SPARK
from letalone.engines.rows import unit_of
from letalone.engines.spark import SparkEngine, open_spark
from letalone.engines.spark_versions import frame_of_arrow, print_for_session
from letalone.plans.schema import Schema
from seeded import SeededBits

OLD = version("pyspark").startswith("3.")
COLLATE = "" if OLD else "COLLATE UTF8_LCASE"  # Spark 3.5 has none
FAST = "-XX:TieredStopAtLevel=1"  # a JVM of a minute gains nothing by more
QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    # Few rows are sooner looked at than compiled for: `compiled` is for the rest.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",  # as it is from Spark 4 on
}


class SameBits:
    """The same bits each time: then two statements have one key, and can be compared."""

    def __init__(self, seed: int = 7) -> None:
        self._seed = seed

    def fill(self, target: Any) -> None:
        SeededBits(self._seed).fill(target)


@cache
def spark() -> Any:
    """A session that lasts until the end of the program; what it writes goes with it."""
    folder = tempfile.mkdtemp(prefix="letalone-spark")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # Spark's, about the version of pandas
        warnings.simplefilter("ignore", ResourceWarning)  # Spark's, about the pipe to its JVM
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("letalone tests")
        options = QUIET | {
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
            "spark.local.dir": folder,
            "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder} {FAST}",
        }
        for name, value in options.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    atexit.register(_stop, session, folder)
    return session


def _stop(session: Any, folder: str) -> None:
    session.stop()
    shutil.rmtree(folder, ignore_errors=True)


@cache
def compiled() -> Any:
    """Another session, with Spark's settings as they are: statements are compiled and adapted."""
    session = spark().newSession()
    for name in ("spark.sql.codegen.wholeStage", "spark.sql.adaptive.enabled"):
        session.conf.set(name, "true")
    session.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
    return session


def frame_of(rows: Sequence[dict], schema: Schema, session: Any = None) -> Any:
    """These rows as a frame."""
    return frame_of_arrow(arrow_table(rows, schema), session or spark())


def opened(rows: Sequence[dict], schema: Schema) -> SparkEngine:
    return open_spark(frame_of(rows, schema), schema=schema, bits=SameBits())


def from_spark(rows: Sequence[dict], schema: Schema, folder: object) -> Made:
    """One more engine for the laws of all engines."""
    engine = open_spark(
        frame_of(rows, schema, compiled() if folder == "compiled" else None),
        schema=schema,
        bits=SameBits(),
    )
    return Made(engine, lambda scope: ranks(engine, scope.schema, len(rows)))


def ranks(engine: SparkEngine, schema: Schema, size: int) -> list[int | None]:
    """The rank of each row in the order in which they were put in; None without a unit."""
    unit = unit_of(engine._relation, schema.column(schema.unit), "#source", SPARK)
    columns = [
        syntax.alias(syntax.column("rank", "#ranks"), "rank"),
        syntax.alias(syntax.column("#number", "#source"), "number"),
    ]
    made = SPARK.ranked(columns, engine._relation.sql, "key", mark="#", unit=unit)
    key = {"key": engine._draw_key()}
    found = {
        row["number"]: row["rank"]
        for row in engine._session.sql(print_for_session(made, engine._session), args=key).collect()
    }
    source = SPARK.printed(engine._relation.sql)
    text = f"SELECT MONOTONICALLY_INCREASING_ID() FROM {source}"
    numbers = sorted(row[0] for row in engine._session.sql(text).collect())
    assert len(numbers) == size
    return [found.get(number) for number in numbers]
