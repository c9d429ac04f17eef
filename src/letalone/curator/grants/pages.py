"""Shows an analyst's own requests for grants; stewards decide on them, and end grants."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, cast

from fastapi import Request, Response

from letalone.curator.console.forms import Form, act_or_show
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.people.visitors import STEWARD, Analyst, Overseer, Steward, Visiting, Visitor
from letalone.curator.record.pages import newest
from letalone.ledger.chain.entries import Entry, EntryKind
from letalone.privacy.curve import Json
from letalone.wire.bodies import Decision, Withdrawal
from letalone.wire.records import Grant, Scope, State

MAX_DECIDED = 50  # requests on a page that are decided already
MAX_WITHDRAWALS = 200  # withdrawals of one data set that are looked through, the newest first
routes = console_routes()


@routes.get("/requests")
def requests(request: Request, visitor: Visiting) -> Response:
    """Own requests."""
    requests, asks = visitor.curator.requests, Scope.ASK in visitor.scopes
    own_requests = requests.requests(by=visitor.name, own=True) if asks else []
    had = requests.grants(by=visitor.name, own=True) if own_requests else []
    ended = find_ended(visitor, had)
    over = {(grant["data_set"], grant["purpose"]): grant["why"] for grant in ended}
    return page(request, "requests.html", own=own_requests, over=over, **inbox(visitor))


@routes.post("/requests/{request_id}/withdraw")
@act_or_show(requests)
def withdraw(request: Request, request_id: str, visitor: Analyst) -> Response:
    """Takes back an own request that is open."""
    visitor.curator.requests.withdraw(request_id, by=visitor.name)
    return see_other(request, "/requests", said="Your request was taken back.")


def inbox(visitor: Visitor) -> dict[str, Any]:
    """All requests for those who oversee: those that wait, the oldest first, and the others."""
    if not visitor.oversees:
        return {"open": [], "decided": []}
    requests, by = visitor.curator.requests, visitor.name
    return {
        "open": requests.requests(by=by, is_open=True)[::-1],
        "decided": requests.requests(by=by, is_open=False, most=MAX_DECIDED),
    }


@routes.get("/requests/{request_id}")
def show_request(request: Request, request_id: str, visitor: Overseer) -> Response:
    """One request, and the form to decide on it."""
    access_request = visitor.curator.requests.request(request_id, by=visitor.name)
    record = visitor.curator.data_sets.record(access_request.data_set)
    levels = visitor.curator.ledger.levels(record.name)
    standing = {(level.purpose, level.analyst): level for level in levels}
    purposes = {purpose.name: purpose for purpose in record.purposes}
    return page(
        request, "request.html", asked=access_request, record=record,
        purpose=purposes.get(access_request.purpose),
        level=standing.get((access_request.purpose, None)),  # what the purpose has spent
        before=standing.get((access_request.purpose, access_request.analyst)),  # a grant that holds
        is_open=access_request.state is State.OPEN, own=access_request.analyst == visitor.name,
    )  # fmt: skip


@routes.post("/requests/{request_id}/decision")
@act_or_show(show_request, acting=True)
def decide(request: Request, request_id: str, visitor: Steward, form: Form) -> Response:
    """Grants or refuses, with the reason."""
    sent = form.read(Decision, "reason", granted=form.text("decision") == "grant")
    decided = visitor.curator.requests.decide(
        request_id, grant=sent.granted, reason=sent.reason, by=visitor.name
    )
    notice = f"The request of {decided.analyst} was {decided.state.value}."
    return see_other(request, "/requests", said=notice)


@routes.get("/grants")
def grants(request: Request, visitor: Overseer) -> Response:
    """Who may ask what, and what is left of it."""
    granted = visitor.curator.requests.grants(by=visitor.name)
    return page(request, "grants.html", grants=sorted(granted, key=lambda grant: grant.withdrawn))


@routes.get("/grants/withdrawal", dependencies=[STEWARD])
def ending(request: Request) -> Response:
    """The form with which a grant ends."""
    return page(request, "grant_withdrawal.html")


@routes.post("/grants/withdrawal")
@act_or_show(ending, acting=True)
def end(request: Request, visitor: Steward, form: Form) -> Response:
    """Ends a grant; what was spent stays spent."""
    sent = form.read(Withdrawal, "data_set", "purpose", "analyst", "why")
    visitor.curator.requests.withdraw_grant(**sent.arguments(), by=visitor.name)
    return see_other(request, "/grants", said=f"The grant of {sent.analyst} has ended.")


def find_ended(visitor: Visitor, grants: Iterable[Grant]) -> list[dict[str, str]]:
    """Those of the grants that were withdrawn, and why; not that where the ledger is unreadable."""
    over = [grant for grant in grants if grant.withdrawn]
    read = partial(newest, visitor.curator, limit=MAX_WITHDRAWALS, kind=EntryKind.LEVEL_WITHDRAWN)
    entries = {name: read(name) or () for name in {grant.data_set for grant in over}}
    whys = [_why(grant, entries[grant.data_set]) for grant in over]
    return [
        {"data_set": grant.data_set, "purpose": grant.purpose, "why": why}
        for grant, why in zip(over, whys, strict=True)
    ]


def _why(grant: Grant, entries: Sequence[Entry]) -> str:
    wanted = (grant.purpose, grant.analyst)
    for entry in entries:
        levels = cast("list[Json]", entry.body["levels"])
        if any((level["purpose"], level["analyst"]) == wanted for level in levels):
            return str(entry.body["why"])
    return "the reason cannot be read now"
