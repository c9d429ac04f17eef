"""Signing in and out: who is signed in, for how long, and what ends it."""

import re
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import select

from curator.makers import PASSWORD, whats
from letalone.curator.http.app import make_app
from letalone.curator.http.limits import RateLimits
from letalone.curator.storage.tables import SESSIONS
from letalone.wire.records import Role

pytestmark = pytest.mark.long  # curator/test_people.py has who may what

OTHER = "another horse of another colour"


def is_in(browser):
    return browser.see("/password").status_code == 200


def test_the_cookie_is_strict_and_only_its_digest_is_kept(fresh):
    browser = fresh.anybody()
    browser.see("/sign-in")
    answer = browser.send("/sign-in", name="ann", password=PASSWORD)
    (cookie,) = [one for one in answer.headers.get_list("set-cookie") if "~" in one]
    assert cookie.startswith("__Host-letalone=")
    for word in ("Secure", "HttpOnly", "SameSite=strict", "Path=/"):
        assert word in cookie
    assert "Domain" not in cookie
    secret = cookie.partition("=")[2].partition("~")[0]
    assert len(secret) >= 43, "256 bits"
    with fresh.curator._shared.database.reading() as connection:
        rows = connection.execute(select(SESSIONS)).all()
    assert len(rows) == 1
    assert secret not in repr(rows)


def test_without_https_only_this_machine_can_sign_in(fresh):
    here = fresh.anybody(https=False)
    assert here.sign_in("ann").status_code == 303
    assert is_in(here)
    elsewhere = fresh.anybody(https=False)
    elsewhere.client.base_url = "http://curator.example"
    answer = elsewhere.sign_in("ann")
    assert answer.status_code == 403
    assert "https" in answer.text


def test_a_wrong_password_keeps_the_name_and_not_the_password(console):
    browser = console.anybody()
    answer = browser.sign_in("ann", "a wrong guess")
    assert answer.status_code == 401
    assert 'value="ann"' in answer.text
    assert "a wrong guess" not in answer.text
    assert "That name and password do not match." in answer.text
    assert "www-authenticate" not in answer.headers, "a browser would ask in a window of its own"


def test_every_sign_in_has_a_new_secret_whatever_was_planted_before(fresh):
    browser = fresh.anybody()
    browser.see("/sign-in")
    browser.client.cookies.set("__Host-letalone", "planted~planted", domain="testserver.local")
    browser.see("/sign-in")
    answer = browser.send("/sign-in", name="ann", password=PASSWORD)
    assert answer.status_code == 303
    assert "planted" not in str(answer.headers.get_list("set-cookie"))


@pytest.mark.few("steps0", "steps2")
@pytest.mark.parametrize(
    ("steps", "holds"),
    [((59, 59, 59), True), ((61,), False), ((59,) * 12 + (20,), False)],
)
def test_a_visit_ends_when_unused_for_an_hour_and_after_twelve(fresh, steps, holds):
    browser = fresh.by("ann")
    for minutes in steps:
        fresh.clock.passed += timedelta(minutes=minutes)
        found = is_in(browser)
    assert found is holds


def test_a_visit_that_began_while_the_clock_was_ahead_is_over(fresh):
    fresh.clock.passed += timedelta(days=365)
    browser = fresh.by("olga", elevated=True)
    assert is_in(browser)
    fresh.clock.passed -= timedelta(days=365)
    assert not is_in(browser)


def test_sign_out_ends_the_visit_and_not_only_the_cookie(fresh):
    browser = fresh.by("ann")
    kept = dict(browser.client.cookies)
    answer = browser.follow(browser.send("/sign-out"))
    assert "You are signed out." in answer.text
    again = fresh.anybody()
    again.client.cookies.update(kept)
    assert not is_in(again)


@pytest.mark.parametrize("act", ["disable", "roles", "reset", "password"])
def test_a_visit_ends_with_what_it_stands_on(fresh, act):
    browser, people = fresh.by("ann"), fresh.curator.people
    match act:
        case "disable":
            people.disable("ann", by="olga")
        case "roles":
            people.change_roles("ann", [Role.AUDITOR], by="olga")
        case "reset":
            people.reset_password("ann", by="olga")
        case _:
            people.change_password("ann", PASSWORD, OTHER)
    assert not is_in(browser)


