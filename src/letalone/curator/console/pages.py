"""Makes pages of templates with every word escaped, and routes whose refusals are pages, too.

Tested:   tests/curator/console/test_pages.py
"""

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, MultiDict
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from letalone.curator.console.directions import Isolation
from letalone.curator.console.files import address_of_file, sheets
from letalone.curator.console.formatting import FILTERS
from letalone.curator.console.problem_words import NO_MATCH, SIGNED_OUT, problem_for_people
from letalone.curator.console.sent import SealedForm, check_sent, keep_form, late_form, still_kept
from letalone.curator.http.problems import HttpProblemError, ProblemDocument, of_exception
from letalone.curator.people.form_secrets import STALE, Secrets, is_same, keep, secrets_of
from letalone.curator.people.visitors import SignInNeeded, Visitor
from letalone.errors import LetaloneError
from letalone.wire.records import Role, Scope

PARTS = ("console", "people", "data_sets", "grants", "asking", "subjects", "surveys", "record")
TEMPLATES = tuple(Path(__file__).parent.parent / part / "templates" for part in PARTS)
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",  # without it a form would not say where it comes from
    "Cache-Control": "no-store",
}
SAID, REFUSED = "said", "refused"
TOO_LATE = "You were signed out before this form was sent, so nothing was done. Sign in"
IS_KEPT, IS_NOT_KEPT = ": what you typed is kept.", ", and type it again."
AS_TYPED = "This is what you typed. Nothing was done with it."
OF_QUESTIONS = "/ask/"
PROBLEMS = (LetaloneError, HttpProblemError, RequestValidationError, HTTPException)
Handler = Callable[[Request], Coroutine[Any, Any, Response]]
EVERYBODY = tuple(Role)
OVERSEERS = (Role.OWNER, Role.STEWARD, Role.AUDITOR)


@dataclass(frozen=True, slots=True)
class NavigationLink:
    """A place in the console, and who sees the link."""

    at: str
    words: str
    roles: tuple[Role, ...] | None = EVERYBODY
    elsewhere: bool = False  # only where people sign in at a provider
    also: tuple[str, ...] = ()  # addresses of other pages that belong to it


LINKS = (
    NavigationLink("/", "Home"),
    NavigationLink("/data-sets", "Data sets", also=("/register",)),
    NavigationLink("/ask", "Ask", (Role.ANALYST,)),
    NavigationLink("/history", "Answers", (Role.ANALYST,)),
    NavigationLink("/requests", "Requests", also=("/grants", "/refusals")),
    NavigationLink("/budgets", "Budgets", OVERSEERS, also=("/proposals",)),
    NavigationLink("/persons", "People in the data", (Role.STEWARD, Role.OWNER)),
    NavigationLink("/surveys", "Surveys", OVERSEERS),
    NavigationLink("/people", "Accounts", OVERSEERS),
    NavigationLink("/ledger", "Ledger", (Role.OWNER, Role.AUDITOR)),
    NavigationLink("/identities", "Sign-in", (Role.OWNER,), elsewhere=True),
    NavigationLink("/processing", "Record", OVERSEERS),
    NavigationLink("/open", "Public", None),
)


def links_for(
    visitor: Visitor | None, path: str, *, elsewhere: bool = False
) -> list[dict[str, object]]:
    """The links that somebody sees, and which of them is the page itself."""
    if visitor is not None and visitor.person.must_change:
        return []
    return [
        {"at": link.at, "words": link.words, "here": _is_here((link.at, *link.also), path)}
        for link in LINKS
        if (link.roles is None or (visitor is not None and visitor.has(*link.roles)))
        and (elsewhere or not link.elsewhere)
    ]


def _is_here(addresses: Iterable[str], path: str) -> bool:
    return any(path == at or (at != "/" and path.startswith(f"{at}/")) for at in addresses)


@cache
def make_environment() -> Environment:
    """The templates; a name that is not there is an error, not an empty word."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        extensions=[Isolation],
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(FILTERS)
    cast("dict[str, Any]", templates.globals).update(file=address_of_file, sheets=sheets())
    return templates


def page(request: Request, template: str, *, status: int = 200, **context: Any) -> Response:
    """A template as an answer; a refusal that led here gives its status."""
    problem: ProblemDocument | None = getattr(request.state, "problem", None)
    visitor: Visitor | None = getattr(request.state, "visitor", None)
    provider = getattr(request.app.state, "provider", None)
    if visitor is None and not hasattr(request.state, "secrets"):
        request.state.secrets = secrets_of(request)  # for forms; the answer keeps it in the browser
    secrets: Secrets = request.state.secrets if visitor is None else visitor.secrets
    errors = problem.more.get("errors", ()) if problem else ()
    usual = {
        "visitor": visitor,
        "csrf": secrets.csrf,
        "links": links_for(visitor, request.url.path, elsewhere=provider is not None),
        "provider": provider,
        "problem": problem,
        "no_match": NO_MATCH,
        "wrong": {str(error["field"]) for error in errors},
        "whys": {str(error["field"]): str(error.get("why", "")) for error in errors},
        "typed": typed_in(request),
        "submitted": request.method == "POST",
        "posted": request.method == "POST",  # to show it again would send it again
        "said": said_in(request),
        "refused": said_in(request, what=REFUSED),
        "path": request.url.path,
        "here": here(request),
    }
    body = make_environment().get_template(template).render(usual | context)
    headers = HEADERS | (dict(problem.headers) if problem else {})
    headers.pop("WWW-Authenticate", None)  # a browser would open a window of its own
    return HTMLResponse(body, problem.code if problem else status, headers)


def download(content: str, name: str, kind: str) -> Response:
    """A file to keep, as an answer."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, headers=headers, media_type=kind)


