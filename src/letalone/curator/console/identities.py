"""Which account at the provider is whose: owners link them, and end links."""

from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.elsewhere import provider_of
from letalone.curator.console.forms import Form, try_act
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.visitors import Owner
from letalone.curator.http.who import Served

AT = "/identities"
routes = console_routes()


@routes.get(AT)
def identities(request: Request, visitor: Owner, service: Served) -> Response:
    """The links, and a form for one more."""
    links = service.curator.identities.links(by=visitor.name)
    everybody = service.curator.people.everybody(by=visitor.name)
    names = [person.name for person in everybody if person.active]
    return page(request, "identities.html", identities=links, names=names)


@routes.post(AT)
def link(request: Request, visitor: Owner, form: Form, service: Served) -> Response:
    """Links an account to a person, instead of the one before."""

    def act() -> Response:
        person, issuer = form.text("person"), provider_of(request).issuer
        service.curator.identities.link(
            person, form.text("account"), issuer=issuer, by=visitor.name
        )
        return see_other(request, AT, said=f"The account is linked to {person}.")

    return try_act(request, act, lambda: identities(request, visitor, service), acting=True)


@routes.post(f"{AT}/end")
def unlink(request: Request, visitor: Owner, form: Form, service: Served) -> Response:
    """Ends a link."""

    def act() -> Response:
        person = form.text("person")
        service.curator.identities.unlink(person, by=visitor.name)
        return see_other(request, AT, said=f"The link of {person} has ended.")

    return try_act(request, act, lambda: identities(request, visitor, service), acting=True)
