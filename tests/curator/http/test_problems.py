"""Every error of letalone has a kind; nothing that nobody foresaw is told in words."""

from json import loads

import pytest

import letalone.curator.refusals
import letalone.errors
from letalone.curator.http.problems import (
    ABOUT_A_STORE,
    BY_CLASS,
    INTERNAL,
    KINDS,
    MEDIA_TYPE,
    Problem,
    of_error,
    of_status,
    of_validation,
)
from letalone.errors import BudgetExceeded, LetaloneError
from letalone.ledger.acts import NoSuchDataSet
from letalone.ledger.charging import NotWritten
from letalone.privacy import Budget

ERRORS = [
    found
    for module in (letalone.errors, letalone.curator.refusals)
    for found in vars(module).values()
    if isinstance(found, type) and issubclass(found, LetaloneError) and found is not LetaloneError
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_class_of_error_has_its_own_kind(error: type[LetaloneError]) -> None:
    """A class that is added must be given a status, and must not hide behind a wider one."""
    problem = of_error(error("some words"))
    assert (error, problem.kind) in BY_CLASS
    assert problem.to_json()["error"] == error.__name__
    assert problem.to_json()["detail"] == ABOUT_A_STORE.get(problem.kind, "some words")


@pytest.mark.parametrize("kind", KINDS)
def test_every_problem_has_the_members_of_the_standard(kind: str) -> None:
    response = Problem(kind, "Words.").response()
    body = loads(bytes(response.body))
    assert response.media_type == MEDIA_TYPE
    assert body["status"] == response.status_code >= 400
    assert body["type"] == f"/problems/{kind}"
    assert body["title"] == KINDS[kind].title
    assert body["detail"] == "Words."


def test_a_refused_charge_says_what_was_spent_asked_and_left() -> None:
    error = BudgetExceeded("no", spent=Budget(1), asked=Budget(2), left=Budget(0.5, 1e-6))
    body = of_error(error).to_json()
    assert (body["spent"]["epsilon"], body["asked"]["epsilon"]) == ("1", "2")
    assert body["left"] == {"epsilon": "0.5", "delta": "0.000001", "words": "ε = 0.5, δ = 1e-6"}
    assert "left" not in of_error(BudgetExceeded("no")).to_json()


def test_what_a_validator_was_given_is_not_repeated() -> None:
    """It may be a password."""
    given = {"loc": ("body", "password"), "msg": "too short", "type": "x", "input": "hunter2"}
    problem = of_validation([given])
    assert "hunter2" not in str(problem.to_json())
    assert problem.to_json()["errors"] == [{"field": "password", "why": "too short."}]


def test_a_body_that_is_no_json_is_said_to_be_none() -> None:
    error = {"loc": ("body", 1), "msg": "Expecting value", "type": "json_invalid"}
    assert of_validation([error]).code == 400


@pytest.mark.parametrize("status", [400, 404, 405, 413, 418, 501])
def test_a_status_of_the_router_is_a_problem_of_the_same_status(status: int) -> None:
    assert of_status(status, {"Allow": "GET"}).response().status_code == status


def test_an_internal_problem_says_nothing() -> None:
    assert INTERNAL.to_json().keys() == {"type", "title", "status", "detail"}


def test_a_ledger_without_the_data_set_is_a_fault_of_the_service_and_no_advice() -> None:
    said = of_error(NoSuchDataSet("Register a new one with ledger.register(name, …)."))
    assert (said.code, "register" in said.detail) == (500, False)


def test_a_closed_charge_is_told_as_spent_and_nobody_is_asked_to_send_it_again() -> None:
    """Clients send again what was away (503): each time would be charged."""
    problem = of_error(NotWritten("/secret/place cannot be used"))
    assert (problem.code, problem.headers) == (500, {})
    assert "stays spent" in problem.detail
    assert "secret" not in problem.detail
    assert "costs nothing more" not in problem.detail
