"""Data sets as everybody may see them, and an analyst's request for access."""

from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.drafted import DRAFT, keep_typed, take_draft
from letalone.curator.console.forms import Form, read_body, try_act
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.visitors import Analyst, Visiting, Visitor
from letalone.curator.http.public_routes import protected
from letalone.curator.http.shapes import NewRequest, in_seconds
from letalone.curator.http.who import Served, Service
from letalone.curator.records import DataSetRecord, Role, Scope
from letalone.ledger.freezes import freeze_of

routes = console_routes()


@routes.get("/data-sets")
def data_sets(request: Request, visitor: Visiting, service: Served) -> Response:
    """All data sets, with what is public about them."""
    records = service.curator.data_sets.records()
    shown = [_summarise(service, record) for record in records]
    return page(request, "data_sets.html", found=shown, grants=_grants(service, visitor))


@routes.get("/data-sets/{name}")
def data_set(request: Request, name: str, visitor: Visiting, service: Served) -> Response:
    """What may be asked of one."""
    return page(request, "data_set.html", **_context(service, visitor, name))


@routes.get("/data-sets/{name}/request")
def access(
    request: Request, name: str, visitor: Analyst, service: Served, draft: str = ""
) -> Response:
    """The form for a request; with what was typed and refused, where the address has a draft."""
    if draft:
        take_draft(request, draft, visitor, service)
    return page(request, "request_access.html", **_context(service, visitor, name))


@routes.post("/data-sets/{name}/request")
def request_access(
    request: Request, name: str, visitor: Analyst, form: Form, service: Served
) -> Response:
    """An analyst's request for a grant."""

    def act() -> Response:
        day = form.maybe("expires")
        sent = read_body(
            NewRequest,
            data_set=name,
            purpose=form.text("purpose"),
            columns=form.all("columns"),
            budget={"epsilon": form.number("epsilon"), "delta": form.number("delta") or "0"},
            why=form.text("why"),
            expires=None if day is None else f"{day}T00:00:00Z",
        )
        service.curator.requests.make(
            name,
            purpose=sent.purpose,
            columns=sent.columns,
            budget=sent.budget.read(),
            why=sent.why,
            by=visitor.name,
            expires=in_seconds(sent.expires),
        )
        return see_other(request, "/requests", said="Your request was sent. A steward decides.")

    def show() -> Response:
        typed = keep_typed(request, visitor, service)
        return see_other(request, f"/data-sets/{quote(name, safe='')}/request?{DRAFT}={typed}")

    service.curator.data_sets.record(name)  # where there is none, that is all there is to say
    return try_act(request, act, show)


def _context(service: Service, visitor: Visitor, name: str) -> dict[str, Any]:
    record = service.curator.data_sets.record(name)
    mine = [grant for grant in _grants(service, visitor) if grant.data_set == record.name]
    is_owner = visitor.has(Role.OWNER)  # why it froze, or cannot be read, is for owners only
    freeze = freeze_of(service.curator.ledger, record.name) if is_owner else None
    troubles = service.curator.data_sets.troubles(by=visitor.name) if is_owner else {}
    trouble = troubles.get(record.name)
    return {**_summarise(service, record), "grants": mine, "freeze": freeze, "trouble": trouble}


def _summarise(service: Service, record: DataSetRecord) -> dict[str, Any]:
    stands = service.curator.ledger.data_set(record.name)
    unit = {"unit": stands.neighbours.unit or "row", "protects": str(stands.neighbours)}
    return {"record": record, "stands": stands, "protected": protected(unit)}


def _grants(service: Service, visitor: Visitor) -> list[Any]:
    if Scope.ASK not in visitor.scopes:
        return []
    grants = service.curator.asking.standing(by=visitor.name)
    return [grant for grant in grants if not grant.withdrawn]
