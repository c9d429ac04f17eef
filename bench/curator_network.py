"""The service while its network is silent: seconds until 503, until all is well, until it ends.

    python bench/curator_network.py [--workers 2] [--patience 60]

A proxy stands before PostgreSQL and swallows what is sent: nothing is refused or closed, as with a
host without power. Ledger and database are behind one proxy, a table that is asked behind another.
Twelve clients ask fresh questions at once, as one would whose pages do not come. `/health` is asked
beside them. At the end the ledger must verify, hold one charge for each answer and for each
question that was left open, and nothing may be frozen. A client gives up after `--patience`
seconds.
"""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from fractions import Fraction
from itertools import count
from pathlib import Path
from socket import socket
from subprocess import DEVNULL, Popen, TimeoutExpired
from time import monotonic, sleep
from typing import Any

import httpx
import psycopg

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from black_hole import BlackHole, black_hole
from letalone.curator.curator import Curator
from letalone.curator.storage.service_records import Purpose, Registration
from letalone.curator.storage.settings import Settings
from letalone.plans.schema import Column, Schema
from letalone.privacy import Budget
from letalone.wire.records import Role, Scope
from postgres import running

PASSWORD, PURPOSE, AT_ONCE = "correct horse battery staple", "planning", 12
CODE = "import sys; from letalone.cli.app import run; sys.exit(run(sys.argv[1:]))"
PEOPLE = "CREATE TABLE people AS SELECT 'p' || n AS patient FROM generate_series(1, 1000) AS of(n)"
NUMBERS = count(1)
Asked = tuple[int, float]  # a status (0: none came) and the seconds until it was there


def registered(curator: Curator, name: str, **place: str) -> None:
    schema = Schema(name, (Column("patient", "text"),), unit="patient")
    budget = Budget(1000)
    made = Registration(schema=schema, budget=budget, purposes=(Purpose(PURPOSE, budget),))
    curator.data_sets.register(made, by="olga", **place)
    wanted = curator.requests.make(
        name, purpose=PURPOSE, columns=["patient"], budget=budget, why="speed", by="ann"
    )
    curator.requests.decide(wanted.id, grant=True, reason="speed", by="olga")


def prepared(settings: Settings, address: str) -> str:
    """Two data sets, one here and one on the server, and an analyst; a token."""
    with Curator.open(settings) as curator:
        once = curator.people.first_owner("olga")
        assert once is not None
        curator.people.change_password("olga", once, PASSWORD)
        once = curator.people.add("ann", [Role.ANALYST], by="olga")
        curator.people.change_password("ann", once, PASSWORD)
        (settings.imports_folder / "here.csv").write_text("patient\n" + "p1\np2\np3\n")
        registered(curator, "here", file="here.csv")
        registered(curator, "there", address=address)
        return curator.tokens.make("ann", [Scope.ASK])[0]


