"""Limits how many requests a person, or an address without a token, sends in a minute, and how much
work of one person is under way at once.

Requests are counted in a sliding window. Attempts of a password are counted by `curator.people` in
the database, for all workers together; the rest in the memory of each worker: with several workers
a bound is at most so many times as large.

Prices, explanations and answers take threads and the processor, and prices are free. Whoever asks
for much at once waits for themselves alone: two pieces of work run, some more wait in line, the
next is refused. No thread is taken before it is one's turn, so the threads are there for others.
Nothing is kept of a person who has nothing under way. A wait depends on the own questions alone,
and those end at their time steps: nothing of the data can be read from it.

  Tested:   tests/curator/http/test_limits.py, test_under_way.py
"""

from asyncio import Semaphore
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import ceil
from threading import Lock
from time import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from letalone.curator.http.problems import HttpProblemError, problem_error

AT_ONCE, IN_LINE = 2, 20  # of one person
RETRY_SECONDS = 5
TOO_MUCH = (
    f"You have {AT_ONCE} previews or questions under way and {IN_LINE} more in line, which is as"
    " many as one person may have. Nothing was spent on this one. Wait until some of them are"
    " answered, then ask again."
)


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The most requests a minute, of each kind."""

    of_a_person: int = 30_000
    of_an_address: int = 600
    surveys_of_an_address: int = 6000  # pages, files and reports: a whole school has one address
    log_ins_of_an_address: int = 60  # each costs the work of a password
    probes_of_an_address: int = 600  # of /health, apart: a probe is not to fail for others' sake
    refusals_of_a_person: int = 600  # of questions: each is an entry that the ledger keeps


class RateLimitStorage(MemoryStorage):
    """Counts in memory; those that are over go when there are many, without a thread of their own.

    The library's storage starts a thread for that with almost every request.
    """

    STORAGE_SCHEME = None  # nobody asks for it by an address
    MANY = 1000

    def __init__(self) -> None:
        super().__init__()
        self._turn, self._sweep_at = Lock(), self.MANY

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        """Counts on, and begins anew where the count was over."""
        with self._turn:
            count = self.get(key) + amount
            self.storage[key] = count
            self.expirations.setdefault(key, time() + expiry)
            if len(self.storage) > self._sweep_at:
                self._sweep()
            return count

    def decr(self, key: str, amount: int = 1) -> int:
        with self._turn:
            self.storage[key] = count = max(0, self.get(key) - amount)
            return count

    def _sweep(self) -> None:
        for key in list(self.storage):
            self.get(key)  # which drops a count that is over
        self._sweep_at = max(self.MANY, 2 * len(self.storage))


class Throttle:
    """Counts requests, and refuses what is too much."""

    def __init__(self, limits: RateLimits) -> None:
        self._window = SlidingWindowCounterRateLimiter(RateLimitStorage())
        self.person = self._counter("person", limits.of_a_person)
        self.address = self._counter("address", limits.of_an_address)
        self.survey = self._counter("survey", limits.surveys_of_an_address)
        self.log_in = self._counter("log in", limits.log_ins_of_an_address)
        self.probe = self._counter("probe", limits.probes_of_an_address)
        self._refusal = RateLimitItemPerMinute(limits.refusals_of_a_person, namespace="refusal")

    def refusal(self, name: str) -> None:
        """Count a question of a person that was refused; the next is not looked at if too many."""
        self._window.hit(self._refusal, name)

    def check_refusals(self, name: str) -> None:
        """Refuses to look at a question of somebody of whom too many were refused just now."""
        if not self._window.test(self._refusal, name):
            raise self._too_many(self._refusal, name)

    def _counter(self, kind: str, most: int) -> Callable[[str], None]:
        limit = RateLimitItemPerMinute(most, namespace=kind)

        def count(key: str) -> None:
            if not self._window.hit(limit, key):
                raise self._too_many(limit, key)

        return count

    def _too_many(self, limit: RateLimitItemPerMinute, key: str) -> HttpProblemError:
        """429, with how long to wait."""
        seconds = max(1, ceil(self._window.get_window_stats(limit, key).reset_time - time()))
        words = f"Too many requests came at once. Try again in {seconds} seconds."
        return problem_error("too-many-requests", words, headers={"Retry-After": str(seconds)})


@dataclass(slots=True)
class _Line:
    turn: Semaphore = field(default_factory=lambda: Semaphore(AT_ONCE))  # first come, first served
    pieces: int = 0


class WorkLimit:
    """Limits the work that each person has under way; for one event loop."""

    __slots__ = ("_lines",)

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def of(self, person: str) -> AsyncGenerator[None]:
        """It is one's turn within the block; Refused where too many are in line."""
        line = self._lines.setdefault(person, _Line())
        if line.pieces == AT_ONCE + IN_LINE:
            wait = {"Retry-After": str(RETRY_SECONDS)}
            raise problem_error("too-much-at-once", TOO_MUCH, headers=wait)
        line.pieces += 1
        try:
            async with line.turn:
                yield
        finally:
            line.pieces -= 1
            if line.pieces == 0:
                del self._lines[person]
