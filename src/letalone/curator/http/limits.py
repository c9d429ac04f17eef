"""How many requests one person, or one address without a token, may send in a minute.

Counted in the memory of each worker, in a sliding window: with several workers the bound is at
most so many times as large. Tries of a password are counted by `curator.people` in the database,
for all workers together.

  Tested:   tests/curator/http/test_limits.py
"""

from dataclasses import dataclass
from math import ceil
from time import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from letalone.curator.http.problems import Problem, Refused


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Requests a minute."""

    of_a_person: int = 30_000
    of_an_address: int = 600
    log_ins_of_an_address: int = 60  # each costs the work of a password


class Throttle:
    """Counts, and refuses what is too much."""

    def __init__(self, limits: RateLimits) -> None:
        self._window = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._person = RateLimitItemPerMinute(limits.of_a_person, namespace="person")
        self._address = RateLimitItemPerMinute(limits.of_an_address, namespace="address")
        self._log_in = RateLimitItemPerMinute(limits.log_ins_of_an_address, namespace="log in")

    def person(self, name: str) -> None:
        """Count a request of somebody who is known."""
        self._count(self._person, name)

    def address(self, address: str) -> None:
        """Count a request of nobody known, by where it came from."""
        self._count(self._address, address)

    def log_in(self, address: str) -> None:
        """Count a try of a password, by where it came from."""
        self._count(self._log_in, address)

    def _count(self, limit: RateLimitItemPerMinute, key: str) -> None:
        if not self._window.hit(limit, key):
            again = self._window.get_window_stats(limit, key).reset_time
            raise Refused(too_many(max(1, ceil(again - time()))))


def too_many(seconds: int) -> Problem:
    """429, with how long to wait."""
    words = f"Too many requests came at once. Try again in {seconds} seconds."
    return Problem("too-many-requests", words, headers={"Retry-After": str(seconds)})
