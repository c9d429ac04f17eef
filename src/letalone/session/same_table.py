"""Which table on Spark a budget is spent on: the ledger remembers it.

A data set on Spark has the last part of its table's name. So clinic.visits and archive.visits, put
into one ledger, would spend one budget, and a question about the one would be answered by what was
answered about the other. The first one's place is written down, and the second one is refused
until its owner gives it a name: so are a temporary view, a frame and a file. `name=` says that the
budget is meant, and the place of a table is written down anew: a table may move. Of a name without
a place (a temporary view) the name is written down, where nothing is.

A path has many spellings and none that is its own, so its budget needs a name that is given.

  Tested:   tests/session/test_same_table.py, tests/on_spark/test_addresses.py
"""

from typing import cast

from letalone.engines.spark_address import Place, spelled
from letalone.engines.spark_frame import is_path_on_spark, parts_in
from letalone.errors import ParameterError
from letalone.ledger import Ledger

WHAT = "reads the table on Spark"
NOWHERE = " (of no catalogue)"


def told_of(source: object, place: Place | None) -> str | None:
    """What is written down: a table's place, else the name that Spark was given, else nothing."""
    if place is not None:
        return spelled(place)
    parts = parts_in(source)
    return None if parts is None else spelled(parts) + NOWHERE


def check_named(source: object) -> None:
    """Refuses a path on Spark, where nobody has named the data set."""
    if is_path_on_spark(source):
        raise ParameterError(
            "This is a path, which can be written in many ways, and its budget would begin anew"
            " with each. Give the data set a name: la.open(…, name='visits')."
        )


def check_same_table(ledger: Ledger | None, name: str, told: str | None) -> None:
    """Refuses a source under a name whose budget belongs to another table."""
    known = None if ledger is None else _known(ledger, name)
    if known is not None and known != told:
        raise ParameterError(
            f"The budget of {name!r} in this ledger belongs to the table {known}, and this is"
            f" {told or 'something else'}. Give it a name of its own: name= in Python, or name = in"
            f" its schema file; or a ledger of its own. If it is the same table, which has moved or"
            f" has another name here, say so in Python: la.open(…, name={name!r})."
        )


def remember_table(ledger: Ledger, name: str, told: str | None) -> None:
    """Writes down which table it is, where that is new."""
    if told is None:
        return
    known = _known(ledger, name)
    if known is None or (known != told and not told.endswith(NOWHERE)):
        ledger.administer(name, WHAT, {"table": told})


def _known(ledger: Ledger, name: str) -> str | None:
    entry = ledger.last_act(name, WHAT)
    return None if entry is None else cast("dict[str, str]", entry.body["body"])["table"]
