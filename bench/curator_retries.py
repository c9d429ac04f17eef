"""How often a question is charged that is asked at once, given up, cut off or killed, and retried.

    python bench/curator_retries.py [--questions 12] [--kills 20] [--workers 2]

A service of several worker processes with its usual time step, on SQLite and on PostgreSQL (ledger
and database), about the demo data. Each question is another price of one count. Printed, for each:
how many were asked, how many charges the ledger has for them, and what nobody settled. Charges must
be as many as questions, whatever happens between:

*At once*: three equal requests at the same moment, for each question, two connections a worker.
*Given up*: a client that waits for 60 ms only, and asks again.
*Killed*: SIGKILL to a random worker, at random times, while clients ask until they are answered.
*Cut*: the clients' connections, through a proxy that closes them at random times; and, where there
is a server, all its backends, at random times.

All that was told is compared with the ledger: who was answered is answered the same again.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from socket import create_connection, create_server, socket
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import psycopg

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parent))  # before a folder of tests of the same name

from curator import NAME, PURPOSE, SQL, prepared, serving, settings
from letalone.curator.curator import Curator
from letalone.ledger.chain.entries import EntryKind
from postgres import running

GIVEN_UP_SECONDS, PATIENCE_SECONDS = 0.06, 120
CLIENTS = 6
NUMBERS = count(1)
Failed = (OSError, HTTPException, ValueError)


class Clients:
    """Who asks: each question by another price."""

    def __init__(self, token: str, port: int) -> None:
        self.token, self.port = token, port
        self.told: dict[int, Any] = {}

    def ask(self, number: int, *, key: str | None = None, seconds: float = PATIENCE_SECONDS) -> Any:
        """One request, answered or an error."""
        price = f"{10**9 + number}/{10**13}"
        body = {"data_set": NAME, "purpose": PURPOSE, "sql": SQL, "epsilon": price}
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        headers |= {} if key is None else {"Idempotency-Key": key}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request("POST", "/api/v1/questions/release", json.dumps(body), headers)
            response = connection.getresponse()
            found = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(f"{response.status}: {found.get('detail')}")
        return found["release"]

    def until_answered(self, number: int) -> int:
        """Asks until there is an answer, every other question under a name; how often it did."""
        key = f"question-{number}" if number % 2 else None
        until, tries, last = monotonic() + PATIENCE_SECONDS, 0, ""
        while monotonic() < until:
            tries += 1
            try:
                self.heard(number, self.ask(number, key=key, seconds=30))
            except Failed as error:
                last = f"{type(error).__name__} {error}"
            else:
                return tries
            sleep(0.05)
        raise AssertionError(f"question {number} was not answered in {tries} tries: {last}")

    def heard(self, number: int, release: Any) -> None:
        """Whoever was answered is answered the same again."""
        assert self.told.setdefault(number, release) == release, "two answers were told"


def numbers(questions: int) -> list[int]:
    return [next(NUMBERS) for _ in range(questions)]


def at_once(clients: Clients, asked: list[int]) -> int:
    with ThreadPoolExecutor(3) as pool:
        for number in asked:
            for found in pool.map(clients.ask, [number] * 3):
                clients.heard(number, found)
    return 3 * len(asked)


def given_up(clients: Clients, asked: list[int]) -> int:
    early = 0
    for number in asked:
        with suppress(*Failed):
            clients.heard(number, clients.ask(number, seconds=GIVEN_UP_SECONDS))
            early += 1
        clients.until_answered(number)
    return 2 * len(asked) - early


@contextmanager
def again_and_again(act: Callable[[], object], *, seconds: float, seed: int) -> Iterator[list[int]]:
    """Something that is done at random times until the end of the block; how often it was."""
    over, chance, done = Event(), random.Random(seed), [0]

    def go_on() -> None:
        while not over.wait(seconds * (0.5 + chance.random())):
            with suppress(OSError, psycopg.Error):
                act()
                done[0] += 1

    thread = Thread(target=go_on)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()


def retried(clients: Clients, asked: Iterator[int], enough: Callable[[], bool]) -> list[int]:
    """All clients ask one question after the other until it is enough; those that were asked."""
    seen: list[int] = []

    def go_on(_: int) -> int:
        tries = 0
        while not enough():
            number = next(asked)
            seen.append(number)
            tries += clients.until_answered(number)
        return tries

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(go_on, range(CLIENTS)))
    return seen


def workers_of(process: int) -> list[int]:
    """The processes that a supervisor started, but for Python's own tracker (on Linux)."""
    found = list[int]()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            words = (place / "cmdline").read_bytes()
            if parent == process and b"resource_tracker" not in words:
                found.append(int(place.name))
    return found


