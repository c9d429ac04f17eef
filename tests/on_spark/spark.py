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
from letalone.engines.spark.spark_engine import SparkEngine, open_spark
from letalone.engines.spark.spark_versions import frame_of_arrow
from letalone.plans.schema import Schema

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
    return open_spark(frame_of(rows, schema), schema=schema)


def from_spark(rows: Sequence[dict], schema: Schema, folder: object) -> Made:
    """One more engine for the laws of all engines."""
    session = compiled() if folder == "compiled" else None
    return Made(open_spark(frame_of(rows, schema, session), schema=schema))
