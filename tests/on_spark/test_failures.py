"""What goes wrong on a cluster: Spark mends it, or it freezes, is charged, and says nothing.

The cluster of losing.py has one driver and two executors, each a process that can be ended.
"""

import json
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

import letalone as la
from letalone.engines import spark as engines
from letalone.engines.failure import EngineFailed
from letalone.engines.measures import Rows, RowScope
from letalone.engines.spark import open_spark
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding
from on_spark.losing import MANY, PEOPLE

LOSING = Path(__file__).parent / "losing.py"
SLOW = "aggregate(sequence(1, 20000), 0D, (a, x) -> a + sqrt(a + x))"  # a second for 200 rows


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("losing")
    found = subprocess.run(
        [sys.executable, "-W", "ignore", str(LOSING), str(folder)],
        capture_output=True,
        text=True,
        timeout=400,
        check=True,
    )
    return json.loads(found.stdout.splitlines()[-1])


def test_an_executor_that_is_replaced_changes_no_integer(seen):
    """Each of a person's three rows is the same, and two of them count."""
    assert seen["replaced"]["lost"], "no executor was lost"
    assert seen["replaced"]["found"] == [[2 * PEOPLE], [PEOPLE], [2 * sum(range(PEOPLE))]]


def test_a_statement_with_a_stage_that_was_tried_again_is_asked_anew(seen):
    """Its rows were shuffled, so they had other numbers the second time."""
    assert seen["replaced"]["asked"] == 2


def test_what_is_lost_between_two_jobs_is_seen_and_the_statement_asked_anew(seen):
    """Every stage that computes it again is a new one at its first attempt.

    Who looks for second attempts alone asks once, and counts by two choices.
    """
    assert seen["between"] == {"found": [[MANY]], "asked": 2}


@pytest.mark.parametrize("how", ["lost", "gone"])
def test_executors_that_cannot_be_replaced_and_a_lost_driver_freeze_and_the_charge_stays(seen, how):
    first, second = seen[how]["said"]
    assert first.startswith(f"The data set '{how}' is frozen: its engine could not finish.")
    assert second.startswith(f"The data set '{how}' is frozen: nothing is answered")
    assert seen[how]["chained"][0] is False
    assert seen[how]["spent"] == 1
    assert seen[how]["why"] == ["the engine failed"]
    for word in ("park", "java", "Java", "xecutor", "Py4J", "p1"):
        assert word not in first + second


def test_after_the_driver_is_gone_an_address_is_refused_in_words_or_starts_our_own_again(seen):
    first, second = seen["ended"]["said"]
    assert first.startswith("The Spark that was started in this process has ended.")
    assert second.startswith("Spark has no table 'spark_catalog.default.nothing'")


def slow_frame(spark):
    return spark.range(0, 20_000, 1, 2).selectExpr("string(id) AS who", f"{SLOW} AS cost")


def active_tasks(spark):
    executors = spark.sparkContext._jsc.sc().statusStore().executorList(True)
    return sum(executors.apply(number).activeTasks() for number in range(executors.size()))


def test_at_the_time_limit_a_statement_ends_also_on_the_cluster_and_freezes(spark):
    """Its rows would take a minute and more."""
    start = time.monotonic()
    with la.open(slow_frame(spark), unit="who", budget=2.0, timeout_seconds=1) as session:
        asked = session.where(la.col("cost") > 0).bound(max_rows=1).agg(n=la.count())
        with pytest.raises(la.DataSetFrozen, match="could not finish"):
            asked.release(epsilon=1)
        assert session.spent.epsilon == 1
        with pytest.raises(la.DataSetFrozen, match="nothing was charged"):
            asked.release(epsilon=0.5)
        assert session.spent.epsilon == 1
    while active_tasks(spark) and time.monotonic() < start + 30:
        time.sleep(0.1)
    assert active_tasks(spark) == 0
    assert time.monotonic() < start + 30


def test_a_statement_that_is_tried_again_each_time_is_given_up(spark, monkeypatch):
    """And one that makes no ranks is taken as it is: its sums do not depend on any choice."""
    frame = spark.range(9).selectExpr("string(id % 3) AS who")
    engine, asked = open_spark(frame), []
    monkeypatch.setattr(engines.Jobs, "were_tried_again", lambda jobs: asked.append(jobs) or True)
    schema, bounding = engine.schema().protecting("who"), (Bounding(), Bounding(max_rows=1))
    scopes = [RowScope(schema, col("who") != "x", (), (), (), None, b) for b in bounding]
    assert engine.measure(scopes[0], [Rows()]) == [[9]]
    assert not asked
    with pytest.raises(EngineFailed):
        engine.measure(scopes[1], [Rows()])
    engine.close()
    tags = [jobs.tag for jobs in asked]
    assert len(tags) == engines.TRIALS
    assert all(one != other for one, other in pairwise(tags))
