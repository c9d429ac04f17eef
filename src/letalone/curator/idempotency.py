"""Finds the answer of a request that was sent before under the same Idempotency-Key.

Who never got an answer, because a connection broke, asks again, perhaps when the data have a newer
version already: without a name it would be another question then, and be paid for. The name is
bound to the question by the row that keeps the answer in the history, for a day. Neither the name
nor what was sent can be read back from there.

  Tested:   tests/curator/http/test_sendings.py
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Row, select

from letalone.curator.database_tables import RELEASES
from letalone.curator.dependencies import Dependencies
from letalone.curator.stored_values import write_time
from letalone.errors import ParameterError

KEPT_FOR = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request with its Idempotency-Key, and all that it says."""

    key: str
    body: str


def pseudonyms_of(shared: Dependencies, sending: KeyedRequest | None, *, by: str) -> dict[str, str]:
    """What is kept beside an answer: pseudonyms of whose request it was and of what it said."""
    if sending is None:
        return {}
    name = shared.master.question(f"sent by {by} as {sending.key}")
    return {"sent_as": name, "sent": shared.master.question(sending.body)}


def find_earlier_answer(
    shared: Dependencies, sending: KeyedRequest, *, by: str
) -> Row[tuple[Any, ...]] | None:
    """The answer in the own history that was given under this name; refused for another body."""
    kept = pseudonyms_of(shared, sending, by=by)
    since = write_time(shared.clock() - KEPT_FOR)
    wanted = select(RELEASES).where(
        RELEASES.c.sent_as == kept["sent_as"], RELEASES.c.analyst == by, RELEASES.c.time >= since
    )
    row = shared.database.row(wanted.order_by(RELEASES.c.time.desc()).limit(1))
    if row is not None and row.sent != kept["sent"]:
        raise ParameterError(
            "This Idempotency-Key was sent with another question within the last day. Send each"
            " question under a key of its own, and only the very same one again under the same."
        )
    return row
