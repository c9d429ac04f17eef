"""Run by test_crashes.py in a process of its own: it forks, kills its children and looks.

    python killing.py ACT FOLDER|ADDRESS

prints one JSON object: what was found after each death.
"""

import json
import os
import random
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any

import psycopg
from sqlalchemy import event, make_url

from forking import EVENTS, in_child
from letalone.errors import BudgetExceeded
from letalone.ledger import Ledger, Reservation
from letalone.privacy import ADD_REMOVE, Budget, PureDP

PROCESSES, CHARGES = 8, 25


def prepared(place: str) -> Reservation:
    with Ledger.open(place) as ledger:
        ledger.register("t", Budget(1), neighbours=ADD_REMOVE)
        return ledger.charge("t", PureDP(0.25), plan={}, digest="first")


def act(name: str, ledger: Ledger, paid: Reservation) -> None:
    match name:
        case "charge":
            ledger.charge("t", PureDP(0.5), plan={}, digest="second")
        case "refuse":
            with suppress(BudgetExceeded):
                ledger.charge("t", PureDP(5), plan={}, digest="second")
        case "settle":
            ledger.settle(paid, {"values": [1]})
        case "fail":
            ledger.fail(paid)
        case "raise":
            ledger.raise_budget("t", Budget(2))
        case _:
            raise ValueError(name)


def deadly(ledger: Ledger, steps: int) -> None:
    """Kill this process at the given event: before or after a statement, at a commit, after it."""
    left = [steps]

    def count(*_: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    engine = ledger._store._engine
    for name in EVENTS:
        event.listen(engine, name, count)
    for name in ("checkin", "close"):  # a server's connection goes back to be used again
        event.listen(engine.pool, name, count)
    execute = psycopg.Connection.execute

    def counted(*asked: Any, **more: Any) -> Any:
        """What goes to a server together is sent one after the other: it may have come so far."""
        count()
        sent = execute(*asked, **more)
        count()
        return sent

    psycopg.Connection.execute = counted


class Files:
    """Ledgers in files of a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def new(self, name: str) -> str:
        return str(self.folder / name)

    def copy(self, start: str, name: str) -> str:
        return shutil.copy(start, self.folder / name)

    def wait(self, place: str) -> None:
        """What a process did is done when it ends."""


class Databases:
    """Ledgers in databases of a server."""

    def __init__(self, address: str) -> None:
        self.address = address

    def new(self, name: str, *, like: str = "template1") -> str:
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name}")
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {like} STRATEGY WAL_LOG")
        return self.address.replace("/postgres?", f"/{name}?")

    def copy(self, start: str, name: str) -> str:
        return self.new(name, like=make_url(start).database or "")

    def wait(self, place: str) -> None:
        """Until the server has done what a process that died had sent."""
        left = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        with psycopg.connect(self.address, autocommit=True) as connection:
            while connection.execute(left, [make_url(place).database]).fetchone() != (0,):
                sleep(0.01)


Places = Files | Databases


def seen(place: str) -> list[object]:
    with Ledger.open(place) as ledger:
        ledger.verify()
        found = ledger.data_set("t")
        state = [str(found.spent.epsilon), str(found.budget.epsilon), found.frozen]
        answer = ledger.repeat_of("t", "first")
        return [len(ledger), *state, answer is not None]


def every_step(name: str, places: Places) -> dict[str, object]:
    """What did not change what is kept is tried again on the same ledger: copies take time."""
    start = places.new("start")
    paid = prepared(start)
    before, place = seen(start), places.copy(start, "copy")
    deaths: list[list[object]] = []
    for step in range(200):

        def work(place: str = place, step: int = step) -> None:
            ledger = Ledger.open(place)
            deadly(ledger, step)
            act(name, ledger, paid)
            os.write(1, b"done")

        status, told = in_child(work)
        places.wait(place)
        state = seen(place)
        if status == 0:
            return {"before": before, "after": state, "deaths": deaths}
        deaths.append([told, state])
        if state != before:
            place = places.copy(start, "copy")
    raise AssertionError("it never ended")


def any_time(places: Places) -> dict[str, object]:
    """Killed while charging as fast as it can, at a random time."""
    chance, rounds = random.Random(4), []
    for number in range(8 if isinstance(places, Files) else 4):
        place = places.new(f"any{number}")
        with Ledger.open(place) as ledger:
            ledger.register("t", Budget(1000), neighbours=ADD_REMOVE)
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            ledger = Ledger.open(place)
            while True:
                ledger.charge("t", PureDP(1), plan={}, digest="x")
                os.write(theirs, b"x")
        os.close(theirs)
        os.read(ours, 1)
        sleep(chance.random() / 5)
        os.kill(child, signal.SIGKILL)
        told = 1
        while part := os.read(ours, 65536):
            told += len(part)
        os.waitpid(child, 0)
        with Ledger.open(place) as ledger:
            ledger.verify()
            rounds.append([told, ledger.data_set("t").releases])
    return {"rounds": rounds}


def together(places: Places) -> dict[str, object]:
    """Eight processes open the same new ledger and charge 25 times each; half of that fits."""
    place, children = places.new("shared"), []
    for _ in range(PROCESSES):
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            charge_on(place, theirs)
        os.close(theirs)
        children.append((child, ours))
    paid = [len(os.read(ours, 65536)) for child, ours in children if os.waitpid(child, 0)[1] == 0]
    with Ledger.open(place) as ledger:
        entries = ledger.verify().entries
        return {"paid": paid, "releases": ledger.data_set("t").releases, "entries": entries}


def charge_on(place: str, told: int) -> None:
    with Ledger.open(place) as ledger:
        ledger.register("t", Budget(1), neighbours=ADD_REMOVE)
        for _ in range(CHARGES):
            with suppress(BudgetExceeded):
                ledger.charge("t", PureDP(0.01), plan={}, digest="x")
                os.write(told, b"x")
    os._exit(0)


if __name__ == "__main__":
    what, where = sys.argv[1], sys.argv[2]
    found: Places = Databases(where) if "://" in where else Files(where)
    special = {"any_time": any_time, "together": together}
    print(json.dumps(special[what](found) if what in special else every_step(what, found)))
