"""Tumult Analytics beside letalone on one Spark: one process, one session, the same Parquet files.

    python bench/engines.py --spark --tumult [--rows 1000000] [--rounds 2] [--limit 600] [--json]

The question is that of `bench/tables.py`, and each answer is whole: with price, noise and, on our
side, the ledger. Tumult pays for the count and for the mean apart, half of ε each, as in
`bench/tables_rivals.py`; it makes its session once, as we do. All take turns. Wall-clock seconds,
and processor seconds of all processes together, which others on the machine disturb less. The first
answer of each is apart: Spark compiles its statements then.

tmlt.analytics 0.21 runs on Spark 4 under Python 3.12 only: this needs a `python3.12`. It wants
numpy below 2 and pyarrow below 19, letalone newer ones. So the environment has Tumult's versions of
everything, and letalone runs with those, older than what it asks for elsewhere.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any

import engines_spark as spark_bench
from peers import run_in
from processors import TreeMeter
from tables_data import EPSILON, KEYS, MAX_ROWS, UPPER, Job, question

import letalone as la

ROOT = Path(__file__).resolve().parent.parent
PYTHON, TUMULT = "python3.12", "tmlt.analytics==0.21.0"
PINNED = ("numpy", "pyarrow")  # Tumult's versions are older than ours
BUDGET = 10_000
PAUSE = 5  # seconds
PLAIN, ROW = "the plain query", "each row a unit"
USER = "rows of a user"
THEIRS = {f"Tumult, {ROW}": ROW, f"Tumult, {USER}": USER}
TURNS = count(1)
Taken = tuple[float, float]

START = """
import sys
sys.path[:0] = [{bench!r}, {source!r}]
import engines_tumult
engines_tumult.inside({rows}, rounds={rounds}, limit={limit})
"""


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """What `inside` finds, in the environment that has both."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ours = [one for one in project["dependencies"] if not one.startswith(PINNED)]
    script = START.format(
        bench=str(ROOT / "bench"),
        source=str(ROOT / "src"),
        rows=options.rows,
        rounds=options.rounds,
        limit=options.limit,
    )
    print(f"Tumult and letalone on one Spark, {options.rows:,} rows …", file=sys.stderr)
    return run_in(" ".join([TUMULT, *ours]), script, python=PYTHON)


