"""A token does what its scopes say, whatever roles its person has; and makes no heirs."""

from typing import Any

import pytest

from curator.http.conftest import PASSWORD, Service
from letalone.curator.http.limits import RateLimits
from letalone.curator.http.problems import of_error
from letalone.errors import LedgerDamaged, LedgerUnavailable
from letalone.ledger.storage.store import NotALedger
from letalone.wire.records import Role, Scope


@pytest.fixture(scope="module")
def both(service: Service) -> Service:
    """With kim, who is an owner and an analyst."""
    people = service.curator.people
    once = people.add("kim", [Role.OWNER, Role.ANALYST], by="olga")
    people.change_password("kim", once, PASSWORD)
    return service


def sent(service: Service, scope: Scope, method: str, path: str, **more: Any) -> Any:
    """A request of kim's, with a token of one scope."""
    secret, _ = service.curator.tokens.make("kim", [scope])
    headers = {"Authorization": f"Bearer {secret}"}
    return service.client.request(method, f"/api/v1{path}", headers=headers, **more)


def test_a_token_for_questions_sees_nothing_of_others(both: Service) -> None:
    for path, name in (("/requests", "requests"), ("/grants", "grants")):
        assert sent(both, Scope.ASK, "GET", path).json()[name] == []
        assert sent(both, Scope.ADMINISTER, "GET", path).json()[name]
    one = both.ask("GET", "/requests", by="ann").json()["requests"][0]["id"]
    assert sent(both, Scope.ASK, "GET", f"/requests/{one}").status_code == 404
    assert sent(both, Scope.STEWARD, "GET", f"/requests/{one}").status_code == 200
    assert sent(both, Scope.ASK, "GET", "/tokens?person=ann").status_code == 403
    assert sent(both, Scope.ADMINISTER, "GET", "/tokens?person=ann").status_code == 200


def test_somebody_elses_token_is_ended_only_with_the_password_again(both: Service) -> None:
    tokens = both.curator.tokens
    secret, theirs = tokens.make("ann", [Scope.ASK])
    assert sent(both, Scope.ASK, "DELETE", f"/tokens/{theirs.id}").status_code == 404
    plain = sent(both, Scope.ADMINISTER, "DELETE", f"/tokens/{theirs.id}")
    assert (plain.status_code, plain.json()["type"]) == (401, "/problems/elevation-needed")
    assert tokens.bearer(secret).person.name == "ann"
    assert both.ask("DELETE", f"/tokens/{theirs.id}", by="olga").json()["revoked"]
    _, own = tokens.make("kim", [Scope.ASK])
    assert sent(both, Scope.ASK, "DELETE", f"/tokens/{own.id}").json()["revoked"]


def test_whoever_finds_a_token_cannot_make_others(both: Service) -> None:
    for body in ({}, {"days": 3000}, {"password": "a guess"}):
        answer = sent(both, Scope.ASK, "POST", "/me/tokens", json=body)
        assert answer.status_code in (401, 422)
        assert "secret" not in answer.json()
    elevated, _ = both.curator.tokens.elevate("kim", PASSWORD)
    headers = {"Authorization": f"Bearer {elevated}"}
    answer = both.client.post("/api/v1/me/tokens", json={"days": 3000}, headers=headers)
    assert answer.status_code == 422
    good = sent(both, Scope.ASK, "POST", "/me/tokens", json={"password": PASSWORD})
    assert (good.status_code, good.json()["token"]["scopes"]) == (201, ["ask"])


@pytest.mark.parametrize("error", [LedgerDamaged, LedgerUnavailable, NotALedger])
def test_no_file_or_server_is_named_to_a_stranger(both: Service, monkeypatch, error) -> None:
    place = "/srv/curator/ledger.db at postgresql://curator:hunter2@db/letalone"

    def fail(*_: object) -> None:
        raise error(f"{place} cannot be used")

    monkeypatch.setattr(type(both.curator.data_sets), "records", fail)
    answer = both.client.get("/api/v1/open")
    assert answer.status_code in (500, 503)
    assert "srv" not in answer.text
    assert "postgresql" not in answer.text
    assert of_error(error(place)).to_json()["error"] in ("LedgerDamaged", "LedgerUnavailable")


def test_probes_and_refusals_are_counted(making: Any) -> None:
    rates = RateLimits(log_ins_of_an_address=100, probes_of_an_address=2, refusals_of_a_person=2)
    service = making(rates=rates)
    paths = ("/health", "/ready", "/health", "/ready")
    assert [service.client.get(one).status_code for one in paths] == [200, 200, 429, 429]
    bad, good = service.question("SELECT nothing FROM visits"), service.question()

    def asked(body: Any, by: str = "ann", kind: str = "release") -> int:
        return service.ask("POST", f"/questions/{kind}", by=by, json=body).status_code

    assert asked(good) == 200
    assert [asked(bad, kind="preview") for _ in range(4)] == [422] * 4, "which are no entries"
    assert [asked(bad) for _ in range(3)] == [422, 422, 429]
    assert asked(good) == 429
    assert asked(good, kind="preview") == 200
    assert asked(good, by="ben") == 200
    assert service.ask("GET", "/questions/history", by="ann").status_code == 200
    entries = len(service.curator.ledger)
    asked(bad)
    assert len(service.curator.ledger) == entries
