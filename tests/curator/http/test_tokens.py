"""Forged, expired and revoked tokens; scopes; the password again; one-time passwords."""

from datetime import timedelta
from typing import Any

import pytest
from starlette.requests import Request

from letalone.curator.people.access import address_of
from letalone.wire.records import Role

PASSWORD = "correct horse battery staple"
Service = Any
Making = Any


def me(service: Service, token: str) -> Any:
    header = f"Bearer {token}".encode("latin-1")
    return service.client.get("/api/v1/me", headers={b"Authorization": header})


def log_in(service: Service, name: str = "ann", **more: Any) -> Any:
    body = {"name": name, "password": PASSWORD, **more}
    return service.client.post("/api/v1/tokens", json=body)


def test_a_token_stands_for_its_person(bare: Service) -> None:
    made = log_in(bare, label="notebook", days=3)
    assert made.status_code == 201
    found = me(bare, made.json()["secret"]).json()
    assert (found["person"]["name"], found["scopes"]) == ("ann", ["ask"])
    assert made.json()["token"]["label"] == "notebook"


def test_without_a_token_the_words_say_how_to_get_one(bare: Service) -> None:
    answer = bare.client.get("/api/v1/me")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "POST /api/v1/tokens" in answer.json()["detail"]


def test_forged_expired_and_revoked_tokens_are_refused_in_the_same_words(bare: Service) -> None:
    secret = log_in(bare).json()["secret"]
    revoked = log_in(bare).json()
    headers = {"Authorization": f"Bearer {secret}"}
    gone = bare.client.delete(f"/api/v1/tokens/{revoked['token']['id']}", headers=headers)
    assert gone.json()["revoked"] is True
    changed = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    bare.clock.passed = timedelta(days=91)
    expired = me(bare, secret)
    bare.clock.passed = timedelta()
    assert me(bare, secret).status_code == 200
    answers = [
        expired,
        me(bare, revoked["secret"]),
        me(bare, changed),
        me(bare, "la_"),
        me(bare, "é"),
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.text for answer in answers}) == 1


@pytest.mark.parametrize("header", ["", "Bearer", "Basic YTpi", "Bearer  ", "la_x"])
def test_a_header_that_is_none_is_refused(bare: Service, header: str) -> None:
    assert bare.client.get("/api/v1/me", headers={"Authorization": header}).status_code == 401


def test_another_analysts_tokens_can_be_neither_seen_nor_ended(bare: Service) -> None:
    theirs = log_in(bare, "ben").json()
    assert bare.ask("GET", "/tokens?person=ben", by="ann").status_code == 403
    answer = bare.ask("DELETE", f"/tokens/{theirs['token']['id']}", by="ann")
    nowhere = bare.ask("DELETE", "/tokens/0123", by="ann")
    assert (answer.status_code, answer.text) == (nowhere.status_code, nowhere.text)
    assert answer.status_code == 404
    assert me(bare, theirs["secret"]).status_code == 200
    own = bare.ask("GET", "/tokens", by="ann").json()["tokens"]
    assert {token["person"] for token in own} == {"ann"}
    assert theirs["secret"] not in str(own)


def test_no_scope_beyond_the_roles_or_beyond_the_token_that_asks(bare: Service) -> None:
    assert log_in(bare, scopes=["administer"]).status_code == 403
    narrow = log_in(bare, "olga", scopes=["audit"]).json()["secret"]
    headers = {"Authorization": f"Bearer {narrow}"}
    body = {"password": PASSWORD, "scopes": ["administer"]}
    more = bare.client.post("/api/v1/me/tokens", json=body, headers=headers)
    assert more.status_code == 403
    assert bare.client.get("/metrics", headers=headers).status_code == 403
    body = {"password": PASSWORD}
    same = bare.client.post("/api/v1/me/tokens", json=body, headers=headers).json()
    assert same["token"]["scopes"] == ["audit"]


def test_acts_of_an_owner_need_the_password_again_for_ten_minutes(bare: Service) -> None:
    plain = log_in(bare, "olga").json()["secret"]
    body = {"name": "zoe", "roles": ["analyst"]}

    def add(token: str, name: str) -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        return bare.client.post("/api/v1/people", json={**body, "name": name}, headers=headers)

    refused = add(plain, "zoe")
    assert (refused.status_code, refused.json()["type"]) == (401, "/problems/elevation-needed")
    assert "POST /api/v1/elevations" in refused.json()["detail"]
    headers = {"Authorization": f"Bearer {plain}"}
    wrong = bare.client.post("/api/v1/elevations", json={"password": "no"}, headers=headers)
    assert wrong.status_code == 401
    raised = bare.client.post("/api/v1/elevations", json={"password": PASSWORD}, headers=headers)
    secret = raised.json()["secret"]
    assert add(secret, "zoe").status_code == 201
    bare.clock.passed = timedelta(minutes=11)
    assert add(secret, "yan").status_code == 401
    bare.clock.passed = timedelta()
    written = [entry.body for entry in bare.curator.ledger.entries()]
    assert any("elevated" in str(body) and "olga" in str(body) for body in written)


