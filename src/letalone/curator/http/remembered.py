"""A value that costs something to make, remembered for a few seconds."""

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any

SECONDS = 5.0


class Remembered:
    """Makes the value at most once in so many seconds, whoever asks."""

    __slots__ = ("_clock", "_lock", "_made", "_value")

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._made, self._value = -SECONDS, None

    def value(self, make: Callable[[], Any]) -> Any:
        """The value, made now or a few seconds ago."""
        with self._lock:
            if self._clock() - self._made >= SECONDS:
                self._value, self._made = make(), self._clock()
            return self._value
