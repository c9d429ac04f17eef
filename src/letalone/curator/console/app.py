"""The console as a part of the service."""

from fastapi import FastAPI

from letalone.curator.console import (
    answers,
    budgets,
    data_set_acts,
    data_sets,
    elsewhere,
    home,
    meaning,
    people,
    persons,
    questions,
    record,
    registering,
    requests,
    signing_in,
)
from letalone.curator.console.files import send
from letalone.curator.console.spending import Spending
from letalone.curator.http.who import ANYBODY

ROUTES = (
    questions, signing_in, elsewhere, home, answers, meaning, record, requests, budgets, people,
    persons, registering, data_set_acts, data_sets,  # last: a data set may have any name
)  # fmt: skip


def add_console(app: FastAPI) -> None:
    """Adds the pages, and the files that they use."""
    app.add_api_route(
        "/static/{digest}/{name}", send, include_in_schema=False, dependencies=[ANYBODY]
    )
    elsewhere.add_provider(app, app.state.service.curator.settings)
    app.state.spending = Spending(app.state.service.curator.ledger)
    for route in ROUTES:
        app.include_router(route.routes)
