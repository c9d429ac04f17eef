"""Run by test_partners.py in a process of its own: it asks about two tables, and is killed.

    python dying_pair.py FOLDER

Prints a list: for each step at which it was killed, what the two ledgers say afterwards.
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import event

import letalone as la
from forking import EVENTS, in_child
from letalone.engines.duckdb.lockdown import LockedDuck

EACH = 13  # every so many steps of a release about two tables


def opened(folder: Path, name: str, book: Path) -> la.Session:
    return la.open(folder / f"{name}.parquet", unit="u", budget=la.Budget(1), ledger=book)


def deadly(sessions: list[la.Session], steps: int) -> None:
    """Kill this process at a step of either ledger or of either engine."""
    left = [steps]

    def count(*_: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    for session in sessions:
        store: Any = session.ledger._store
        for name in EVENTS:
            event.listen(store._engine, name, count)
    run = LockedDuck.run

    def counted(duck: LockedDuck, statement: Any) -> Any:
        count()
        return run(duck, statement)

    LockedDuck.run = counted  # type: ignore[method-assign]


def looked(books: list[Path]) -> list[object]:
    found: list[object] = []
    for book, name in zip(books, ("visits", "patients"), strict=True):
        with la.Ledger.open(book) as ledger:
            ledger.verify()
            spent = str(ledger.data_set(name).spent.epsilon)
            found.append([spent, len(ledger.unsettled(name))])
    return found


def every_step(folder: Path) -> list[object]:
    start = [folder / "visits_start.db", folder / "patients_start.db"]

    def begin() -> None:
        for name, book in zip(("visits", "patients"), start, strict=True):
            opened(folder, name, book).close()

    assert in_child(begin)[0] == 0
    found: list[object] = []
    for step in range(0, 600, EACH):
        books = [folder / f"{number}_{step}.db" for number in range(2)]
        for one, book in zip(start, books, strict=True):
            shutil.copy(one, book)

        def work(books: list[Path] = books, step: int = step) -> None:
            visits = opened(folder, "visits", books[0])
            patients = opened(folder, "patients", books[1])
            query = visits.join(patients, on="u").agg(n=la.count()).bound(max_rows=1)
            deadly([visits, patients], step)
            query.release(0.5)
            os.write(1, b"answered")

        status, told = in_child(work)
        found.append([told, *looked(books)])
        if status == 0:
            return found
    raise AssertionError("it never ended")


if __name__ == "__main__":
    where = Path(sys.argv[1])
    pd.DataFrame({"u": range(20), "x": range(20)}).to_parquet(where / "visits.parquet")
    pd.DataFrame({"u": range(20), "age": range(20)}).to_parquet(where / "patients.parquet")
    print(json.dumps(every_step(where)))
