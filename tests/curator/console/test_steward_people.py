"""People: an owner adds and changes them; a one-time password is shown once and kept nowhere."""

import re

import pytest

from letalone.wire.records import Role

PASSWORD_SHOWN = re.compile(r'<code class="figure-code">([^<]+)</code>')


def test_an_owner_adds_a_person_who_signs_in_with_what_is_shown_once(console):
    olga = console.by("olga", elevated=True)
    olga.see("/people")
    answer = olga.send("/people", name="eve", roles=["analyst", "auditor"])
    shown = PASSWORD_SHOWN.search(answer.text)[1]
    assert console.curator.people.person("eve").roles == {Role.ANALYST, Role.AUDITOR}
    assert shown not in olga.see("/people").text
    assert answer.headers["cache-control"] == "no-store"
    browser = console.anybody()
    assert browser.sign_in("eve", shown).headers["location"] == "/password"


def test_a_refused_person_is_typed_already(console):
    olga = console.by("olga", elevated=True)
    olga.see("/people")
    answer = olga.send("/people", name="ann", roles=["steward"])
    assert answer.status_code == 409
    assert 'value="ann"' in answer.text
    assert re.search(r'value="steward" checked', answer.text)
    assert not re.search(r'value="analyst" checked', answer.text)
    assert olga.send("/people", name="nobody").status_code == 422


def test_other_roles_count_at_once_and_end_the_visit(fresh):
    ben, olga = fresh.by("ben"), fresh.by("olga", elevated=True)
    olga.see("/people/ben")
    assert olga.send("/people/ben/roles", roles=["auditor"]).status_code == 303
    assert fresh.curator.people.person("ben").roles == {Role.AUDITOR}
    assert ben.see("/account").headers["location"].startswith("/sign-in")


def test_who_is_kept_out_cannot_sign_in_until_let_in_again(fresh):
    olga = fresh.by("olga", elevated=True)
    olga.see("/people/ben")
    assert olga.send("/people/ben/access", active="false").status_code == 303
    assert fresh.anybody().sign_in("ben").status_code == 401
    assert olga.send("/people/ben/access", active="true").status_code == 303
    assert fresh.anybody().sign_in("ben").status_code == 303


def test_a_new_one_time_password_ends_the_old_one(fresh):
    olga = fresh.by("olga", elevated=True)
    olga.see("/people/ben")
    shown = PASSWORD_SHOWN.search(olga.send("/people/ben/password").text)[1]
    assert fresh.anybody().sign_in("ben").status_code == 401
    assert fresh.anybody().sign_in("ben", shown).status_code == 303


@pytest.mark.parametrize("act", ["roles", "access", "password", "tokens/x/revoke"])
def test_acts_of_owners_take_the_role_and_the_password(console, act):
    stan = console.by("stan", elevated=True)
    stan.see("/people")
    assert stan.send(f"/people/ann/{act}", active="false", roles="owner").status_code == 403
    oskar = console.by("oskar")
    oskar.see("/people")
    answer = oskar.send(f"/people/ann/{act}", active="false", roles="owner")
    assert answer.status_code == 401
    person = console.curator.people.person("ann")
    assert (person.active, person.must_change, person.roles) == (True, False, {Role.ANALYST})


def test_the_last_owner_stays_one(fresh):
    olga = fresh.by("olga", elevated=True)
    olga.see("/people/oskar")
    olga.send("/people/oskar/access", active="false")
    answer = olga.send("/people/olga/roles", roles=["steward"])
    assert answer.status_code == 422
    assert "the last owner" in answer.text


@pytest.mark.long  # http/test_wording.py: who is protected and who answers
def test_an_owner_names_who_answers_for_the_data_and_nobody_else_does(fresh):
    fields = {"controller": "Clinic", "contact": "a@b.example"}
    olga = fresh.by("olga", elevated=True)
    assert "/processing/controller" in olga.see("/").text
    stan = fresh.by("stan", elevated=True)
    stan.see("/persons")
    assert stan.send("/processing/controller", **fields).status_code == 403
    olga.see("/processing/controller")
    assert olga.send("/processing/controller", **fields | {"contact": " "}).status_code == 422
    assert "Clinic" in olga.follow(olga.send("/processing/controller", **fields)).text
    assert "a@b.example" in stan.see("/processing").text
    assert "/processing/controller" not in olga.see("/").text


def test_a_wrong_password_again_is_called_that_and_no_role_is_ticked_beforehand(fresh):
    olga = fresh.by("olga")
    assert " checked" not in olga.see("/people").text
    answer = olga.send("/people", name="eve", roles="analyst", password_again="not it at all")
    assert answer.status_code == 401
    assert "That is not your password." in answer.text
    assert "Who asks is not known" not in answer.text
