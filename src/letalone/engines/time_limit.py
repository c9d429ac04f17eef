"""Limits how long a statement may run on a server or on Spark: an hour, or less by the owner.

The limit is public and the same for every question. A statement that reaches it freezes the data
set, as every failure does, so a limit should be far above what questions take: then nothing about
the data decides whether it is reached.

  Tested:   tests/engines/test_time_limit.py
"""

from letalone.exact.typed import Constraint

MIN_SECONDS, MAX_SECONDS = 1, 3600
LIMIT = Constraint(
    f"a number of seconds from {MIN_SECONDS} to {MAX_SECONDS}",
    lambda seconds: MIN_SECONDS <= seconds <= MAX_SECONDS,
    hint=f"Leave it out for {MAX_SECONDS}.",
    refused=(0, -1, 0.5, 3601, float("inf"), float("nan")),
)


def read_timeout(seconds: object) -> float:
    """The limit of a statement in seconds, from what the owner gave; None is the longest."""
    if seconds is None:
        return float(MAX_SECONDS)
    return float(LIMIT.typed("timeout_seconds", seconds))
