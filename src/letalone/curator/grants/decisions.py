"""Decides requests and proposals, each at most once, and reads the reasons that people give.

Tested:   tests/curator/test_requests.py
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlalchemy import Connection, Table, insert, select, update

from letalone.curator.storage.dependencies import Dependencies
from letalone.curator.storage.refusals import AlreadyDecided, NotThere
from letalone.curator.storage.stored_values import read_record, write_time
from letalone.errors import ParameterError
from letalone.ledger.data_sets import budget_to_json, read_text
from letalone.privacy.curve import Json
from letalone.wire.records import AccessRequest, Proposal, Role, State

DECIDE = (Role.STEWARD, Role.OWNER)
MAX_REASON_LENGTH = 2000
Decided = TypeVar("Decided", AccessRequest, Proposal)


def read_words(name: str, words: object) -> str:
    """A reason that people write: not empty, and not too long."""
    text = read_text(name, words)
    if len(text) > MAX_REASON_LENGTH:
        raise ParameterError(f"{name} has {len(text)} letters, but may have {MAX_REASON_LENGTH}.")
    return text


@dataclass(frozen=True, slots=True)
class Decisions(Generic[Decided]):
    """The rows of a table that wait for one decision each; `what` they are, in words."""

    shared: Dependencies
    table: Table
    record: type[Decided]
    what: str
    missing: str

    def add(self, connection: Connection, row: Mapping[str, object]) -> Decided:
        connection.execute(insert(self.table).values(row))
        return self.find(connection, str(row["id"]))

    def find(self, connection: Connection, name: str) -> Decided:
        row = connection.execute(select(self.table).where(self.table.c.id == name)).one_or_none()
        if row is None:
            raise self.not_there()
        return read_record(self.record, row)

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
        decided = write_time(self.shared.clock())
        values = {"state": state.value, "decided_by": by, "decided": decided, "reason": reason}
        connection.execute(update(self.table).where(self.table.c.id == name).values(values))
        return self.find(connection, name)

    def write(self, act: str, record: Decided, *, by: str, **more: object) -> None:
        """Says in the ledger what somebody has done about it."""
        body: Json = {
            self.what: record.id,
            "purpose": record.purpose,
            "analyst": record.analyst,
            "budget": budget_to_json(record.budget),
            "why": record.why,
            "reason": record.reason,
            **more,
        }
        self.shared.ledger.administer(record.data_set, act, body, by=[by])

    def not_there(self) -> NotThere:
        return NotThere(self.missing)
