"""The jobs of one statement: they end at a time limit, and a stage that was tried again is seen.

Spark tries a stage again when an executor is lost with what it had computed, and does not compute
anew what others have already read. The numbers of rows (dialects/spark.py) can then be others: a
frame that is joined or sorted has its rows in no order that lasts. A unit's rows would be chosen
twice, and each group would have those of one of the two choices: more than the unit may count with.

Theorem.  A statement that makes ranks, and of which no stage was tried again, counts each unit's
rows by one choice: SOUNDNESS 13 holds for its result.
  Proven:   a statement reads the table once, so its stages are a tree: what one computes is read by
            one other. The choice of a unit's rows is made in one task, and of several attempts at
            that task the stage above reads one, unless what it has begun to read is lost. Then its
            next read fails, and Spark tries that stage again, as a second attempt. (What is lost
            before is computed anew, and nobody has read the old.)
  So:       what such a statement finds is thrown away, unseen, and it is asked again with a new
            key. Whether that happens says nothing about the data but how long it took.
  Assumed:  Spark's list of stages has each attempt until a second after its end, and all of them
            once its queue of events is empty. (It keeps 1000; one that ended is looked at each
            second.)
  Tested:   tests/on_spark/test_failures.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic
from typing import Any

EACH_SECONDS = 1.0
EVENTS_MILLISECONDS = 60_000


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs with a tag, and whether one of their stages has been tried again."""

    context: Any
    tag: str
    again: Event = field(default_factory=Event)

    def cancel(self) -> None:
        """Those that run now."""
        self.context.cancelJobsWithTag(self.tag)

    def look(self) -> None:
        """At the attempts that Spark has in its list now."""
        known = self.context._jsc.sc().statusTracker()
        jobs = [known.getJobInfo(job) for job in known.getJobIdsForTag(self.tag)]
        stages = {stage for job in jobs if job.isDefined() for stage in job.get().stageIds()}
        found = [known.getStageInfo(stage) for stage in stages]
        if any(stage.isDefined() and stage.get().currentAttemptId() > 0 for stage in found):
            self.again.set()

    def were_tried_again(self) -> bool:
        """Whether a stage of theirs had a second attempt: to be asked when all have ended."""
        self.context._jsc.sc().listenerBus().waitUntilEmpty(EVENTS_MILLISECONDS)
        self.look()
        return self.again.is_set()


@contextmanager
def jobs_of(session: Any, tag: str, *, seconds: float) -> Generator[Jobs]:
    """What this thread starts in the block; it is cancelled when the time is over, until it ends.

    tag: one that no other statement has.
    """
    jobs, done = Jobs(session.sparkContext, tag), Event()
    jobs.context.addJobTag(tag)
    Thread(target=_watch, args=(jobs, done, monotonic() + seconds), daemon=True).start()
    try:
        yield jobs
    finally:
        done.set()
        with suppress(Exception):  # the cluster may have gone
            jobs.context.removeJobTag(tag)


def _watch(jobs: Jobs, done: Event, end: float) -> None:
    """Cancels again and again: a statement has several jobs, one after the other."""
    while not done.wait(EACH_SECONDS):
        with suppress(Exception):  # the cluster may have gone, and the statement with it
            jobs.look()
        with suppress(Exception):
            if monotonic() > end:
                jobs.cancel()
