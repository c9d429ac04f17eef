"""Finds who looks at a page: the person of a visit, held to the API's scopes and throttles.

Whoever has a one-time password sees /password and nothing else until it is changed.

  Tested:   tests/curator/console/test_visits.py
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Annotated

from fastapi import Depends, Request

from letalone.curator.curator import Curator
from letalone.curator.http.problems import problem_error
from letalone.curator.people import access
from letalone.curator.people.form_secrets import Secrets, secrets_of
from letalone.curator.storage.refusals import NotRecognised
from letalone.curator.storage.service_records import OVERSEEING, Bearer
from letalone.wire.records import Role, Scope


class SignInNeeded(Exception):  # noqa: N818
    """Nobody is signed in; `at` is where to go for that."""

    def __init__(self, at: str = "/sign-in") -> None:
        super().__init__(at)
        self.at = at


@dataclass(frozen=True, slots=True)
class Visitor(Bearer):
    """Somebody who is signed in, and the curator that they look at and act on.

    `elevated`: whether the password was given again in the last minutes.
    """

    secrets: Secrets = field(repr=False)
    curator: Curator = field(repr=False)

    @property
    def roles(self) -> frozenset[str]:
        return frozenset(role.value for role in self.person.roles)

    def has(self, *roles: Role) -> bool:
        return bool(self.person.roles & set(roles))


def visitor_of(request: Request, service: access.ServiceContext) -> Visitor | None:
    """Who is signed in, and may change a one-time password; None where nobody is."""
    visitor = _find(request, service)
    if visitor is not None:
        request.state.visitor, request.state.person = visitor, visitor.name
    return visitor


def go_on(request: Request, curator: Curator, secrets: Secrets) -> None:
    """Goes on under the secrets of a visit that was begun, or may act from now on."""
    request.state.visitor = _visitor(curator, secrets)
    request.state.secrets = secrets


def _visitor(curator: Curator, secrets: Secrets) -> Visitor:
    bearer = curator.visits.visitor(str(secrets.visit))
    known = {field.name: getattr(bearer, field.name) for field in fields(bearer)}
    return Visitor(**known, secrets=secrets, curator=curator)


def holds(request: Request, service: access.ServiceContext) -> bool:
    """Whether somebody is signed in; nothing else is learnt or kept of it."""
    return _find(request, service) is not None


def _find(request: Request, service: access.ServiceContext) -> Visitor | None:
    secrets = secrets_of(request)
    try:
        return None if secrets.visit is None else _visitor(service.curator, secrets)
    except NotRecognised:
        return None


def _perhaps(request: Request, service: access.Context) -> Visitor | None:
    """For pages that anybody may see."""
    visitor = visitor_of(request, service)
    if visitor is None:
        access.count_address(request, service)
    else:
        service.throttle.person(visitor.name)
    return visitor


Perhaps = Annotated[Visitor | None, Depends(_perhaps)]


def _visiting_or_changing(request: Request, service: access.Context, visitor: Perhaps) -> Visitor:
    if visitor is None:
        raise SignInNeeded
    if access.is_release_request(request):
        service.throttle.check_refusals(visitor.name)
    return visitor


# For the page where a one-time password is replaced, and for signing out.
Changing = Annotated[Visitor, Depends(_visiting_or_changing)]


def _visiting(visitor: Changing) -> Visitor:
    if visitor.person.must_change:
        raise SignInNeeded("/password")
    return visitor


Visiting = Annotated[Visitor, Depends(_visiting)]


def _with(*scopes: Scope) -> Callable[[Visitor], Visitor]:
    role = " or ".join(access.ROLE_OF_SCOPE[scope] for scope in scopes)

    def check(visitor: Visiting) -> Visitor:
        if not visitor.scopes & set(scopes):
            raise problem_error("not-permitted", f"This page is for the role {role}. Ask an owner.")
        return visitor

    return check  # pyright: ignore[reportReturnType]


# For routes that need not know who it is.
ANYBODY, VISITING = Depends(_perhaps), Depends(_visiting)
STEWARD, OWNER = Depends(_with(Scope.STEWARD, Scope.ADMINISTER)), Depends(_with(Scope.ADMINISTER))
AUDITOR = Depends(_with(Scope.AUDIT, Scope.ADMINISTER))

Analyst = Annotated[Visitor, Depends(_with(Scope.ASK))]
Steward = Annotated[Visitor, STEWARD]
Owner = Annotated[Visitor, OWNER]
Auditor = Annotated[Visitor, AUDITOR]
Overseer = Annotated[Visitor, Depends(_with(*OVERSEEING))]
