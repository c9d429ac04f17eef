"""Every error of letalone has a kind; nothing that nobody foresaw is told in words."""

from json import dumps, loads

import pytest

import letalone.curator.storage.refusals
import letalone.errors
from letalone.curator.http.problems import (
    INTERNAL,
    KINDS,
    MEDIA_TYPE,
    ProblemDocument,
    of_error,
    of_status,
    of_validation,
)
from letalone.errors import BudgetExceeded, LetaloneError, NotAllowed, ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled
from letalone.errors.problem import problem as code_problem
from letalone.errors.remedies import Allow
from letalone.ledger.acts import NoSuchDataSet
from letalone.ledger.charging import NotWritten
from letalone.ledger.storage.store import NotALedger
from letalone.privacy import Budget

ERRORS = [
    found
    for module in (letalone.errors, letalone.curator.storage.refusals)
    for found in vars(module).values()
    if isinstance(found, type) and issubclass(found, LetaloneError) and found is not LetaloneError
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_class_of_error_has_its_own_kind(error: type[LetaloneError]) -> None:
    """A class that is added must be given a code, and must not hide behind a wider one."""
    problem = of_error(error("some words"))
    code = Code[error.default_code]
    assert problem.kind in KINDS
    assert code is not Code.OTHER or error is ParameterError
    assert problem.to_json()["error"] == error.__name__
    assert problem.to_json()["detail"] == (code.value.served or "some words")
    assert problem.to_json()["code"] == code.name


def test_each_kind_of_letalones_errors_is_that_of_one_class() -> None:
    kinds = [of_error(error("words")).kind for error in set(ERRORS)]
    assert len(set(kinds)) == len(kinds)


@pytest.mark.parametrize("code", Code, ids=lambda code: code.name)
def test_every_code_has_a_problem_type_that_is_described(code: Code) -> None:
    error = getattr(letalone.errors, code.error)
    assert of_error(error(code_problem(code))).kind in KINDS


def test_facts_and_remedies_are_sent_and_places_are_not() -> None:
    told = code_problem(
        Code.NOT_ALLOWED,
        Allow("visits", "care"),
        place="/secret/place",
        columns=("age",),
        budget=Budget(1),
        allowed=Spelled("True or False", http="true or false"),
        purpose=None,
    )
    body = of_error(NotAllowed(told)).to_json()
    assert loads(dumps(body)) == body
    assert body["code"] == "NOT_ALLOWED"
    assert body["facts"] == {
        "columns": ["age"],
        "budget": {"epsilon": "1", "delta": "0", "words": "ε = 1"},
        "allowed": "true or false",
    }
    remedy = {"remedy": "Allow", "name": "visits", "purpose": "care", "analyst": None}
    assert body["remedies"] == [remedy]
    assert "secret" not in str(body)


def test_nothing_but_one_sentence_is_sent_of_a_store() -> None:
    told = code_problem(Code.NOT_A_LEDGER, what="/secret/place", words="/secret/place is none.")
    body = of_error(NotALedger(told)).to_json()
    assert (body["code"], body["facts"], body["remedies"]) == ("LEDGER_DAMAGED", {}, [])
    assert (body["error"], body["type"]) == ("LedgerDamaged", "/problems/ledger-damaged")
    assert "secret" not in str(body)


@pytest.mark.parametrize("kind", KINDS)
def test_every_problem_has_the_members_of_the_standard(kind: str) -> None:
    response = ProblemDocument(kind, "Words.").response()
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
