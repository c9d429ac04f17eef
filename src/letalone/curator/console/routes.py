"""Adds the console's pages and files to the service."""

from fastapi import FastAPI

from letalone.curator.asking import answer_pages as answers
from letalone.curator.asking import pages as questions
from letalone.curator.console import home
from letalone.curator.console.files import send
from letalone.curator.data_sets import pages as data_sets
from letalone.curator.data_sets import registering
from letalone.curator.grants import budget_pages as budgets
from letalone.curator.grants import pages as grant_requests
from letalone.curator.people import pages as accounts
from letalone.curator.people import provider_sign_in, signing_in
from letalone.curator.people.access import SURVEYED
from letalone.curator.record import meaning
from letalone.curator.record import pages as record
from letalone.curator.subjects import pages as persons
from letalone.curator.surveys import pages as surveys

ROUTES = (
    questions, signing_in, provider_sign_in, home, answers, meaning, record, grant_requests,
    budgets, accounts, persons, surveys, registering,
    data_sets,  # last: a data set may have any name
)  # fmt: skip


def add_console(app: FastAPI) -> None:
    """Adds the pages, and the files that they use."""
    app.add_api_route(
        "/static/{digest}/{name}", send, include_in_schema=False, dependencies=[SURVEYED]
    )
    provider_sign_in.add_provider(app, app.state.service.curator.settings)
    app.state.spending = budgets.Spending(app.state.service.curator.ledger)
    app.include_router(surveys.open_routes)
    for route in ROUTES:
        app.include_router(route.routes)
