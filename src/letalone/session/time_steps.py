"""Answers are written down at fixed time steps, so that no time says how long the data took.

A service tells nothing of an answer before its step by not having it: between measuring and
writing down (`ledger.charging`) the question waits until a whole number of steps has passed
since it had the table for itself, and keeps the table until then. No history, receipt, counter or
page can show what is not stored yet. A failure waits alike.

Theorem.  If each question takes less than one step, then all that is stored and sent, and when, is
a function of questions, the times at which they came, and answers.
  Proven:   by induction over the questions that get the table, in order. When one gets it follows
            from when it came and from when the one before let go. It is charged then, and settled
            and answered one step later, however long it took. Others that need the engine wait
            for the same lock. (docs/decisions/0015)
  Tested:   tests/curator/test_time_steps.py looks at every address while a question runs
  Assumed:  questions do not slow each other down: they share processors, and stores, whose locks
            last as long as a write does
  Not defended:  how many steps a question takes that needs more than one
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from time import monotonic, sleep
from typing import TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, and what for: where a ledger rations a budget, they pay from their own share.

    time_step_seconds: their answers are written down at multiples of it (`time_steps`).
    """

    analyst: str | None = None
    purpose: str | None = None
    time_step_seconds: float = 0


NOBODY = Asker()


def now() -> float:
    """The time from which steps are counted."""
    return monotonic()


def at_step(asker: Asker, began: float, work: Callable[[], Result]) -> Result:
    """What work returns or raises, when a whole number of the asker's steps has passed."""
    try:
        return work()
    finally:
        if asker.time_step_seconds > 0:
            sleep(until_the_next_step(now() - began, asker.time_step_seconds))


def until_the_next_step(passed: float, step: float) -> float:
    """How long to wait, so that a whole number of steps, at least one, has passed."""
    return max(1, ceil(passed / step)) * step - passed
