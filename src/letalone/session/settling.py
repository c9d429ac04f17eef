"""One at work on a question, and the answer that is written down for it.

Theorem.  Of all draws that were paid for with one charge, one is told at most, and it has the law
that was paid for, however often a run was cut short and asked for again.
  Proven:   docs/explanation/proofs/one_charge.md
  Tested:   tests/session/test_one_charge.py
  Assumed:  whether a run is cut short does not depend on what it draws (`time_steps`)
"""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

from letalone.errors import LedgerDamaged, LedgerUnavailable
from letalone.ledger import Reservation
from letalone.ledger.acts import AlreadySettled, NotBegun
from letalone.ledger.claims import WAIT_SECONDS
from letalone.ledger.store import MAYBE_PAID
from letalone.privacy.curve import Json
from letalone.session.table import Table

TRIES = 2
NO_LEDGER = "The ledger did not take the answer. Its owner has to look at it, and at its disk. "
STAYS_SPENT = (
    "The answer about {!r} could not be written down, so it is told to nobody, and what it cost"
    " stays spent: asking again is charged again."
)


class NotWritten(LedgerUnavailable):
    """An answer that the ledger did not take; its charge was closed, and is not gone on with."""

    default_code = "ANSWER_NOT_WRITTEN"


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
        stored = _settled(one, reservation, stored, first=one is tables[0])
    return stored


def _settled(table: Table, paid: Reservation, stored: Json, *, first: bool) -> Json:
    """What stands in the ledger, after a second try: a connection may have been cut.

    Whether an answer can be written may depend on what it says: on its length, where room is
    short. Once the store was given some of it, and did not take it, it is never drawn anew; nor
    where it stands in the ledger of the first table.
    """
    failed = list[Exception]()
    for _ in range(TRIES):
        try:
            return _settled_once(table, paid, stored)
        except AlreadySettled:
            raise
        except Exception as error:
            failed.append(error)
    words = _words(failed[-1])
    goes_on = first and all(isinstance(one, NotBegun) for one in failed)
    if not goes_on and (_closed(table, paid) or not first):
        raise NotWritten(f"{words.removesuffix(MAYBE_PAID)}{STAYS_SPENT.format(table.name)}")
    raise LedgerUnavailable(words)


def _closed(table: Table, paid: Reservation) -> bool:
    """Whether the charge was ended without an answer. That is shorter than any answer."""
    try:
        table.ledger.abandon(paid)
    except Exception:
        return False
    return True


def _words(error: Exception) -> str:
    """What failed; words that are not of a ledger out of reach could tell what was drawn."""
    known = isinstance(error, (LedgerUnavailable, LedgerDamaged))
    return str(error) if known else f"{NO_LEDGER}{MAYBE_PAID}"


def _settled_once(table: Table, paid: Reservation, stored: Json) -> Json:
    try:
        table.ledger.settle(paid, stored)
    except AlreadySettled:
        found = table.ledger.settled(paid)
        if found is None:
            raise
        return found
    return stored
