"""Every answer has the headers, every error is a problem, and nothing unforeseen is told."""

import re
from typing import Any

import pytest

from letalone.curator.http.limits import RateLimits
from letalone.curator.http.middleware import SECURITY_HEADERS, BodyLimits
from letalone.curator.http.problems import KINDS, MEDIA_TYPE

Service = Any
Making = Any
SECRET = "Zyxwvut"


def is_problem(answer: Any, status: int) -> bool:
    body = answer.json()
    assert answer.status_code == body["status"] == status, answer.text
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert body["type"].removeprefix("/problems/") in KINDS
    return bool(body["title"] and body["detail"])


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/nowhere", b"", 404),
        ("GET", "/api/v1/../../etc/passwd", b"", 404),
        ("PUT", "/health", b"", 405),
        ("BREW", "/health", b"", 405),
        ("POST", "/api/v1/tokens", b"{", 400),
        ("POST", "/api/v1/tokens", b"\xff\xfe", 400),
        ("POST", "/api/v1/tokens", b"[" * 50_000, 400),
        ("POST", "/api/v1/tokens", b"{}", 422),
        ("POST", "/api/v1/tokens", b'{"name": "a", "password": "x", "more": 1}', 422),
        ("POST", "/api/v1/tokens", b'{"name": "\\ud800", "password": "x"}', 422),
        ("GET", "/api/v1/me", b"", 401),
        ("GET", "/metrics", b"", 401),
        ("GET", "/problems/nothing", b"", 404),
    ],
)
def test_every_error_is_a_problem(
    bare: Service, method: str, path: str, body: bytes, status: int
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = bare.client.request(method, path, content=body, headers=headers)
    assert is_problem(answer, status)
    assert answer.headers.items() >= {k.lower(): v for k, v in SECURITY_HEADERS.items()}.items()


def test_a_405_names_all_methods_of_the_address(bare: Service) -> None:
    answer = bare.client.request("DELETE", "/api/v1/data-sets")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, POST")


def test_what_a_field_must_be_is_said_in_our_words(bare: Service) -> None:
    body = {"name": "ann", "password": "x", "days": "many", "scopes": ["all"], "label": "x" * 999}
    words = bare.client.post("/api/v1/tokens", json=body).json()["detail"]
    assert "days: It must be a whole number." in words
    assert "It must be one of: 'ask'" in words
    assert "Input" not in words, words


def test_a_wrong_field_is_named_and_what_was_sent_is_not_repeated(bare: Service) -> None:
    body = {"name": "ann", "password": [SECRET]}
    answer = bare.client.post("/api/v1/tokens", json=body)
    assert "password: It must be text." in answer.json()["detail"]
    assert SECRET not in answer.text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"epsilon": "abc"}, "epsilon: It must be a number such as 0.5, or digits in quotes"),
        ({"epsilon": 1, "oops": 1}, "oops: There is no such field here"),
        ({}, "data_set: This field is missing."),
        ([], "Send one JSON object, with Content-Type: application/json."),
        ({"bounds": {"cost": [0]}}, "bounds.cost"),
        ({"error": {"n": "x"}}, "error"),
        ({"epsilon": True}, "epsilon: It must be a number such as 0.5"),
    ],
)
def test_a_wrong_form_reads_well(bare: Service, body: Any, words: str) -> None:
    answer = bare.ask("POST", "/questions/release", by="ann", json=body)
    assert is_problem(answer, 422)
    assert words in answer.json()["detail"]
    assert "pattern" not in answer.text


def test_a_method_that_is_not_known_is_answered_with_those_that_are(bare: Service) -> None:
    answer = bare.client.put("/health")
    assert "It knows: GET" in answer.json()["detail"]
    assert answer.headers["allow"] == "GET"


def test_an_unforeseen_failure_says_nothing(bare: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(f"Conversion Error: {SECRET}")

    monkeypatch.setattr(type(bare.curator.people), "recognised", fail)
    answer = bare.client.post("/api/v1/tokens", json={"name": "ann", "password": "x"})
    assert is_problem(answer, 500)
    assert SECRET not in answer.text + bare.log.getvalue()
    assert "RuntimeError" not in answer.text
    assert '"failure": "RuntimeError"' in bare.log.getvalue()
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_bodies_and_requests_have_their_caps(making: Making) -> None:
    limits = {"bodies": BodyLimits(bytes=100), "rates": RateLimits(of_an_address=3)}
    service = making(data=False, **limits)
    large = {"name": "ann", "password": "x" * 100}
    for body in (large, large, large):
        assert is_problem(service.client.post("/api/v1/tokens", json=body), 413)
    for _ in range(3):
        service.client.get("/api/v1/me")
    refused = service.client.get("/api/v1/me")
    assert is_problem(refused, 429)
    assert int(refused.headers["Retry-After"]) > 0
    assert service.client.get("/health").status_code == 200, "a probe is not counted"


def test_tries_of_passwords_are_counted_by_address_too(making: Making) -> None:
    service = making(data=False, rates=RateLimits(log_ins_of_an_address=2))
    bodies = [{"name": f"nobody{number}", "password": "guess"} for number in range(3)]
    answers = [service.client.post("/api/v1/tokens", json=body) for body in bodies]
    assert [answer.status_code for answer in answers] == [401, 401, 429]


def test_who_comes_without_an_address_finds_the_open_page_with_its_style(bare: Service) -> None:
    answer = bare.client.get("/", follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/open")
    styles = re.findall(r'rel="stylesheet" href="([^"]*)"', answer.text)
    for style in styles:
        assert bare.client.get(style).headers["content-type"].startswith("text/css")
    assert styles
    assert "style-src 'self'" in answer.headers["content-security-policy"]
    assert bare.client.get("/favicon.ico").status_code == 204


def test_pages_of_other_sites_cannot_read_answers(bare: Service) -> None:
    answer = bare.client.get("/health", headers={"Origin": "https://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_every_kind_of_problem_is_explained_at_its_address(bare: Service) -> None:
    for kind in KINDS:
        assert bare.client.get(f"/problems/{kind}").json()["means"]


def test_the_description_names_every_route_once_and_fetches_nothing(bare: Service) -> None:
    found = bare.client.get("/api/v1/openapi.json").json()
    ids = [one["operationId"] for path in found["paths"].values() for one in path.values()]
    assert len(ids) == len(set(ids)) > 40
    assert bare.client.get("/docs").status_code == 404


def test_every_route_but_the_open_ones_needs_a_token(bare: Service) -> None:
    """A route that is added without a check is found here."""
    found = bare.client.get("/api/v1/openapi.json").json()
    without = {
        (method, path)
        for path, methods in found["paths"].items()
        for method, one in methods.items()
        if not one.get("security")
    }
    assert without == {
        ("post", "/api/v1/passwords"),
        ("post", "/api/v1/tokens"),
        ("get", "/health"),
        ("get", "/ready"),
        ("get", "/api/v1/open"),
        ("get", "/open"),
        ("get", "/problems/{kind}"),
        ("post", "/api/v1/surveys/{name}/reports"),  # an invitation is in the body
        ("post", "/api/v1/surveys/{name}/halves"),
        ("post", "/api/v1/counters/{name}/halves"),  # counts when the other counter asks about it
    }
    for path, methods in found["paths"].items():
        for method in methods:
            if (method, path) not in without:
                answer = bare.client.request(method.upper(), path, json={})
                assert answer.status_code == 401, (method, path)
