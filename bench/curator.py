"""The service beside the bare library: requests a second, p50 and p99, charges a second.

    python bench/curator.py [--seconds 5] [--workers 2] [--only sqlite]
    python bench/curator.py --faults    # all of curator_*.py, one after the other

The demo data, a count by ward. *Repeated*: one question again and again. *Fresh*: each question is
another one, so each is charged, measured and signed. The library asks the same table in the same
run, with a ledger on the same store: once as `la.open` opens it, a connection for each transaction
where it is a file; once with connections that are kept, as the curator keeps them
(`Ledger.open(…, keep=True)`). What HTTP adds is told beside the latter, which is quicker. The
library has one budget; the curator charges data set, purpose and analyst, and keeps a history.
Clients are processes of their own on the same cores, with a bare HTTP connection each. Time steps
are off (`time_step_seconds=0`), so that work is seen and not waiting. The last lines have the usual
step: a fresh answer then takes the step or a little more, and each worker gives one in a step about
a data set, by intent; repeats are not held.

Under faults: `curator_retries` (charges of questions that are asked at once, given up, killed or
cut), `curator_network` (a server that is silent), `curator_previews` (another's question beside
hostile previews), `curator_work` (CPU of free requests), `curator_requests` (waits for PostgreSQL).

A busy machine makes all of it slower: the load is printed, and CPU is what the service (or the
library) used of the processor for one answer, which depends on the load less.
"""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import partial
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from socket import socket
from subprocess import DEVNULL, Popen, run
from time import monotonic, perf_counter, process_time, sleep

import psycopg

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import letalone as la
from letalone.curator.curator import Curator
from letalone.curator.data_sets.demo_data_set import NAME, PURPOSE, register_demo
from letalone.curator.http.app import make_app
from letalone.curator.http.limits import RateLimits
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice
from letalone.curator.storage.settings import Settings
from letalone.ledger import Ledger
from letalone.privacy import ADD_REMOVE, Budget, PureDP
from letalone.wire.records import Role, Scope
from postgres import running

SQL = f"SELECT ward, COUNT(*) AS n FROM {NAME} GROUP BY ward"
WHERE = "LETALONE_BENCH"
ANALYST, ONE = "ann", Fraction(1, 1000)
CLIENTS = (1, 4)
FAULTS = ("retries", "network", "previews", "work", "requests")
LONGEST_START = 60
RUNS = count(1)  # no run asks what an earlier one has asked
Times = list[float]


def settings() -> Settings:
    found = json.loads(os.environ[WHERE])
    return Settings(**{**found, "folder": Path(found["folder"])})


def app() -> object:
    """The app of one worker: without limits on how often somebody asks."""
    return make_app(Curator.open(settings()), rates=RateLimits(of_a_person=10**9))


def prepared() -> tuple[str, str]:
    """The demo data and an analyst who may ask it; a token, and where the rows lie."""
    with Curator.open(settings()) as curator:
        first = curator.people.first_owner("olga")
        assert first is not None
        curator.people.change_password("olga", first, "correct horse battery staple")
        once = curator.people.add(ANALYST, [Role.ANALYST], by="olga")
        curator.people.change_password(ANALYST, once, "correct horse battery staple")
        register_demo(curator, by="olga")
        columns = [column.name for column in curator.data_sets.record(NAME).schema.columns]
        wanted = curator.requests.make(
            NAME, purpose=PURPOSE, columns=columns, budget=Budget(5), why="speed", by=ANALYST
        )
        curator.requests.decide(wanted.id, grant=True, reason="speed", by="olga")
        token, _ = curator.tokens.make(ANALYST, [Scope.ASK])
        with curator.data_sets.store.rows_at(NAME) as source:
            return token, str(source.place)


def priced(number: int) -> Fraction:
    """Another small price for each number, so that each question is another one."""
    return Fraction(10**9 + number, 10**13)


def timed(ask: Callable[[int], object], numbers: Iterator[int], seconds: float) -> Times:
    """How long each question took, for so many seconds, after a few that do not count."""
    for _ in range(3):
        ask(next(numbers))
    times, until = Times(), monotonic() + seconds
    while monotonic() < until:
        began = perf_counter()
        ask(next(numbers))
        times.append(perf_counter() - began)
    return times