def inside(rows: int, *, rounds: int, limit: float) -> None:
    """Prints what all took as JSON."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)  # Spark leaves folders where it runs
        spark = spark_bench.session(Path(place))
        spark_bench.generate(spark, Path(place) / "visits", rows)
        frame = spark.read.parquet(str(Path(place) / "visits"))
        frame.createOrReplaceTempView("visits")
        with ExitStack() as stack:
            jobs = {PLAIN: lambda: spark.sql(spark_bench.PLAIN.format("visits")).toArrow()}
            jobs |= our_jobs(frame, stack) | their_jobs(frame)
            found = taking_turns(jobs, spark, rounds=rounds, limit=limit)
        versions = {"spark": spark.version, "load": os.getloadavg()[2], "questions": found}
        spark.stop()
    print(json.dumps(versions))


def our_jobs(frame: Any, stack: ExitStack) -> dict[str, Job]:
    jobs: dict[str, Job] = {}
    for name, level in {ROW: "row", USER: "user"}.items():
        unit = "user" if level == "user" else la.ROW
        budget = la.Budget(epsilon=BUDGET)
        made = la.open(frame, unit=unit, budget=budget, name=name.replace(" ", "_"))
        query = question(stack.enter_context(made), level)
        jobs[name] = lambda query=query: released(query)
    return jobs


def released(query: la.Query) -> None:
    """A new answer: another ε, by little, since the same one would be the same answer, free."""
    assert not query.release(epsilon=EPSILON + next(TURNS) / 10_000).repeated


def their_jobs(frame: Any) -> dict[str, Job]:
    """Tumult's; as letalone's, but the count and the mean apart."""
    from tmlt.analytics import AddOneRow, AddRowsWithID

    data = frame.select("user", "department", "amount")
    row, user = THEIRS
    return {
        row: tumult(data.drop("user"), AddOneRow()),
        user: tumult(data, AddRowsWithID("user"), max_rows=MAX_ROWS),
    }


def tumult(data: Any, change: Any, *, max_rows: int | None = None) -> Job:
    from tmlt.analytics import KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session

    session = Session.from_dataframe(PureDPBudget(BUDGET), "visits", data, protected_change=change)
    start = QueryBuilder("visits")
    start = start if max_rows is None else start.enforce(MaxRowsPerID(max_rows))
    groups = start.groupby(KeySet.from_dict({"department": KEYS}))
    asked = [groups.count(name="n"), groups.average("amount", low=0, high=UPPER, name="amount")]
    half = PureDPBudget(EPSILON / 2)
    return lambda: [session.evaluate(one, half).collect() for one in asked]


def taking_turns(
    jobs: Mapping[str, Job], spark: Any, *, rounds: int, limit: float
) -> dict[str, dict[str, Any]]:
    """The first answer of each, then rounds of one answer each, of those that were in time."""
    first = {name: taken(job, spark, limit) for name, job in jobs.items()}
    left = [name for name in jobs if first[name] is not None]
    turns = [{name: taken(jobs[name], spark, limit) for name in left} for _ in range(rounds)]
    return {name: summary(first[name], [turn.get(name) for turn in turns], limit) for name in jobs}


def summary(first: Taken | None, turns: list[Taken | None], limit: float) -> dict[str, Any]:
    """Medians, or why there are none."""
    later = [one for one in turns if one is not None]
    if first is None or len(later) < len(turns):
        return {"failed": f"not done in {limit:g} s"}
    seconds, spent = (statistics.median(one[side] for one in later) for side in (0, 1))
    return {"first": first[0], "seconds": seconds, "cpu_seconds": spent, "turns": later}


def taken(job: Job, spark: Any, limit: float) -> Taken | None:
    """How long it took, by the clock and in processor seconds; None if it was stopped."""
    before = METER.read()
    with watched(limit, spark.sparkContext.cancelAllJobs) as late:
        try:
            start = time.perf_counter()
            job()
            seconds = time.perf_counter() - start
        except Exception:
            if not late():
                raise
            seconds = None
    if seconds is None:
        time.sleep(PAUSE)  # until its workers have ended
        return None
    return seconds, METER.read() - before


@contextmanager
def watched(limit: float, stop: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Calls `stop` every second from the limit on: one question may be many jobs of Spark's."""
    done, late, start = Event(), Event(), time.monotonic()

    def watch() -> None:
        while not done.wait(1):
            METER.read()
            if time.monotonic() - start > limit:
                late.set()
                stop()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield late.is_set
    finally:
        done.set()
        watcher.join()


METER = TreeMeter()


def show(found: dict[str, Any], rows: int) -> None:
    asked = found["questions"]
    print(f"Spark {found['spark']}, local[2], one session; {rows:,} rows, machine's load", end=" ")
    print(f"{found['load']:.1f}\n\n{'a whole answer':46}{'first s':>9}{'later s':>9}", end="")
    print(f"{'/ plain':>9}{'cpu s':>9}{'/ plain':>9}")
    for name, row in asked.items():
        words = name if name == PLAIN or name in THEIRS else f"letalone, {name}"
        print(f"{words:46}{figures(row, asked[PLAIN])}")
    print()
    for theirs, name in THEIRS.items():
        by = [over(asked[theirs], asked[name], side) for side in ("seconds", "cpu_seconds")]
        print(f"{theirs} / letalone, {name}: {by[0]} (cpu {by[1]})")


def figures(row: Mapping[str, Any], plain: Mapping[str, Any]) -> str:
    if "failed" in row:
        return f"{row['failed']:>18}"
    wall, cpu = (
        f"{row[side]:9.2f}{over(row, plain, side):>9}" for side in ("seconds", "cpu_seconds")
    )
    return f"{row['first']:9.2f}{wall}{cpu}"


def over(row: Mapping[str, Any], other: Mapping[str, Any], side: str) -> str:
    return "–" if "failed" in row or "failed" in other else f"{row[side] / other[side]:.1f}"
