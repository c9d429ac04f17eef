"""Run by test_crashes.py in a process of its own: it forks, kills its children and looks.

    python killing.py ACT FOLDER

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

from sqlalchemy import event

from forking import EVENTS, in_child
from letalone.errors import BudgetExceeded
from letalone.ledger import Ledger, Reservation
from letalone.privacy import ADD_REMOVE, Budget, PureDP


def prepared(path: Path) -> Reservation:
    ledger = Ledger.open(path)
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
    event.listen(engine.pool, "close", count)


def seen(path: Path) -> list[object]:
    ledger = Ledger.open(path)
    ledger.verify()
    found = ledger.data_set("t")
    state = [str(found.spent.epsilon), str(found.budget.epsilon), found.frozen]
    answer = ledger.repeat_of("t", "first")
    return [len(ledger), *state, answer is not None]


def every_step(name: str, folder: Path) -> dict[str, object]:
    start = folder / "start.db"
    paid = prepared(start)
    deaths: list[list[object]] = []
    for step in range(200):
        path = folder / f"{step}.db"
        shutil.copy(start, path)

        def work(path: Path = path, step: int = step) -> None:
            ledger = Ledger.open(path)
            deadly(ledger, step)
            act(name, ledger, paid)
            os.write(1, b"done")

        status, told = in_child(work)
        if status == 0:
            return {"before": seen(start), "after": seen(path), "deaths": deaths}
        deaths.append([told, seen(path)])
    raise AssertionError("it never ended")


def any_time(folder: Path) -> dict[str, object]:
    """Killed while charging as fast as it can, at a random time."""
    chance, rounds = random.Random(4), []
    for number in range(8):
        path = folder / f"{number}.db"
        Ledger.open(path).register("t", Budget(1000), neighbours=ADD_REMOVE)
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            ledger = Ledger.open(path)
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
        ledger = Ledger.open(path)
        ledger.verify()
        rounds.append([told, ledger.data_set("t").releases])
    return {"rounds": rounds}


def together(folder: Path) -> dict[str, object]:
    """Four processes open the same new file and charge until they are refused."""
    path, children = folder / "shared.db", []
    for _ in range(4):
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            charge_all(path, theirs)
        os.close(theirs)
        children.append((child, ours))
    paid = [len(os.read(ours, 65536)) for child, ours in children if os.waitpid(child, 0)[1] == 0]
    ledger = Ledger.open(path)
    entries = ledger.verify().entries
    return {"paid": paid, "releases": ledger.data_set("t").releases, "entries": entries}


def charge_all(path: Path, told: int) -> None:
    with Ledger.open(path) as ledger:
        ledger.register("t", Budget(1), neighbours=ADD_REMOVE)
        try:
            while True:
                ledger.charge("t", PureDP(0.04), plan={}, digest="x")
                os.write(told, b"x")
        except BudgetExceeded:
            os._exit(0)


if __name__ == "__main__":
    what, where = sys.argv[1], Path(sys.argv[2])
    special = {"any_time": any_time, "together": together}
    print(json.dumps(special[what](where) if what in special else every_step(what, where)))
