"""Dependencies that all parts of the service share: settings, stores, the clock. And a steady one.

Who needs more is given it by name: the master key, the steady clock, the room for spilling.

The steady clock is one that nobody can set: seconds since the machine was started, and which start
it was. All processes of a machine share it, and it goes on while the machine sleeps. Where the
system does not tell which start this is, each process counts for itself, which is less and never
more.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from letalone.curator.storage.database import Database
from letalone.curator.storage.ledger_view import LedgerView
from letalone.curator.storage.settings import Settings
from letalone.curator.storage.stored_values import Clock
from letalone.ledger import Ledger

BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")
_this_process = token_hex(16)


class Moment(NamedTuple):
    """Seconds since a start of a machine."""

    start: str
    seconds: float


SteadyClock = Callable[[], Moment]


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What `Curator.open` makes once and hands to each part."""

    settings: Settings
    database: Database
    ledger: Ledger
    ledger_view: LedgerView
    clock: Clock


def since_start() -> Moment:
    """The moment that it is now."""
    try:
        return Moment(BOOT_ID_FILE.read_text().strip(), time.clock_gettime(time.CLOCK_BOOTTIME))
    except (OSError, AttributeError):
        return Moment(_this_process, time.monotonic())