def typed_in(request: Request) -> MultiDict:
    """What was typed: the form that was sent, or the query of a look."""
    form: FormData | None = getattr(request.state, "form", None)
    return MultiDict(form or request.query_params)


def here(request: Request) -> str:
    """This page's own address, to come back to."""
    query = request.url.query
    return request.url.path + (f"?{query}" if query else "")


def local(address: str) -> str:
    """An address of this service to go on to; "/" for any other."""
    if not address.isprintable() or "\\" in address or not address.startswith("/"):
        return "/"
    try:
        parts = urlsplit(address)
    except ValueError:
        return "/"
    return "/" if parts.scheme or parts.netloc or address.startswith("//") else address


def see_other(request: Request, at: str, *, said: str = "", what: str = SAID) -> Response:
    """Goes on to a page, which says what was done, or refused; a reload repeats nothing."""
    if not said:
        return RedirectResponse(at, 303)
    secrets: Secrets = getattr(request.state, "secrets", None) or secrets_of(request)
    joint, seal = "&" if "?" in at else "?", secrets.seal(said, what=what)
    return RedirectResponse(f"{at}{joint}{what}={quote(said)}&seal={seal}", 303)


def said_in(request: Request, *, what: str = SAID) -> str:
    """What the last page said was done; words that this service did not seal are not shown."""
    words, seal = (request.query_params.get(name, "") for name in (what, "seal"))
    right = is_same(seal, secrets_of(request).seal(words, what=what))
    return words if words and right else ""


def problem_page(request: Request, problem: ProblemDocument) -> Response:
    """A refusal as a page of its own; a form of another visit is shown again, to be sent again."""
    request.state.problem = problem
    if problem.detail == STALE and "hx-request" in request.headers:
        return Response(status_code=401)
    kept = late_form(request, here(request))
    if kept is not None:
        return kept_page(request, kept)
    return page(request, "problem.html", stale=problem.detail == STALE)


def kept_page(request: Request, kept: SealedForm) -> Response:
    """A form that came too late, with what was typed: who looks sends it, or leaves it.

    A question is filled into its own form again, and not even its price is looked up.
    """
    visitor: Visitor | None = getattr(request.state, "visitor", None)
    if visitor and Scope.ASK in visitor.scopes and kept.at.startswith(OF_QUESTIONS):
        name = visitor.curator.drafts.keep(kept.fields, by=visitor.name)
        return see_other(request, f"/ask?draft={name}", said=AS_TYPED)
    return page(request, "kept.html", kept=SealedForm(local(kept.at), kept.fields))


def wants_page(request: Request) -> bool:
    """Whether a person looks, and not a program."""
    accepted = request.headers.get("accept", "")
    return "text/html" in accepted and not request.url.path.startswith("/api/")


def problem_of(error: Exception) -> ProblemDocument:
    """The problem that an error is, in the words of the console."""
    return problem_for_people(error) if isinstance(error, LetaloneError) else of_exception(error)


class ConsoleRoute(APIRoute):
    """A route of the console: forms are checked before it begins, and refusals are pages."""

    def get_route_handler(self) -> Handler:
        usual = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                if request.method not in ("GET", "HEAD"):
                    await check_sent(request)
                response = await usual(request)
            except SignInNeeded as needed:
                response = _to_sign_in(request, needed)
            except PROBLEMS as error:
                response = await run_in_threadpool(problem_page, request, problem_of(error))
            if hasattr(request.state, "secrets"):
                keep(request, response, request.state.secrets)
            return response

        return handle


def console_routes() -> APIRouter:
    """Routes of the console, which the description of the API leaves out."""
    return APIRouter(route_class=ConsoleRoute, include_in_schema=False)


def _to_sign_in(request: Request, needed: SignInNeeded) -> Response:
    """To the page where one signs in, and back.

    A browser that comes from another site does not send the cookie, which is strict: it asks
    again from here, once.
    """
    if request.headers.get("sec-fetch-site") == "cross-site" and request.method == "GET":
        return page(request, "come_in.html")
    if needed.at != "/sign-in":
        return see_other(request, needed.at)
    if "hx-request" in request.headers:
        return Response(status_code=401)  # what the page does then is in console.js
    if hasattr(request.state, "form"):
        return sign_in_page(request)
    back = here(request) if request.method == "GET" else ""
    at = f"/sign-in?next={quote(back, safe='')}" if back else "/sign-in"
    return see_other(request, at)


def sign_in_page(request: Request) -> Response:
    """The form for signing in; a form that came too late is kept in it, but for passwords."""
    if request.url.path.startswith("/sign-in"):
        return page(request, "sign_in.html", kept=still_kept(request))
    kept = keep_form(request, here(request))
    words = TOO_LATE + (IS_KEPT if kept else IS_NOT_KEPT)
    request.state.problem = ProblemDocument("not-authenticated", words, more={"title": SIGNED_OUT})
    return page(request, "sign_in.html", kept=kept)
