"""Shows one's own account with its tokens; owners add others, give roles and keep people out."""

from fastapi import Request, Response

from letalone.curator.console.forms import Form, act_or_show
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.people.visitors import Overseer, Owner, Visiting, Visitor
from letalone.wire.bodies import ChangedPerson, NewPerson, NewToken
from letalone.wire.records import Role

ROLES = [
    (Role.ANALYST.value, "analyst: asks"),
    (Role.STEWARD.value, "steward: decides requests, acts for persons in the data"),
    (Role.AUDITOR.value, "auditor: reads the ledger"),
    (Role.OWNER.value, "owner: registers data, adds people"),
]
routes = console_routes()


@routes.get("/people")
def people(request: Request, visitor: Overseer) -> Response:
    """Everybody who may sign in."""
    people = visitor.curator.people.everybody(by=visitor.name)
    return page(request, "people.html", everybody=people, roles=ROLES)


@routes.post("/people")
@act_or_show(people, acting=True)
def add(request: Request, visitor: Owner, form: Form) -> Response:
    """One more person; the one-time password is shown once, on the page that follows."""
    sent = form.read(NewPerson, "name", roles=form.all("roles"))
    password = visitor.curator.people.add(sent.name, sent.roles, by=visitor.name)
    return _show_password_once(request, sent.name, password)


@routes.get("/people/{name}")
def person(request: Request, name: str, visitor: Owner) -> Response:
    """One person, and what an owner may change."""
    person = visitor.curator.people.person(name)
    tokens = visitor.curator.tokens.of(name, by=visitor.name)
    holds = [token for token in tokens if not token.revoked and not token.elevated]
    ticked = [role.value for role in person.roles]
    return page(request, "person.html", person=person, roles=ROLES, ticked=ticked, tokens=holds)


@routes.post("/people/{name}/roles")
@act_or_show(person, acting=True)
def roles(request: Request, name: str, visitor: Owner, form: Form) -> Response:
    """Other roles."""
    sent = form.read(ChangedPerson, roles=form.all("roles"))
    visitor.curator.people.change_roles(name, sent.roles or [], by=visitor.name)
    return see_other(request, "/people", said=f"{name} has other roles now.")


@routes.post("/people/{name}/access")
@act_or_show(person, acting=True)
def access(request: Request, name: str, visitor: Owner, form: Form) -> Response:
    """Keeps a person out, or lets them in again; their record stays."""
    sent, people = form.read(ChangedPerson, "active"), visitor.curator.people
    (people.enable if sent.active else people.disable)(name, by=visitor.name)
    can = "can sign in again" if sent.active else "cannot sign in any more"
    return see_other(request, "/people", said=f"{name} {can}.")


@routes.post("/people/{name}/password")
@act_or_show(person, acting=True)
def reset(request: Request, name: str, visitor: Owner) -> Response:
    """A new one-time password, shown once; visits and tokens of the person end."""
    password = visitor.curator.people.reset_password(name, by=visitor.name)
    return _show_password_once(request, name, password)


@routes.post("/people/{name}/tokens/{token}/revoke")
@act_or_show(person, acting=True)
def revoke(request: Request, name: str, token: str, visitor: Owner) -> Response:
    """Ends somebody's token at once."""
    visitor.curator.tokens.revoke(token, by=visitor.name, own=False)
    return see_other(request, "/people", said=f"A token of {name} was ended.")


def _show_password_once(request: Request, name: str, password: str) -> Response:
    return page(request, "one_time_password.html", name=name, password=password)


@routes.get("/account")
def account(request: Request, visitor: Visiting) -> Response:
    """Who this is, and the tokens that hold."""
    return _account(request, visitor)


@routes.post("/account/tokens")
@act_or_show(account)
def make(request: Request, visitor: Visiting, form: Form) -> Response:
    """One more token, for the password again; its secret is shown once, on this page."""
    password, scopes, days = form.secret("password"), form.all("scopes"), form.maybe("days")
    sent = form.read(NewToken, "label", password=password, scopes=scopes, days=days)
    proof = visitor.curator.people.password_again(visitor.name, sent.password)
    secret, _ = visitor.curator.tokens.make(
        visitor.name, sent.scopes or [], days=sent.days, label=sent.label, proof=proof
    )
    return _account(request, visitor, secret=secret)


@routes.post("/account/tokens/{token}/revoke")
@act_or_show(account)
def revoke_own(request: Request, token: str, visitor: Visiting) -> Response:
    """Ends an own token."""
    visitor.curator.tokens.revoke(token, by=visitor.name, own=True)
    return see_other(request, "/account", said="The token was ended.")


def _account(request: Request, visitor: Visitor, *, secret: str | None = None) -> Response:
    tokens = visitor.curator.tokens.of(visitor.name, by=visitor.name)
    scopes = sorted(scope.value for scope in visitor.scopes)
    days = visitor.curator.settings.token_days
    holds = [token for token in tokens if not token.revoked and not token.elevated]
    return page(request, "account.html", tokens=holds, scopes=scopes, days=days, secret_=secret)
