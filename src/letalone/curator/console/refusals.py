"""Refusals: which questions were not answered, and why; for those who oversee.

The ledger keeps the class of the refusal and not its words, and of the question a digest.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, cast

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.pages import console_routes, page
from letalone.curator.console.visitors import Overseer
from letalone.curator.http.who import Served
from letalone.curator.words import time_of
from letalone.errors import FormatError
from letalone.ledger import Ledger
from letalone.ledger.entries import Entry, Kind

ROWS = 50
WORDS = {
    "BudgetExceeded": "It would cost more than is left.",
    "NotAllowed": "No grant covers it.",
    "Retired": "The data set was retired.",
    "DataSetFrozen": "The data set is frozen.",
    "UnsupportedQuery": "The question has no proven private answer.",
    "ParameterError": "A value is outside what is allowed.",
    "NeighboursDiffer": "Two guarantees speak of different neighbours.",
}
routes = console_routes()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A question that was not answered."""

    number: int
    time: datetime
    data_set: str
    analyst: str
    purpose: str
    why: str


@routes.get("/refusals")
def refusals(
    request: Request,
    visitor: Overseer,
    service: Served,
    data_set: str = "",
    before: Annotated[int | None, Query(ge=1, le=10**15)] = None,
) -> Response:
    """The newest first; all, or those of one data set."""
    del visitor
    data_sets = service.curator.data_sets
    name = data_sets.record(data_set).name if data_set else None
    entries = _newest(service.curator.ledger, name, before)
    return page(
        request,
        "refusals.html",
        found=None if entries is None else [_refusal(item) for item in entries[:ROWS]],
        older=entries[ROWS - 1].number if entries and len(entries) > ROWS else None,
        names=[item.name for item in data_sets.records()],
        data_set=data_set,
        newest=before is None,
    )


def _newest(ledger: Ledger, name: str | None, before: int | None) -> list[Entry] | None:
    """The entries of one page, and one more; None where one cannot be read."""
    try:
        return ledger.newest(name, before=before, limit=ROWS + 1, kind=Kind.REFUSED)
    except FormatError:
        return None


def _refusal(entry: Entry) -> Refusal:
    body = entry.body
    reason = cast("str", body["reason"])
    return Refusal(
        entry.number,
        time_of(entry.time),
        str(entry.name),
        str(body.get("analyst") or ""),
        str(body.get("purpose") or ""),
        WORDS.get(reason, reason),
    )
