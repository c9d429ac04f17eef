"""Routes about people, passwords and tokens."""

from fastapi import APIRouter, Request

from letalone.curator.http.problems import problem_error
from letalone.curator.people import access
from letalone.curator.people.tokens import scopes_of
from letalone.curator.storage.refusals import NotThere
from letalone.curator.storage.service_records import Recognised
from letalone.wire import bodies
from letalone.wire.json_values import Json, to_json
from letalone.wire.records import Scope

OF_OTHERS = (
    "There is no such token of yours. To end somebody else's, give the password again: POST"
    " /api/v1/elevations gives a token for the next minutes. Send that one."
)
routes = APIRouter(prefix="/api/v1", tags=["people and tokens"])


@routes.get("/me")
def me(bearer: access.SignedIn) -> Json:
    """Who the token belongs to, and what it may be used for."""
    return to_json(bearer)


@routes.post("/passwords", dependencies=[access.LOG_IN])
def change_password(
    body: bodies.NewPassword, request: Request, service: access.Context, address: access.Address
) -> Json:
    """Replace a password, also a one-time one; all tokens of the person end."""
    people, known = service.curator.people, access.is_token_of(request, service, body.name)
    return to_json(people.change_password(**body.arguments(), address=address, known=known))


@routes.post("/tokens", status_code=201, dependencies=[access.LOG_IN])
def log_in(body: bodies.Login, service: access.Context, address: access.Address) -> Json:
    """A token for a name and a password: its secret is shown once."""
    proof = service.curator.people.recognised(body.name, body.password, address=address)
    person = proof.person
    if person.must_change:
        raise problem_error(
            "password-change-needed",
            "This is a one-time password. Choose your own first: POST /api/v1/passwords with name,"
            " password and new.",
        )
    scopes = scopes_of(person) if body.scopes is None else frozenset(body.scopes)
    return _make_token(service, body, scopes, proof)


@routes.post("/me/tokens", status_code=201)
def another_token(body: bodies.NewToken, bearer: access.SignedIn, service: access.Context) -> Json:
    """The password again: one more token, with no more scopes than the one that is sent."""
    scopes = bearer.scopes if body.scopes is None else frozenset(body.scopes)
    if not scopes <= bearer.scopes:
        raise problem_error("not-permitted", "A token makes others with its own scopes at most.")
    proof = service.curator.people.password_again(bearer.name, body.password)
    return _make_token(service, body, scopes, proof)


def _make_token(
    service: access.Context, body: bodies.TokenTerms, scopes: frozenset[Scope], proof: Recognised
) -> Json:
    secret, token = service.curator.tokens.make(
        proof.person.name, scopes, days=body.days, label=body.label, proof=proof
    )
    return {"secret": secret, "token": to_json(token)}


@routes.get("/tokens")
def tokens(bearer: access.SignedIn, service: access.Context, person: str | None = None) -> Json:
    """Own tokens, or those of a person for an owner; never their secrets."""
    name = bearer.name
    if person not in (None, name) and Scope.ADMINISTER not in bearer.scopes:
        raise problem_error("not-permitted", "The tokens of others need the scope 'administer'.")
    return {"tokens": to_json(service.curator.tokens.of(person or name, by=name))}


@routes.delete("/tokens/{token}")
def revoke(token: str, bearer: access.SignedIn, service: access.Context) -> Json:
    """End a token at once: an own one; anybody's by an owner, with the password again."""
    owner = Scope.ADMINISTER in bearer.scopes
    only_own = not (owner and bearer.elevated)
    try:
        return to_json(service.curator.tokens.revoke(token, by=bearer.name, own=only_own))
    except NotThere:
        if owner and not bearer.elevated:
            raise problem_error("elevation-needed", OF_OTHERS) from None
        raise


@routes.post("/elevations", status_code=201)
def elevate(body: bodies.Elevation, bearer: access.SignedIn, service: access.Context) -> Json:
    """The password again: a token for the acts of stewards and owners, for a few minutes."""
    secret, token = service.curator.tokens.elevate(bearer.name, body.password)
    return {"secret": secret, "token": to_json(token)}


@routes.get("/people")
def people(bearer: access.Overseer, service: access.Context) -> Json:
    """Everybody who may log in."""
    return {"people": to_json(service.curator.people.everybody(by=bearer.name))}


@routes.post("/people", status_code=201)
def add_person(body: bodies.NewPerson, bearer: access.ActingOwner, service: access.Context) -> Json:
    """Add a person; the one-time password is shown once."""
    people = service.curator.people
    password = people.add(body.name, body.roles, by=bearer.name)
    return {"person": to_json(people.person(body.name)), "one_time_password": password}


@routes.patch("/people/{name}")
def change_person(
    name: str, body: bodies.ChangedPerson, bearer: access.ActingOwner, service: access.Context
) -> Json:
    """Give a person other roles, or keep them from logging in; their record stays."""
    people, by = service.curator.people, bearer.name
    if body.roles is not None:
        people.change_roles(name, body.roles, by=by)
    if body.active is not None:
        (people.enable if body.active else people.disable)(name, by=by)
    return to_json(people.person(name))


@routes.post("/people/{name}/one-time-password")
def reset_password(name: str, bearer: access.ActingOwner, service: access.Context) -> Json:
    """A new one-time password; all tokens of the person end."""
    password = service.curator.people.reset_password(name, by=bearer.name)
    return {"one_time_password": password}
