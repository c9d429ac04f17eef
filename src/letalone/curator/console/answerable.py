"""Who answers for the data: named by an owner, shown on the public page and in the record.

Tested:   tests/curator/console/test_steward_people.py
"""

from starlette.requests import Request
from starlette.responses import Response

from letalone.curator.console.forms import Form, read_body, try_act
from letalone.curator.console.pages import console_routes, page, see_other
from letalone.curator.console.visitors import Owner
from letalone.curator.http.shapes import Controller
from letalone.curator.http.who import Served, Service
from letalone.curator.settings import NO_CONTACT, NO_CONTROLLER

routes = console_routes()


def is_named(service: Service) -> bool:
    """Whether somebody said who answers for the data, and how they are reached."""
    who = service.curator.facts.answerable
    return who.controller != NO_CONTROLLER and who.contact != NO_CONTACT


@routes.get("/processing/controller")
def controller(request: Request, visitor: Owner, service: Served) -> Response:
    """The form."""
    del visitor
    return _page(request, service)


@routes.post("/processing/controller")
def name_controller(request: Request, visitor: Owner, form: Form, service: Served) -> Response:
    """Names who answers for the data."""

    def act() -> Response:
        sent = read_body(
            Controller, controller=form.text("controller"), contact=form.text("contact")
        )
        service.curator.facts.say(controller=sent.controller, contact=sent.contact, by=visitor.name)
        return see_other(request, "/processing", said="It is named, also on the public page.")

    return try_act(request, act, lambda: _page(request, service), acting=True)


def _page(request: Request, service: Service) -> Response:
    who = service.curator.facts.answerable
    controller = "" if who.controller == NO_CONTROLLER else who.controller
    contact = "" if who.contact == NO_CONTACT else who.contact
    return page(request, "controller.html", controller=controller, contact=contact)
