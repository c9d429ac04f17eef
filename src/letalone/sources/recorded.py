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
Of a list of files, what it holds may change; it has a name from its owner, and no place.
A path on Spark has many spellings and none that is its own, so its budget needs a name, too.

  Tested:   tests/sources/test_recorded.py, tests/on_spark/test_addresses.py
"""

from pathlib import Path
from shlex import quote
from typing import cast

from letalone.errors import ParameterError
from letalone.ledger import Ledger
from letalone.sources.source import Source, same_as_recorded, write_places

TABLE_ACT = "reads the table"
OLD_SPARK_ACT = "reads the table on Spark"  # in older ledgers
FRAME = "a frame"
SEVERAL_FILES = "a list of files"
NOWHERE = " (of no catalogue)"


def check_same_table(ledger: Ledger | None, name: str, source: Source, *, declared: bool) -> None:
    """Refuses a source under a name whose budget belongs to another table.

    declared: the name is a schema's, so a second frame is meant to have it.
    """
    known = None if ledger is None else _read_remembered(ledger, name)
    if ledger is None or known is None:
        return
    folder = _folder_of(ledger)
    here, same = write_places(source, folder), same_as_recorded(source, known, folder)
    if same and (declared or source.recorded_as != FRAME):
        return
    raise ParameterError(
        f"The budget of {name!r} in this ledger belongs to {_in_words(known['table'])}, and this is"
        f" {'another one, or the same: nothing tells' if same else here['table']}. Give it"
        " another name: name= in Python, --name in the terminal, or name = in its schema file; or"
        " another ledger. If it is the same table, which has moved or has another name here, say"
        f" so: la.open(…, name={name!r}), or letalone query … --name {quote(name)}. Keep the ledger"
        " in a folder above the data, and both can move together."
    )


def remember_table(
    ledger: Ledger, name: str, source: Source, *, declared: bool, given: bool
) -> None:
    """Writes down which table it is, where that is new; `given`: name= says that it is meant.

    Of two that are opened at once under a name that nobody gave, the second one is refused here.
    """
    recorded = source.recorded_as
    here, known = write_places(source, _folder_of(ledger)), _read_remembered(ledger, name)
    if known is None:
        first = ledger.administer_first(name, TABLE_ACT, {**here})
        if first is None and not given:
            check_same_table(ledger, name, source, declared=declared)
    elif known != here and recorded != FRAME and not recorded.endswith(NOWHERE):
        ledger.administer(name, TABLE_ACT, {**here})


def _read_remembered(ledger: Ledger, name: str) -> dict[str, str] | None:
    entry = ledger.last_act(name, TABLE_ACT) or ledger.last_act(name, OLD_SPARK_ACT)
    return None if entry is None else cast("dict[str, str]", entry.body["body"])


def _in_words(known: str) -> str:
    return known if known == FRAME else f"the table {known}"


def _folder_of(ledger: Ledger) -> Path | None:
    """Where the ledger lies, if it is a file."""
    place = None if ledger.path is None else Path(ledger.path).resolve()
    return place.parent if place is not None and place.is_file() else None
