"""Adds the console's pages and files to the service."""

from fastapi import FastAPI

from letalone.curator.console import (
    accounts,
    answers,
    budgets,
    data_sets,
    grant_requests,
    home,
    meaning,
    persons,
    provider_sign_in,
    questions,
    record,
    registering,
    signing_in,
)
from letalone.curator.console.files import send
from letalone.curator.http.access import ANYBODY

ROUTES = (
    questions, signing_in, provider_sign_in, home, answers, meaning, record, grant_requests,
    budgets, accounts, persons, registering, data_sets,  # last: a data set may have any name
)  # fmt: skip


def add_console(app: FastAPI) -> None:
    """Adds the pages, and the files that they use."""
    app.add_api_route(
        "/static/{digest}/{name}", send, include_in_schema=False, dependencies=[ANYBODY]
    )
    provider_sign_in.add_provider(app, app.state.service.curator.settings)
    app.state.spending = budgets.Spending(app.state.service.curator.ledger)
    for route in ROUTES:
        app.include_router(route.routes)
