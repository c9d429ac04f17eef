"""A NUL sign, which PostgreSQL cannot store, is refused in words wherever it can be sent."""

import pytest

from curator.http.conftest import Making, Service
from letalone.curator.asking import service as asking
from letalone.curator.http.limits import RateLimits
from letalone.errors import LedgerUnavailable


@pytest.mark.parametrize(
    "path",
    ["/requests/%00", "/data-sets/%00", "/data-sets/x%00/affected", "/questions/history/%00"],
)
def test_a_path_with_one_leads_nowhere(service: Service, path: str) -> None:
    found = service.ask("GET", path, by="ann")
    assert (found.status_code, "nothing at this address" in found.text) == (404, True)


@pytest.mark.parametrize("path", ["/questions/history?data_set=%00", "/ledger?data_set=a%00"])
def test_a_query_with_one_is_refused(service: Service, path: str) -> None:
    found = service.ask("GET", path, by="ann")
    assert (found.status_code, found.json()["type"]) == (422, "/problems/not-valid")


def test_a_body_with_one_is_refused(service: Service) -> None:
    of_token = {"name": "ann", "password": service.password, "label": "a\0"}
    outcome = {"act": "\0", "done": False, "words": "x"}
    for path, body, by in [
        ("/tokens", of_token, None),
        ("/subjects/outcomes", outcome, "stan"),
        ("/subjects/outcomes", outcome | {"act": "x", "words": "\0"}, "stan"),
        ("/subjects/holdings", {"subject": "\0", "why": "x"}, "stan"),
    ]:
        found = service.ask("POST", path, by=by, json=body)
        assert found.status_code == 422, path
        assert "right form" in found.json()["detail"]


def test_questions_that_fail_are_counted_and_written_down_unless_a_store_was_away(
    making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = making(rates=RateLimits(refusals_of_a_person=2))

    def asked_with(error: Exception) -> list[int]:
        def fail(*_: object) -> None:
            raise error

        monkeypatch.setattr(asking, "check_size", fail)
        body = strict.question()
        sent = [strict.ask("POST", "/questions/release", by="ann", json=body) for _ in range(3)]
        return [one.status_code for one in sent]

    assert asked_with(LedgerUnavailable("x")) == [503, 503, 503]
    assert asked_with(ZeroDivisionError()) == [500, 500, 429]
    kinds = [one.kind.value for one in strict.curator.ledger.entries("visits")]
    assert kinds.count("refused") == 2
