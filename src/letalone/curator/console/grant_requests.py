"""Shows an analyst's own requests for grants; stewards decide on them, and end grants."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.forms import Form, act_or_show
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.visitors import Analyst, Overseer, Steward, Visiting, Visitor
from letalone.curator.http.access import Context, ServiceContext
from letalone.curator.http.shapes import Decision, Withdrawal
from letalone.curator.records import GrantRecord, Scope, State
from letalone.errors import FormatError
from letalone.ledger.entries import Entry, EntryKind
from letalone.privacy.curve import Json

MAX_DECIDED = 50  # requests on a page that are decided already
MAX_WITHDRAWALS = 200  # withdrawals of one data set that are looked through, the newest first
routes = console_routes()


@routes.get("/requests")
def requests(request: Request, visitor: Visiting, service: Context) -> Response:
    """Own requests."""
    requests = service.curator.requests
    own_requests = (
        requests.requests(by=visitor.name, own=True) if Scope.ASK in visitor.scopes else []
    )
    had = requests.grants(by=visitor.name, own=True) if own_requests else []
    over = {(grant.data_set, grant.purpose): grant.why for grant in find_ended(service, had)}
    return page(request, "requests.html", own=own_requests, over=over, **inbox(service, visitor))


@routes.post("/requests/{request_id}/withdraw")
@act_or_show(requests)
def withdraw(request: Request, request_id: str, visitor: Analyst, service: Context) -> Response:
    """Takes back an own request that is open."""
    service.curator.requests.withdraw(request_id, by=visitor.name)
    return see_other(request, "/requests", said="Your request was taken back.")


def inbox(service: ServiceContext, visitor: Visitor) -> dict[str, Any]:
    """All requests for those who oversee: those that wait, the oldest first, and the others."""
    if not visitor.oversees:
        return {"open": [], "decided": []}
    requests, by = service.curator.requests, visitor.name
    return {
        "open": requests.requests(by=by, is_open=True)[::-1],
        "decided": requests.requests(by=by, is_open=False, most=MAX_DECIDED),
    }


@routes.get("/requests/{request_id}")
def show_request(
    request: Request, request_id: str, visitor: Overseer, service: Context
) -> Response:
    """One request, and the form to decide on it."""
    access_request = service.curator.requests.request(request_id, by=visitor.name)
    record = service.curator.data_sets.record(access_request.data_set)
    levels = service.curator.ledger.levels(record.name)
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
def decide(
    request: Request, request_id: str, visitor: Steward, form: Form, service: Context
) -> Response:
    """Grants or refuses, with the reason."""
    sent = form.read(Decision, "reason", granted=form.text("decision") == "grant")
    decided = service.curator.requests.decide(
        request_id, grant=sent.granted, reason=sent.reason, by=visitor.name
    )
    notice = f"The request of {decided.analyst} was {decided.state.value}."
    return see_other(request, "/requests", said=notice)


@routes.get("/grants")
def grants(request: Request, visitor: Overseer, service: Context) -> Response:
    """Who may ask what, and what is left of it."""
    granted = service.curator.requests.grants(by=visitor.name)
    return page(request, "grants.html", grants=sorted(granted, key=lambda grant: grant.withdrawn))


@routes.get("/grants/withdrawal")
def ending(request: Request, visitor: Steward) -> Response:
    """The form with which a grant ends."""
    del visitor
    return page(request, "grant_withdrawal.html")


@routes.post("/grants/withdrawal")
@act_or_show(ending, acting=True)
def end(request: Request, visitor: Steward, form: Form, service: Context) -> Response:
    """Ends a grant; what was spent stays spent."""
    sent = form.read(Withdrawal, "data_set", "purpose", "analyst", "why")
    service.curator.requests.withdraw_grant(
        sent.data_set, purpose=sent.purpose, analyst=sent.analyst, why=sent.why,
        by=visitor.name,
    )  # fmt: skip
    return see_other(request, "/grants", said=f"The grant of {sent.analyst} has ended.")


@dataclass(frozen=True, slots=True)
class EndedGrant:
    """A grant that was withdrawn."""

    data_set: str
    purpose: str
    why: str


def find_ended(service: ServiceContext, grants: Iterable[GrantRecord]) -> list[EndedGrant]:
    """Those of the grants that were withdrawn; without a reason where the ledger cannot be read."""
    over = [grant for grant in grants if grant.withdrawn]
    entries = {name: _withdrawals(service, name) for name in {grant.data_set for grant in over}}
    return [
        EndedGrant(grant.data_set, grant.purpose, _why(grant, entries[grant.data_set]))
        for grant in over
    ]


def _withdrawals(service: ServiceContext, name: str) -> Sequence[Entry]:
    try:
        return service.curator.ledger.newest(
            name, limit=MAX_WITHDRAWALS, kind=EntryKind.LEVEL_WITHDRAWN
        )
    except FormatError:
        return ()


def _why(grant: GrantRecord, entries: Sequence[Entry]) -> str:
    reasons = (str(entry.body["why"]) for entry in entries if _is_of(entry, grant))
    return next(reasons, "the reason cannot be read now")


def _is_of(entry: Entry, grant: GrantRecord) -> bool:
    levels = cast("list[Json]", entry.body["levels"])
    wanted = (grant.purpose, grant.analyst)
    return any((level["purpose"], level["analyst"]) == wanted for level in levels)
