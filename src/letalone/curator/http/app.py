"""The service as one ASGI app, over a curator that knows nothing of HTTP.

From the outside in: security headers; one line of log a request, and no word of what nobody
foresaw; caps on bodies; then the routes. There is no CORS: pages of other sites cannot read
answers. Fresh answers have threads of their own, since they wait for their time step.

Every hour the service removes overdue rows and unused uploads. Nothing is answered about overdue
rows from the first moment of the next day; this removes them. Rows that should be there and are
missing are named in the log, by their data set.

  Tested:   tests/curator/http
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, cast

from anyio import CapacityLimiter
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Match
from starlette.types import Scope

from letalone.curator.asking import api as question_routes
from letalone.curator.console.pages import problem_page, wants_page
from letalone.curator.console.routes import add_console
from letalone.curator.curator import Curator
from letalone.curator.data_sets import api as data_set_routes
from letalone.curator.grants import api as grant_routes
from letalone.curator.http import middleware
from letalone.curator.http.limits import RateLimits, Throttle, WorkLimit
from letalone.curator.http.logs import LogMiddleware, make_log, place_of_failure
from letalone.curator.http.metrics import Metrics
from letalone.curator.http.probes import Probes
from letalone.curator.http.problems import MEDIA_TYPE, HttpProblemError, of_exception, of_status
from letalone.curator.people import api as account_routes
from letalone.curator.people.access import ServiceContext, is_release_request
from letalone.curator.people.visitors import visitor_of
from letalone.curator.record import api as record_routes
from letalone.curator.record import public_api as public_routes
from letalone.curator.storage.caches import TimedCache
from letalone.curator.subjects import api as subject_routes
from letalone.curator.surveys import api as survey_routes
from letalone.curator.surveys import counter_api as counter_routes
from letalone.errors import LedgerUnavailable, LetaloneError, ServiceUnavailable

MAX_ANSWERS = 40  # under way at once in a worker, as many as other requests may be
MAX_PREVIEWS = 20
ROUTES = (  # the busiest first
    question_routes, account_routes, data_set_routes, grant_routes, record_routes, subject_routes,
    survey_routes, counter_routes, public_routes,
)  # fmt: skip
AGGREGATOR_ROUTES = (counter_routes, public_routes)  # of a service that only counts for others
MEMBERS = {"type": "string", "title": "string", "status": "integer", "detail": "string"}
PROPERTIES = {name: {"type": kind} for name, kind in MEMBERS.items()}
SCHEMA = {"type": "object", "required": list(MEMBERS), "properties": PROPERTIES}
PROBLEM: dict[str, Any] = {
    "description": "A problem (RFC 9457).",
    "content": {MEDIA_TYPE: {"schema": SCHEMA}},
}
HOUR_SECONDS = 3600.0


def make_app(
    curator: Curator,
    *,
    bodies: middleware.BodyLimits | None = None,
    rates: RateLimits | None = None,
    log: Any = None,
) -> FastAPI:
    """The service of a curator, which is closed when the app shuts down."""
    lines = log or make_log()
    limiters = CapacityLimiter(MAX_ANSWERS), CapacityLimiter(MAX_PREVIEWS)
    throttle = Throttle(rates or RateLimits())
    work = WorkLimit(), Probes(curator.checks)
    service = ServiceContext(curator, throttle, Metrics(), TimedCache(), *limiters, *work)
    app = FastAPI(
        title="letalone curator",
        version=version("letalone"),
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # these pages would fetch from elsewhere
        redoc_url=None,
        lifespan=_make_lifespan(curator, lines),
        responses={"default": PROBLEM},
        middleware=[
            Middleware(middleware.SecurityHeadersMiddleware),
            Middleware(LogMiddleware, lines, service.metrics.request, failed=_count_refusal),
            Middleware(middleware.BodyLimitMiddleware, bodies or middleware.BodyLimits()),
            Middleware(middleware.NulPathMiddleware),
        ],
    )
    app.state.service = service
    for module in AGGREGATOR_ROUTES if curator.settings.aggregator else ROUTES:
        app.include_router(module.routes)
    if not curator.settings.aggregator:
        add_console(app)
    _add_problems(app)
    return app


def _make_lifespan(curator: Curator, log: Any) -> Any:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        hourly = asyncio.create_task(run_hourly(curator, log))
        yield
        hourly.cancel()
        with suppress(asyncio.CancelledError):
            await hourly
        curator.close()

    return lifespan


def _add_problems(app: FastAPI) -> None:
    """Every error leaves as a problem; what nobody foresaw is caught by `LogMiddleware`."""
    for kind in (HttpProblemError, RequestValidationError):
        app.add_exception_handler(kind, lambda _, error: of_exception(error).response())
    app.add_exception_handler(LetaloneError, _error)
    app.add_exception_handler(HTTPException, _status)


def _count_refusal(scope: Scope) -> None:
    """A question that fails counts like one that is refused: both are entries that stay."""
    person = scope.get("state", {}).get("person")
    if person is not None and is_release_request(Request(scope)):
        scope["app"].state.service.throttle.refusal(person)


def _error(request: Request, error: Exception) -> Response:
    if not isinstance(error, (LedgerUnavailable, ServiceUnavailable)):  # an entry was written
        _count_refusal(request.scope)
    return of_exception(error).response()


def _status(request: Request, error: Exception) -> Response:
    exception = cast("HTTPException", error)
    allowed = _methods(request) if exception.status_code == HTTPStatus.METHOD_NOT_ALLOWED else ""
    headers = {**(exception.headers or {}), **({"Allow": allowed} if allowed else {})}
    problem = of_status(exception.status_code, headers)
    if not wants_page(request):
        return problem.response()
    with suppress(LetaloneError):  # who is signed in stays so on a page that is not there
        visitor_of(request, request.app.state.service)
    return problem_page(request, problem)


def _methods(request: Request) -> str:
    """All methods of an address: each is a route of its own, which knows no other."""
    ours = (route for module in ROUTES for route in module.routes.routes)
    partial = (
        cast("set[str] | None", getattr(route, "methods", None)) or set[str]()
        for route in (*request.app.router.routes, *ours)
        if route.matches(request.scope)[0] is Match.PARTIAL
    )
    return ", ".join(sorted(set[str]().union(*partial)))


async def run_hourly(curator: Curator, log: Any, every_seconds: float = HOUR_SECONDS) -> None:
    """Goes on until it is cancelled; a failure is logged without words and tried again."""
    while True:
        try:
            retired = await run_in_threadpool(curator.data_sets.retire_overdue)
            ended = await run_in_threadpool(curator.surveys.close_ended)
            await run_in_threadpool(curator.sweep)
            if retired:
                log.info("retired", data_sets=len(retired))
            if ended:
                log.info("closed", surveys=len(ended))
            if missing := await run_in_threadpool(curator.without_rows):
                log.error("rows are missing: restore the folder data", data_sets=missing)
        except Exception as error:  # such as another worker that was faster
            log.warning("retirement failed", **place_of_failure(error))
        await asyncio.sleep(every_seconds)
