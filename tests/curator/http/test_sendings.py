"""A request under a name of its own gets one answer, however often it is sent within a day."""

from datetime import timedelta
from typing import Any

import pytest

from letalone.privacy import Budget

Service = Any


def sent(service: Service, body: Any, key: str | None, by: str = "ann") -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return service.ask("POST", "/questions/release", by=by, json=body, headers=headers)


def spent(service: Service) -> Budget:
    return service.curator.ledger.data_set("visits").spent


def question(service: Service, name: str, **more: Any) -> Any:
    return service.question(f"SELECT ward, COUNT(*) AS {name} FROM visits GROUP BY ward", **more)


def test_the_same_key_and_body_give_the_same_answer_when_the_version_has_risen(
    service: Service,
) -> None:
    body = question(service, "risen", epsilon="1/100")
    first = sent(service, body, "one-1").json()
    service.curator.ledger.raise_version("visits")
    before = spent(service)
    again = sent(service, body, "one-1").json()
    assert again["release"] == first["release"]
    assert (again["repeated"], again["rows"]) == (True, first["rows"])
    assert again["receipt"] == first["receipt"]
    wanted = sent(service, {**body, "left": True}, "one-1").json()
    assert wanted["release"] == first["release"], "what is left is no part of the question"
    assert spent(service) == before
    other = sent(service, body, "one-2").json()
    assert other["release"] != first["release"], "under another key it is about the new version"
    assert spent(service) != before


def test_a_plan_of_an_earlier_version_gets_its_answer_again(service: Service) -> None:
    body = question(service, "planned", epsilon="1/100")
    plan = sent(service, body, None).json()["release"]["plan"]
    service.curator.ledger.raise_version("visits")
    body = {**body, "sql": None, "plan": plan}
    first = sent(service, body, "plan-1").json()
    service.curator.ledger.raise_version("visits")
    assert sent(service, body, "plan-1").json()["release"] == first["release"]


def test_the_same_key_with_another_body_is_refused_in_words(service: Service) -> None:
    body = question(service, "another", epsilon="1/100")
    assert sent(service, body, "two").status_code == 200
    before = spent(service)
    for other in ({**body, "epsilon": "1/50"}, question(service, "a_third", epsilon="1/100")):
        answer = sent(service, other, "two")
        assert answer.status_code == 422
        assert "Idempotency-Key was sent with another question" in answer.json()["detail"]
    assert spent(service) == before
    assert sent(service, body, "two").json()["repeated"] is True


@pytest.mark.parametrize("key", ["", "x" * 201, "a b", "a\tb", "a\x7fb", "ä"])
def test_a_key_that_cannot_be_one_is_refused(service: Service, key: str) -> None:
    answer = sent(service, question(service, "bad"), key.encode("latin-1"))  # type: ignore[arg-type]
    assert answer.status_code == 422
    assert "Idempotency-Key" in answer.json()["detail"]


def test_a_key_is_its_persons_own(service: Service) -> None:
    body, before = question(service, "mine", epsilon="1/100"), spent(service)
    first = sent(service, body, "three").json()
    theirs = sent(service, {**body, "epsilon": "1/90"}, "three", by="ben")
    assert theirs.status_code == 200
    assert theirs.json()["release"] != first["release"]
    assert spent(service) != before


def test_a_key_is_kept_for_a_day(service: Service) -> None:
    body = question(service, "day", epsilon="1/100")
    sent(service, body, "four")
    service.clock.passed += timedelta(hours=25)
    try:
        other = sent(service, {**body, "epsilon": "1/90"}, "four")
    finally:
        service.clock.passed -= timedelta(hours=25)
    assert other.status_code == 200, other.text


def test_the_description_names_the_header(service: Service) -> None:
    paths = service.client.get("/api/v1/openapi.json").json()["paths"]
    named = {one["name"] for one in paths["/api/v1/questions/release"]["post"]["parameters"]}
    assert "Idempotency-Key" in named


def test_a_withdrawn_grant_shows_nothing_under_a_key(service: Service) -> None:
    body = question(service, "withdrawn", epsilon="1/100")
    assert sent(service, body, "five", by="ben").status_code == 200
    act = service.curator.requests.withdraw_grant
    act("visits", purpose="care", analyst="ben", why="has left", by="stan")
    answer = sent(service, body, "five", by="ben")
    assert answer.status_code == 403
    assert "release" not in answer.json()
