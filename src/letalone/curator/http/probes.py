"""Checks readiness: whether the stores can be written, in a bounded time whatever they do.

Each part is tried in a thread of its own, at most once a second however many ask, and never again
before the last try has ended: a store that hangs holds one thread, and no request. Names of files
and servers are not told.

  Tested:   tests/curator/http/test_ready.py
"""

import asyncio
from collections.abc import Callable, Mapping
from threading import Thread
from time import monotonic

FRESH_SECONDS = 1.0
PATIENCE_SECONDS = 2.0  # from the beginning of a try
LOOK_SECONDS = 0.01
WELL, WRONG = "ok", "cannot be written, or has too little room"
SLOW = f"has not answered for {PATIENCE_SECONDS:g} seconds"


class Probe:
    """Checks one part; for one event loop."""

    __slots__ = ("_began", "_check", "_last_state", "_under_way")

    def __init__(self, check: Callable[[], None]) -> None:
        self._check, self._last_state, self._under_way = check, WELL, False
        self._began = -FRESH_SECONDS

    async def state(self) -> str:
        if not self._under_way and monotonic() - self._began >= FRESH_SECONDS:
            self._under_way, self._began = True, monotonic()
            Thread(target=self._try, name="probe", daemon=True).start()
        while self._under_way and monotonic() - self._began < PATIENCE_SECONDS:
            await asyncio.sleep(LOOK_SECONDS)
        return SLOW if self._under_way else self._last_state

    def _try(self) -> None:
        try:
            self._check()
            self._last_state = WELL
        except Exception:  # its words could name a file or a server
            self._last_state = WRONG
        finally:
            self._under_way = False


class Probes:
    """Checks all parts at once."""

    __slots__ = ("_probes",)

    def __init__(self, checks: Mapping[str, Callable[[], None]]) -> None:
        self._probes = {part: Probe(check) for part, check in checks.items()}

    async def states(self) -> dict[str, str]:
        states = await asyncio.gather(*(probe.state() for probe in self._probes.values()))
        return dict(zip(self._probes, states, strict=True))
