"""The same question asked of the rivals, each in an environment of its own.

A rival reads the same Parquet file and answers; its CPU time, that of a Java machine below it
too, is from reading to the answer, the better of two runs, without imports and without starting
Spark. ε = 1 in all. Where a rival's own mean would pay for a second count, it is asked for a
sum and a count instead, which is better for it.
"""

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers import run_in
from tables_data import cpu, generate, opened, question, released

TIMEOUT_SECONDS = 600

START = """
import json, os, sys, time
from pathlib import Path
PATH, LEVEL, RUNS, ROWS = "@path", "@level", @runs, @rows
KEYS = [f"department {number:02d}" for number in range(100)]
os.chdir(Path(PATH).parent)  # Spark leaves folders where it runs

def cpu():
    # Of this process and all below it, from /proc.
    parents, spent = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, rest = int(stat.parent.name), stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[number], spent[number] = int(rest[1]), sum(map(int, rest[11:15]))
    def below(number):
        while number not in (0, os.getpid()):
            number = parents.get(number, 0)
        return number
    return sum(spent[n] for n in spent if below(n)) / os.sysconf("SC_CLK_TCK")
"""

END = """
answers, seconds = [], []
for _ in range(RUNS):
    start = cpu()
    answers.append(ask())
    seconds.append(cpu() - start)
found = {"seconds": min(seconds), "first_run_seconds": seconds[0], "answers": answers}
print(json.dumps(found))
"""

OPENDP = """
import opendp.prelude as dp
import polars as pl
dp.enable_features("contrib")

def ask():
    unit = {"identifier": "user"} if LEVEL == "user" else {}
    context = dp.Context.compositor(
        data=pl.scan_parquet(PATH),
        privacy_unit=dp.unit_of(contributions=1, **unit),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["department"], max_length=ROWS // 50, max_groups=100)],
    )
    query = context.query()
    if LEVEL == "user":
        query = query.truncate_per_group(10)
    asked = query.group_by("department").agg(
        dp.len().alias("n"), pl.col.amount.fill_null(0.0).fill_nan(0.0).dp.sum((0.0, 1000.0)),
    ).with_keys(pl.LazyFrame({"department": KEYS}))
    found = asked.release().collect()
    found = found.select("department", "n", "amount")
    return {d: [n, total / max(n, 1)] for d, n, total in found.iter_rows()}
"""

PIPELINE_DP = """
import pipeline_dp as pdp
import pyarrow.parquet as pq

def ask():
    table = pq.read_table(PATH, columns=["user", "department", "amount"])
    rows = list(zip(*(column.to_pylist() for column in table.columns)))
    accountant = pdp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-15)
    user = {"max_partitions_contributed": 10, "max_contributions_per_partition": 1}
    row = {"max_partitions_contributed": 1, "max_contributions_per_partition": 1,
           "contribution_bounds_already_enforced": True}
    parameters = pdp.AggregateParams(
        metrics=[pdp.Metrics.COUNT, pdp.Metrics.MEAN], noise_kind=pdp.NoiseKind.LAPLACE,
        min_value=0, max_value=1000, **(user if LEVEL == "user" else row))
    who = {"privacy_id_extractor": lambda row: row[0]} if LEVEL == "user" else {}
    columns = pdp.DataExtractors(
        partition_extractor=lambda row: row[1], value_extractor=lambda row: row[2], **who)
    engine = pdp.DPEngine(accountant, pdp.LocalBackend())
    found = engine.aggregate(rows, parameters, columns, public_partitions=KEYS)
    accountant.compute_budgets()
    return {key: [float(one.count), float(one.mean)] for key, one in found}
"""

