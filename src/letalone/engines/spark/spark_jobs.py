"""Ends the jobs of a statement at its time limit, also on the cluster.

A stage that is tried again, after an executor was lost, gives the same sums: weights and cuts
depend on what a unit's rows hold, not on their order, place or number. So nothing is looked at.

  Assumed:  jobs that Spark starts for a statement have the tag of the thread that asks for it
  Tested:   tests/on_spark/test_failures.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import Any

LOOK_EVERY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs with a tag that no other statement has."""

    context: Any
    tag: str

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
        """In the block they are cancelled when the time is over."""
        done = Event()
        Thread(target=self._watch, args=(done, monotonic() + seconds), daemon=True).start()
        try:
            yield
        finally:
            done.set()

    def _watch(self, done: Event, end: float) -> None:
        """Cancels again and again: a statement has several jobs, one after the other."""
        while not done.wait(LOOK_EVERY_SECONDS):
            with suppress(Exception):  # the cluster may have gone, and the statement with it
                if monotonic() > end:
                    self.context.cancelJobsWithTag(self.tag)


@contextmanager
def jobs_of(session: Any, tag: str, *, seconds: float) -> Generator[None]:
    """What this thread starts in the block; it is cancelled when the time is over, until it ends.

    tag: one that no other statement has.
    """
    jobs = Jobs(session.sparkContext, tag)
    with jobs.ending(seconds), jobs.tagged():
        yield
