"""What was read from a store, remembered until anybody writes to it.

Whatever is withdrawn, revoked or retired counts at once, in all workers: each use takes a look
(`ledger.watch`) that tells whether anything was committed since, by whomever. What depends on the
time is not remembered here: times are compared whenever they matter.

Theorem.  A value that is given was read from the state that stands at the look, or a later one.
  Proven:   the look comes before the reading under which the value is kept, and an equal stamp
            means that nothing was committed in between
  Tested:   tests/curator/test_unchanged.py; test_serving.py: two workers
"""

from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from threading import local
from typing import Any, TypeVar, cast

MOST = 10_000
T = TypeVar("T")


class NotAtHand(Exception):  # noqa: N818
    """Something would have to be read first."""


class Unchanged:
    """Values by a key, each with the stamp under which it was read; safe among threads."""

    __slots__ = ("_found", "_here", "_look")

    def __init__(self, look: Callable[[], Hashable | None]) -> None:
        self._look, self._here = look, local()
        self._found: dict[Hashable, tuple[Hashable, Any]] = {}

    def value(self, key: Hashable, read: Callable[[], T]) -> T:
        """The value, read now or when the store was as it is; errors are not remembered."""
        stamp = self._stamp()
        found = self._found.get(key)
        if found is not None and stamp is not None and found[0] == stamp:
            return cast("T", found[1])
        if getattr(self._here, "at_hand", False):
            raise NotAtHand
        value = read()
        self._keep(key, stamp, value)
        return value

    def read_too(self, key: Hashable, value: object) -> None:
        """Keeps what was read together with another value, in a block that stands on one look."""
        look = getattr(self._here, "look", None)
        self._keep(key, None if look is None else look[0], value)

    @contextmanager
    def at_hand(self) -> Generator[None]:
        """Nothing is read in the block, by this thread: NotAtHand where something would be."""
        self._here.at_hand = True
        try:
            with self.one_look():
                yield
        finally:
            self._here.at_hand = False

    @contextmanager
    def one_look(self) -> Generator[None]:
        """All in the block stands on one look, at its beginning; nothing is written in it."""
        before = getattr(self._here, "look", None)
        self._here.look = before or (self._look(),)  # one in vain, too: it may have waited
        try:
            yield
        finally:
            self._here.look = before

    def _keep(self, key: Hashable, stamp: Hashable | None, value: object) -> None:
        if stamp is not None:
            if len(self._found) >= MOST:
                self._found.clear()
            self._found[key] = stamp, value

    def _stamp(self) -> Hashable | None:
        look = getattr(self._here, "look", None)
        return self._look() if look is None else look[0]
