"""Signing in at a provider, where one is set up, and again before acts of stewards and owners.

What is remembered of the journey lies in a cookie that only this service's own pages send: who
comes back from the provider's site is sent on once, from here to here. It is taken away when the
journey ends, however it ends.

  Tested:   tests/curator/console/test_oidc.py
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict
from importlib.util import find_spec
from json import dumps, loads
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from letalone.curator.console.forms import local, tried
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.secrets import (
    Secrets,
    check_private,
    is_https,
    named,
    new_forms,
)
from letalone.curator.console.visitors import Perhaps, Visitor
from letalone.curator.http.problems import refused
from letalone.curator.http.who import LOG_IN, Served
from letalone.curator.provider_settings import read_provider
from letalone.curator.records import Recognised
from letalone.curator.refusals import NotRecognised
from letalone.curator.settings import Settings
from letalone.errors import ParameterError

if TYPE_CHECKING:
    from letalone.curator.console.provider import Journey, Provider

AT, BACK = "/sign-in/provider", "/sign-in/provider/back"
COOKIE, SECONDS = "letalone-provider", 600
NEEDED = ("authlib", "joserfc", "httpx")
routes = console_routes()


def add_provider(app: FastAPI, settings: Settings) -> None:
    """The provider that the folder's file names, where there is one."""
    app.state.provider = None
    found = read_provider(settings.provider_file)
    if found is None:
        return
    missing = [one for one in NEEDED if find_spec(one) is None]
    if missing:
        raise ParameterError(
            f"{settings.provider_file.name} needs {', '.join(missing)}. To install:"
            " pip install 'letalone[oidc]'."
        )
    from letalone.curator.console.provider import Provider

    app.state.provider = Provider(found)


@routes.get(AT, dependencies=[LOG_IN])
def leave(request: Request, next: str = "/", again: bool = False) -> Response:  # noqa: A002
    """On to the provider."""

    def act() -> Response:
        check_private(request)
        provider = provider_of(request)
        at, journey = provider.begin(back=_back(request), to=local(next), again=again)
        response = RedirectResponse(at, 303)
        response.set_cookie(
            named(request, COOKIE), _written(journey), max_age=SECONDS, path="/",
            secure=is_https(request), httponly=True, samesite="strict",
        )  # fmt: skip
        return response

    return tried(request, act, lambda: page(request, "sign_in.html"))


@routes.get(BACK, dependencies=[LOG_IN])
def come_back(request: Request, visitor: Perhaps, service: Served) -> Response:
    """Begins a visit, or lets one act for some minutes, if the provider says who this is."""
    if request.headers.get("sec-fetch-site") == "cross-site":
        return page(request, "come_in.html")

    def act() -> Response:
        check_private(request)
        journey = _journey(request)
        answer = dict(request.query_params)
        identity = provider_of(request).arrived(journey, answer, back=_back(request))
        proof = service.curator.identities.recognised(identity)
        if journey is not None and journey.again:
            _elevate(request, service, visitor, proof)
        else:
            request.state.secrets = Secrets(service.curator.visits.begin(proof), new_forms())
        return see_other(request, local(journey.to if journey else "/"))

    response = tried(request, act, lambda: page(request, "sign_in.html"))
    response.delete_cookie(named(request, COOKIE), secure=is_https(request), httponly=True)
    return response


def _elevate(request: Request, service: Served, visitor: Visitor | None, proof: Recognised) -> None:
    if visitor is None:
        raise NotRecognised("You are signed out. Sign in again.")
    visits, before = service.curator.visits, visitor.secrets
    secrets = Secrets(visits.elevated(str(before.visit), proof), before.forms)
    request.state.visitor = Visitor(visits.visitor(str(secrets.visit)), secrets)
    request.state.secrets = secrets


def provider_of(request: Request) -> "Provider":
    """The provider; refused where none is set up."""
    found: Provider | None = request.app.state.provider
    if found is None:
        raise refused("not-found", "Nobody signs in elsewhere here. Use your name and password.")
    return found


def _back(request: Request) -> str:
    """This service's own address for the way back, which the provider compares with its list."""
    return f"{request.url.scheme}://{request.url.netloc}{BACK}"


def _written(journey: "Journey") -> str:
    return urlsafe_b64encode(dumps(asdict(journey)).encode()).decode().rstrip("=")


def _journey(request: Request) -> "Journey | None":
    from letalone.curator.console.provider import Journey

    kept = request.cookies.get(named(request, COOKIE), "")
    try:
        found: Any = loads(urlsafe_b64decode(kept + "=" * (-len(kept) % 4)))
        words = [str(found[name]) for name in ("state", "nonce", "verifier", "to")]
        if not "".join(words).isascii():
            return None
        state, nonce, verifier, to = words
        began, again = int(found["began"]), found["again"] is True
        return Journey(state, nonce, verifier, began=began, to=to, again=again)
    except (ValueError, TypeError, LookupError):
        return None