def test_a_one_time_password_leads_to_a_password_of_ones_own_and_nowhere_else(fresh):
    once = fresh.curator.people.add("nora", [Role.OWNER], by="olga")
    browser = fresh.anybody()
    answer = browser.sign_in("nora", once, next="/data-sets")
    assert answer.headers["location"] == "/password"
    for path in ("/", "/again", "/data-sets"):
        assert browser.see(path).headers["location"] == "/password"
    browser.see("/password")
    wrong = browser.send("/password", password=once, new=OTHER, new_again="slip")
    assert wrong.status_code == 422
    done = browser.send("/password", password=once, new=OTHER, new_again=OTHER)
    assert "Your password was changed." in browser.follow(done).text
    assert browser.see("/data-sets").status_code == 200


def test_the_password_again_gives_a_new_secret_for_some_minutes_and_is_written_down(fresh):
    browser = fresh.by("stan")
    before = dict(browser.client.cookies)
    other_tab = browser.csrf
    assert browser.send("/again", password="wrong").status_code == 401
    assert (
        browser.send("/again", password=PASSWORD, next="/people").headers["location"] == "/people"
    )
    assert whats(fresh.curator).count("elevated") == 1
    secret = next(value for name, value in browser.client.cookies.items() if "letalone" in name)
    bearer = fresh.curator.visits.visitor(secret.partition("~")[0])
    assert bearer.elevated
    old = fresh.anybody()
    old.client.cookies.update(before)
    assert not is_in(old), "the secret from before is over"
    fresh.clock.passed += timedelta(minutes=fresh.curator.settings.elevated_minutes, seconds=1)
    assert not fresh.curator.visits.visitor(secret.partition("~")[0]).elevated
    assert browser.send("/again", password=PASSWORD, csrf=other_tab).status_code == 303


def test_an_analyst_has_nothing_to_be_elevated_for(fresh):
    assert fresh.by("ann").send("/again", password=PASSWORD).status_code == 403


@pytest.mark.parametrize(
    ("wanted", "led"),
    [
        ("/history?data_set=x", "/history?data_set=x"),
        ("//evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\r\nSet-Cookie: x=y", "/"),
    ],
)
def test_signing_in_leads_to_places_of_this_service_alone(console, wanted, led):
    browser = console.anybody()
    browser.see("/sign-in")
    answer = browser.send("/sign-in", name="ann", password=PASSWORD, next=wanted)
    assert answer.headers["location"] == led


def test_who_is_not_signed_in_comes_back_to_the_page_after_signing_in(console):
    answer = console.anybody().see("/history?data_set=visits")
    assert answer.headers["location"] == "/sign-in?next=%2Fhistory%3Fdata_set%3Dvisits"


def test_a_form_that_came_too_late_is_kept_but_for_passwords(fresh):
    browser = fresh.by("ann")
    fresh.clock.passed += timedelta(hours=2)
    why = 'a long "reason" & more'
    late = browser.send("/data-sets/visits/request", why=why, columns=["ward", "age"], password="x")
    assert late.status_code == 401
    assert "what you typed is" in late.text
    wrong = browser.send("/sign-in", name="ann", password="wrong", **hidden(late.text))
    assert wrong.status_code == 401
    shown = browser.send("/sign-in", name="ann", password=PASSWORD, **hidden(wrong.text))
    assert shown.status_code == 200
    kept = hidden(shown.text)
    assert (kept["why"], kept["columns"]) == ([why], ["ward", "age"])
    assert "password" not in kept
    sent_again = browser.send("/data-sets/visits/request", **kept | {"csrf": browser.csrf})
    again = browser.follow(sent_again)
    assert again.status_code == 422, "taken up again: it has no purpose yet"


def hidden(text):
    """The hidden fields of a page, as a browser would send them."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', text):
        if name != "csrf":
            found.setdefault(unescape(name), []).append(unescape(value))
    return found


def test_a_link_from_another_site_asks_again_from_here_once(console):
    answer = console.anybody().see("/again", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 200
    assert 'http-equiv="refresh"' in answer.text


def test_tries_count_as_those_of_the_api(fresh):
    app = make_app(fresh.curator, rates=RateLimits(log_ins_of_an_address=2))
    browser = fresh.anybody()
    browser.client.app = app
    browser.client._transport.app = app
    codes = [browser.sign_in(f"nobody{n}", "guess").status_code for n in range(2)]
    browser.client.post("/api/v1/tokens", json={"name": "x", "password": "y"})
    assert codes == [401, 401]
    assert browser.sign_in("ann").status_code == 429
