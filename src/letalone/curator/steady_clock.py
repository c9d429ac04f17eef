"""A clock that nobody can set: seconds since the machine was started, and which start it was.

All processes of a machine share it, and it goes on while the machine sleeps. Where the system does
not tell which start this is, each process counts for itself, which is less and never more.
"""

import time
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")
_this_process = token_hex(16)


class Moment(NamedTuple):
    """Seconds since a start of a machine."""

    start: str
    seconds: float


SteadyClock = Callable[[], Moment]


def since_start() -> Moment:
    """The moment that it is now."""
    try:
        return Moment(BOOT_ID_FILE.read_text().strip(), time.clock_gettime(time.CLOCK_BOOTTIME))
    except (OSError, AttributeError):
        return Moment(_this_process, time.monotonic())
