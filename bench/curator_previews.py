"""Another's question beside hostile previews: seconds, of one hostile analyst and of five.

    python bench/curator_previews.py [--seconds 10] [--workers 1] [--previews 100]

Previews are free. The hostile ones take the processor for as long as they can: 99 medians, or an
explanation of 20 aggregates at ε = 1e-6. So many are under way at all times, each on a connection
of its own, in a process of their own; whoever is refused (429) asks again when Retry-After says so,
or, *pressing*, after a tenth of that. Meanwhile somebody else looks at /health, at previews of
their own, and asks fresh questions, one after the other. Told: the median, the slowest, and how
many. Time steps are off, so that work is seen and not waiting. A busy machine makes all of it
slower: the load is printed.
"""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from socket import socket
from subprocess import DEVNULL, Popen
from threading import Thread
from time import monotonic, perf_counter, sleep

from letalone.curator.curator import Curator
from letalone.curator.data_sets.demo_data_set import NAME, PURPOSE, register_demo
from letalone.curator.storage.settings import Settings
from letalone.privacy import Budget
from letalone.wire.records import Role, Scope

OTHER, HOSTILE = "ann", tuple(f"hostile{number}" for number in range(5))
PASSWORD = "correct horse battery staple"
SQL = f"SELECT ward, COUNT(*) AS n FROM {NAME} GROUP BY ward"
MEDIANS = ", ".join(f"MEDIAN(cost + {number}) AS m{number}" for number in range(99))
SUMS = ", ".join(f"SUM(cost + {number}) AS s{number}" for number in range(20))
LOOKS = {
    "99 medians": ("preview", f"SELECT {MEDIANS} FROM {NAME}", "1."),
    "20 aggregates at ε = 1e-6": ("explanation", f"SELECT {SUMS} FROM {NAME}", "0.000001"),
}
LONGEST_START, SETTLING = 60, 3
CODE = (
    "import sys; from pathlib import Path; from letalone.curator.http.serving import serve;"
    "from letalone.curator.storage.settings import Settings;"
    "serve(Settings(folder=Path(sys.argv[1]), time_step_seconds=0), host='127.0.0.1',"
    " port=int(sys.argv[2]), workers=int(sys.argv[3]))"
)


def prepared(folder: Path) -> dict[str, str]:
    """The demo data, and analysts who may ask it; a token of each."""
    with Curator.open(Settings(folder=folder)) as curator:
        first = curator.people.first_owner("olga")
        assert first is not None
        curator.people.change_password("olga", first, PASSWORD)
        register_demo(curator, by="olga")
        return {name: _analyst(curator, name) for name in (OTHER, *HOSTILE)}


def _analyst(curator: Curator, name: str) -> str:
    once = curator.people.add(name, [Role.ANALYST], by="olga")
    curator.people.change_password(name, once, PASSWORD)
    columns = [column.name for column in curator.data_sets.record(NAME).schema.columns]
    wanted = curator.requests.make(
        NAME, purpose=PURPOSE, columns=columns, budget=Budget(1), why="speed", by=name
    )
    curator.requests.decide(wanted.id, grant=True, reason="speed", by="olga")
    return curator.tokens.make(name, [Scope.ASK])[0]


@contextmanager
def serving(folder: Path, workers: int) -> Iterator[int]:
    """The service as it is started, in processes of its own; its port."""
    with socket() as found:
        found.bind(("127.0.0.1", 0))
        port = int(found.getsockname()[1])
    process = Popen(
        [sys.executable, "-c", CODE, str(folder), str(port), str(workers)], stderr=DEVNULL
    )
    try:
        until = monotonic() + LONGEST_START
        while monotonic() < until and not _answers(port):
            sleep(0.2)
        yield port
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    with suppress(OSError, HTTPException):
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    return False


def posted(connection: HTTPConnection, what: str, token: str, sql: str, epsilon: str) -> int:
    """One question; the seconds to wait before the next, where it was refused as one too many."""
    body = {"data_set": NAME, "purpose": PURPOSE, "sql": sql, "epsilon": epsilon}
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request("POST", f"/api/v1/questions/{what}", json.dumps(body), headers)
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status in (200, 429), content[:500]
    return int(answer.headers.get("Retry-After", 0))


def press(port: int, tokens: list[str], look: str, previews: int, part: float) -> None:
    """Hostile previews, so many at once, until the process is ended; equal ones are not asked."""
    (what, sql, epsilon), numbers = LOOKS[look], count()

    def go_on(token: str) -> None:
        while True:
            with suppress(OSError, HTTPException):
                connection = HTTPConnection("127.0.0.1", port, timeout=600)
                while True:
                    price = f"{epsilon}{next(numbers):06d}"
                    sleep(part * posted(connection, what, token, sql, price))
            sleep(1)

    for number in range(previews):
        Thread(target=go_on, args=(tokens[number % len(tokens)],), daemon=True).start()
    sleep(10**6)


def timed(name: str, ask: Callable[[int], object], seconds: float) -> None:
    """One line: one after the other, for so many seconds, and at least one."""
    times, until = list[float](), monotonic() + seconds
    while not times or monotonic() < until:
        began = perf_counter()
        ask(len(times))
        times.append(perf_counter() - began)
    middle = sorted(times)[len(times) // 2]
    print(f"    {name:<22} {middle:8.3f} s {max(times):8.3f} s {len(times):6}", flush=True)


def measured(port: int, token: str, seconds: float, run: int) -> None:
    """What somebody else sees."""
    connection = HTTPConnection("127.0.0.1", port, timeout=600)

    def health(_: int) -> None:
        connection.request("GET", "/health")
        connection.getresponse().read()

    def ask(what: str) -> Callable[[int], object]:
        return lambda n: posted(connection, what, token, SQL, f"0.0001{run:03d}{n:05d}")

    timed("/health", health, seconds / 2)
    timed("a preview of another", ask("preview"), seconds / 2)
    timed("a fresh question", ask("release"), seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--previews", type=int, default=100)
    args, runs = parser.parse_args(), count(100)
    for look in LOOKS:
        for people, part in ((0, 1.0), (1, 1.0), (1, 0.1), (5, 1.0)):
            if people == 0 and look != next(iter(LOOKS)):
                continue
            with tempfile.TemporaryDirectory() as text:
                tokens = prepared(Path(text))
                with serving(Path(text), args.workers) as port:
                    one_run(args, port, tokens, look, people, part, next(runs))


def one_run(
    args: argparse.Namespace,
    port: int,
    tokens: dict[str, str],
    look: str,
    people: int,
    part: float,
    run: int,
) -> None:
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    whose = f"{args.previews} of {people} people{', pressing' * (part < 1)}: {look}"
    print(f"  {whose if people else 'beside nothing'}; load {load}")
    context = multiprocessing.get_context("spawn")
    hostile = [tokens[name] for name in HOSTILE[:people]]
    process = context.Process(target=press, args=(port, hostile, look, args.previews, part))
    if people:
        process.start()
        sleep(SETTLING)
    try:
        measured(port, tokens[OTHER], args.seconds, run)
    finally:
        if people:
            process.kill()
            process.join()


if __name__ == "__main__":
    main()
