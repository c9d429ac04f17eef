"""Run by test_hostile_processes.py in a process of its own: it forks, kills its children and looks.

    python dying.py WHAT FOLDER

prints one JSON object: what was found after each death.
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import event

import letalone as la
from forking import EVENTS, in_child
from letalone.engines.duckdb.lockdown import LockedDuck

ASKED = 0.625
EACH = 9  # every ninth of about seventy steps, to be quick; all of them were looked at once


def opened(folder: Path, book: Path) -> la.Session:
    table = folder / "t.parquet"
    return la.open(table, unit="u", budget=la.Budget(1), ledger=book, name="t")


def released(session: la.Session) -> la.Release:
    return session.agg(n=la.count()).bound(max_rows=1).release(ASKED)


def deadly(session: la.Session, steps: int) -> None:
    """Kill this process at a step: before or after a statement of the ledger or of the engine."""
    left = [steps]

    def count(*_: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    store: Any = session.ledger._store
    for name in EVENTS:
        event.listen(store._engine, name, count)
    run = LockedDuck.run

    def counted(duck: LockedDuck, statement: Any) -> Any:
        count()
        rows = run(duck, statement)
        count()
        return rows

    LockedDuck.run = counted  # type: ignore[method-assign]


def looked(folder: Path, book: Path) -> dict[str, object]:
    """What a later process finds: told to a child, since this one must not hold an engine."""

    def look() -> None:
        with opened(folder, book) as session:
            session.ledger.verify()
            spent, unsettled = str(session.spent.epsilon), len(session.ledger.unsettled())
            again = released(session)
            found = ["repeated" if again.repeated else "answered", again.rows()[0]["n"]]
            state = {"spent": spent, "unsettled": unsettled, "again": found}
            os.write(1, json.dumps({**state, "after": str(session.spent.epsilon)}).encode())

    status, told = in_child(look)
    assert status == 0, told
    return json.loads(told)


def every_step(folder: Path) -> list[object]:
    start, found = folder / "start.db", []
    assert in_child(lambda: opened(folder, start).close())[0] == 0
    for step in range(0, 300, EACH):
        book = folder / f"{step}.db"
        shutil.copy(start, book)

        def work(book: Path = book, step: int = step) -> None:
            session = opened(folder, book)
            deadly(session, step)
            answer = released(session).rows()[0]["n"]
            os.write(1, str(answer).encode())

        status, told = in_child(work)
        found.append([told, looked(folder, book)])
        if status == 0:
            return found
    raise AssertionError("it never ended")


def together(folder: Path) -> list[object]:
    """Four processes ask for the last of one budget at once, each something else."""
    book, children = folder / "shared.db", []
    assert in_child(lambda: opened(folder, book).close())[0] == 0
    ready, go = os.pipe()
    for number in range(4):
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(go)
            session = opened(folder, book)
            os.read(ready, 1)  # returns in all of them at once, when the parent lets go
            try:
                session.where(la.col("x") > number).agg(n=la.count()).bound(max_rows=1).release(0.3)
                os.write(theirs, b"answered")
            except la.BudgetExceeded:
                os.write(theirs, b"refused")
            os._exit(0)
        os.close(theirs)
        children.append((child, ours))
    os.close(ready)
    os.close(go)
    told = [os.read(ours, 64).decode() for child, ours in children if os.waitpid(child, 0)[1] == 0]
    return [sorted(told), looked_at(book)]


def looked_at(book: Path) -> str:
    ledger = la.Ledger.open(book)
    ledger.verify()
    return str(ledger.data_set("t").spent.epsilon)


if __name__ == "__main__":
    what, where = sys.argv[1], Path(sys.argv[2])
    pq.write_table(pa.table({"u": range(40), "x": range(40)}), where / "t.parquet")
    print(json.dumps({"steps": every_step, "together": together}[what](where)))
