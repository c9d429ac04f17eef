"""One at work on a question, and the answer that is written down for it.

Theorem.  Of all draws that were paid for with one charge, one is told at most, and it has the law
that was paid for, however often a run was cut short and asked for again.
  Proven:   docs/explanation/proofs/one_charge.md
  Tested:   tests/session/test_one_charge.py
  Assumed:  whether a run is cut short does not depend on what it draws (`time_steps`)
"""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from letalone.errors import LedgerUnavailable, LetaloneError
from letalone.ledger import Reservation
from letalone.ledger.acts import AlreadySettled
from letalone.ledger.claims import WAIT_SECONDS
from letalone.ledger.store import NoRoom
from letalone.privacy.curve import Json
from letalone.session.table import Table


@contextmanager
def alone_with(
    tables: Sequence[Table], digest: str, *, wait_seconds: float = WAIT_SECONDS
) -> Generator[None]:
    """Nobody else is at work on this question, in any process; UnderWay where another stays so."""
    with ExitStack() as stack:
        for one in sorted(tables, key=lambda one: one.name):  # so that nobody waits in a circle
            claim = one.ledger.claim(one.name, digest, wait_seconds=wait_seconds)
            stack.enter_context(claim)
        yield


def written_down(tables: Sequence[Table], paid: Sequence[Reservation], stored: Json) -> Json:
    """The answer that stands in all ledgers, in the order of the tables: what is told.

    It is the one that was drawn. Where a claim was lost, with its connection, another may have
    settled: then its answer stands, and what was drawn here is told to nobody.
    """
    for one, reservation in zip(tables, paid, strict=True):
        stored = _settled(one, reservation, stored)
    return stored


def _settled(table: Table, paid: Reservation, stored: Json) -> Json:
    try:
        return _settled_once(table, paid, stored)
    except NoRoom:
        # Whether it fits depends on how long it is, and so on what was drawn. It is never drawn
        # anew; where there is no room to say so, there was none for any answer.
        with suppress(LetaloneError):
            table.ledger.abandon(paid)
        raise
    except LedgerUnavailable:
        return _settled_once(table, paid, stored)  # a connection may have been cut


def _settled_once(table: Table, paid: Reservation, stored: Json) -> Json:
    try:
        table.ledger.settle(paid, stored)
    except AlreadySettled:
        found = table.ledger.settled(paid)
        if found is None:
            raise
        return found
    return stored
