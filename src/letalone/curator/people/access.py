"""Checks who asks: a token in the header Authorization, its scopes, and re-authentication.

A token that was never made, has ended or was revoked is refused in the same words.

  Tested:   tests/curator/http/test_tokens.py
"""

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Annotated, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from letalone.curator.curator import Curator
from letalone.curator.http.limits import Throttle, WorkLimit
from letalone.curator.http.metrics import Metrics
from letalone.curator.http.probes import Probes
from letalone.curator.http.problems import HttpProblemError, ProblemDocument, problem_error
from letalone.curator.storage.caches import TimedCache
from letalone.curator.storage.refusals import NotRecognised
from letalone.curator.storage.service_records import OVERSEEING, Bearer
from letalone.wire.records import Scope

Result = TypeVar("Result")
ROLE_OF_SCOPE = {
    Scope.ASK: "analyst",
    Scope.STEWARD: "steward",
    Scope.AUDIT: "auditor",
    Scope.ADMINISTER: "owner",
}
QUESTIONS = "/api/v1/questions"
RELEASES = (f"{QUESTIONS}/release", "/ask/release")  # of the API and of the console
BEARER = HTTPBearer(auto_error=False, description="A token: la_…")
NO_TOKEN = ProblemDocument(
    "not-authenticated",
    "There is no token. Send the header `Authorization: Bearer la_…`; POST /api/v1/tokens gives"
    " one for a name and a password.",
    headers={"WWW-Authenticate": "Bearer"},
)


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """Dependencies of all routes: the curator, limits, counters and caches."""

    curator: Curator
    throttle: Throttle
    metrics: Metrics
    page: TimedCache
    answers: CapacityLimiter
    previews: CapacityLimiter
    under_way: WorkLimit
    probes: Probes

    async def in_turn(self, answer: Callable[[], Response], *, by: str) -> Response:
        """An answer, in one of the threads that wait for time steps: nobody else needs them."""
        async with self.under_way.of(by):
            return await to_thread.run_sync(answer, limiter=self.answers)

    async def aside(self, look: Callable[[], Result], *, by: str) -> Result:
        """What is free but may take long, or wait for a table: other pages have their threads."""
        async with self.under_way.of(by):
            return await to_thread.run_sync(look, limiter=self.previews)


async def _service(request: Request) -> ServiceContext:
    return request.app.state.service


Context = Annotated[ServiceContext, Depends(_service)]
Sent = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]


def count_address(request: Request, service: Context) -> None:
    """For what anybody may call: counted by where it comes from, each request once."""
    if not getattr(request.state, "counted", False):
        request.state.counted = True
        service.throttle.address(address_of(request))


def count_survey(request: Request, service: Context) -> None:
    """For people who answer a survey: many may come from one address at the same time."""
    service.throttle.survey(address_of(request))


def count_log_in(request: Request, service: Context) -> None:
    """For what takes a password from somebody who is not known yet."""
    service.throttle.log_in(address_of(request))


async def count_probe(request: Request, service: Context) -> None:
    """For looks at the service's health: counted apart, by where they come from, in no thread."""
    service.throttle.probe(address_of(request))


def address_of(request: Request) -> str:
    """Where a request comes from; of IPv6 the network, which is one household's or firm's."""
    host = request.client.host if request.client else "unknown"
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv4Address):
        return host
    mapped = address.ipv4_mapped  # how a socket for both kinds writes an address of IPv4
    return str(mapped or ip_network((address, 64), strict=False))


Address = Annotated[str, Depends(address_of)]


def is_release_request(request: Request) -> bool:
    """Whether this asks for an answer: a refusal of it is an entry of the ledger."""
    return request.method == "POST" and request.url.path in RELEASES


async def _signed_in(request: Request, service: Context, sent: Sent) -> Bearer:
    if sent is None:
        count_address(request, service)
        raise HttpProblemError(NO_TOKEN)
    try:
        bearer = await _bearer(service, sent.credentials)
    except NotRecognised:
        count_address(request, service)
        raise
    service.throttle.person(bearer.name)
    if is_release_request(request):
        service.throttle.check_refusals(bearer.name)
    request.state.person = bearer.name
    return bearer


async def _bearer(service: ServiceContext, secret: str) -> Bearer:
    """At once where it is known; whatever has to be read is read elsewhere, so nobody waits."""
    tokens, cheap = service.curator.tokens, service.curator.cheap_looks
    bearer = tokens.cached_bearer(secret) if cheap else None
    return bearer or await run_in_threadpool(tokens.bearer, secret)


SignedIn = Annotated[Bearer, Depends(_signed_in)]


def is_token_of(request: Request, service: ServiceContext, name: str) -> bool:
    """Whether a token was sent, which need not be, that holds and is this person's."""
    secret = request.headers.get("authorization", "").removeprefix("Bearer ")
    try:
        return service.curator.tokens.bearer(secret).person.name == name
    except NotRecognised:
        return False


def _require_scope(*scopes: Scope, elevated: bool = False) -> Callable[[Bearer], Bearer]:
    """A dependency: who asks, if the token has one of the scopes."""
    named = (ROLE_OF_SCOPE[scope] for scope in scopes)
    roles = " or ".join(f"{'an' if role[0] in 'ao' else 'a'} {role}" for role in named)
    needed = (
        f"Only {roles} may do this, with a token that has the scope"
        f" {' or '.join(repr(scope.value) for scope in scopes)}. POST /api/v1/tokens makes one, if"
        " your roles allow it."
    )

    async def check(bearer: SignedIn) -> Bearer:
        if not bearer.scopes & set(scopes):
            raise problem_error("not-permitted", needed)
        if elevated and not bearer.elevated:
            raise problem_error(
                "elevation-needed",
                "This act needs the password again: POST /api/v1/elevations gives a token for"
                " the next minutes. Send that one.",
            )
        return bearer

    return check  # pyright: ignore[reportReturnType]


SIGNED_IN = Depends(_signed_in)
AUDITOR = Depends(_require_scope(Scope.AUDIT, Scope.ADMINISTER))
OWNER = Depends(_require_scope(Scope.ADMINISTER))
OVERSEER = Depends(_require_scope(*OVERSEEING))
# The acts of stewards and owners: the password was given again in the last minutes.
ACTING_OWNER = Depends(_require_scope(Scope.ADMINISTER, elevated=True))
ACTING_STEWARD = Depends(_require_scope(Scope.STEWARD, Scope.ADMINISTER, elevated=True))
ANYBODY = Depends(count_address)
SURVEYED = Depends(count_survey)
PROBE = Depends(count_probe)
LOG_IN = Depends(count_log_in)

Analyst = Annotated[Bearer, Depends(_require_scope(Scope.ASK))]
Overseer = Annotated[Bearer, OVERSEER]
ActingOwner = Annotated[Bearer, ACTING_OWNER]
ActingSteward = Annotated[Bearer, ACTING_STEWARD]
