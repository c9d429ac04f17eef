"""How much work of one person is under way: two pieces, some more in line, the next is refused.

Prices, explanations and answers take threads and the processor, and prices are free. Who asks for
much at once waits for themselves alone: no thread is taken before it is one's turn, so the threads
are there for others. Counted in the memory of each worker, as `limits` is: with several workers
the bound is at most so many times as large. Nothing is kept of a person who has nothing under way.

A wait depends on the own questions alone, and those end at their time steps: nothing of the data
can be read from it.

  Tested:   tests/curator/http/test_under_way.py
"""

from asyncio import Semaphore
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from letalone.curator.http.problems import Problem, Refused

AT_ONCE, IN_LINE = 2, 20  # of one person
AGAIN_SECONDS = 5
TOO_MUCH = (
    f"You have {AT_ONCE} previews or questions under way and {IN_LINE} more in line, which is as"
    " many as one person may have. Nothing was spent on this one. Wait until some of them are"
    " answered, then ask again."
)


@dataclass(slots=True)
class _Line:
    turn: Semaphore = field(default_factory=lambda: Semaphore(AT_ONCE))  # first come, first served
    pieces: int = 0


class WorkLimit:
    """Who has how much under way; for one event loop."""

    __slots__ = ("_lines",)

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def of(self, person: str) -> AsyncGenerator[None]:
        """It is one's turn within the block; Refused where too many are in line."""
        line = self._lines.setdefault(person, _Line())
        if line.pieces == AT_ONCE + IN_LINE:
            raise Refused(_too_much())
        line.pieces += 1
        try:
            async with line.turn:
                yield
        finally:
            line.pieces -= 1
            if line.pieces == 0:
                del self._lines[person]


def _too_much() -> Problem:
    return Problem("too-much-at-once", TOO_MUCH, headers={"Retry-After": str(AGAIN_SECONDS)})
