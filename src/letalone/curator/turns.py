"""One fresh answer about a data set at a time, in this process; others wait without its rows.

An answer keeps its table until its time step. Whoever waited for it with the rows locked against
changes would keep erasures and corrections out for as long as the queue is.

  Tested:   tests/curator/test_time_steps.py
"""

from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager
from threading import Lock


class Turns:
    """A lock for each data set, taken in the order of names, so that nobody waits in a circle."""

    __slots__ = ("_guard", "_locks")

    def __init__(self) -> None:
        self._guard, self._locks = Lock(), dict[str, Lock]()

    @contextmanager
    def of(self, names: Iterable[str], *, wait: bool) -> Generator[bool]:
        """Whether it is one's turn about all of these until the end of the block."""
        with ExitStack() as stack:
            yield all(self._taken(name, stack, wait=wait) for name in sorted(set(names)))

    def _taken(self, name: str, stack: ExitStack, *, wait: bool) -> bool:
        with self._guard:
            lock = self._locks.setdefault(name, Lock())
        if not lock.acquire(blocking=wait):
            return False
        stack.callback(lock.release)
        return True
