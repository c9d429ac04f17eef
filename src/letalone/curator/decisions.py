"""Decides requests and proposals, each at most once, and reads the reasons that people give.

Tested:   tests/curator/test_requests.py
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Row, Table, select, update

from letalone.curator.records import Proposal, RequestRecord, State
from letalone.curator.refusals import AlreadyDecided, NotThere
from letalone.curator.stored_values import Clock, write_time
from letalone.errors import ParameterError
from letalone.ledger.data_sets import read_text

MAX_REASON_LENGTH = 2000
Decided = TypeVar("Decided", RequestRecord, Proposal)


def read_words(name: str, words: object) -> str:
    """A reason that people write: not empty, and not too long."""
    text = read_text(name, words)
    if len(text) > MAX_REASON_LENGTH:
        raise ParameterError(f"{name} has {len(text)} letters, but may have {MAX_REASON_LENGTH}.")
    return text


@dataclass(frozen=True, slots=True)
class Decisions(Generic[Decided]):
    """The rows of a table that wait for one decision each; `what` they are, in words."""

    table: Table
    what: str
    read: Callable[[Row[Any]], Decided]
    missing: str
    clock: Clock

    def find(self, connection: Connection, name: str) -> Decided:
        row = connection.execute(select(self.table).where(self.table.c.id == name)).one_or_none()
        if row is None:
            raise self.not_there()
        return self.read(row)

    def find_open(self, connection: Connection, name: str) -> Decided:
        record = self.find(connection, name)
        if record.state is not State.OPEN:
            words = f"This {self.what} was decided before: it is {record.state.value}."
            raise AlreadyDecided(words)
        return record

    def decide(
        self, connection: Connection, name: str, state: State, *, by: str, reason: str | None
    ) -> Decided:
        """Within the transaction that has found it open."""
        decided = write_time(self.clock())
        values = {"state": state.value, "decided_by": by, "decided": decided, "reason": reason}
        connection.execute(update(self.table).where(self.table.c.id == name).values(values))
        return self.find(connection, name)

    def not_there(self) -> NotThere:
        return NotThere(self.missing)
