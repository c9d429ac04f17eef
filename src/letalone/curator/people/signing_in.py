"""Signs people in and out, asks for the password again, and changes it.

Tries count as those of the API do: by address, and by name and address. Each sign-in has a
secret of its own, so nobody can have planted one before.

  Tested:   tests/curator/console/test_visits.py
"""

from fastapi import Request, Response

from letalone.curator.console import pages
from letalone.curator.console.forms import Form, act_or_show, give_password_again
from letalone.curator.console.sent import kept_for
from letalone.curator.people.access import LOG_IN, Address, Context
from letalone.curator.people.form_secrets import Secrets, check_private, new_forms
from letalone.curator.people.visitors import VISITING, Changing, Perhaps, go_on
from letalone.curator.storage.service_records import Recognised
from letalone.errors import ParameterError

routes = pages.console_routes()


@routes.get("/sign-in")
def sign_in(request: Request, visitor: Perhaps) -> Response:
    """The form; who is signed in goes on."""
    if visitor is not None:
        return pages.see_other(request, pages.local(request.query_params.get("next", "/")))
    return pages.sign_in_page(request)


@routes.post("/sign-in", dependencies=[LOG_IN])
@act_or_show(pages.sign_in_page)
def sign_in_by_password(
    request: Request, form: Form, service: Context, address: Address
) -> Response:
    """Begins a visit; a one-time password leads to the page where it is replaced."""
    check_private(request)
    name, password = form.text("name"), form.secret("password")
    proof = service.curator.people.recognised(name, password, address=address)
    kept = kept_for(request, proof.person.name)
    begin(request, service, proof)
    if kept is not None and not proof.person.must_change:
        return pages.kept_page(request, kept)
    at = "/password" if proof.person.must_change else pages.local(form.text("next") or "/")
    return pages.see_other(request, at)


def begin(request: Request, service: Context, proof: Recognised) -> None:
    """Begins a visit of somebody who was recognised: with secrets that nobody else has seen."""
    secret = service.curator.visits.begin(proof)
    go_on(request, service.curator, Secrets(secret, new_forms(proof.person.name)))


@routes.post("/sign-out")
def sign_out(request: Request, visitor: Changing, service: Context) -> Response:
    """Ends the visit; its forms in other tabs are still known, and kept through a sign-in."""
    service.curator.visits.end(str(visitor.secrets.visit))
    request.state.secrets = Secrets(None, visitor.secrets.forms)
    return pages.see_other(request, "/sign-in", said="You are signed out.")


@routes.get("/again", dependencies=[VISITING])
def again(request: Request) -> Response:
    """The password again, before acts of stewards and owners."""
    return pages.page(request, "again.html")


@routes.post("/again", dependencies=[VISITING])
@act_or_show(again)
def elevate(request: Request, form: Form) -> Response:
    """Lets the visit act for some minutes, then goes back."""
    give_password_again(request, form.secret("password"))
    return pages.see_other(request, pages.local(form.text("next") or "/"))


@routes.get("/password")
def password(request: Request, visitor: Changing) -> Response:
    """The form for a password of one's own."""
    return pages.page(request, "password.html", shortest=visitor.curator.settings.shortest_password)


@routes.post("/password")
@act_or_show(password)
def change_password(request: Request, visitor: Changing, form: Form, service: Context) -> Response:
    """Replaces the password: all other visits and all tokens end, this visit begins anew."""
    people, name = service.curator.people, visitor.name
    new = form.secret("new")
    if new != form.secret("new_again"):
        raise ParameterError("The new password was typed in two different ways. Type it again.")
    people.change_password(name, form.secret("password"), new, known=True)
    begin(request, service, people.password_again(name, new))
    return pages.see_other(request, "/", said="Your password was changed.")
