"""Grants that were withdrawn, with the reason that stands in the ledger, for who had them.

Tested:   tests/curator/console/test_steward_requests.py
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from letalone.curator.http.who import Service
from letalone.curator.records import Grant
from letalone.errors import FormatError
from letalone.ledger.entries import Entry, EntryKind
from letalone.privacy.curve import Json

MOST = 200  # withdrawals of one data set that are looked through, the newest first


@dataclass(frozen=True, slots=True)
class Ended:
    """A grant that was withdrawn."""

    data_set: str
    purpose: str
    why: str


def find_ended(service: Service, grants: Iterable[Grant]) -> list[Ended]:
    """Those of the grants that were withdrawn; without a reason where the ledger cannot be read."""
    over = [grant for grant in grants if grant.withdrawn]
    entries = {name: _withdrawals(service, name) for name in {grant.data_set for grant in over}}
    return [
        Ended(grant.data_set, grant.purpose, _why(grant, entries[grant.data_set])) for grant in over
    ]


def _withdrawals(service: Service, name: str) -> Sequence[Entry]:
    try:
        return service.curator.ledger.newest(name, limit=MOST, kind=EntryKind.LEVEL_WITHDRAWN)
    except FormatError:
        return ()


def _why(grant: Grant, entries: Sequence[Entry]) -> str:
    reasons = (str(entry.body["why"]) for entry in entries if _is_of(entry, grant))
    return next(reasons, "the reason cannot be read now")


def _is_of(entry: Entry, grant: Grant) -> bool:
    levels = cast("list[Json]", entry.body["levels"])
    wanted = (grant.purpose, grant.analyst)
    return any((level["purpose"], level["analyst"]) == wanted for level in levels)
