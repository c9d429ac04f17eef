"""Many processes on one budget, and processes that are killed: on SQLite and on PostgreSQL.

    python bench/crash.py [--processes 16] [--charges 200] [--kills 100] [--window 20]
                          [--stores SQLite PostgreSQL]

Exactly the allowed number of charges must be accepted, nothing that returned may be lost, at
most one charge may be kept that was not told, what was under way is asked again and charged once,
and the chain must hold. Prints charges a second.

A process is killed at a random time within a window that begins when it has told its first charge:
the window is `--window` charges long, by how long they take here, so that kills fall into every
part of a charge and of a settlement, on a quick machine and on a slow one.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter, sleep

import psycopg

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from letalone.errors import BudgetExceeded
from letalone.ledger import Ledger
from letalone.privacy import ADD_REMOVE, Budget, PureDP
from postgres import running

Makes = Callable[[str], str]  # from a name to the place of a new ledger


@contextmanager
def places() -> Iterator[dict[str, Makes]]:
    with tempfile.TemporaryDirectory() as folder, running() as server:

        def database(name: str) -> str:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")  # pyright: ignore[reportArgumentType]
            return str(server.get_uri(database=name))

        yield {"SQLite": lambda name: f"{folder}/{name}.db", "PostgreSQL": database}


def in_process(work: Callable[[int], None]) -> tuple[int, int]:
    """A child, and where it tells what it has done."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        work(theirs)
        os._exit(0)
    os.close(theirs)
    return child, ours


def told(source: int) -> int:
    count = 0
    while part := os.read(source, 65536):
        count += len(part)
    os.close(source)
    return count


def race(place: str, processes: int, charges: int) -> None:
    """All charge as fast as they can; half of it fits."""
    allowed = processes * charges // 2
    with Ledger.open(place) as ledger:
        ledger.register("t", Budget(allowed), neighbours=ADD_REMOVE)

    def charge_on(theirs: int) -> None:
        with Ledger.open(place) as ledger:
            for number in range(charges):
                with suppress(BudgetExceeded):
                    ledger.charge("t", PureDP(1), plan={}, digest=str(number))
                    os.write(theirs, b"x")

    start = perf_counter()
    children = [in_process(charge_on) for _ in range(processes)]
    paid = sum(told(source) for _, source in children)
    ended = [os.waitpid(child, 0)[1] for child, _ in children]
    seconds = perf_counter() - start
    with Ledger.open(place) as ledger:
        entries, releases = ledger.verify().entries, ledger.data_set("t").releases
    assert ended == [0] * processes, ended
    assert paid == releases == allowed, (paid, releases, allowed)
    assert entries == 2 + processes * charges, entries
    rate = processes * charges / seconds
    print(
        f"  {processes} × {charges}: {paid} of {processes * charges} accepted, the chain holds; "
        f"{rate:.0f} charges and refusals a second"
    )


def kills(place: str, times: int, seed: int, charges: int) -> None:
    """Charging and settling, killed at a random time, again and again on one ledger.

    After each kill what was under way is asked again: each question is charged once.
    """
    chance, fewest, adopted = random.Random(seed), times, 0
    with Ledger.open(place) as ledger:
        ledger.register("t", Budget(10**9), neighbours=ADD_REMOVE)
        window = charges * one_charge(ledger)
        before = asked = ledger.data_set("t").releases

    def answer_on(theirs: int, first: int) -> None:
        ledger = Ledger.open(place)
        for number in count(first):
            answered(ledger, number, lambda: os.write(theirs, b"x"))

    for _ in range(times):
        child, source = in_process(partial(answer_on, first=asked))
        first = len(os.read(source, 1))
        sleep(chance.random() * window)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        heard = first + told(source)
        fewest = min(fewest, heard)
        with Ledger.open(place) as ledger:
            ledger.note("look")  # after whatever the server still had to roll back
            releases = ledger.data_set("t").releases
            assert asked + heard <= releases <= asked + heard + 1, (asked, heard, releases)
            adopted += len(ledger.unsettled())
            for number in range(asked + heard - 1, asked + heard + 1):
                answered(ledger, number)
            asked += heard + 1
            assert ledger.data_set("t").releases == asked, "a question was charged twice"
            assert ledger.unsettled() == []
    with Ledger.open(place) as ledger:
        ledger.verify()
    print(
        f"  killed {times} times within {1000 * window:.0f} ms of a first charge: "
        f"{asked - before} questions ({fewest} at least told by each process), as many charges; "
        f"{adopted} were charged and not settled, and were gone on with; the chain holds"
    )


def answered(ledger: Ledger, number: int, tell: Callable[[], object] = lambda: None) -> None:
    """A question as sessions ask it: an earlier answer, or one that is charged and settled."""
    digest = f"question {number}"
    with ledger.claim("t", digest):
        if ledger.repeat_of("t", digest) is None:
            paid = ledger.charge("t", PureDP(1), plan={}, digest=digest, run="one")
            tell()
            ledger.settle(paid, {"values": [paid.number]})


def one_charge(ledger: Ledger, tries: int = 20) -> float:
    """How long a charge and its settlement take here, about: the median of a few."""
    times: list[float] = []
    for number in range(tries):
        start = perf_counter()
        paid = ledger.charge("t", PureDP(1), plan={}, digest="x")
        ledger.settle(paid, {"values": [number]})
        times.append(perf_counter() - start)
    return sorted(times)[tries // 2]


def alone(place: str, charges: int = 200) -> None:
    with Ledger.open(place) as ledger:
        ledger.register("t", Budget(10**9), neighbours=ADD_REMOVE)
        start = perf_counter()
        for number in range(charges):
            ledger.charge("t", PureDP(1), plan={}, digest=str(number))
        print(f"  one process: {charges / (perf_counter() - start):.0f} charges a second")


def main() -> None:
    words = argparse.ArgumentParser()
    usual = {"processes": 16, "charges": 200, "kills": 100, "seed": 1, "window": 20}
    for name, number in usual.items():
        words.add_argument(f"--{name}", type=int, default=number)
    words.add_argument("--stores", nargs="*", default=["SQLite", "PostgreSQL"])
    asked = words.parse_args()
    with places() as stores:
        for store in asked.stores:
            new = stores[store]
            print(store, flush=True)
            alone(new("alone"))
            race(new("race"), asked.processes, asked.charges)
            kills(new("kills"), asked.kills, asked.seed, asked.window)


if __name__ == "__main__":
    main()
