"""Who may log in: one cost for everybody, tries by the window, one-time passwords."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from curator.makers import PASSWORD, open_curator, settings_in, whats
from letalone.curator.people import passwords
from letalone.curator.people.passwords import Passwords, one_time_password
from letalone.curator.storage.refusals import (
    AlreadyDecided,
    NotPermitted,
    NotRecognised,
    NotThere,
    TooManyTries,
)
from letalone.curator.storage.settings import Settings
from letalone.curator.storage.tables import PEOPLE
from letalone.errors import ParameterError
from letalone.wire.records import Role, Scope


def test_a_wrong_name_and_a_wrong_password_are_told_apart_by_nothing(peopled, monkeypatch):
    costs = []
    real = passwords.Argon2id.verify_phc_encoded

    class Counted:
        @staticmethod
        def verify_phc_encoded(password, kept):
            costs.append(kept.split("$")[3])
            real(password, kept)

    monkeypatch.setattr(passwords, "Argon2id", Counted)
    said = []
    for name, word in (("ann", "wrong"), ("nobody", "wrong"), ("nobody", PASSWORD)):
        with pytest.raises(NotRecognised) as error:
            peopled.people.log_in(name, word)
        said.append(str(error.value))
    assert len(set(said)) == 1
    assert costs == ["m=32,t=1,p=1"] * 3


def test_the_usual_cost_is_at_least_what_owasp_asks_for(tmp_path):
    usual = Settings(folder=tmp_path)
    assert (usual.password_memory_kib, usual.password_passes) == (46 * 1024, 1)
    kept = Passwords(settings_in(tmp_path)).hashed("x")
    assert kept.startswith("$argon2id$v=19$")


def test_a_disabled_person_cannot_log_in_and_all_tokens_end(peopled):
    secret, _ = peopled.tokens.make("ann", [Scope.ASK])
    peopled.people.disable("ann", by="olga")
    with pytest.raises(NotRecognised):
        peopled.people.log_in("ann", PASSWORD)
    with pytest.raises(NotRecognised):
        peopled.tokens.bearer(secret)
    peopled.people.enable("ann", by="olga")
    assert peopled.people.log_in("ann", PASSWORD).name == "ann"
    with pytest.raises(NotRecognised):
        peopled.tokens.bearer(secret)


def test_tries_are_counted_for_unknown_names_too_and_end_with_the_window(
    made_once, tmp_path, clock
):
    with open_curator(tmp_path, clock=clock, tries=3, tries_minutes=5) as curator:
        for _ in range(3):
            with pytest.raises(NotRecognised):
                curator.people.log_in("nobody", "x")
        with pytest.raises(TooManyTries, match="Wait 300 seconds") as error:
            curator.people.log_in("nobody", "x")
        assert error.value.seconds == 300
        clock.passed = timedelta(minutes=5)
        with pytest.raises(NotRecognised):
            curator.people.log_in("nobody", "x")


def test_no_jump_of_the_clock_makes_a_wait_longer_than_its_window(tmp_path, clock):
    with open_curator(tmp_path, clock=clock, tries=3, tries_minutes=5) as curator:
        password = curator.people.first_owner("olga")
        clock.passed = timedelta(days=365)
        for _ in range(12):
            with pytest.raises((NotRecognised, TooManyTries)):
                curator.people.log_in("olga", "x")
        clock.passed = timedelta()
        for minutes in (0, 4):
            clock.passed = timedelta(minutes=minutes)
            with pytest.raises(TooManyTries) as error:
                curator.people.log_in("olga", password)
            assert error.value.seconds <= 300 - 60 * minutes
        clock.passed = timedelta(minutes=5, seconds=1)
        assert curator.people.log_in("olga", password)


def test_a_one_time_password_of_a_clock_that_was_ahead_is_over(tmp_path, clock):
    with open_curator(tmp_path, clock=clock) as curator:
        clock.passed = timedelta(days=365)
        password = curator.people.first_owner("olga")
        clock.passed = timedelta()
        with pytest.raises(NotRecognised, match="--reset-owner"):
            curator.people.log_in("olga", password)


def test_a_right_password_beyond_the_tries_is_not_looked_at_and_a_success_begins_anew(
    tmp_path, clock
):
    with open_curator(tmp_path, clock=clock, tries=2) as curator:
        word = curator.people.first_owner()
        for _ in range(3):  # successes do not add up
            curator.people.log_in("owner", word)
        for _ in range(2):
            with pytest.raises(NotRecognised):
                curator.people.log_in("owner", "wrong")
        with pytest.raises(TooManyTries):
            curator.people.log_in("owner", word)


def test_wrong_tries_of_strangers_lock_nobody_out_and_many_only_slow_down(
    tmp_path, clock, monkeypatch
):
    slept = []
    monkeypatch.setattr(passwords, "sleep", slept.append)
    with open_curator(tmp_path, clock=clock, tries=2, slow_after=6) as curator:
        word = curator.people.first_owner()
        for n in range(4):
            for _ in range(2):
                with pytest.raises(NotRecognised):
                    curator.people.log_in("owner", "wrong", address=f"10.0.0.{n}")
            with pytest.raises(TooManyTries):
                curator.people.log_in("owner", word, address=f"10.0.0.{n}")
        assert len(slept) == 6  # of 12 tries
        assert curator.people.log_in("owner", word, address="10.1.1.1").name == "owner"
        assert len(slept) == 7


def test_the_password_again_with_a_token_has_a_count_of_its_own(tmp_path, clock):
    with open_curator(tmp_path, clock=clock, tries=2) as curator:
        word = curator.people.first_owner()
        for _ in range(3):
            with pytest.raises((NotRecognised, TooManyTries)):
                curator.people.log_in("owner", "wrong")
        curator.people.change_password("owner", word, PASSWORD, known=True)
        assert curator.tokens.elevate("owner", PASSWORD)
        for _ in range(2):
            with pytest.raises(NotRecognised):
                curator.tokens.elevate("owner", "wrong")
        with pytest.raises(TooManyTries):
            curator.tokens.elevate("owner", PASSWORD)


def test_a_lost_owners_password_is_reset_on_the_machine_and_that_is_written_down(peopled):
    word = peopled.people.reset_owner("olga")
    assert peopled.people.log_in("olga", word).must_change
    assert whats(peopled)[-1] == "password reset"
    assert peopled.ledger.entries()[-1].body["by"] == []
    with pytest.raises(ParameterError, match="is not an owner"):
        peopled.people.reset_owner("ann")


def test_a_one_time_password_opens_nothing_until_it_is_changed(peopled):
    word = peopled.people.add("new", [Role.ANALYST], by="olga")
    assert peopled.people.log_in("new", word).must_change
    with pytest.raises(NotPermitted, match="one-time password"):
        peopled.tokens.make("new", [Scope.ASK])
    peopled.people.change_password("new", word, PASSWORD)
    assert not peopled.people.person("new").must_change
    with pytest.raises(NotRecognised):
        peopled.people.log_in("new", word)
    again = peopled.people.reset_password("new", by="olga")
    with pytest.raises(NotRecognised):
        peopled.people.log_in("new", PASSWORD)
    assert peopled.people.log_in("new", again).must_change


def test_one_time_passwords_have_more_than_120_bits():
    found = {one_time_password() for _ in range(50)}
    assert len(found) == 50
    letters = set("".join(found)) - {"-"}
    assert letters <= set(passwords.LETTERS)
    assert len(passwords.LETTERS) ** (passwords.GROUPS * passwords.GROUP) > 2**120


@pytest.mark.parametrize("word", ["short", "x" * 2000, "aaaaaaaaaaaaaaaa", "my name is ann, hello"])
def test_a_weak_new_password_is_refused(peopled, word):
    with pytest.raises(ParameterError, match="The new password"):
        peopled.people.change_password("ann", PASSWORD, word)
    assert peopled.people.log_in("ann", PASSWORD)


def test_the_first_owner_is_made_once(peopled):
    assert peopled.people.first_owner() is None


def test_the_last_owner_stays_one(peopled):
    peopled.people.change_roles("oskar", [Role.ANALYST], by="olga")
    for act in (
        lambda: peopled.people.change_roles("olga", [Role.STEWARD], by="olga"),
        lambda: peopled.people.disable("olga", by="olga"),
    ):
        with pytest.raises(ParameterError, match="last owner"):
            act()


@pytest.mark.parametrize("name", ["ann", "ANN", "Ann"])
def test_a_name_that_looks_taken_is_taken(peopled, name):
    with pytest.raises(AlreadyDecided):
        peopled.people.add(name, [Role.ANALYST], by="olga")


def test_unknown_people_are_not_there_and_names_and_roles_are_read(peopled):
    with pytest.raises(NotThere):
        peopled.people.person("nobody")
    with pytest.raises(ParameterError, match="at least one role"):
        peopled.people.add("new", [], by="olga")
    with pytest.raises(ParameterError, match="printable"):
        peopled.people.add("a\nb", [Role.ANALYST], by="olga")
    assert [one.name for one in peopled.people.everybody(by="aud")][:2] == ["ann", "aud"]


def test_a_hash_is_right_for_its_password_only(tmp_path, peopled):
    found = Passwords(settings_in(tmp_path))
    kept = found.hashed("word\ud800")
    assert found.is_right("word\ud800", kept)
    assert not found.is_right("word", kept)
    assert not found.is_right("word", None)
    with peopled._shared.database.reading() as connection:
        hashes = connection.execute(select(PEOPLE.c.password)).scalars().all()
    assert len(set(hashes)) == len(hashes)  # the same password, another salt


def test_a_one_time_password_that_nobody_used_ends(peopled, clock):
    once = peopled.people.reset_password("ann", by="olga")
    clock.passed += timedelta(days=13)
    assert peopled.people.log_in("ann", once)
    clock.passed += timedelta(days=1)
    for use in (
        lambda: peopled.people.log_in("ann", once),
        lambda: peopled.people.change_password("ann", once, PASSWORD + "!"),
    ):
        with pytest.raises(NotRecognised, match="for 14 days, which are over"):
            use()
    with pytest.raises(NotRecognised, match="The name or the password is wrong"):
        peopled.people.log_in("ann", "wrong")
    assert peopled.people.log_in("ben", PASSWORD)  # an own password does not end
    again = peopled.people.reset_password("ann", by="olga")
    assert peopled.people.change_password("ann", again, PASSWORD + "!")
