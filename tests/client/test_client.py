"""What an analyst does beside asking: look around, request access, find earlier answers."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

import letalone as la
from client.conftest import URL
from curator.http.conftest import PASSWORD
from letalone.errors import NotAllowed, ParameterError


def test_data_sets_have_their_exact_schema_and_budget(service, client):
    found = {one.name: one for one in client.data_sets()}["visits"]
    stands = service.curator.ledger.data_set("visits")
    declared = service.curator.data_sets.record("visits").schema
    assert found.schema.columns == declared.columns
    assert (found.schema.unit, found.version) == ("patient", stands.version)
    assert (found.budget, found.spent) == (stands.budget, stands.spent)
    assert "visits, version" in repr(client.data_sets())
    assert "visits" in client.data_sets()._repr_html_()


def test_who_one_is_and_where(client):
    assert client.me == "ann"
    assert client.url == URL
    assert repr(client) == f"Client('{URL}', token hidden)"
    assert "visits for" in client._repr_html_()


def test_a_request_is_made_and_followed(service, client):
    until = datetime.now(UTC).replace(microsecond=0) + timedelta(days=9)
    made = client.request_access(
        "visits", purpose="care", columns=["ward"], budget=la.Budget(0.1, 1e-9), why="beds",
        expires=until,
    )  # fmt: skip
    assert made.state == "open"
    assert made.budget == la.Budget(0.1, 1e-9)
    service.curator.requests.decide(made.id, grant=False, reason="not now", by="stan")
    after = {one.id: one for one in client.requests()}[made.id]
    assert (after.state, after.reason) == ("refused", "not now")
    assert "refused (not now)" in repr(client.requests())


def test_requests_that_cannot_be_are_refused_in_words(client):
    for columns in ("ward", 7):
        with pytest.raises(ParameterError, match="a list of columns"):
            client.request_access(
                "visits", purpose="care", columns=columns, budget=la.Budget(1), why="x"
            )
    with pytest.raises(ParameterError, match="time zone"):
        client.request_access(
            "visits", purpose="care", columns=["ward"], budget=la.Budget(1), why="x",
            expires=datetime(2030, 1, 1),
        )  # fmt: skip
    with pytest.raises(ParameterError, match="Its purposes are: care"):
        client.request_access(
            "visits", purpose="fun", columns=["ward"], budget=la.Budget(1), why="x"
        )


def test_a_data_set_is_opened_for_a_purpose_that_was_granted(service, client):
    assert client.open("visits").purpose == "care"
    with pytest.raises(ParameterError, match="Did you mean 'visits'"):
        client.open("visit")
    with pytest.raises(NotAllowed, match="Your purposes are: care"):
        client.open("visits", purpose="fun")
    with pytest.raises(NotAllowed, match="request_access"):
        service.client("stan").open("visits")


def test_the_history_has_own_answers_only(service, client, visits):
    answer = visits.agg(mine=la.count()).release(epsilon=0.1)
    (newest,) = client.history("visits", most=1)
    assert newest.release == answer
    assert newest.purpose == "care"
    assert "count" in repr(client.history())
    assert newest.id not in {one.id for one in service.client("ben").history()}
    with pytest.raises(ParameterError, match="no such answer"):
        service.client("ben").receipt(newest)


def test_logging_in_replaces_a_one_time_password(service):
    once = service.curator.people.add("new", [service_role()], by="olga")
    given = {"transport": service.transport}
    with pytest.raises(NotAllowed, match="one-time password"):
        la.Client.log_in(URL, "new", once, **given)
    found = la.Client.log_in(URL, "new", once, new_password=PASSWORD, days=2, **given)
    assert found.me == "new"
    with pytest.raises(NotAllowed):
        la.Client.log_in(URL, "new", "wrong", **given)


def service_role():
    from letalone.wire.records import Role

    return Role.ANALYST


def test_a_password_is_asked_for_where_it_is_not_given(service, monkeypatch):
    monkeypatch.setattr("letalone.client.client.getpass", lambda _: PASSWORD)
    assert la.Client.log_in(URL, "ann", transport=service.transport).me == "ann"


def test_a_token_that_was_revoked_is_refused(service):
    gone = service.client("ben")
    for token in service.curator.tokens.of("ben", by="ben"):
        service.curator.tokens.revoke(token.id, by="ben")
    with pytest.raises(NotAllowed, match="not known, has ended or was revoked"):
        gone.grants()


@pytest.mark.long  # what is loaded: architecture/test_start_up.py
def test_httpx_is_loaded_only_where_a_client_is_made():
    code = (
        "import sys, letalone as la; la.Client; assert 'httpx' not in sys.modules;"
        "la.Client('http://localhost', 'la_' + 'x' * 40); assert 'httpx' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
