"""No words of Python in what HTTP says, and the open page speaks to people in the data."""

import re
from typing import Any

import pytest

from letalone.curator.http.problems import of_error
from letalone.curator.record.public_api import day_and_time
from letalone.errors import BudgetExceeded, LetaloneError
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import GiveDelta
from letalone.ledger.charging import Work, frozen_error
from letalone.ledger.levels import Key, not_allowed
from letalone.session.table_work import file_changed

Service = Any
PYTHON = re.compile(r"\bla\.|ledger\.\w+\(|session\.|=…|letalone ledger")


@pytest.mark.parametrize(
    "error",
    [
        frozen_error(["visits"], Work.failure),
        file_changed("visits"),
        not_allowed(Key("visits", "care", "ann")),
        BudgetExceeded(problem(Code.BUDGET_EXCEEDED, GiveDelta(), words="It does not fit.")),
    ],
)
def test_python_is_said_again_as_addresses_and_json(error: LetaloneError) -> None:
    assert PYTHON.search(str(error))
    assert not PYTHON.search(of_error(error).detail)


def test_times_are_written_as_people_write_them() -> None:
    assert day_and_time("2027-12-31T00:00:00Z") == "2027-12-31"
    assert day_and_time("2027-12-31T13:30:00Z") == "2027-12-31 13:30:00 UTC"


@pytest.mark.long  # curator/test_principles.py: g6, the public page
def test_the_page_says_who_is_protected_and_who_answers(service: Service) -> None:
    body = {"controller": "St. <Mary>", "contact": "privacy@example.org"}
    assert service.ask("PUT", "/controller", by="olga", json=body).json() == body
    assert service.ask("PUT", "/controller", by="stan", json=body).status_code == 403
    page = service.client.get("/open").text
    assert "Each patient is protected, with all of their rows" in page
    assert "St. &lt;Mary&gt;" in page
    assert "ε (epsilon)" in page
    record = service.ask("GET", "/processing", by="aud").json()
    assert record["controller"] == "St. <Mary>"


def test_an_answer_begins_with_its_rows(service: Service) -> None:
    answer = service.ask("POST", "/questions/release", by="ann", json=service.question())
    assert next(iter(answer.json())) == "rows"
