"""Which table on Spark a budget is spent on: the ledger remembers it.

A data set on Spark has the last part of its table's name. So clinic.visits and archive.visits, put
into one ledger, would spend one budget, and a question about the one would be answered by what was
answered about the other. The first one's place is written down, and the second one is refused
until its owner gives it a name. `name=` says that the budget is meant, and the place is
written down anew: a table may move.

  Tested:   tests/session/test_same_table.py
"""

from typing import cast

from letalone.engines.spark_address import Place, spelled
from letalone.errors import ParameterError
from letalone.ledger import Ledger
from letalone.ledger.entries import Kind

WHAT = "reads the table on Spark"
MOST = 1_000  # of the owner's acts, the newest first


def check_same_table(ledger: Ledger | None, name: str, place: Place) -> None:
    """Refuses a table under a name whose budget belongs to another table."""
    known = None if ledger is None else _known(ledger, name)
    if known is not None and known != spelled(place):
        raise ParameterError(
            f"The budget of {name!r} in this ledger belongs to the table {known}, and this is"
            f" {spelled(place)}. Give it a name of its own: name= in Python, or name = in its"
            f" schema file; or a ledger of its own. If it is the same table, which has moved, say"
            f" so once in Python: la.open(…, name={name!r})."
        )


def remember_table(ledger: Ledger, name: str, place: Place) -> None:
    """Writes down which table it is, where that is new."""
    if _known(ledger, name) != spelled(place):
        ledger.administer(name, WHAT, {"table": spelled(place)})


def _known(ledger: Ledger, name: str) -> str | None:
    for entry in ledger.newest(name, kind=Kind.ADMINISTERED, limit=MOST):
        if entry.body.get("what") == WHAT:
            return cast("dict[str, str]", entry.body["body"])["table"]
    return None
