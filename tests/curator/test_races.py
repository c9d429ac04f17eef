"""What a password proves holds until it is acted on: changed in between, nothing is written.

Interleaved by hand: the other act happens after the check, before the write.
"""

import pytest

from curator.makers import PASSWORD
from letalone.curator.storage.refusals import NotPermitted, NotRecognised
from letalone.wire.records import Scope

REFUSED = (NotPermitted, NotRecognised)
NEW = "another horse battery staple"


def _changed(curator):
    curator.people.change_password("stan", PASSWORD, NEW)


def _reset(curator):
    curator.people.reset_password("stan", by="olga")


def _disabled(curator):
    curator.people.disable("stan", by="olga")


MEANWHILE = pytest.mark.parametrize("meanwhile", [_changed, _reset, _disabled])


@MEANWHILE
def test_no_token_is_made_with_a_password_that_was_taken_away_meanwhile(peopled, meanwhile):
    proof = peopled.people.recognised("stan", PASSWORD)
    meanwhile(peopled)
    with pytest.raises(REFUSED):
        peopled.tokens.make("stan", [Scope.STEWARD], proof=proof)
    assert all(one.revoked for one in peopled.tokens.of("stan", by="olga"))


def _after_the_check(monkeypatch, curator, meanwhile):
    """Lets `meanwhile` happen once, right after the next password was found right."""
    kind = type(curator.people)
    checked = kind._check_password

    def check(self, *given, **more):
        found = checked(self, *given, **more)
        monkeypatch.setattr(kind, "_check_password", checked)
        meanwhile(curator)
        return found

    monkeypatch.setattr(kind, "_check_password", check)


@MEANWHILE
def test_no_elevation_outlives_a_password(peopled, monkeypatch, meanwhile):
    _after_the_check(monkeypatch, peopled, meanwhile)
    with pytest.raises(REFUSED):
        peopled.tokens.elevate("stan", PASSWORD)
    assert all(one.revoked for one in peopled.tokens.of("stan", by="olga"))


@MEANWHILE
def test_an_old_password_does_not_undo_a_change_or_a_reset(peopled, monkeypatch, meanwhile):
    _after_the_check(monkeypatch, peopled, meanwhile)
    with pytest.raises(NotRecognised):
        peopled.people.change_password("stan", PASSWORD, "what the thief would like")
    with pytest.raises(NotRecognised):
        peopled.people.log_in("stan", "what the thief would like")
