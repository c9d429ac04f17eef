"""The page that every ε leads to: what the number means, in words and in one picture."""

from fractions import Fraction

from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.forms import number_typed, try_act
from letalone.curator.console.meaning import Meaning, examples, read, together
from letalone.curator.console.pages import console_routes, page
from letalone.curator.console.visitors import Perhaps

routes = console_routes()


@routes.get("/epsilon")
def epsilon(request: Request, visitor: Perhaps, epsilon: str = "", delta: str = "") -> Response:
    """What an ε, and a δ, promise; anybody may look."""
    del visitor  # it says who sees which links

    def shown(meaning: Meaning) -> Response:
        groups = together(meaning)
        return page(request, "epsilon.html", meaning=meaning, examples=examples(), together=groups)

    return try_act(
        request,
        lambda: shown(read(number_typed(epsilon.strip()), number_typed(delta.strip()))),
        lambda: shown(Meaning(Fraction(1))),
    )
