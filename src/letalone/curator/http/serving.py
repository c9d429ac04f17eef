"""Starts the service: the first start, and web server workers that share one ledger.

Each worker opens the curator by itself, from settings in its environment: nothing that is open
crosses from one process to another. SIGTERM lets answers that are under way finish, and ends
the process after SECONDS_TO_END for good, and its supervisor with it. A worker that does not answer
its supervisor for a minute is replaced, and the log says so.

The web server is uvicorn, whose supervisor and packets are adapted here. Its own supervisor asks
one worker after the other whether it is there, and looks for signals in between only: a worker that
hangs would keep it for a minute. So it does that in a thread, and the main thread does nothing but
wait for a signal. One that died while it was asked would not be missed for that minute either: here
it is. A worker that was not gone SECONDS_TO_END after that is ended by the system, and loses what a
crash would: nothing.

Workers share a socket that their parent has bound, and asyncio does not set TCP_NODELAY on such a
socket: each response would wait 40 ms for the acknowledgement of its own head.

  Tested:   tests/curator/http/test_serving.py: several workers, SIGTERM;
            tests/curator/http/test_supervisor.py: SIGTERM while workers start, answer and hang;
            tests/curator/http/test_prompt.py
"""

import os
import signal
import sys
from asyncio import BaseTransport
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from json import dumps, loads
from multiprocessing import active_children
from pathlib import Path
from pickle import UnpicklingError
from shutil import rmtree
from socket import IPPROTO_TCP, TCP_NODELAY
from threading import Thread, current_thread, main_thread
from time import monotonic, sleep
from types import FrameType
from typing import Any, NoReturn, cast

from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.supervisors import multiprocess
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from letalone.curator.curator import Curator
from letalone.curator.data_sets.demo_data_set import NAME, PURPOSE, register_demo
from letalone.curator.http.app import make_app
from letalone.curator.http.logs import SERVER_LOGS, make_log
from letalone.curator.http.metrics import COUNTERS_VARIABLE
from letalone.curator.storage.refusals import NotThere
from letalone.curator.storage.settings import Settings
from letalone.ledger.storage.postgres_store import switched_off
from letalone.ledger.storage.store import is_postgres
from letalone.privacy import Budget
from letalone.wire.records import Role

SETTINGS_VARIABLE = "LETALONE_CURATOR_SETTINGS"
OWNER, ANALYST = "owner", "analyst"
LOST_PASSWORD = (
    "the owner has not signed in yet: where the one-time password was lost, stop this, and make"
    f" another one with the same options and --reset-owner {OWNER}"
)
ANALYST_BUDGET = Budget(1)
SECONDS_TO_FINISH = 8  # for answers under way; then tables, ledger and database are closed
PROTOCOL = "letalone.curator.http.serving:PromptProtocol"
MAX_CONNECTIONS = 500  # connections a worker; more are answered with 503
KEEP_ALIVE_SECONDS = 75  # longer than clients (5) and proxies (60) use a connection that was idle
SECONDS_TO_START = 60  # for a worker to answer its supervisor, also while it starts
SWITCH_SECONDS = 0.0005  # how long a thread that computes goes on while others want to
SECONDS_TO_END = 10
LOOK_SECONDS = 0.05
UsualProtocol = cast("Any", AutoHTTPProtocol)


@dataclass(frozen=True, slots=True)
class FirstStart:
    """Whom the first start made, each with a one-time password; and what they can ask."""

    passwords: Mapping[str, str]
    data_set: str = NAME
    purpose: str = PURPOSE


def prepare(
    settings: Settings,
    *,
    controller: str | None = None,
    contact: str | None = None,
    start_anew: bool = False,
) -> FirstStart | None:
    """Makes the folder, and on the first start an owner, an analyst and data to try; else None.

    Who answers for the data is kept, where it is given.
    """
    with Curator.open(settings, start_anew=start_anew) as curator:
        _warn_of_forgetful_servers(settings)
        if curator.forgotten:
            make_log().error(
                "the ledger is older than was seen: frozen", data_sets=list(curator.forgotten)
            )
        curator.facts.say(controller=controller, contact=contact, by=None)
        owner = curator.people.first_owner(OWNER)
        if owner is None:
            _warn_of_lost_password(curator)
            return None
        register_demo(curator, by=OWNER)
        analyst = curator.people.add(ANALYST, [Role.ANALYST], by=OWNER)
        _grant(curator)
        return FirstStart({OWNER: owner, ANALYST: analyst})


