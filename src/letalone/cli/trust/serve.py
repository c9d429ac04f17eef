"""`letalone serve`: the curator's service, ready after one command.

The first start makes the folder, an owner and an analyst with one-time passwords, and a made-up
data set that the analyst may ask.

  Tested:   tests/curator/http/test_serving.py
"""

import re
import socket
from importlib.util import find_spec
from ipaddress import ip_address
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING

from letalone.cli.screen import print_json, put, say
from letalone.cli.trust.trust_commands import ServeOptions
from letalone.errors import ParameterError
from letalone.errors.installing import not_installed
from letalone.exact.typed import expand_home

if TYPE_CHECKING:
    from letalone.curator.http.serving import FirstStart
    from letalone.curator.storage.settings import Settings

NEEDED = ("fastapi", "uvicorn", "alembic", "structlog", "limits", "prometheus_client")
LAST_PORT = 65_535
MOST_WORKERS = 64
TRIES, TRY_SECONDS = 600, 0.2  # workers on a busy machine take long to start
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve(options: ServeOptions) -> None:
    """Prepare the folder, say where to look, and answer until stopped; or reset an owner."""
    if options.reset_owner is not None:
        _reset(options, options.reset_owner)
        return
    host, port, workers = options.host, options.port, options.workers
    check_installed()
    for option, number, largest in (("port", port, LAST_PORT), ("workers", workers, MOST_WORKERS)):
        if not 1 <= number <= largest:
            raise ParameterError(f"--{option} is {number}, but must be from 1 to {largest}.")
    _check_proxy(options.behind_proxy)
    _check_free(host, port)
    from letalone.curator.http.serving import prepare
    from letalone.curator.http.serving import serve as answer
    from letalone.curator.storage.settings import Settings

    settings = Settings(
        folder=options.folder,
        database=options.database,
        ledger=options.ledger,
        imports=options.imports,
        source_hosts=options.source_host,
        other_counter=options.other_counter,
        aggregator=options.aggregator,
        spark_schemas=options.spark_schema,
        time_step_seconds=options.time_step,
        memory_megabytes=memory_of_worker(options.memory, workers),
    )
    first = prepare(
        settings,
        controller=options.controller,
        contact=options.contact,
        start_anew=options.start_anew,
    )
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    if options.as_json:
        made = {} if first is None else {"one_time_passwords": dict(first.passwords)}
        print_json("serve", {"address": address, "folder": settings.folder, **made})
    else:
        _print(first, address, settings, place=(host, port))
    answer(settings, host=host, port=port, workers=workers, behind=options.behind_proxy)


def _reset(options: ServeOptions, name: str) -> None:
    """A new one-time password for an owner who has lost theirs; the ledger says that it was so."""
    folder = options.folder
    check_installed()
    from letalone.curator.curator import Curator
    from letalone.curator.storage.settings import Settings

    if not expand_home(folder).is_dir():
        raise ParameterError(f"There is no curator in {folder}. Name its folder with --folder.")
    settings = Settings(folder=folder, database=options.database, ledger=options.ledger)
    with Curator.open(settings) as curator:
        password = curator.people.reset_owner(name)
    if options.as_json:
        print_json("serve", {"one_time_passwords": {name: password}})
        return
    put(
        f"The one-time password of {name}, shown once:",
        f"  {password}",
        "All tokens of this owner have ended. The ledger says that it was reset here.",
    )


def check_installed() -> None:
    """Raise unless the service's packages are there."""
    missing = [package for package in NEEDED if find_spec(package) is None]
    if missing:
        raise ParameterError(not_installed("The service", ", ".join(missing), "server"))


def memory_of_worker(typed: str | None, workers: int) -> int:
    """MiB for the tables of one worker, of what all take together: half of the machine's memory.

    More than the machine has is refused: a worker that takes it is ended by the system.
    """
    from letalone.curator.storage.settings import LEAST_EACH, SHARES
    from letalone.engines.duckdb.lockdown import half_of_memory

    half, least = half_of_memory() >> 20, workers * SHARES * LEAST_EACH
    if typed is None:
        return max(SHARES * LEAST_EACH, half // workers)
    largest = max(2 * half, least)
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([MG])i?B?", typed.strip(), re.IGNORECASE | re.ASCII)
    megabytes = 0.0 if match is None else float(match[1]) * (1024 if match[2] in "gG" else 1)
    if not least <= megabytes <= largest:
        raise ParameterError(
            f"--memory is {typed!r}, but must be an amount such as 4GB or 800MB: at least"
            f" {least}MB for {workers} worker{'s' * (workers > 1)}, and at most the {largest}MB"
            " that this machine has."
        )
    return int(megabytes) // workers


def _check_proxy(behind: str | None) -> None:
    """One address: whoever else could say where requests come from could guess without end."""
    try:
        _ = behind is None or ip_address(behind)
    except ValueError:
        raise ParameterError(
            f"--behind-proxy is {behind!r}, but must be the address of the proxy as it is seen from"
            " here, such as 127.0.0.1."
        ) from None


def _check_free(host: str, port: int) -> None:
    """Before anything is made: a port that another program has, an address of another machine."""
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        for family, kind, protocol, _, place in places[:1]:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(place)
    except OSError as error:
        raise ParameterError(
            f"{host} port {port} cannot be listened on: {error.strerror or 'unknown'}. Choose"
            f" another one, such as --port {port % LAST_PORT + 1}."
        ) from None


def _print(
    first: "FirstStart | None", address: str, settings: "Settings", *, place: tuple[str, int]
) -> None:
    if first is not None:
        put(
            f"First start: made {settings.folder}",
            "One-time passwords, shown once. Each must be changed at the first log-in:",
            *(f"  {name:<8} {password}" for name, password in first.passwords.items()),
        )
    if first is not None and not settings.aggregator:
        say(
            f"The analyst may ask {first.data_set!r} for the purpose {first.purpose!r}: a hospital"
            " that does not exist."
        )
    if place[0] not in LOOPBACK:
        say(
            "Others on the network can reach this, and there is no TLS: tokens and passwords can be"
            " read on the way. Put a proxy with TLS in front, and leave --host as it is."
        )
    words = f"Serving at {address} (Ctrl+C stops). {what_next(address, settings)}"
    Thread(target=say_once_it_listens, args=(place, words), daemon=True).start()


def what_next(address: str, settings: "Settings") -> str:
    """What can be done there: a service that only counts has no page to sign in on."""
    if settings.aggregator:
        joining = f"letalone survey join FILE --folder {settings.folder}"
        return f"It counts surveys of others, and has no pages. To join one: {joining}"
    return f"Sign in with a browser: {address}/sign-in"


def say_once_it_listens(place: tuple[str, int], words: str) -> None:
    """Prints words when somebody can connect; nothing where that never comes."""
    for _ in range(TRIES):
        try:
            socket.create_connection(place, timeout=1).close()
        except OSError:
            sleep(TRY_SECONDS)
        else:
            say(words)
            return
