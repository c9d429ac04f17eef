"""Run by test_failures.py as a program of its own: a small cluster that loses its parts.

Its functions of rows are where things go wrong: they run on the executors, and end the one that
they run on. What was seen is printed as one line of JSON.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

import letalone as la
from letalone.engines.core.measures import DistinctUnits, DistinctValues, GridSum, Rows, RowScope
from letalone.engines.spark import spark_engine as engines
from letalone.engines.spark import spark_start
from letalone.engines.spark.spark_engine import open_spark
from letalone.errors import DataSetFrozen
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding

PEOPLE = 20
MANY = 200
FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.pythonUDF.arrow.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": FAST,
    "spark.driver.extraJavaOptions": FAST,
    "spark.task.maxFailures": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
}


def started(folder):
    """Two workers of one core, in a home of their own: they write beside Spark's."""
    home = Path(folder, "home")
    home.mkdir()
    (home / "conf").mkdir()
    lines = [f"{name} {value}" for name, value in OPTIONS.items()]  # of one that starts by itself
    (home / "conf" / "spark-defaults.conf").write_text("\n".join(lines))
    for part in ("bin", "jars"):
        (home / part).symlink_to(Path(pyspark.__file__).parent / part)
    own = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    os.environ |= own
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("letalone losing")
    local = {"spark.local.dir": folder, "spark.sql.warehouse.dir": f"{folder}/warehouse"}
    for name, value in (OPTIONS | local).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def ending(file, *, always):
    """A column's own value; the first row, or each, ends its executor while there is a file."""

    def same(value):
        if Path(file).exists():
            if not always:
                Path(file).unlink(missing_ok=True)
            daemon = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2]
            os.kill(int(daemon.split()[1]), signal.SIGKILL)
            time.sleep(10)
        return value

    return udf(same, "string")


def slow():
    """A column's own value, late: so that each executor has a part of the work."""

    def same(value):
        time.sleep(0.05)
        return value

    return udf(same, "double")


def frame_of(session, end):
    """Rows that are computed and shuffled before the executor ends, which has to be done again."""
    rows = [(f"p{n % PEOPLE}", float(n % PEOPLE), "AB"[n % 2]) for n in range(3 * PEOPLE)]
    frame = session.createDataFrame(rows, "who string, cost double, ward string").repartition(4)
    late = frame.withColumn("cost", slow()("cost"))
    return late.repartition(2).withColumn("ward", end("ward"))


def tracker_of(session):
    """Who knows in Spark where the rows of each shuffle are."""
    kind = session._jvm.java.lang.Class.forName("org.apache.spark.SparkEnv")
    field = kind.getDeclaredField("mapOutputTracker")
    field.setAccessible(True)
    return field.get(session.sparkContext._jsc.sc().env())


def between(session):
    """An executor's rows are lost when all shuffles are done, before the last job begins.

    Each person has twenty things and counts with one, so there are as many as people. Spark adapts
    the plan, as it does by itself: each shuffle is a job.
    """
    session.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    session.conf.set("spark.sql.shuffle.partitions", "8")
    rows = [(f"p{number % MANY}", number) for number in range(20 * MANY)]
    made = session.sparkContext.accumulator(0)
    same = udf(lambda who: made.add(1) or who, "string")
    frame = session.createDataFrame(rows, "who string, thing int").withColumn("who", same("who"))
    engine, taken, tracker = open_spark(frame.repartition(4)), engines.rows_of, tracker_of(session)
    schema = engine.schema().protecting("who")
    scope = RowScope(schema, None, (), (), (), None, Bounding(max_rows=1))
    first = engine.measure(scope, [DistinctValues(col("thing"))])

    def late(frame):
        frame._jdf.queryExecution().toRdd()  # all jobs but the last
        tracker.removeOutputsOnExecutor("0")
        return taken(frame)

    before, engines.rows_of = made.value, late
    found = engine.measure(scope, [DistinctValues(col("thing"))])
    engines.rows_of = taken
    session.conf.set("spark.sql.shuffle.partitions", "2")
    return {"first": first, "found": found, "again": made.value - before > before}


def replaced(session, folder):
    """An executor is lost once: what the statement finds."""
    once = Path(folder, "once")
    once.touch()
    engine = open_spark(frame_of(session, ending(str(once), always=False)))
    schema = engine.schema().protecting("who")
    scope = RowScope(schema, col("ward") != "C", (), (), (), None, Bounding(max_rows=2))
    found = engine.measure(scope, [Rows(), DistinctUnits(), GridSum(col("cost"), 0, 1000, 0)])
    return {"found": found, "lost": not once.exists()}


def frozen(session, frame, folder, name):
    """What an analyst hears, and what the ledger then says."""
    options = {"unit": "who", "budget": 2.0, "name": name, "ledger": f"{folder}/{name}.db"}
    with la.open(frame, rows="as they are", **options) as data:
        asked = data.where(la.col("ward") != "C").bound(max_rows=2).agg(n=la.count())
        said, chained = [], []
        for _ in range(2):
            try:
                asked.release(epsilon=1)
            except DataSetFrozen as error:
                said.append(str(error))
                chained.append(bool(error.__context__ or error.__cause__))
        why = [entry.body["why"] for entry in data.ledger.entries(name) if "why" in entry.body]
        spent = float(data.spent.epsilon)
        return {"said": said, "chained": chained, "spent": spent, "why": why}


def lost(session, folder):
    """Every executor is lost that takes a part."""
    always = Path(folder, "always")
    always.touch()
    found = frozen(session, frame_of(session, ending(str(always), always=True)), folder, "lost")
    always.unlink()
    return found


def gone(session, folder):
    """The driver's JVM ends while it makes the answer."""
    java = session.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    frame = session.createDataFrame([("p", "A")], "who string, ward string")
    taken = engines.rows_of

    def ended(frame):
        os.kill(java, signal.SIGKILL)
        return taken(frame)

    engines.rows_of = ended
    return frozen(session, frame, folder, "gone")


def ended(session):
    """What is said of an address when the driver's JVM is gone; one of our own starts again."""
    said = []
    for _ in range(2):
        try:
            la.open("spark:default.nothing", unit="who", budget=2.0)
        except la.LetaloneError as error:
            said.append(str(error))
        spark_start._OURS.append(session)
    return {"said": said}


def main(folder):
    session = started(folder)
    seen = {"between": between(session), "replaced": replaced(session, folder)}
    seen |= {"lost": lost(session, folder), "gone": gone(session, folder)}
    print(json.dumps(seen | {"ended": ended(session)}), flush=True)
    os._exit(0)  # nothing is left that could be stopped


if __name__ == "__main__":
    main(sys.argv[1])
