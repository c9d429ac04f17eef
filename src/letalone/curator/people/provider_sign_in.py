"""Signs people in at a provider, where one is set up, and again before acts of stewards and owners.

Owners say which account at the provider is whose.

What is remembered of the journey lies in a cookie that only this service's own pages send: who
comes back from the provider's site is sent on once, from here to here. It is sealed under the
master key, for the visit that signs in again where one does, and taken away when the journey
ends, however it ends.

  Tested:   tests/curator/console/test_oidc.py
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict
from importlib.util import find_spec
from json import dumps, loads
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI, Request
from starlette.responses import RedirectResponse, Response

from letalone.curator.console.forms import Form, act_or_show, try_act
from letalone.curator.console.pages import console_routes, local, page, see_other, sign_in_page
from letalone.curator.http.problems import problem_error
from letalone.curator.people.access import Context, ServiceContext, address_of, count_address
from letalone.curator.people.form_secrets import (
    Secrets,
    check_private,
    cookie_name,
    is_https,
    is_same,
    secrets_of,
)
from letalone.curator.people.provider_settings import read_provider
from letalone.curator.people.signing_in import begin
from letalone.curator.people.visitors import Owner, Perhaps, Visitor, go_on
from letalone.curator.storage.refusals import NotRecognised
from letalone.curator.storage.service_records import Recognised
from letalone.curator.storage.settings import Settings
from letalone.errors import ParameterError
from letalone.errors.installing import not_installed

if TYPE_CHECKING:
    from letalone.curator.people.provider import Journey, Provider

AT, BACK = "/sign-in/provider", "/sign-in/provider/back"
LINKS = "/identities"
COOKIE, JOURNEY_SECONDS = "letalone-provider", 600
NO_PAGE = "This address is for people who sign in, and not for a part of another site's page."
NEEDED = ("authlib", "joserfc", "httpx")
routes = console_routes()


def add_provider(app: FastAPI, settings: Settings) -> None:
    """The provider that the folder's file names, where there is one."""
    app.state.provider = None
    provider_settings = read_provider(settings.provider_file)
    if provider_settings is None:
        return
    missing = [package for package in NEEDED if find_spec(package) is None]
    if missing:
        raise ParameterError(not_installed(settings.provider_file.name, ", ".join(missing), "oidc"))
    from letalone.curator.people.provider import Provider

    app.state.provider = Provider(provider_settings)


def _count(request: Request, service: Context) -> None:
    """Counted by address; what another site's page loads, unseen, is refused and not counted."""
    apart = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if apart and request.headers.get("sec-fetch-mode", "navigate") != "navigate":
        raise problem_error("not-permitted", NO_PAGE)
    count_address(request, service)


COUNTED = Depends(_count)


@routes.get(AT, dependencies=[COUNTED])
@act_or_show(sign_in_page)
def leave(
    request: Request,
    service: Context,
    next: str = "/",  # noqa: A002
    again: bool = False,
) -> Response:
    """On to the provider."""
    check_private(request)
    provider = provider_of(request)
    at, journey = provider.begin(back=_back(request), to=local(next), again=again)
    response = RedirectResponse(at, 303)
    body = urlsafe_b64encode(dumps(asdict(journey)).encode()).decode().rstrip("=")
    sealed = f"{body}.{_seal(request, service, body, again=again)}"
    response.set_cookie(
        cookie_name(request, COOKIE), sealed, path="/",
        max_age=JOURNEY_SECONDS, secure=is_https(request), httponly=True, samesite="strict",
    )  # fmt: skip
    return response


@routes.get(BACK, dependencies=[COUNTED])
def come_back(request: Request, visitor: Perhaps, service: Context) -> Response:
    """Begins a visit, or lets one act for some minutes, if the provider says who this is."""
    if request.headers.get("sec-fetch-site") == "cross-site":
        return page(request, "come_in.html")

    def act() -> Response:
        check_private(request)
        journey = _journey(request, service)
        if journey is not None:
            service.throttle.log_in(address_of(request))
        answer = dict(request.query_params)
        identity = provider_of(request).arrived(journey, answer, back=_back(request))
        proof = service.curator.identities.recognised(identity)
        if journey is not None and journey.again:
            _elevate(request, visitor, proof)
        else:
            begin(request, service, proof)
        return see_other(request, local(journey.to if journey else "/"))

    response = try_act(request, act, lambda: sign_in_page(request))
    response.delete_cookie(cookie_name(request, COOKIE), secure=is_https(request), httponly=True)
    return response


def _elevate(request: Request, visitor: Visitor | None, proof: Recognised) -> None:
    if visitor is None:
        raise NotRecognised("You are signed out. Sign in again.")
    visits, before = visitor.curator.visits, visitor.secrets
    secrets = Secrets(visits.elevated(str(before.visit), proof), before.forms)
    go_on(request, visitor.curator, secrets)


def provider_of(request: Request) -> "Provider":
    """The provider; refused where none is set up."""
    provider: Provider | None = request.app.state.provider
    if provider is None:
        raise problem_error(
            "not-found", "Nobody signs in elsewhere here. Use your name and password."
        )
    return provider


def _back(request: Request) -> str:
    """This service's own address for the way back, which the provider compares with its list."""
    return f"{request.url.scheme}://{request.url.netloc}{BACK}"


def _seal(request: Request, service: ServiceContext, body: str, *, again: bool) -> str:
    visit = secrets_of(request).visit if again else None
    return service.curator.visits.sealed(f"{again} {body}", visit)


def _journey(request: Request, service: ServiceContext) -> "Journey | None":
    """The journey that this browser was sent on; None where this service did not seal it."""
    from letalone.curator.people.provider import Journey

    body, _, seal = request.cookies.get(cookie_name(request, COOKIE), "").partition(".")
    for again in (False, True):
        if is_same(seal, _seal(request, service, body, again=again)):
            fields: dict[str, Any] = loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))
            return Journey(**fields)
    return None


@routes.get(LINKS)
def identities(request: Request, visitor: Owner, service: Context) -> Response:
    """The links, and a form for one more."""
    links = service.curator.identities.links(by=visitor.name)
    everybody = service.curator.people.everybody(by=visitor.name)
    names = [person.name for person in everybody if person.active]
    return page(request, "identities.html", identities=links, names=names)


@routes.post(LINKS)
@act_or_show(identities, acting=True)
def link(request: Request, visitor: Owner, form: Form, service: Context) -> Response:
    """Links an account to a person, instead of the one before."""
    person, issuer = form.text("person"), provider_of(request).issuer
    service.curator.identities.link(person, form.text("account"), issuer=issuer, by=visitor.name)
    return see_other(request, LINKS, said=f"The account is linked to {person}.")


@routes.post(f"{LINKS}/end")
@act_or_show(identities, acting=True)
def unlink(request: Request, visitor: Owner, form: Form, service: Context) -> Response:
    """Ends a link."""
    person = form.text("person")
    service.curator.identities.unlink(person, by=visitor.name)
    return see_other(request, LINKS, said=f"The link of {person} has ended.")