class Service:
    """A service in processes of its own, and those who ask it."""

    def __init__(self, settings: Settings, token: str, *, workers: int, patience: float) -> None:
        with socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        words = ["serve", "--json", "--folder", settings.folder, "--port", port, "--time-step", "0"]
        words += ["--database", settings.database, "--ledger", settings.ledger]
        words += ["--source-host", settings.source_hosts[0], "--workers", workers]
        self.process = Popen(
            [sys.executable, "-c", CODE, *map(str, words)],
            stdout=DEVNULL,
            stderr=DEVNULL,
            start_new_session=True,
        )
        self.address, self.patience = f"http://127.0.0.1:{port}", patience
        self._headers = {"Authorization": f"Bearer {token}"}
        self.told = 0
        while self.health()[0] != httpx.codes.OK:
            sleep(0.2)

    def kill(self) -> None:
        """The workers, too."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def health(self) -> Asked:
        return self._timed(lambda: httpx.get(f"{self.address}/health", timeout=self.patience))

    def ask(self, name: str) -> Asked:
        epsilon = str(Fraction(10**6 + next(NUMBERS), 10**10))
        body = {"data_set": name, "purpose": PURPOSE, "epsilon": epsilon}
        body["sql"] = f"SELECT COUNT(*) AS n FROM {name}"
        place = f"{self.address}/api/v1/questions/release"
        return self._timed(
            lambda: httpx.post(place, json=body, headers=self._headers, timeout=self.patience)
        )

    def _timed(self, send: Callable[[], httpx.Response]) -> Asked:
        began = monotonic()
        try:
            status = send().status_code
        except httpx.HTTPError:
            status = 0
        return status, monotonic() - began

    def crowd(self, name: str, asked: int = AT_ONCE) -> list[Asked]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = list(pool.map(self.ask, [name] * asked))
        self.told += sum(status == httpx.codes.OK for status, _ in found)
        return found

    def until_well(self, name: str) -> float:
        began = monotonic()
        while self.crowd(name, 1)[0][0] != httpx.codes.OK and monotonic() - began < self.patience:
            sleep(0.1)
        return monotonic() - began

    def threads(self) -> int:
        """Of all processes of the service."""
        listed = [one for one in Path("/proc").iterdir() if one.name.isdigit()]
        return sum(len(list((one / "task").iterdir())) for one in listed if self._mine(one))

    def _mine(self, process: Path) -> bool:
        try:
            stat = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            return False
        return int(process.name) == self.process.pid or int(stat[1]) == self.process.pid


def shown(found: list[Asked]) -> str:
    statuses = {status: sum(one == status for one, _ in found) for status, _ in found}
    said = ", ".join(f"{number} x {status or 'none'}" for status, number in statuses.items())
    return f"{said}; longest {max(seconds for _, seconds in found):5.1f} s"


def silenced(service: Service, name: str, hole: BlackHole, words: str) -> None:
    """Some of those who ask are at it when the silence begins."""
    with ThreadPoolExecutor(AT_ONCE + 1) as pool:
        during = [pool.submit(service.ask, name) for _ in range(AT_ONCE)]
        sleep(0.03)
        hole.swallow()
        first = [one.result() for one in during]
    service.told += sum(status == httpx.codes.OK for status, _ in first)
    with ThreadPoolExecutor(1) as beside:
        health = beside.submit(service.health)
        print(f"{words}: asked as it began    {shown(first)}")
        print(f"{words}: asked while it lasts {shown(service.crowd(name))}")
        print(f"{words}: /health              {shown([health.result()])}")
    hole.open()
    print(f"{words}: well again after     {service.until_well(name):5.1f} s")


def stopped(service: Service, hole: BlackHole) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        hole.swallow()
        for _ in range(AT_ONCE):
            pool.submit(service.ask, "here")
        sleep(0.5)
        began = monotonic()
        service.process.send_signal(signal.SIGTERM)
        try:
            service.process.wait(service.patience)
            print(f"SIGTERM while it is silent: gone after {monotonic() - began:5.1f} s")
        except TimeoutExpired:
            print(f"SIGTERM while it is silent: still there after {service.patience} s")
            service.kill()
    hole.open()


def books(settings: Settings, told: int) -> None:
    with Curator.open(settings) as curator:
        assert curator.ledger.verify()
        found = [curator.ledger.data_set(name) for name in ("here", "there")]
        frozen = [one.name for one in found if one.frozen]
        charges = sum(one.releases for one in found)
        left_open = len(curator.ledger.unsettled())
        print(f"Charges {charges}, told {told}, left open {left_open}, frozen: {frozen or 'none'}")


def main(workers: int, patience: float) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(running())
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("CREATE DATABASE curator")
            connection.execute(PEOPLE)
        stores, store = stack.enter_context(black_hole(server.get_uri(database="curator")))
        sources, source = stack.enter_context(black_hole(server.get_uri()))
        place = {"database": store, "ledger": store}
        host = (f"127.0.0.1:{sources.port}",)
        settings = Settings(folder=folder / "curator", source_hosts=host, **place)
        token = prepared(settings, f"{source}/people")
        service = Service(settings, token, workers=workers, patience=patience)
        stack.callback(service.kill)
        print(f"{workers} workers, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"nothing is silent:           {shown(service.crowd('here', 2 * AT_ONCE))}")
        service.crowd("there")
        threads = service.threads()
        stores.swallow_old()
        print(f"old connections are silent:  {shown(service.crowd('here', 30))}")
        silenced(service, "here", stores, "stores")
        silenced(service, "there", sources, "source")
        print(f"Threads before {threads}, after {service.threads()}")
        stopped(service, stores)
        books(settings, service.told)


def arguments() -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--patience", type=float, default=60)
    return vars(parser.parse_args())


if __name__ == "__main__":
    main(**arguments())
