"""People who may sign in: added, given roles, let in or kept out, by an owner."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.forms import Form, read_body, try_act
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.visitors import Overseer, Owner, Visitor
from letalone.curator.http.shapes import ChangedPerson, NewPerson
from letalone.curator.http.who import Served, Service
from letalone.curator.records import Role

ROLES = [
    (Role.ANALYST.value, "analyst: asks"),
    (Role.STEWARD.value, "steward: decides requests, acts for persons in the data"),
    (Role.AUDITOR.value, "auditor: reads the ledger"),
    (Role.OWNER.value, "owner: registers data, adds people"),
]
routes = console_routes()


@routes.get("/people")
def people(request: Request, visitor: Overseer, service: Served) -> Response:
    """Everybody who may sign in."""
    return _everybody(request, visitor, service)


@routes.post("/people")
def add(request: Request, visitor: Owner, form: Form, service: Served) -> Response:
    """One more person; the one-time password is shown once, on the page that follows."""

    def act() -> Response:
        sent = read_body(NewPerson, name=form.text("name"), roles=form.all("roles"))
        password = service.curator.people.add(sent.name, sent.roles, by=visitor.name)
        return _shown_once(request, sent.name, password)

    return try_act(request, act, lambda: _everybody(request, visitor, service), acting=True)


@routes.get("/people/{name}")
def person(request: Request, name: str, visitor: Owner, service: Served) -> Response:
    """One person, and what an owner may change."""
    return _person(request, name, visitor, service)


@routes.post("/people/{name}/roles")
def roles(request: Request, name: str, visitor: Owner, form: Form, service: Served) -> Response:
    """Other roles."""

    def act() -> Response:
        sent = read_body(ChangedPerson, roles=form.all("roles"))
        service.curator.people.change_roles(name, sent.roles or [], by=visitor.name)
        return see_other(request, "/people", said=f"{name} has other roles now.")

    return try_act(request, act, lambda: _person(request, name, visitor, service), acting=True)


@routes.post("/people/{name}/access")
def access(request: Request, name: str, visitor: Owner, form: Form, service: Served) -> Response:
    """Keeps a person out, or lets them in again; their record stays."""

    def act() -> Response:
        sent, people = read_body(ChangedPerson, active=form.text("active")), service.curator.people
        (people.enable if sent.active else people.disable)(name, by=visitor.name)
        can = "can sign in again" if sent.active else "cannot sign in any more"
        return see_other(request, "/people", said=f"{name} {can}.")

    return try_act(request, act, lambda: _person(request, name, visitor, service), acting=True)


@routes.post("/people/{name}/password")
def reset(request: Request, name: str, visitor: Owner, service: Served) -> Response:
    """A new one-time password, shown once; visits and tokens of the person end."""

    def act() -> Response:
        password = service.curator.people.reset_password(name, by=visitor.name)
        return _shown_once(request, name, password)

    return try_act(request, act, lambda: _person(request, name, visitor, service), acting=True)


@routes.post("/people/{name}/tokens/{token}/revoke")
def revoke(request: Request, name: str, token: str, visitor: Owner, service: Served) -> Response:
    """Ends somebody's token at once."""

    def act() -> Response:
        service.curator.tokens.revoke(token, by=visitor.name, own=False)
        return see_other(request, "/people", said=f"A token of {name} was ended.")

    return try_act(request, act, lambda: _person(request, name, visitor, service), acting=True)


def _everybody(request: Request, visitor: Visitor, service: Service) -> Response:
    people = service.curator.people.everybody(by=visitor.name)
    return page(request, "people.html", everybody=people, roles=ROLES)


def _person(request: Request, name: str, visitor: Visitor, service: Service) -> Response:
    person = service.curator.people.person(name)
    tokens = service.curator.tokens.of(name, by=visitor.name)
    holds = [token for token in tokens if not token.revoked and not token.elevated]
    ticked = [role.value for role in person.roles]
    context: dict[str, Any] = {"person": person, "roles": ROLES, "ticked": ticked, "tokens": holds}
    return page(request, "person.html", **context)


def _shown_once(request: Request, name: str, password: str) -> Response:
    return page(request, "one_time_password.html", name=name, password=password)
