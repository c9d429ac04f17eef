"""Caches values read from a store until the next commit to it, and values that may be seconds old.

What is withdrawn, revoked or retired counts at once, in all workers: each use of a `StampedCache`
takes a look (`storage.watch`) that shows whether anything was committed since, by anybody. What
depends on the time is not cached here: times are compared whenever they matter.

Theorem.  A value that is given was read from the state that stands at the look, or a later one.
  Proven:   the look comes before the reading under which the value is kept, and an equal stamp
            means that nothing was committed in between
  Invalid:  with the next commit to the store, by anybody; all go where they are too many
  Tested:   tests/curator/test_unchanged.py: each act of one worker ends it for the other;
            tests/curator/http/test_serving.py: two processes

A `TimedCache` holds one value that anybody may see, for a few seconds, whatever happens: the open
page alone.
  Invalid:  after five seconds
  Tested:   tests/curator/http/test_remembered.py
"""

from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from threading import Lock, local
from time import monotonic
from typing import Any, TypeVar, cast

MAX_CACHED_VALUES = 10_000
T = TypeVar("T")
FRESH_SECONDS = 5.0


class CacheMiss(Exception):  # noqa: N818
    """The value is not cached, and nothing may be read now."""


class StampedCache:
    """Caches values by a key, each with the stamp under which it was read; safe among threads."""

    __slots__ = ("_here", "_look", "_values")

    def __init__(self, look: Callable[[], Hashable | None]) -> None:
        self._look, self._here = look, local()
        self._values: dict[Hashable, tuple[Hashable, Any]] = {}

    def value(self, key: Hashable, read: Callable[[], T]) -> T:
        """The value, read now or when the store was as it is; errors are not remembered."""
        stamp = self._stamp()
        cached = self._values.get(key)
        if cached is not None and stamp is not None and cached[0] == stamp:
            return cast("T", cached[1])
        if getattr(self._here, "only_cached", False):
            raise CacheMiss
        value = read()
        self._keep(key, stamp, value)
        return value

    def put(self, key: Hashable, value: object) -> None:
        """Keeps what was read together with another value, in a block that stands on one look."""
        look = getattr(self._here, "look", None)
        self._keep(key, None if look is None else look[0], value)

    @contextmanager
    def only_cached(self) -> Generator[None]:
        """Nothing is read in the block, by this thread: CacheMiss where something would be."""
        self._here.only_cached = True
        try:
            with self.single_stamp():
                yield
        finally:
            self._here.only_cached = False

    @contextmanager
    def single_stamp(self) -> Generator[None]:
        """All in the block stands on one look, at its beginning; nothing is written in it."""
        before = getattr(self._here, "look", None)
        self._here.look = before or (self._look(),)  # one in vain, too: it may have waited
        try:
            yield
        finally:
            self._here.look = before

    def _keep(self, key: Hashable, stamp: Hashable | None, value: object) -> None:
        if stamp is not None:
            if len(self._values) >= MAX_CACHED_VALUES:
                self._values.clear()
            self._values[key] = stamp, value

    def _stamp(self) -> Hashable | None:
        look = getattr(self._here, "look", None)
        return self._look() if look is None else look[0]


class TimedCache:
    """Makes one value at most once in a few seconds, for everybody."""

    __slots__ = ("_clock", "_lock", "_made", "_value")

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._made, self._value = -FRESH_SECONDS, None

    def value(self, make: Callable[[], Any]) -> Any:
        with self._lock:
            if self._clock() - self._made >= FRESH_SECONDS:
                self._value, self._made = make(), self._clock()
            return self._value
