"""Requests: an analyst's own, and how they stand; beside them the inbox of stewards."""

from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.ended import find_ended
from letalone.curator.console.forms import try_act
from letalone.curator.console.inbox import inbox
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.visitors import Analyst, Visiting, Visitor
from letalone.curator.http.who import Served, Service
from letalone.curator.records import Scope

routes = console_routes()


@routes.get("/requests")
def requests(request: Request, visitor: Visiting, service: Served) -> Response:
    """Own requests."""
    return _page(request, visitor, service)


@routes.post("/requests/{request_id}/withdraw")
def withdraw(request: Request, request_id: str, visitor: Analyst, service: Served) -> Response:
    """Takes back an own request that is open."""

    def act() -> Response:
        service.curator.requests.withdraw(request_id, by=visitor.name)
        return see_other(request, "/requests", said="Your request was taken back.")

    return try_act(request, act, lambda: _page(request, visitor, service))


def _page(request: Request, visitor: Visitor, service: Service) -> Response:
    requests = service.curator.requests
    own_requests = (
        requests.requests(by=visitor.name, own=True) if Scope.ASK in visitor.scopes else []
    )
    had = requests.own_grants(by=visitor.name) if own_requests else []
    over = {(grant.data_set, grant.purpose): grant.why for grant in find_ended(service, had)}
    return page(request, "requests.html", own=own_requests, over=over, **inbox(service, visitor))
