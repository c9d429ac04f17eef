"""What it costs that a ledger cannot go back unnoticed.

    PYTHONPATH=src python bench/curator_head.py [postgresql://…]

Measured, on a file (connections kept) and on PostgreSQL where an address is given: statements and
milliseconds (the median) of a charge with its settlement, of a look at a budget that has changed,
each by one process alone and by two that take turns.
"""

import sys
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from sqlalchemy import event

from letalone.ledger import Ledger
from letalone.privacy import ADD_REMOVE, Budget, PureDP

COST, ROUNDS = PureDP(0.001, neighbours=ADD_REMOVE), 200
NUMBERS = count()


def main() -> None:
    """Prints one line a store and case."""
    with tempfile.TemporaryDirectory() as folder:
        for place in (str(Path(folder) / "ledger.db"), *sys.argv[1:]):
            with Ledger.open(place, keep=True) as one, Ledger.open(place, keep=True) as other:
                one.register("bench", Budget(10), neighbours=ADD_REMOVE)
                kind = place.partition(":")[0] if "://" in place else "file"
                _print(kind, "a charge, alone", one, lambda: None, lambda: _charge(one))
                _print(
                    kind, "a charge, in turns", one, lambda: _charge(other), lambda: _charge(one)
                )
                _print(kind, "a look, own charge", one, lambda: _charge(one), lambda: _look(one))
                _print(kind, "a look, in turns", one, lambda: _charge(other), lambda: _look(one))


def _print(
    kind: str, what: str, ledger: Ledger, before: Callable[[], None], act: Callable[[], None]
) -> None:
    statements, store, times = [0], ledger._store, list[float]()  # pyright: ignore[reportPrivateUsage]
    engine: Any = store._engine  # pyright: ignore[reportPrivateUsage]

    def add(*_: object) -> None:
        statements[0] += 1

    for _ in range(ROUNDS):
        before()
        event.listen(engine, "before_cursor_execute", add)
        start = perf_counter()
        act()
        times.append(perf_counter() - start)
        event.remove(engine, "before_cursor_execute", add)
    each = statements[0] / ROUNDS
    print(f"{kind:<11} {what:<20} {each:5.1f} statements  {1000 * median(times):7.2f} ms")


def _charge(ledger: Ledger) -> None:
    number = next(NUMBERS)
    paid = ledger.charge("bench", COST, plan={"of": number}, digest=f"{number:064x}")
    ledger.settle(paid, {"answer": number})


def _look(ledger: Ledger) -> None:
    ledger.data_set("bench")


if __name__ == "__main__":
    main()
