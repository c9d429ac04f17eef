"""Answers to questions leave at fixed time steps, so that fine timing says nothing about data.

The whole answer, refusals too, is held back until a whole number of steps has passed since the
request came. Which step it is can still be seen: a step longer than any question takes hides
all of it, a short one hides what is below the step.

  Tested:   tests/curator/http/test_timing.py
  Not defended:  the number of steps; what one request does to the speed of another one
"""

import asyncio
from collections.abc import Callable
from math import ceil
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

QUESTIONS = "/api/v1/questions"
HELD = (QUESTIONS, "/ask")  # of the API and of the console


class TimeSteps:
    """Holds back the answers of the addresses that begin with one of `HELD`."""

    def __init__(
        self, app: ASGIApp, step_seconds: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self._app, self._step, self._clock = app, step_seconds, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        held = scope["type"] == "http" and str(scope["path"]).startswith(HELD)
        if not held or self._step <= 0:
            await self._app(scope, receive, send)
            return
        came, messages = self._clock(), list[Message]()

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._app(scope, receive, keep)
        await asyncio.sleep(until_the_next_step(self._clock() - came, self._step))
        for message in messages:
            await send(message)


def until_the_next_step(passed: float, step: float) -> float:
    """How long to wait, so that a whole number of steps, at least one, has passed."""
    return max(1, ceil(passed / step)) * step - passed
