"""A steward's inbox, grants and refusals: the API's rules and words, and nothing typed is lost."""

from contextlib import suppress

import pytest

from curator.makers import NAME, PASSWORD, PURPOSE, ask
from letalone.errors import LetaloneError
from letalone.privacy import Budget
from letalone.wire.records import State


def requested(console, *, by="ben", columns=("ward",), budget=1):
    return console.curator.requests.make(
        NAME, purpose=PURPOSE, columns=columns, budget=Budget(budget), why="winter", by=by
    )


def state(console, made):
    return console.curator.requests.request(made.id, by="stan").state


def test_a_steward_sees_a_request_and_grants_it_with_a_reason(fresh):
    made, stan = requested(fresh), fresh.by("stan", elevated=True)
    assert f"/requests/{made.id}" in stan.see("/requests").text
    assert "winter" in stan.see(f"/requests/{made.id}").text
    answer = stan.send(f"/requests/{made.id}/decision", decision="grant", reason="it fits")
    assert "The request of ben was granted." in stan.follow(answer).text
    found = fresh.curator.requests.request(made.id, by="stan")
    assert (found.state, found.reason, found.decided_by) == (State.GRANTED, "it fits", "stan")


def test_a_decision_takes_the_password_and_keeps_the_reason_until_it_is_given(console):
    made, stan = requested(console), console.by("stan")
    at = f"/requests/{made.id}/decision"
    stan.see("/requests")
    answer = stan.send(at, decision="grant", reason="kept <words>")
    assert answer.status_code == 401
    assert "Confirm your password" in answer.text
    assert "kept &lt;words&gt;</textarea>" in answer.text
    assert state(console, made) is State.OPEN
    answer = stan.send(at, decision="refuse", reason="no", password_again=PASSWORD)
    assert answer.status_code == 303
    assert state(console, made) is State.REFUSED


def test_only_the_button_that_says_grant_grants(console):
    made, stan = requested(console, columns=("age",)), console.by("stan", elevated=True)
    stan.see("/requests")
    assert stan.send(f"/requests/{made.id}/decision", reason="?").status_code == 303
    assert state(console, made) is State.REFUSED


def test_a_decision_without_a_reason_is_refused_in_the_words_of_the_api(console):
    made, stan = requested(console), console.by("stan", elevated=True)
    stan.see("/requests")
    answer = stan.send(f"/requests/{made.id}/decision", decision="grant", reason=" ")
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "reason: " in answer.text
    assert state(console, made) is State.OPEN


@pytest.mark.parametrize(
    "path", ["/grants", "/refusals", "/budgets", f"/budgets/{NAME}", "/people", "/persons",
             "/register", "/people/ben", "/grants/withdrawal", f"/data-sets/{NAME}/affected",
             f"/data-sets/{NAME}/thaw", "/persons/outcome"],
)  # fmt: skip
def test_analysts_see_none_of_the_pages_of_stewards(console, path):
    assert console.by("ann").see(path).status_code == 403
    assert console.anybody().see(path).headers["location"].startswith("/sign-in")


def test_no_analyst_sees_or_decides_the_request_of_another(console):
    made, ann = requested(console), console.by("ann")
    assert ann.see(f"/requests/{made.id}").status_code == 403
    assert made.id not in ann.see("/requests").text
    answer = ann.send(f"/requests/{made.id}/decision", decision="grant", reason="please")
    assert answer.status_code == 403
    assert state(console, made) is State.OPEN


def test_an_auditor_sees_requests_and_decides_none(console):
    made, aud = requested(console), console.by("aud", elevated=True)
    text = aud.see(f"/requests/{made.id}").text
    assert "A steward or an owner decides." in text
    assert "/decision" not in text
    answer = aud.send(f"/requests/{made.id}/decision", decision="grant", reason="x")
    assert answer.status_code == 403
    assert state(console, made) is State.OPEN


def test_a_grant_is_withdrawn_with_a_reason_and_ends_at_once(fresh):
    stan = fresh.by("stan", elevated=True)
    at = f"/grants/withdrawal?data_set={NAME}&amp;purpose={PURPOSE}&amp;analyst=ann"
    assert at in stan.see("/grants").text
    fields = {"data_set": NAME, "purpose": PURPOSE, "analyst": "ann"}
    assert stan.send("/grants/withdrawal", **fields, why="").status_code == 422
    answer = stan.send("/grants/withdrawal", **fields, why="the thesis is done")
    assert "withdrawn" in stan.follow(answer).text
    with pytest.raises(LetaloneError, match="was withdrawn"):
        ask(fresh.curator)


def test_refusals_are_listed_with_who_and_why_and_without_the_question(console):
    with suppress(LetaloneError):
        ask(console.curator, f"SELECT COUNT(*) AS n FROM {NAME} WHERE cost > 471", epsilon=3)
    with suppress(LetaloneError):
        ask(console.curator, by="ben")
    text = console.by("stan").see("/refusals").text
    assert "It would cost more than is left." in text
    assert "No grant covers it." in text
    assert "ben" in text
    assert "471" not in text.partition("<main")[2]
    assert "None." in console.by("stan").see("/refusals?before=1").text


def test_home_says_what_waits_for_a_steward(console):
    made = requested(console, budget=2)
    assert f"/requests/{made.id}" in console.by("stan").see("/").text
    assert f"/requests/{made.id}" not in console.by("ben").see("/").text


def test_an_analyst_is_told_that_a_grant_was_withdrawn_and_why(fresh):
    """And nobody else's: not as if there had never been one."""
    made = requested(fresh)
    fresh.curator.requests.decide(made.id, grant=True, reason="it fits", by="stan")
    for whose in ("ben", "ann"):
        fresh.curator.requests.withdraw_grant(
            NAME, purpose=PURPOSE, analyst=whose, why=f"<over> for {whose}", by="stan"
        )
    for path in ("/", "/requests", "/ask"):
        text = fresh.by("ben").see(path).text
        assert "withdrawn" in text
        assert "&lt;over&gt; for ben" in text
        assert "for ann" not in text
    assert "no grant yet" not in text