@contextmanager
def proxy(port: int) -> Iterator[tuple[int, Callable[[], None]]]:
    """A place that passes everything on; and an act that closes all that is open there."""
    server, pairs, over = create_server(("127.0.0.1", 0)), list[socket](), Event()

    def passed(source: socket, target: socket) -> None:
        with suppress(OSError):
            while part := source.recv(65536):
                target.sendall(part)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(2)

    def accept() -> None:
        while not over.is_set():
            with suppress(OSError):
                ours, _ = server.accept()
                theirs = create_connection(("127.0.0.1", port))
                pairs.extend((ours, theirs))
                for both in ((ours, theirs), (theirs, ours)):
                    Thread(target=passed, args=both, daemon=True).start()

    def cut() -> None:
        for one in pairs:
            with suppress(OSError):
                one.shutdown(2)
        pairs.clear()

    Thread(target=accept, daemon=True).start()
    try:
        yield server.getsockname()[1], cut
    finally:
        over.set()
        server.close()
        cut()


def charged() -> tuple[int, int]:
    """How many charges there are, and how many of them nobody settled; the chain holds."""
    with Curator.open(settings()) as curator:
        curator.ledger.verify()
        kinds = [one.kind for one in curator.ledger.entries(NAME)]
        return kinds.count(EntryKind.RESERVED), len(curator.ledger.unsettled(NAME))


def shown(name: str, questions: int, before: tuple[int, int], more: str) -> None:
    now = charged()
    charges = now[0] - before[0]
    told = "as it must be" if charges == questions else "WRONG"
    print(
        f"  {name:10} {questions:5} questions, {charges:5} charges ({told}),"
        f" {now[1] - before[1]} not settled; {more}; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def tried(workers: int, asked: argparse.Namespace, address: str | None) -> None:
    token, _ = prepared()
    with serving(workers) as (port, first):
        clients = Clients(token, port)
        for name, work in (("at once", at_once), ("given up", given_up)):
            before = charged()
            requests = work(clients, numbers(asked.questions))
            shown(name, asked.questions, before, f"{requests} requests")

        def kill() -> None:
            os.kill(random.choice(workers_of(first)), signal.SIGKILL)

        before = charged()
        with again_and_again(kill, seconds=asked.every, seed=1) as kills:
            seen = retried(clients, NUMBERS, lambda: kills[0] >= asked.kills)
        shown("killed", len(seen), before, f"{kills[0]} kills of workers")
        before = charged()
        with proxy(port) as (place, cut):
            clients.port = place
            with again_and_again(cut, seconds=1.0, seed=2) as cuts:
                seen = retried(clients, NUMBERS, lambda: cuts[0] >= asked.cuts)
        clients.port = port
        shown("cut", len(seen), before, f"{cuts[0]} times all connections of clients")
        if address is not None:
            terminated(clients, address, asked)


def terminated(clients: Clients, address: str, asked: argparse.Namespace) -> None:
    """The service's connections to its server are cut."""

    def cut() -> None:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )

    before = charged()
    with again_and_again(cut, seconds=1.0, seed=3) as cuts:
        seen = retried(clients, NUMBERS, lambda: cuts[0] >= asked.cuts)
    shown("server cut", len(seen), before, f"{cuts[0]} times all connections to the server")


def main() -> None:
    words = argparse.ArgumentParser()
    for name, usual in (("questions", 12), ("kills", 20), ("cuts", 40), ("workers", 2)):
        words.add_argument(f"--{name}", type=int, default=usual)
    words.add_argument("--every", type=float, default=3.0, help="seconds between kills")
    words.add_argument("--stores", nargs="*", default=["SQLite", "PostgreSQL"])
    asked = words.parse_args()
    with tempfile.TemporaryDirectory() as folder, running() as server:
        address = str(server.get_uri())
        for store in asked.stores:
            place = {"folder": f"{folder}/{store}"}
            at = address if store == "PostgreSQL" else None
            more = {} if at is None else {"database": at, "ledger": at}
            os.environ["LETALONE_BENCH"] = json.dumps({**place, **more})
            print(store, flush=True)
            tried(asked.workers, asked, at)


if __name__ == "__main__":
    main()
