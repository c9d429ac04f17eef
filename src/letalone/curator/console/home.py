"""Shows the first page, by role: what is left to ask, what waits to be decided.

Who is not signed in sees the open page (G6), which says which data sets there are, for what
purposes, and how much is spent.
"""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from letalone.curator.console.pages import ConsoleRoute, page, see_other
from letalone.curator.grants.budget_pages import all_budgets, open_proposals
from letalone.curator.grants.pages import find_ended, inbox
from letalone.curator.people.access import Context
from letalone.curator.people.visitors import ANYBODY, Perhaps, Visitor
from letalone.curator.record import public_api as public
from letalone.curator.record.pages import is_named, newest, summarise
from letalone.wire.records import Role, Scope, State

MAX_NEWEST = 5  # answers and entries on the first page
routes = APIRouter(route_class=ConsoleRoute, tags=["open to anybody"])


@routes.get("/", include_in_schema=False)
def home(request: Request, visitor: Perhaps) -> Response:
    """Home by role."""
    if visitor is None:
        return see_other(request, "/open")
    if visitor.person.must_change:
        return see_other(request, "/password")
    context: dict[str, Any] = {"grants": [], "answers": [], "waiting": []}
    if Scope.ASK in visitor.scopes:
        context |= of_analyst(visitor)
    if visitor.has(Role.AUDITOR):
        entries = newest(visitor.curator, limit=MAX_NEWEST) or ()
        context["many"] = len(visitor.curator.ledger)
        context["entries"] = [summarise(entry) for entry in entries]
    if visitor.oversees:
        context |= of_steward(request, visitor)
    return page(request, "home.html", **context)


def of_analyst(visitor: Visitor) -> dict[str, Any]:
    """Own grants, the newest answers, and requests that wait."""
    curator, by = visitor.curator, visitor.name
    grants = curator.requests.grants(by=by, own=True)
    requests = curator.requests.requests(by=by, own=True)
    return {
        "grants": grants,
        "ended": find_ended(visitor, grants),
        "answers": curator.asking.history(by=by, most=MAX_NEWEST),
        "waiting": [request for request in requests if request.state is State.OPEN],
    }


def of_steward(request: Request, visitor: Visitor) -> dict[str, Any]:
    """What waits for a decision, and how each budget was spent."""
    budgets, decides = all_budgets(request, visitor), visitor.has(Role.STEWARD, Role.OWNER)
    owns, data_sets = visitor.has(Role.OWNER), visitor.curator.data_sets
    troubles = data_sets.troubles(by=visitor.name) if owns else dict[str, str]()
    return {
        "to_decide": inbox(visitor)["open"],
        "proposed": open_proposals(visitor),
        "errands": visitor.curator.subjects.waiting(by=visitor.name) if decides else [],
        "is_named": is_named(visitor.curator),
        "frozen": [budget["record"].name for budget in budgets if budget["stands"].frozen],
        "troubles": troubles,
        "budgets": budgets,
    }


@routes.get("/open", response_class=HTMLResponse, response_model=None, dependencies=[ANYBODY])
def openness(request: Request, service: Context) -> Response:
    """Which data sets, for what purposes, under what unit, how much is spent: for reading."""
    words = {"what": public.WHAT, "about_epsilon": public.EPSILON}
    changes = {"protected": public.protection_words, "day_and_time": public.day_and_time}
    data_sets = public.open_page(service)
    return page(request, "open.html", found=data_sets, words=words, said_as=changes)
