"""Grants that were withdrawn, with the reason that stands in the ledger, for who had them.

Tested:   tests/curator/console/test_steward_requests.py
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from letalone.curator.http.who import Service
from letalone.curator.records import Grant
from letalone.errors import FormatError
from letalone.ledger.entries import Entry, Kind
from letalone.privacy.curve import Json

MOST = 200  # withdrawals of one data set that are looked through, the newest first


@dataclass(frozen=True, slots=True)
class Ended:
    """A grant that was withdrawn."""

    data_set: str
    purpose: str
    why: str


def ended(service: Service, grants: Iterable[Grant]) -> list[Ended]:
    """Those of the grants that were withdrawn; without a reason where the ledger cannot be read."""
    over = [one for one in grants if one.withdrawn]
    entries = {name: _withdrawals(service, name) for name in {one.data_set for one in over}}
    return [Ended(one.data_set, one.purpose, _why(one, entries[one.data_set])) for one in over]


def _withdrawals(service: Service, name: str) -> Sequence[Entry]:
    try:
        return service.curator.ledger.newest(name, limit=MOST, kind=Kind.LEVEL_WITHDRAWN)
    except FormatError:
        return ()


def _why(grant: Grant, entries: Sequence[Entry]) -> str:
    found = (str(one.body["why"]) for one in entries if _is_of(one, grant))
    return next(found, "the reason cannot be read now")


def _is_of(entry: Entry, grant: Grant) -> bool:
    levels = cast("list[Json]", entry.body["levels"])
    wanted = (grant.purpose, grant.analyst)
    return any((one["purpose"], one["analyst"]) == wanted for one in levels)
