"""What goes wrong on a cluster: Spark mends it, or it freezes, is charged, and says nothing.

The cluster of losing.py has one driver and two executors, each a process that can be ended.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

import letalone as la
from on_spark.losing import MANY, PEOPLE

LOSING = Path(__file__).parent / "losing.py"
WHOLE = 1 << 20
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
    """Each of a person's three rows is the same, and weighs two thirds. Its rows were shuffled, so
    they come in another order the second time."""
    assert seen["replaced"]["lost"], "no executor was lost"
    people = [sum(range(PEOPLE)), PEOPLE]
    cost, rows = (3 * number * (2 * WHOLE // 3) for number in people)
    assert seen["replaced"]["found"] == [[rows], [PEOPLE * WHOLE], [cost]]


def test_what_is_lost_between_two_jobs_is_computed_again_and_changes_no_integer(seen):
    assert seen["between"]["again"], "nothing was computed again"
    assert seen["between"]["found"] == seen["between"]["first"] == [[MANY * WHOLE]]


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