def test_a_one_time_password_is_changed_before_anything_else(bare: Service) -> None:
    once = bare.curator.people.add("kim", [Role.ANALYST], by="olga")
    body = {"name": "kim", "password": once}
    refused = bare.client.post("/api/v1/tokens", json=body)
    assert (refused.status_code, refused.json()["type"]) == (
        403,
        "/problems/password-change-needed",
    )
    short = bare.client.post("/api/v1/passwords", json={**body, "new": "short"})
    assert short.status_code == 422
    changed = bare.client.post("/api/v1/passwords", json={**body, "new": PASSWORD})
    assert changed.status_code == 200
    assert log_in(bare, "kim").status_code == 201
    assert bare.client.post("/api/v1/tokens", json=body).status_code == 401, "it was for once"


def test_guesses_are_counted_and_a_wrong_name_reads_like_a_wrong_password(making: Making) -> None:
    service = making(data=False)
    object.__setattr__(service.curator.settings, "tries", 3)
    body = {"name": "ann", "password": "guess"}
    answers = [service.client.post("/api/v1/tokens", json=body) for _ in range(4)]
    assert [one.status_code for one in answers] == [401, 401, 401, 429]
    assert int(answers[-1].headers["Retry-After"]) >= 1
    nobody = service.client.post("/api/v1/tokens", json={**body, "name": "nobody"})
    assert nobody.text == answers[0].text


def test_strangers_lock_nobody_out_who_has_a_token_or_another_address(making: Making) -> None:
    service = making(data=False)
    object.__setattr__(service.curator.settings, "tries", 3)
    owner = log_in(service, "olga").json()["secret"]
    guess = {"name": "olga", "password": "guess"}
    for _ in range(4):
        wrong = service.client.post("/api/v1/tokens", json=guess)
    assert wrong.status_code == 429
    headers = {"Authorization": f"Bearer {owner}"}
    body = {"password": service.password}
    again = service.client.post("/api/v1/elevations", json=body, headers=headers)
    assert again.status_code == 201, again.text
    body = {"name": "olga", "password": service.password, "new": "another horse and a staple"}
    assert service.client.post("/api/v1/passwords", json=body).status_code == 429
    changed = service.client.post("/api/v1/passwords", json=body, headers=headers)
    assert changed.status_code == 200, changed.text


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("2001:db8::1:2:3", "2001:db8::/64"),
        ("2001:db8::9", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.2", "192.0.2.2"),
        ("testclient", "testclient"),
    ],
)
def test_addresses_of_one_network_are_one(host: str, address: str) -> None:
    scope = {"type": "http", "client": (host, 1), "headers": []}
    assert address_of(Request(scope)) == address


def test_somebody_who_was_disabled_is_out_at_once(bare: Service) -> None:
    secret = log_in(bare, "ben").json()["secret"]
    path = "/people/ben"
    assert bare.ask("PATCH", path, by="olga", json={"active": False}).json()["active"] is False
    assert me(bare, secret).status_code == 401
    bare.ask("PATCH", path, by="olga", json={"active": True})


@pytest.mark.parametrize("person", ["ann", "aud", "stan"])
def test_only_owners_appoint_people(bare: Service, person: str) -> None:
    body = {"name": "eve", "roles": ["owner"]}
    assert bare.ask("POST", "/people", by=person, json=body).status_code == 403
    assert (
        bare.ask("PATCH", f"/people/{person}", by=person, json={"roles": ["owner"]}).status_code
        == 403
    )


def test_every_act_and_every_exact_number_needs_the_password_again(bare: Service) -> None:
    """What an owner's plain token reaches is listed here: a route that is added is found."""
    plain = log_in(bare, "olga").json()["secret"]
    headers = {"Authorization": f"Bearer {plain}"}
    reached = set[str]()
    for path, methods in bare.client.get("/api/v1/openapi.json").json()["paths"].items():
        for method in methods:
            answer = bare.client.request(method.upper(), path, json={}, headers=headers)
            if answer.status_code != 401:
                reached.add(f"{method} {path.removeprefix('/api/v1')}")
    reading = {
        "get /me", "get /tokens", "get /people", "get /data-sets", "get /data-sets/{name}",
        "get /requests", "get /requests/{request_id}", "get /grants", "get /proposals",
        "get /budgets", "get /budgets/{data_set}", "get /ledger", "get /ledger/key",
        "get /ledger/export", "post /ledger/verification", "get /processing",
        "get /processing.md", "get /metrics", "get /health", "get /ready", "get /open",
        "get /problems/{kind}", "get /surveys", "get /surveys/{name}/results",
    }  # fmt: skip
    of_oneself = {
        "post /passwords", "post /tokens", "post /me/tokens",
        "post /elevations", "post /ledger/checkpoint",
    }  # fmt: skip
    of_analysts = {one for one in reached if "/questions/" in one} | {
        "post /requests",
        "delete /requests/{request_id}",
    }
    of_people_asked = {
        "post /surveys/{name}/reports", "post /surveys/{name}/halves",
        "post /counters/{name}/halves", "post /counters/{name}/checks",
        "post /counters/{name}/totals",
    }  # fmt: skip
    assert reached == reading | of_oneself | of_analysts | of_people_asked
