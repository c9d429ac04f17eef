"""Requests for grants: an analyst's own, those that a steward decides, and how grants end."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.ended import find_ended
from letalone.curator.console.forms import Form, act_or_show, read_body
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.visitors import Analyst, Overseer, Steward, Visiting, Visitor
from letalone.curator.http.shapes import Decision, Withdrawal
from letalone.curator.http.who import Served, Service
from letalone.curator.records import Request as Asked
from letalone.curator.records import Scope, State

MAX_DECIDED = 50  # requests on a page that are decided already
routes = console_routes()


@routes.get("/requests")
def requests(request: Request, visitor: Visiting, service: Served) -> Response:
    """Own requests."""
    requests = service.curator.requests
    own_requests = (
        requests.requests(by=visitor.name, own=True) if Scope.ASK in visitor.scopes else []
    )
    had = requests.own_grants(by=visitor.name) if own_requests else []
    over = {(grant.data_set, grant.purpose): grant.why for grant in find_ended(service, had)}
    return page(request, "requests.html", own=own_requests, over=over, **inbox(service, visitor))


@routes.post("/requests/{request_id}/withdraw")
@act_or_show(requests)
def withdraw(request: Request, request_id: str, visitor: Analyst, service: Served) -> Response:
    """Takes back an own request that is open."""
    service.curator.requests.withdraw(request_id, by=visitor.name)
    return see_other(request, "/requests", said="Your request was taken back.")


def inbox(service: Service, visitor: Visitor) -> dict[str, Any]:
    """All requests for those who oversee: those that wait, the oldest first, and the others."""
    if not visitor.oversees:
        return {"open": [], "decided": []}
    requests, by = service.curator.requests, visitor.name
    return {
        "open": requests.requests(by=by, is_open=True)[::-1],
        "decided": requests.requests(by=by, is_open=False, most=MAX_DECIDED),
    }


@routes.get("/requests/{request_id}")
def show_request(request: Request, request_id: str, visitor: Overseer, service: Served) -> Response:
    """One request, and the form to decide on it."""
    access_request = service.curator.requests.request(request_id, by=visitor.name)
    return page(
        request, "request.html", asked=access_request, **_around(service, access_request, visitor)
    )


@routes.post("/requests/{request_id}/decision")
@act_or_show(show_request, acting=True)
def decide(
    request: Request, request_id: str, visitor: Steward, form: Form, service: Served
) -> Response:
    """Grants or refuses, with the reason."""
    sent = read_body(Decision, granted=form.text("decision") == "grant", reason=form.text("reason"))
    decided = service.curator.requests.decide(
        request_id, grant=sent.granted, reason=sent.reason, by=visitor.name
    )
    notice = f"The request of {decided.analyst} was {decided.state.value}."
    return see_other(request, "/requests", said=notice)


@routes.get("/grants")
def grants(request: Request, visitor: Overseer, service: Served) -> Response:
    """Who may ask what, and what is left of it."""
    granted = service.curator.requests.grants(by=visitor.name)
    return page(request, "grants.html", grants=sorted(granted, key=lambda one: one.withdrawn))


@routes.get("/grants/withdrawal")
def ending(request: Request, visitor: Steward) -> Response:
    """The form with which a grant ends."""
    del visitor
    return page(request, "grant_withdrawal.html")


@routes.post("/grants/withdrawal")
@act_or_show(ending, acting=True)
def end(request: Request, visitor: Steward, form: Form, service: Served) -> Response:
    """Ends a grant; what was spent stays spent."""
    names = ("data_set", "purpose", "analyst", "why")
    sent = read_body(Withdrawal, **{name: form.text(name) for name in names})
    service.curator.requests.withdraw_grant(
        sent.data_set, purpose=sent.purpose, analyst=sent.analyst, why=sent.why,
        by=visitor.name,
    )  # fmt: skip
    return see_other(request, "/grants", said=f"The grant of {sent.analyst} has ended.")


def _around(service: Service, found: Asked, visitor: Visitor) -> dict[str, Any]:
    """What a decision stands on: the purpose, what it has spent, a grant that holds."""
    record = service.curator.data_sets.record(found.data_set)
    levels = {
        (item.purpose, item.analyst): item for item in service.curator.ledger.levels(record.name)
    }
    return {
        "record": record,
        "purpose": next((item for item in record.purposes if item.name == found.purpose), None),
        "level": levels.get((found.purpose, None)),
        "before": levels.get((found.purpose, found.analyst)),
        "is_open": found.state is State.OPEN,
        "own": found.analyst == visitor.name,
    }
