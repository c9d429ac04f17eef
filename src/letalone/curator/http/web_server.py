"""Adapts the web server (uvicorn): its supervisor of workers, and how soon it sends packets.

uvicorn's own supervisor asks one worker after the other whether it is there, and looks for signals
in between only: a worker that hangs would keep it for a minute. So it does that in a thread, and
the main thread does nothing but wait for a signal. One that died while it was asked would not be
missed for that minute either: here it is. A worker that was not gone SECONDS_TO_END after that is
ended by the system, and loses what a crash would: nothing (serving.py).

Workers share a socket that their parent has bound, and asyncio does not set TCP_NODELAY on such a
socket: each response would wait 40 ms for the acknowledgement of its own head.

  Tested:   tests/curator/http/test_supervisor.py: SIGTERM while workers start, answer and hang;
            tests/curator/http/test_prompt.py
"""

import signal
import sys
from asyncio import BaseTransport
from collections.abc import Generator
from contextlib import contextmanager, suppress
from multiprocessing import active_children
from pickle import UnpicklingError
from socket import IPPROTO_TCP, TCP_NODELAY
from threading import Thread, current_thread, main_thread
from time import monotonic, sleep
from types import FrameType
from typing import Any, NoReturn, cast

from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.supervisors import multiprocess
from uvicorn.supervisors.multiprocess import Multiprocess, Process

SECONDS_TO_END = 10
LOOK_SECONDS = 0.05
UsualProtocol = cast("Any", AutoHTTPProtocol)


class Worker(Process):
    """A worker that is known to be gone as soon as it is, also while its answer is waited for."""

    def _healthcheck(self, timeout: float) -> bool | None:
        """Whether it serves; None where it does not answer in time, or has died."""
        until = monotonic() + timeout
        with suppress(OSError, EOFError, UnpicklingError):
            self.parent_conn.send(b"ping")
            while self.process.is_alive() and monotonic() < until:
                if self.parent_conn.poll(LOOK_SECONDS):
                    return self.parent_conn.recv()
        return None


multiprocess.Process = Worker  # what the web server's supervisor starts


class Supervisor(Multiprocess):
    """The web server's supervisor, and a main thread that hears signals at once."""

    def run(self) -> None:
        """Returns once it was told to stop and all workers are gone; exits where none can start."""
        signals: list[int] = []  # an Event is not for signal handlers: its lock may be taken
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: signals.append(number))
        watching = Thread(target=super().run, daemon=True)
        watching.start()
        while watching.is_alive() and not signals:
            sleep(LOOK_SECONDS)
        self.should_exit.set()
        end_children(SECONDS_TO_END)
        if not signals:
            sys.exit(STARTUP_FAILURE)


def end_children(seconds: float) -> None:
    """Asks the children of this process to end, and ends those that have not after a while."""
    for child in active_children():
        child.terminate()
    until = monotonic() + seconds
    while active_children() and monotonic() < until:
        sleep(LOOK_SECONDS)
    for child in active_children():
        child.kill()
        child.join(1)


@contextmanager
def stopping_is_no_failure() -> Generator[None]:
    """SIGTERM ends the process with status 0: the web server raises it once more when it is done.

    Where it comes before there is anything to end, it ends the process at once.
    """
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(_: int, __: FrameType | None) -> NoReturn:
    sys.exit(0)


class PromptProtocol(UsualProtocol):
    """The web server's usual protocol, with packets that are sent at once."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Says so of each connection that came over the network."""
        socket = transport.get_extra_info("socket")
        if socket is not None and transport.get_extra_info("peername"):
            socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        super().connection_made(transport)  # pyright: ignore[reportUnknownMemberType]