def in_processes(work: Callable[..., Times], clients: int, seconds: float, *more: object) -> Times:
    """The times of all clients, each a process that begins at a number of its own."""
    begin = 10**7 * next(RUNS)
    with multiprocessing.get_context("spawn").Pool(clients) as pool:
        pool.starmap(_warm, [()] * clients)
        given = [(begin + 10**6 * client, seconds, *more) for client in range(clients)]
        return [one for times in pool.starmap(work, given, chunksize=1) for one in times]


def _warm() -> None:
    sleep(0.2)


def cpu_seconds(root: int) -> float:
    """What a process and those that it started have used of the processor (on Linux)."""
    used, parents = dict[int, float](), dict[int, int]()
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parts = place.read_text().rpartition(")")[2].split()
            number = int(place.parent.name)
            parents[number] = int(parts[1])
            used[number] = (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
    family = {root}
    while more := {one for one, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(used.get(one, 0.0) for one in family)


def shown(name: str, times: Times, seconds: float, *, cpu: float | None = None) -> float:
    """One line; the median in milliseconds. `cpu` is what the service used for all of them."""
    ordered = sorted(times)
    median, late = (1000 * ordered[int(part * (len(ordered) - 1))] for part in (0.5, 0.99))
    each = "" if cpu is None else f" {1000 * cpu / len(times):9.2f} ms"
    rate = f"{len(times) / seconds:9.0f}/s"
    print(f"  {name:<46} {rate} {median:9.2f} ms {late:9.2f} ms{each}", flush=True)
    return median


def asked_over_http(first: int, seconds: float, port: int, token: str, *, fresh: bool) -> Times:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = {"data_set": NAME, "purpose": PURPOSE, "sql": SQL}

    def ask(number: int) -> None:
        sent = json.dumps({**body, "epsilon": str(priced(number) if fresh else ONE)})
        connection.request("POST", "/api/v1/questions/release", sent, headers)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content[:500]

    return timed(ask, count(first), seconds)


def repeated(first: int, seconds: float, port: int, token: str) -> Times:
    return asked_over_http(first, seconds, port, token, fresh=False)


def fresh(first: int, seconds: float, port: int, token: str) -> Times:
    return asked_over_http(first + 10**8, seconds, port, token, fresh=True)


@contextmanager
def serving(workers: int) -> Iterator[tuple[int, int]]:
    """The service in processes of its own: its port, and its first process."""
    with socket() as found:
        found.bind(("127.0.0.1", 0))
        port = int(found.getsockname()[1])
    code = (
        "import uvicorn; from letalone.curator.http.serving import PROTOCOL;"
        "uvicorn.run('curator:app', factory=True, http=PROTOCOL, host='127.0.0.1',"
        f" port={port}, workers={workers}, access_log=False, log_level='error')"
    )
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    process = Popen(
        [sys.executable, "-c", code],
        stdout=DEVNULL,
        stderr=DEVNULL,
        env={**os.environ, "PYTHONPATH": paths},
    )
    try:
        until = monotonic() + LONGEST_START
        while monotonic() < until and not _answers(port):
            sleep(0.2)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    with suppress(OSError):
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    return False


def in_here(name: str, ask: Callable[[int], object], first: int, seconds: float) -> float:
    """Questions in this process; the median."""
    before = process_time()
    times = timed(ask, count(first), seconds)
    return shown(name, times, seconds, cpu=process_time() - before)


def of_the_library(place: str, ledger: str, seconds: float) -> float:
    """The same questions without a service; the median of a fresh one, connections kept."""
    schema = la.Schema(NAME, _schema().columns, unit="patient_id")
    given = {"schema": schema, "budget": Budget(10, 1e-6)}
    with la.open(place, ledger=ledger, **given) as session:
        in_here("library, repeated", lambda _: session.sql(SQL, epsilon=ONE), 0, seconds)
        in_here("library, fresh", partial(_fresh, session), 0, seconds)
    kept = Ledger.open(ledger, keep=True)
    with kept, la.open(place, ledger=kept, **given) as session:
        name = "library, connections kept"
        in_here(f"{name}, repeated", lambda _: session.sql(SQL, epsilon=ONE), 0, seconds)
        return in_here(f"{name}, fresh", partial(_fresh, session), 10**8, seconds)


def _fresh(session: la.Session, number: int) -> object:
    return session.sql(SQL, epsilon=priced(number))


def _schema() -> la.Schema:
    with Curator.open(settings()) as curator:
        return curator.data_sets.record(NAME).schema


def of_the_curator(seconds: float) -> None:
    """Without HTTP: grants, levels and history on top of the library."""
    question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=SQL)
    with Curator.open(settings()) as curator:

        def ask(epsilon: Fraction) -> object:
            return curator.asking.release(question, QuestionPrice(epsilon=epsilon), by=ANALYST)

        in_here("curator without HTTP, repeated", lambda _: ask(ONE), 0, seconds)
        in_here("curator without HTTP, fresh", lambda n: ask(priced(n)), 5 * 10**8, seconds)


def charged(first: int, seconds: float, place: str) -> Times:
    """One charge and its answer after the other."""
    cost = PureDP(Fraction(1, 10**9), neighbours=ADD_REMOVE)
    with Ledger.open(place) as ledger:

        def charge(number: int) -> None:
            paid = ledger.charge("table", cost, plan={"of": number}, digest=f"{number:064x}")
            ledger.settle(paid, {"answer": number})

        return timed(charge, count(first), seconds)


def of_the_ledger(name: str, place: str, seconds: float) -> None:
    with Ledger.open(place) as ledger:
        ledger.register("table", Budget(1), neighbours=ADD_REMOVE)
    for clients in CLIENTS:
        times = in_processes(charged, clients, seconds, place)
        shown(f"{name}: charge and settle, {_clients(clients)}", times, seconds)
    with Ledger.open(place) as ledger:
        ledger.verify()


def _clients(number: int) -> str:
    return f"{number} client{'s' * (number != 1)}"


def over_http(
    args: argparse.Namespace, token: str, *, base: float | None = None, words: str = ""
) -> None:
    """The service, asked by one client and by several."""
    with serving(args.workers) as (port, process):
        for clients in CLIENTS:
            for kind, work in (("repeated", repeated), ("fresh", fresh)):
                before = cpu_seconds(process)
                times = in_processes(work, clients, args.seconds, port, token)
                cpu, name = cpu_seconds(process) - before, f"HTTP, {_clients(clients)}, {kind}"
                median = shown(f"{name}{words}", times, args.seconds, cpu=cpu)
            if clients == 1 and base is not None:
                print(f"    a fresh question over HTTP adds {median - base:.1f} ms (p50)")


def on_a_store(name: str, places: dict[str, str], args: argparse.Namespace) -> None:
    """Everything on one store."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        given = {"folder": str(folder / "curator"), "time_step_seconds": 0.0}
        os.environ[WHERE] = json.dumps({**given, **places.get("curator", {})})  # pyright: ignore[reportGeneralTypeIssues]
        token, rows = prepared()
        heading(name)
        ledger = places.get("library") or str(folder / "library.db")
        base = of_the_library(rows, str(ledger), args.seconds)
        of_the_curator(args.seconds)
        over_http(args, token, base=base)
        usual = Settings(folder=folder).time_step_seconds
        os.environ[WHERE] = json.dumps(
            {**json.loads(os.environ[WHERE]), "time_step_seconds": usual}
        )
        over_http(args, token, words=f", steps of {usual} s")
        of_the_ledger(name, str(places.get("charges") or folder / "charges.db"), args.seconds)


def heading(name: str) -> None:
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"\n{name}; {os.cpu_count()} cores, load {load}")
    print(f"  {'':<46} {'':>11} {'p50':>9}    {'p99':>9}    {'CPU':>9}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    parser.add_argument("--faults", action="store_true")
    args = parser.parse_args()
    if args.faults:
        for name in FAULTS:
            print(f"\ncurator_{name}", flush=True)
            run([sys.executable, Path(__file__).with_name(f"curator_{name}.py")], check=False)
        return
    if args.only != "postgresql":
        on_a_store("SQLite", {}, args)
    if args.only != "sqlite":
        with running() as server:

            def database(name: str) -> str:
                with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE {name}")  # pyright: ignore[reportArgumentType]
                return str(server.get_uri(database=name))

            service = database("service")
            sqlalchemy = service.replace("postgresql://", "postgresql+psycopg://", 1)
            places = {
                "curator": {"ledger": service, "database": sqlalchemy},
                "library": database("library"),
                "charges": database("charges"),
            }
            on_a_store("PostgreSQL", places, args)


if __name__ == "__main__":
    main()
