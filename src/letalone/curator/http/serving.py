"""Starting the service: the first start, and web server workers that share one ledger.

Each worker opens the curator by itself, from settings in its environment: nothing that is open
crosses from one process to another. SIGTERM lets answers that are under way finish.

  Tested:   tests/curator/http/test_serving.py: several workers, SIGTERM
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from json import dumps, loads
from pathlib import Path
from shutil import rmtree
from socket import IPPROTO_TCP, TCP_NODELAY
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from letalone.curator.curator import Curator
from letalone.curator.demo import NAME, PURPOSE, register_demo
from letalone.curator.http.app import make_app
from letalone.curator.http.logs import SERVER_LOGS
from letalone.curator.http.metrics import SHARED
from letalone.curator.records import Role
from letalone.curator.settings import Settings
from letalone.privacy import Budget

if TYPE_CHECKING:
    import uvicorn

SETTINGS = "LETALONE_CURATOR_SETTINGS"
OWNER, ANALYST = "owner", "analyst"
FOR_THE_ANALYST = Budget(1)
SECONDS_TO_FINISH = 30
FAILED_TO_START = 3  # as uvicorn's own exit code
MOST_AT_ONCE = 500  # connections a worker; more are answered with 503


@dataclass(frozen=True, slots=True)
class FirstStart:
    """Whom the first start made, each with a one-time password; and what they can ask."""

    passwords: Mapping[str, str]
    data_set: str = NAME
    purpose: str = PURPOSE


def prepare(settings: Settings) -> FirstStart | None:
    """Makes the folder, and on the first start an owner, an analyst and data to try; else None."""
    with Curator.open(settings) as curator:
        owner = curator.people.first_owner(OWNER)
        if owner is None:
            return None
        register_demo(curator, by=OWNER)
        analyst = curator.people.add(ANALYST, [Role.ANALYST], by=OWNER)
        _grant(curator)
        return FirstStart({OWNER: owner, ANALYST: analyst})


def _grant(curator: Curator) -> None:
    schema = curator.data_sets.record(NAME).schema
    wanted = curator.requests.make(
        NAME,
        purpose=PURPOSE,
        columns=[column.name for column in schema.columns],
        budget=FOR_THE_ANALYST,
        why="to look around",
        by=ANALYST,
    )
    curator.requests.decide(wanted.id, grant=True, reason="made at the first start", by=OWNER)


def serve(settings: Settings, *, host: str, port: int, workers: int) -> None:
    """Answers until it is told to stop."""
    import uvicorn

    os.environ[SETTINGS] = dumps(asdict(settings), default=str)
    if workers > 1:
        os.environ[SHARED] = str(_shared_counters(settings))
    run(
        uvicorn.Config(
            f"{__name__}:app_of_environment",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            access_log=False,  # its lines hold addresses and query strings
            log_config=SERVER_LOGS,
            server_header=False,
            limit_concurrency=MOST_AT_ONCE,
            timeout_graceful_shutdown=SECONDS_TO_FINISH,
        )
    )


def run(config: "uvicorn.Config") -> None:
    """Answers in one process, or in several that share a socket, until it is told to stop.

    Of a shared socket nobody else says that small packets are not to wait for one another: an
    answer would wait 40 ms for an acknowledgement that its reader delays.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    server = uvicorn.Server(config)
    if config.workers == 1:
        server.run()
        if not server.started:
            raise SystemExit(FAILED_TO_START)
        return
    listening = config.bind_socket()
    listening.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)  # those that it accepts have it, too
    Multiprocess(config, target=server.run, sockets=[listening]).run()


def app_of_environment() -> FastAPI:
    """The app of one worker."""
    return make_app(Curator.open(_settings(loads(os.environ[SETTINGS]))))


def _settings(stored: dict[str, Any]) -> Settings:
    for name in ("folder", "imports"):
        stored[name] = None if stored[name] is None else Path(stored[name])
    return Settings(**stored)


def _shared_counters(settings: Settings) -> Path:
    """An empty folder: counters begin anew with each start."""
    folder = settings.folder / "metrics"
    rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return folder
