"""The first page, by role: what is left to ask, what waits to be decided.

Who is not signed in sees the public page.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.answerable import is_named
from letalone.curator.console.budgets import all_budgets, open_proposals
from letalone.curator.console.ended import find_ended
from letalone.curator.console.entries import newest, summarise
from letalone.curator.console.inbox import inbox
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.visitors import Perhaps, Visitor
from letalone.curator.http.who import Served, Service
from letalone.curator.records import Role, Scope, State

NEWEST = 5
routes = console_routes()


@routes.get("/")
def home(request: Request, visitor: Perhaps, service: Served) -> Response:
    """Home by role."""
    if visitor is None:
        return see_other(request, "/open")
    if visitor.person.must_change:
        return see_other(request, "/password")
    context: dict[str, Any] = {"grants": [], "answers": [], "waiting": []}
    if Scope.ASK in visitor.scopes:
        context |= of_analyst(service, visitor)
    if visitor.has(Role.AUDITOR):
        context |= of_auditor(service)
    if visitor.oversees:
        context |= of_steward(request, service, visitor)
    return page(request, "home.html", **context)


def of_analyst(service: Service, visitor: Visitor) -> dict[str, Any]:
    """Own grants, the newest answers, and requests that wait."""
    asking, by = service.curator.asking, visitor.name
    grants = asking.standing(by=by)
    requests = service.curator.requests.requests(by=by, own=True)
    return {
        "grants": grants,
        "ended": find_ended(service, grants),
        "answers": asking.history(by=by, most=NEWEST),
        "waiting": [request for request in requests if request.state is State.OPEN],
    }


def of_auditor(service: Service) -> dict[str, Any]:
    """How long the ledger is, and what was written last."""
    return {
        "many": len(service.curator.ledger),
        "entries": [summarise(entry) for entry in newest(service, limit=NEWEST) or ()],
    }


def of_steward(request: Request, service: Service, visitor: Visitor) -> dict[str, Any]:
    """What waits for a decision, and how each budget was spent."""
    budgets, decides = all_budgets(request, service), visitor.has(Role.STEWARD, Role.OWNER)
    owns, data_sets = visitor.has(Role.OWNER), service.curator.data_sets
    troubles = data_sets.troubles(by=visitor.name) if owns else dict[str, str]()
    return {
        "to_decide": inbox(service, visitor)["open"],
        "proposed": open_proposals(service, visitor),
        "errands": service.curator.subjects.waiting(by=visitor.name) if decides else [],
        "is_named": is_named(service),
        "frozen": [budget["record"].name for budget in budgets if budget["stands"].frozen],
        "troubles": troubles,
        "budgets": budgets,
    }
