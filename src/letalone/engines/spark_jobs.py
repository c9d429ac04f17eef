"""Watches the jobs of one statement: they end at a time limit, and what is computed twice is seen.

Spark computes anew what is lost with an executor, and not what others have already read of it. The
numbers of rows (dialects/spark.py) can then be others: a frame that is joined or sorted has its
rows in no order that lasts. A unit's rows would be chosen twice, and each group would have those of
one of the two choices: more than the unit may count with.

Theorem.  If a statement makes ranks, and the rows of each of its shuffles were computed by one
attempt at one stage, then it counts each unit's rows by one choice: rule 22 of
docs/explanation/soundness.md holds for it.
  Proven:   a statement reads the table once, so its stages are a tree: what one computes is read by
            one other, which begins when all of it is there. The choice of a unit's rows is made in
            one task. Of several tries of a task in one attempt at a stage one counts, and another
            takes its place only while the stage is not done: then nobody has read the first. Once
            it is done, what is lost is computed by another attempt at the stage, or by another
            stage of the same rows, and there is none. So whoever reads the choice reads one.
  Seen:     another attempt has a number above 0. Another stage has the RDD of the first one: with
            adaptive plans each shuffle is a job of its own, and the next job has a stage of its own
            for it, at its first attempt, which is SKIPPED if nothing was lost and runs if anything
            was. So what counts is that two stages with one RDD ran, or one had a second attempt.
  So:       what such a statement finds is thrown away, unseen, and it is asked again with a new
            key. Whether that happens says nothing about the data but how long it took.
  Closed:   where something may not have been seen, it counts as tried again: a stage that is in no
            list though its job does not call it skipped, or so many jobs since the last look that
            one of ours could have been forgotten. A Spark that keeps few of them is refused when
            a table is opened; so is one whose threads are not those of Python, where a job can
            miss its tag.
  Assumed:  jobs that Spark starts for a statement have the tag of the thread that asks for it. A
            shuffle that is computed again keeps its RDD. A stage is called skipped if and only if
            none of its tasks ran. Spark's lists are whole once its queue of events is empty, but
            for the oldest: the queue loses none, and jobs that began before a statement and still
            run are less than 4 in 10 of those that are kept.
  Tested:   tests/on_spark/test_failures.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from letalone.errors import ParameterError

LOOK_EVERY_SECONDS = 1.0
EVENTS_MILLISECONDS = 60_000
RETAINED_SETTINGS = ("spark.ui.retainedJobs", "spark.ui.retainedStages")
USUALLY_RETAINED = 1000
LEAST_RETAINED = 100
NOT_ENDED = ("RUNNING", "UNKNOWN")


@dataclass(slots=True)
class Jobs:
    """The jobs with a tag, and whether anything of theirs was computed again.

    ran: the RDD of each stage that ran; skipped: those that did not. begun: how many jobs Spark had
    at the last look; max_new: how many more it may have at the next.
    """

    context: Any
    tag: str
    begun: int
    max_new: int
    again: Event = field(default_factory=Event)
    ran: dict[int, int] = field(default_factory=dict[int, int])
    skipped: set[int] = field(default_factory=set[int])
    _lock: Lock = field(default_factory=Lock)

    def cancel(self) -> None:
        self.context.cancelJobsWithTag(self.tag)

    def look(self) -> None:
        with self._lock:
            self._count()
            store = self.context._jsc.sc().statusStore()
            for number in self.context._jsc.sc().statusTracker().getJobIdsForTag(self.tag):
                self._look_at(_look_up(store.job, number), store)
            if len(set(self.ran.values())) < len(self.ran):
                self.again.set()

    def were_tried_again(self) -> bool:
        """Whether anything may have been computed twice: to be asked when all have ended."""
        self.context._jsc.sc().listenerBus().waitUntilEmpty(EVENTS_MILLISECONDS)
        self.look()
        return self.again.is_set()

    @contextmanager
    def tagged(self) -> Generator[None]:
        """What this thread starts in the block, and what the threads do that it starts there."""
        self.context.addJobTag(self.tag)
        try:
            yield
        finally:
            with suppress(Exception):  # the cluster may have gone
                self.context.removeJobTag(self.tag)

    @contextmanager
    def ending(self, seconds: float) -> Generator[None]:
        """In the block they are looked at, and cancelled when the time is over."""
        done = Event()
        Thread(target=_watch, args=(self, done, monotonic() + seconds), daemon=True).start()
        try:
            yield
        finally:
            done.set()

    def _count(self) -> None:
        """One of ours is forgotten only if most of those that are kept have come after it."""
        before, self.begun = self.begun, _jobs_begun(self.context)
        if self.begun - before > self.max_new:
            self.again.set()

    def _look_at(self, job: Any, store: Any) -> None:
        if job is None:
            self.again.set()
            return
        stages = [int(number) for number in str(job.stageIds().mkString(" ")).split()]
        for number in stages:
            self._note(number, _look_up(store.lastStageAttempt, number))
        unseen = [n for n in stages if n not in self.ran and n not in self.skipped]
        may_be = int(job.numSkippedStages()) - sum(number in self.skipped for number in stages)
        if str(job.status().toString()) not in NOT_ENDED and len(unseen) > max(0, may_be):
            self.again.set()

    def _note(self, number: int, stage: Any) -> None:
        """A stage that waits may yet be skipped, and one that is not found may have been."""
        if stage is None:
            return
        status = str(stage.status().toString())
        if status == "SKIPPED":
            self.skipped.add(number)
        elif status != "PENDING":
            self.ran[number] = int(stage.rddIds().head())
        if stage.attemptId() > 0:
            self.again.set()


@contextmanager
def jobs_of(session: Any, tag: str, *, seconds: float) -> Generator[Jobs]:
    """What this thread starts in the block; it is cancelled when the time is over, until it ends.

    tag: one that no other statement has.
    """
    jobs = new_jobs(session, tag)
    with jobs.ending(seconds), jobs.tagged():
        yield jobs


def new_jobs(session: Any, tag: str) -> Jobs:
    """None yet."""
    context = session.sparkContext
    kept = _read_retained(context, RETAINED_SETTINGS[0])
    return Jobs(context, tag, begun=_jobs_begun(context), max_new=kept // 2)


def check_is_seen(session: Any) -> None:
    """Refuses a Spark of which it could not be seen what it computed twice."""
    from py4j.clientserver import ClientServer

    context = session.sparkContext
    if not isinstance(context._gateway, ClientServer):
        raise ParameterError(
            "This Spark was started with PYSPARK_PIN_THREAD=false: it cannot be seen which jobs are"
            " those of a question. Start it without that."
        )
    too_small = [n for n in RETAINED_SETTINGS if _read_retained(context, n) < LEAST_RETAINED]
    if too_small:
        raise ParameterError(
            f"This Spark forgets what it did too soon: {' and '.join(too_small)} must be"
            f" {LEAST_RETAINED} or more. Leave it out, for {USUALLY_RETAINED}."
        )


def _watch(jobs: Jobs, done: Event, end: float) -> None:
    """Cancels again and again: a statement has several jobs, one after the other."""
    while not done.wait(LOOK_EVERY_SECONDS):
        with suppress(Exception):  # the cluster may have gone, and the statement with it
            jobs.look()
        with suppress(Exception):
            if monotonic() > end:
                jobs.cancel()


def _look_up(look: Callable[[int], Any], number: int) -> Any:
    from py4j.protocol import Py4JJavaError

    with suppress(Py4JJavaError):
        return look(number)
    return None


def _jobs_begun(context: Any) -> int:
    """How many jobs there were since Spark was started, whosever they are."""
    return int(context._jsc.sc().dagScheduler().numTotalJobs())


def _read_retained(context: Any, name: str) -> int:
    return int(context._jsc.sc().conf().get(name, str(USUALLY_RETAINED)))
