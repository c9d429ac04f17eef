"""Tokens: forged, expired, revoked, and of somebody who may do less by now."""

from datetime import timedelta

import pytest

from curator.makers import PASSWORD
from letalone.curator.storage.refusals import NotPermitted, NotRecognised, NotThere
from letalone.errors import ParameterError
from letalone.wire.records import Role, Scope


def test_a_token_is_its_persons_until_it_expires(peopled, clock):
    secret, token = peopled.tokens.make("ann", [Scope.ASK], days=2, label="notebook")
    found = peopled.tokens.bearer(secret)
    assert (found.person.name, found.scopes, found.elevated) == ("ann", {Scope.ASK}, False)
    assert secret.startswith("la_")
    assert len(secret) == 3 + 43  # 256 bits
    clock.passed = timedelta(days=2)
    with pytest.raises(NotRecognised, match="not known, has ended or was revoked"):
        peopled.tokens.bearer(secret)
    assert token.label == "notebook"


@pytest.mark.parametrize(
    ("ahead", "holds"), [(timedelta(days=365), False), (timedelta(minutes=5), True)]
)
def test_a_token_that_was_made_while_the_clock_was_ahead_does_not_last_longer(
    peopled, clock, ahead, holds
):
    clock.passed = ahead
    elevated, _ = peopled.tokens.elevate("olga", PASSWORD)
    clock.passed = timedelta()
    if holds:
        assert peopled.tokens.bearer(elevated)
        return
    with pytest.raises(NotRecognised):
        peopled.tokens.bearer(elevated)


def test_forged_and_revoked_tokens_say_the_same(peopled):
    secret, token = peopled.tokens.make("ann", [Scope.ASK])
    peopled.tokens.revoke(token.id, by="ann")
    said = set()
    for word in (secret, "la_" + "A" * 43, "", secret[:-1], "\ud800"):
        with pytest.raises(NotRecognised) as error:
            peopled.tokens.bearer(word)
        said.add(str(error.value))
    assert len(said) == 1


def test_a_token_does_what_its_person_may_do_by_now(peopled):
    secret, _ = peopled.tokens.make("stan", [Scope.STEWARD])
    peopled.people.change_roles("stan", [Role.ANALYST], by="olga")
    assert peopled.tokens.bearer(secret).scopes == frozenset()


@pytest.mark.parametrize(
    ("person", "scope"),
    [("ann", Scope.STEWARD), ("ann", Scope.AUDIT), ("stan", Scope.ADMINISTER), ("aud", Scope.ASK)],
)
def test_scopes_lie_within_roles(peopled, person, scope):
    with pytest.raises(NotPermitted, match="scopes that its person may use"):
        peopled.tokens.make(person, [scope])


def test_days_and_labels_are_read(peopled):
    for days in (0, -1, 10_000, 1.5):
        with pytest.raises(ParameterError, match="days is"):
            peopled.tokens.make("ann", [Scope.ASK], days=days)
    with pytest.raises(ParameterError, match="label has"):
        peopled.tokens.make("ann", [Scope.ASK], label="x" * 101)
    with pytest.raises(NotPermitted):
        peopled.tokens.make("ann", [])


def test_elevation_takes_the_password_and_lasts_ten_minutes(peopled, clock):
    with pytest.raises(NotRecognised):
        peopled.tokens.elevate("stan", "wrong")
    with pytest.raises(NotPermitted):
        peopled.tokens.elevate("ann", PASSWORD)
    secret, _ = peopled.tokens.elevate("stan", PASSWORD)
    assert peopled.tokens.bearer(secret).elevated
    assert peopled.ledger.entries()[-1].body["what"] == "elevated"
    clock.passed = timedelta(minutes=10)
    with pytest.raises(NotRecognised):
        peopled.tokens.bearer(secret)


def test_a_new_password_ends_all_tokens(peopled):
    secret, _ = peopled.tokens.make("ann", [Scope.ASK])
    peopled.people.change_password("ann", PASSWORD, "another horse and a battery")
    with pytest.raises(NotRecognised):
        peopled.tokens.bearer(secret)


def test_nobody_sees_or_ends_tokens_of_others_but_owners(peopled):
    _, token = peopled.tokens.make("ann", [Scope.ASK])
    with pytest.raises(NotPermitted):
        peopled.tokens.of("ann", by="ben")
    for who in ("ben", "stan"):
        with pytest.raises(NotThere):
            peopled.tokens.revoke(token.id, by=who)
    assert [one.id for one in peopled.tokens.of("ann", by="olga")] == [token.id]
    assert peopled.tokens.revoke(token.id, by="olga").revoked


def test_of_when_a_token_was_used_only_the_day_is_kept(peopled, clock):
    secret, _ = peopled.tokens.make("ann", [Scope.ASK])
    assert peopled.tokens.of("ann", by="ann")[0].last_used is None
    peopled.tokens.bearer(secret)
    assert peopled.tokens.of("ann", by="ann")[0].last_used == clock().date()
