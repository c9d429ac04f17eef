"""No words of Python in what HTTP says, and the open page speaks to people in the data."""

import re
from typing import Any

import pytest

from letalone.curator.http.public import day_and_time
from letalone.curator.http.wording import in_plain_words
from letalone.ledger.acts import ENGINE_FAILED
from letalone.ledger.levels import Key, not_allowed
from letalone.session.releasing import frozen

Service = Any
PYTHON = re.compile(r"\bla\.|ledger\.\w+\(|session\.|=…|letalone ledger")


@pytest.mark.parametrize(
    "words",
    [
        str(frozen(["visits"], ENGINE_FAILED)),
        str(not_allowed(Key("visits", "care", "ann"))),
        "give the budget a δ, such as la.Budget(epsilon=1, delta=1e-6), or use noise",
    ],
)
def test_python_is_said_again_as_addresses_and_json(words: str) -> None:
    assert PYTHON.search(words)
    assert not PYTHON.search(in_plain_words(words))


def test_times_are_written_as_people_write_them() -> None:
    assert day_and_time("2027-12-31T00:00:00Z") == "2027-12-31"
    assert day_and_time("2027-12-31T13:30:00Z") == "2027-12-31 13:30:00 UTC"


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