def _warn_of_forgetful_servers(settings: Settings) -> None:
    for place in {settings.database_url, str(settings.ledger_place)}:
        if is_postgres(place) and (off := switched_off(place)):
            words = f"charges may be lost when the server loses power: set {', '.join(off)} to on"
            make_log().warning(words)


def _warn_of_lost_password(curator: Curator) -> None:
    """A first start that failed half way (no room) has made an owner and shown no password."""
    with suppress(NotThere):
        if curator.people.person(OWNER).must_change:
            make_log().warning(LOST_PASSWORD)


def _grant(curator: Curator) -> None:
    schema = curator.data_sets.record(NAME).schema
    wanted = curator.requests.make(
        NAME,
        purpose=PURPOSE,
        columns=[column.name for column in schema.columns],
        budget=ANALYST_BUDGET,
        why="to look around",
        by=ANALYST,
    )
    curator.requests.decide(wanted.id, grant=True, reason="made at the first start", by=OWNER)


def serve(
    settings: Settings, *, host: str, port: int, workers: int, behind: str | None = None
) -> None:
    """Answers until it is told to stop.

    `behind` is the address of a proxy: what it says of where requests come from is believed, and
    nobody else's word. Such a proxy overwrites the header X-Forwarded-For.
    """
    import uvicorn

    os.environ[SETTINGS_VARIABLE] = dumps(asdict(settings), default=str)
    options: dict[str, Any] = {
        "factory": True,
        "http": PROTOCOL,
        "host": host,
        "port": port,
        "workers": workers,
        "access_log": False,  # its lines hold addresses and query strings
        "log_config": SERVER_LOGS,
        "server_header": False,
        "proxy_headers": behind is not None,
        "forwarded_allow_ips": behind or "",
        "limit_concurrency": MAX_CONNECTIONS,
        "timeout_graceful_shutdown": SECONDS_TO_FINISH,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_worker_healthcheck": SECONDS_TO_START,
    }
    app = f"{__name__}:app_of_environment"
    with stopping_is_no_failure():
        if workers == 1:
            uvicorn.run(app, **options)
            return
        os.environ[COUNTERS_VARIABLE] = str(_shared_counters(settings))
        config = uvicorn.Config(app, **options)
        Supervisor(config, [config.bind_socket()]).run()


def app_of_environment() -> FastAPI:
    """The app of one worker.

    Prices are computed in threads, of which one runs at a time. An answer consists of many short
    steps, and waits for a turn before each: with Python's usual turn of 5 ms, for seconds in all.
    """
    _end_for_good()
    sys.setswitchinterval(SWITCH_SECONDS)
    return make_app(Curator.open(Settings(**loads(os.environ[SETTINGS_VARIABLE]))))


def _end_for_good() -> None:
    """Ten seconds after it was told to stop, the process is gone, whatever it waits for.

    The system ends it: a thread that hangs in a library, a lock or a store that is silent cannot
    keep it. No answer is given that is not settled, so this loses what a crash would: nothing.
    """
    if current_thread() is not main_thread() or not hasattr(signal, "alarm"):
        return  # signals are the main thread's, and Windows has no alarm
    for number in (signal.SIGTERM, signal.SIGINT):
        before = signal.getsignal(number)

        def stop(number: int, frame: FrameType | None, before: Any = before) -> None:
            signal.setitimer(signal.ITIMER_REAL, SECONDS_TO_END)
            if callable(before):
                before(number, frame)

        signal.signal(number, stop)


def _shared_counters(settings: Settings) -> Path:
    """An empty folder: counters begin anew with each start."""
    folder = settings.folder / "metrics"
    rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return folder


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
