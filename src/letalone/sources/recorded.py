"""Which table a budget is spent on: the ledger remembers what a name stands for.

A file has its stem for a name, a table of a database its own, a frame is called "data". So two
files visits.csv in two folders, put into one ledger, would spend one budget, and a question about
the one would be answered by what was answered about the other. The first one's place is written
down, and another one is refused until its owner gives it a name. `name=` says that the budget is
meant, and the place of a table is written down anew: a table may move. A path is written down as it
is and, below the folder of the ledger, also as seen from there; either one will do, so that the
ledger may move without its file, and both together.

The place of a plain file is its path without the ending: visits.csv and visits.parquet beside each
other have one name, one schema file and one ledger, and so are one table.

A frame has no place, and a temporary view of Spark none but its name: that it is one is written
down, where nothing is. Nothing tells whether a second frame is the same data, so it needs a name.
A path on Spark has many spellings and none that is its own, so its budget needs a name, too.

  Tested:   tests/sources/test_recorded.py, tests/on_spark/test_addresses.py
"""

from os import sep
from pathlib import Path
from shlex import quote
from typing import cast

from letalone.errors import ParameterError
from letalone.ledger import Ledger

TABLE_ACT = "reads the table"
OLD_SPARK_ACT = "reads the table on Spark"  # in older ledgers
FRAME = "a frame"
NOWHERE = " (of no catalogue)"


def check_same_table(ledger: Ledger | None, name: str, told: str, *, declared: bool) -> None:
    """Refuses a source under a name whose budget belongs to another table.

    declared: the name is a schema's, so a second frame is meant to have it.
    """
    known = None if ledger is None else _read_remembered(ledger, name)
    if ledger is None or known is None:
        return
    here = _places(ledger, told)
    same = not set(known.values()).isdisjoint(here.values())
    if same and (declared or told != FRAME):
        return
    raise ParameterError(
        f"The budget of {name!r} in this ledger belongs to {_in_words(known['table'])}, and this is"
        f" {'another one, or the same: nothing tells' if same else here['table']}. Give it a name"
        " of its own: name= in Python, --name in the terminal, or name = in its schema file; or a"
        " ledger of its own. If it is the same table, which has moved or has another name here, say"
        f" so: la.open(…, name={name!r}), or letalone query … --name {quote(name)}. Keep the ledger"
        " in a folder above the data, and both can move together."
    )


def remember_table(ledger: Ledger, name: str, told: str, *, declared: bool, given: bool) -> None:
    """Writes down which table it is, where that is new; `given`: name= says that it is meant.

    Of two that are opened at once under a name that nobody gave, the second one is refused here.
    """
    here, known = _places(ledger, told), _read_remembered(ledger, name)
    if known is None:
        first = ledger.administer_first(name, TABLE_ACT, {**here})
        if first is None and not given:
            check_same_table(ledger, name, told, declared=declared)
    elif known != here and told != FRAME and not told.endswith(NOWHERE):
        ledger.administer(name, TABLE_ACT, {**here})


def _read_remembered(ledger: Ledger, name: str) -> dict[str, str] | None:
    entry = ledger.last_act(name, TABLE_ACT) or ledger.last_act(name, OLD_SPARK_ACT)
    return None if entry is None else cast("dict[str, str]", entry.body["body"])


def _in_words(known: str) -> str:
    return known if known == FRAME else f"the table {known}"


def _places(ledger: Ledger, told: str) -> dict[str, str]:
    """A path below the folder of the ledger as seen from there, and whole; all else as it is."""
    place = None if ledger.path is None else Path(ledger.path).resolve()
    if place is None or not place.is_file():
        return {"table": told}
    seen = told.removeprefix(f"{place.parent}{sep}")
    return {"table": told} if seen == told else {"table": seen, "at": told}
