"""The open page (G6), for anybody: which data sets, for what purposes, how much is spent."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from letalone.curator.console.pages import ConsoleRoute, page
from letalone.curator.console.visitors import Perhaps
from letalone.curator.http.public_routes import EPSILON, WHAT, day_and_time, open_page, protected
from letalone.curator.http.who import Served

routes = APIRouter(route_class=ConsoleRoute, tags=["open to anybody"])


@routes.get("/open", response_class=HTMLResponse, response_model=None)
def openness(request: Request, visitor: Perhaps, service: Served) -> Response:
    """Which data sets, for what purposes, under what unit, how much is spent: for reading."""
    del visitor  # it says who sees which links
    words = {"what": WHAT, "about_epsilon": EPSILON}
    said = {"protected": protected, "day_and_time": day_and_time}
    return page(request, "open.html", found=open_page(service), words=words, said_as=said)