SMARTNOISE = """
import pyarrow.parquet as pq
from snsql import Privacy, from_df

def ask():
    data = pq.read_table(PATH, columns=["user", "department", "amount"]).to_pandas()
    user = {"max_ids": 10, "sample_max_ids": True, "user": {"type": "int", "private_id": True}}
    row = {"row_privacy": True, "user": {"type": "int"}}
    about = {"censor_dims": False, "department": {"type": "string"},
             "amount": {"type": "float", "lower": 0.0, "upper": 1000.0},
             **(user if LEVEL == "user" else row)}
    # Its epsilon is for each noisy column.
    reader = from_df(data, privacy=Privacy(epsilon=1 / 2, delta=1e-12),
                     metadata={"": {"main": {"visits": about}}})
    asked = "SELECT department, COUNT(*) AS n, SUM(amount) AS total FROM main.visits"
    found = reader.execute(asked + " GROUP BY department")[1:]
    return {d: [n, total / max(n, 1)] for d, n, total in found}
"""

TUMULT = """
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddOneRow, AddRowsWithID, KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session)
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("OFF")

def ask():
    data = spark.read.parquet(PATH).select("user", "department", "amount")
    user = LEVEL == "user"
    session = Session.from_dataframe(
        PureDPBudget(1), "visits", data if user else data.drop("user"),
        protected_change=AddRowsWithID("user") if user else AddOneRow())
    start = QueryBuilder("visits")
    start = start.enforce(MaxRowsPerID(10)) if user else start
    groups = start.groupby(KeySet.from_dict({"department": KEYS}))
    n = session.evaluate(groups.count(name="n"), PureDPBudget(0.5)).collect()
    asked = groups.average("amount", low=0, high=1000, name="amount")
    means = {row.department: row.amount
             for row in session.evaluate(asked, PureDPBudget(0.5)).collect()}
    return {row.department: [row.n, means[row.department]] for row in n}
"""


@dataclass(frozen=True, slots=True)
class Rival:
    name: str
    requirement: str
    script: str
    most_rows: int  # what it manages in about a minute


RIVALS = [
    Rival("OpenDP with Polars", "opendp[polars]==0.16.0", OPENDP, 10**7),
    Rival("PipelineDP, local", "pipeline-dp==0.3.1 pyarrow", PIPELINE_DP, 10**6),
    Rival("SmartNoise SQL", "smartnoise-sql==1.0.10 pyarrow", SMARTNOISE, 10**6),
    Rival("Tumult Analytics", "tmlt.analytics==0.21.0", TUMULT, 10**5),
]


def asked(rival: Rival, path: Path, level: str, *, rows: int, runs: int) -> dict[str, Any]:
    """The seconds of its best run and all its answers, or {"failed": why}."""
    filled = {"@path": str(path), "@level": level, "@runs": str(runs), "@rows": str(rows)}
    print(f"{rival.name}, {level} level, {rows:,} rows, {runs} runs …", file=sys.stderr)
    start = START
    for name, value in filled.items():
        start = start.replace(name, value)
    try:
        script = start + rival.script + END
        return run_in(rival.requirement, script, timeout_seconds=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done in {TIMEOUT_SECONDS} s"}
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or "it does not install").strip().splitlines()
        return {"failed": lines[-1][:200]}


def measure_rivals(folder: Path, most_rows: int) -> list[dict[str, Any]]:
    """Each rival at both levels, beside ours over the same file in the same run."""
    found = []
    for rival in RIVALS:
        rows = min(most_rows, rival.most_rows)
        path = folder / f"visits_{rows}.parquet"
        if not path.exists():
            generate(path, rows)
        for level in ("user", "row"):
            theirs = asked(rival, path, level, rows=rows, runs=2)
            theirs.pop("answers", None)
            found.append({"rival": rival.name, "level": level, "rows": rows, **theirs})
            found[-1] |= ours_over(path, level)
    return found


def ours_over(path: Path, level: str) -> dict[str, float]:
    """Ours from opening to the first answer, and the better of two later ones."""
    start = time.process_time()
    with opened(path, level) as session:
        query = question(session, level)
        released(session, query)
        first = time.process_time() - start
        return {"first": first, "later": min(cpu(lambda: released(session, query)) for _ in "12")}
