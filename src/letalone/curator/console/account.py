"""One's own account: roles, password, and tokens for programs."""

from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.forms import Form, read_body, try_act
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.visitors import Visiting, Visitor
from letalone.curator.http.shapes import NewToken
from letalone.curator.http.who import Served, Service

routes = console_routes()


@routes.get("/account")
def account(request: Request, visitor: Visiting, service: Served) -> Response:
    """Who this is, and the tokens that hold."""
    return _page(request, visitor, service)


@routes.post("/account/tokens")
def make(request: Request, visitor: Visiting, form: Form, service: Served) -> Response:
    """One more token, for the password again; its secret is shown once, on this page."""

    def act() -> Response:
        sent = read_body(
            NewToken,
            password=form.secret("password"),
            scopes=form.all("scopes"),
            label=form.text("label"),
            days=form.maybe("days"),
        )
        proof = service.curator.people.password_again(visitor.name, sent.password)
        secret, _ = service.curator.tokens.make(
            visitor.name, sent.scopes or [], days=sent.days, label=sent.label, proof=proof
        )
        return _page(request, visitor, service, secret=secret)

    return try_act(request, act, lambda: _page(request, visitor, service))


@routes.post("/account/tokens/{token}/revoke")
def revoke(request: Request, token: str, visitor: Visiting, service: Served) -> Response:
    """Ends an own token."""

    def act() -> Response:
        service.curator.tokens.revoke(token, by=visitor.name, own=True)
        return see_other(request, "/account", said="The token was ended.")

    return try_act(request, act, lambda: _page(request, visitor, service))


def _page(
    request: Request, visitor: Visitor, service: Service, *, secret: str | None = None
) -> Response:
    tokens = service.curator.tokens.of(visitor.name, by=visitor.name)
    scopes = sorted(scope.value for scope in visitor.scopes)
    days = service.curator.settings.token_days
    holds = [token for token in tokens if not token.revoked and not token.elevated]
    return page(request, "account.html", tokens=holds, scopes=scopes, days=days, secret_=secret)
