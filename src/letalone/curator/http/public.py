"""Routes for anybody: health, the open page, what a problem means; and metrics for the owner."""

from fastapi import APIRouter
from starlette.responses import Response

from letalone.curator.http.metrics import MEDIA_TYPE
from letalone.curator.http.open_page import open_page
from letalone.curator.http.problems import KINDS, WHERE, refused
from letalone.curator.http.said import Json, said
from letalone.curator.http.who import ANYBODY, OWNER, PROBE, Served

routes = APIRouter(tags=["open to anybody"])


@routes.get("/health", dependencies=[PROBE])
def health(service: Served) -> Json:
    """Whether the ledger and the database can be read."""
    service.curator.ledger.head  # noqa: B018  (it is read)
    service.curator.data_sets.records()
    return {"status": "ok"}


@routes.get("/api/v1/open", dependencies=[ANYBODY])
def openness(service: Served) -> Json:
    """Which data sets, for what purposes, under what unit, how much of the budget is spent."""
    return open_page(service)


@routes.get("/favicon.ico", include_in_schema=False, dependencies=[ANYBODY])
def icon() -> Response:
    """Browsers ask for one; there is none."""
    return Response(status_code=204)


@routes.get("/metrics", dependencies=[OWNER])
def metrics(service: Served) -> Response:
    """Counters in Prometheus' text format, for an owner's token."""
    return Response(service.metrics.text(), media_type=MEDIA_TYPE)


@routes.get(WHERE + "{kind}", dependencies=[ANYBODY])
def problem(kind: str) -> Json:
    """What a kind of problem means, and what to do."""
    found = KINDS.get(kind)
    if found is None:
        raise refused("not-found", f"There is no such kind. The kinds are: {', '.join(KINDS)}.")
    return {"type": WHERE + kind, **said(found)}
