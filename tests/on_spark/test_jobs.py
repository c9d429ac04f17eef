"""What Spark computed twice is seen in its lists, and what is not in them counts as such."""

from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JJavaError

import letalone as la
from letalone.engines.spark_jobs import RETAINED_SETTINGS, Jobs, check_is_seen, jobs_of
from letalone.errors import ParameterError
from on_spark import spark as sparks


class MissingError(Py4JJavaError):
    def __init__(self):
        """As Spark says that it has forgotten a number."""


class Lists:
    """Spark's lists: jobs as (stages, number of skipped), stages as (RDD, attempt, status)."""

    def __init__(self, jobs, stages, *, begun=0):
        self._jobs, self._stages, self._begun = jobs, stages, begun
        self._jsc = self

    def __getattr__(self, name):
        """The way to a list."""
        assert name in {"sc", "statusStore", "statusTracker", "listenerBus", "dagScheduler"}
        return lambda: self

    def waitUntilEmpty(self, _):  # noqa: N802
        pass

    def numTotalJobs(self):  # noqa: N802
        return self._begun

    def getJobIdsForTag(self, _):  # noqa: N802
        return list(self._jobs)

    def job(self, number):
        if self._jobs[number] is None:
            raise MissingError
        stages, skipped = self._jobs[number]
        ids = SimpleNamespace(mkString=lambda sign: sign.join(map(str, stages)))
        return Fields(stageIds=ids, numSkippedStages=skipped, status=Fields(toString="SUCCEEDED"))

    def lastStageAttempt(self, number):  # noqa: N802
        if number not in self._stages:
            raise MissingError
        rdd, attempt, status = self._stages[number]
        status = Fields(toString=status)
        return Fields(rddIds=Fields(head=rdd), attemptId=attempt, status=status)


class Fields:
    """What has a method for each of its fields."""

    def __init__(self, **fields):
        for name, value in fields.items():
            setattr(self, name, lambda value=value: value)


A, B, SKIPPED = (10, 0, "COMPLETE"), (20, 0, "COMPLETE"), (10, 0, "SKIPPED")
TWO = {0: ([0], 0), 1: ([1, 2], 1)}  # two jobs: the second has the stage of the first again


@pytest.mark.parametrize(
    ("jobs", "stages", "begun", "again"),
    [
        (TWO, {0: A, 1: SKIPPED, 2: B}, 2, False),
        ({0: ([0], 0), 1: ([1, 2], 0)}, {0: A, 1: A, 2: B}, 2, True),
        ({0: ([0, 1], 0)}, {0: (10, 1, "COMPLETE"), 1: B}, 1, True),
        (TWO, {0: A, 2: B}, 2, False),
        (TWO, {1: SKIPPED, 2: B}, 2, True),
        (TWO, {0: A, 1: SKIPPED}, 2, True),
        (TWO | {2: None}, {0: A, 1: SKIPPED, 2: B}, 3, True),
        (TWO, {0: A, 1: SKIPPED, 2: B}, 60, True),
        ({}, {}, 2, False),
    ],
    ids=[
        "once", "by two stages", "second attempt", "a skipped stage is forgotten",
        "the first stage is forgotten", "the last stage is forgotten", "a job is forgotten",
        "jobs may be forgotten", "nothing to compute",
    ],
)  # fmt: skip
def test_what_was_computed_twice_or_may_have_been_counts_as_tried_again(jobs, stages, begun, again):
    watched = Jobs(Lists(jobs, stages, begun=begun), "tag", begun=0, max_new=50)
    assert watched.were_tried_again() is again


def test_what_was_seen_before_it_was_forgotten_is_remembered():
    watched = Jobs(Lists({0: ([0], 0)}, {0: A}), "tag", begun=0, max_new=50)
    watched.look()
    watched.context = Lists(TWO, {1: SKIPPED, 2: B})
    assert not watched.were_tried_again()
    watched.context = Lists(TWO, {1: A, 2: B})
    assert watched.were_tried_again()


def test_an_adapted_statement_of_several_jobs_is_no_alarm():
    session = sparks.compiled()
    text = "SELECT id % 3 AS k, COUNT(*) AS n FROM range(0, 100, 1, 3) GROUP BY id % 3 ORDER BY n"
    with jobs_of(session, "adapted", seconds=60) as jobs:
        session.sql(text).collect()
    assert not jobs.were_tried_again()
    assert len(jobs.ran) > 2
    assert jobs.skipped


def test_a_spark_that_forgets_or_mixes_up_threads_is_refused_when_a_table_is_opened(
    spark, monkeypatch
):
    frame, context = spark.range(3).selectExpr("string(id) AS who"), spark.sparkContext
    check_is_seen(spark)
    with monkeypatch.context() as patched:
        patched.setattr(type(context), "_gateway", object())
        with pytest.raises(ParameterError, match="PYSPARK_PIN_THREAD"):
            check_is_seen(spark)
    java = context._jsc.sc().conf()
    for name in RETAINED_SETTINGS:
        java.set(name, "99")
        try:
            with pytest.raises(ParameterError, match=f"{name} must be 100 or more"):
                la.open(frame, unit="who", budget=1)
        finally:
            java.remove(name)
