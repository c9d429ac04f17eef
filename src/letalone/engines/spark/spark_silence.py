"""Silences what Spark raises or logs in this process: it could show a row.

Tested:   tests/on_spark/test_frames.py
"""

import logging
from collections.abc import Callable

from letalone.engines.core.failure import Result, hide_engine_errors

LOGGERS = (  # errors print a cell; what goes to the JVM and back is printed for those who debug
    "SQLQueryContextLogger",
    "DataFrameQueryContextLogger",
    "py4j",
    "py4j.clientserver",
    "py4j.java_gateway",
    "py4j.protocol",
)


def run_silently(run: Callable[[], Result]) -> Result:
    """What `run` returns; nothing of what Spark raises or logs in this process goes on."""
    return hide_engine_errors(lambda: with_loggers_off(run))


def with_loggers_off(run: Callable[[], Result]) -> Result:
    """What `run` returns; the loggers are silent meanwhile, whoever else is inside or leaves."""

    def shut(_: logging.LogRecord) -> bool:
        return False

    loggers = [logging.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        logger.addFilter(shut)
    try:
        return run()
    finally:
        for logger in loggers:
            logger.removeFilter(shut)
