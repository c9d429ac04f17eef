"""Silences what Spark raises or logs in this process: it could show a row.

Tested:   tests/on_spark/test_frames.py
"""

import logging
from collections.abc import Callable, Mapping
from threading import Lock
from typing import TypeVar

from letalone.engines.failure import hide_engine_errors

LOGGERS = (  # errors print a cell; what goes to the JVM and back is printed for those who debug
    "SQLQueryContextLogger",
    "DataFrameQueryContextLogger",
    "py4j",
    "py4j.clientserver",
    "py4j.java_gateway",
    "py4j.protocol",
)
Result = TypeVar("Result")


def run_silently(run: Callable[[], Result]) -> Result:
    """What `run` returns; nothing of what Spark raises or logs in this process goes on."""
    return hide_engine_errors(lambda: with_loggers_off(run))


class _Silence:
    """Loggers are silent while anybody is inside: the first one in and the last one out see to it.

    One for the process, since loggers are.
    """

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._before: dict[str, bool] = {}

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = {name: logging.getLogger(name).disabled for name in LOGGERS}
                self._set(dict.fromkeys(LOGGERS, True))

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._set(self._before)

    def _set(self, disabled: Mapping[str, bool]) -> None:
        for name, value in disabled.items():
            logging.getLogger(name).disabled = value


_SILENCE = _Silence()


def with_loggers_off(run: Callable[[], Result]) -> Result:
    """What `run` returns; the loggers are silent meanwhile."""
    with _SILENCE:
        return run()
