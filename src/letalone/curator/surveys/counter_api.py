"""Routes of the second counter of surveys: halves come from browsers, questions from the first.

Browsers send halves from the first counter's page, so these answers may be read across origins:
there is nothing in them. The first counter is known by a secret that follows from the survey's key.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from letalone.curator.people.access import SURVEYED, Context, count_address
from letalone.curator.storage.refusals import NotRecognised, NotThere
from letalone.curator.surveys.counters import SECOND, HalfReport
from letalone.wire.bodies import SentCheck, SentHalf, SentNonces
from letalone.wire.json_values import Json

routes = APIRouter(prefix="/api/v1/counters", tags=["second counter"])
ACROSS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "content-type",
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Max-Age": "86400",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
SECRET = HTTPBearer(auto_error=False, description="The secret that the survey's counters share.")
Sent = Annotated[HTTPAuthorizationCredentials | None, Depends(SECRET)]


def _check_first(name: str, request: Request, service: Context, sent: Sent) -> None:
    """The first counter asks about everybody's reports: it has a count of its own."""
    try:
        if sent is None:
            raise NotRecognised("This is for the survey's other counter.")
        service.curator.surveys.counters.check_bearer(name, sent.credentials)
    except (NotRecognised, NotThere):
        count_address(request, service)
        raise
    service.throttle.person(f"the first counter of {name}")


FIRST_COUNTER = Depends(_check_first)


@routes.options("/{name}/halves", dependencies=[SURVEYED], include_in_schema=False)
def may_send(name: str) -> Response:  # noqa: ARG001
    """Browsers ask first."""
    return Response(status_code=204, headers=ACROSS)


@routes.post("/{name}/halves", dependencies=[SURVEYED], status_code=204)
def half(name: str, body: SentHalf, service: Context) -> Response:
    """One half of a report; it counts when the first counter asks about it."""
    read = HalfReport.read(body.nonce, body.public, body.shares)
    service.curator.surveys.counters.receive(name, read)
    return Response(status_code=204, headers=ACROSS)


@routes.post("/{name}/checks", dependencies=[FIRST_COUNTER])
def check(name: str, body: SentCheck, service: Context) -> Json:
    """What this counter tells about a report that is valid; the same again for the same."""
    return {"told": service.curator.surveys.counters.check(name, body.nonce, body.told)}


@routes.post("/{name}/totals", dependencies=[FIRST_COUNTER])
def total(name: str, body: SentNonces, service: Context) -> Json:
    """The total of these reports with this counter's noise: drawn once, and told again."""
    return {"totals": service.curator.surveys.counters.tell(name, SECOND, body.nonces)}
