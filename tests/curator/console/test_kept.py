"""Forms that came too late: nobody can plant one, and nobody gets another person's."""

import re
from base64 import urlsafe_b64encode as b64encode
from datetime import timedelta
from html import unescape
from urllib.parse import urlencode

from curator.makers import NAME, PASSWORD, PURPOSE
from letalone.curator.asking.pages import _digest_of_agreement
from letalone.curator.console.pages import TEMPLATES
from letalone.curator.console.sent import SECRETS
from letalone.wire.bodies import SentQuestion

ASKED = {"data_set": NAME, "purpose": PURPOSE, "sql": "SELECT COUNT(*) AS n FROM visits"}
WHY = "a reason of ann's"


def kept_in(text):
    found = re.search(r'name="kept" value="([^"]*)"', text)
    return unescape(found[1]) if found else ""


def form_in(text):
    """Where the form of the page goes, and its hidden fields."""
    main = re.search(r"(?s)<main.*?</main>", text)[0]
    fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', main)
    at = re.search(r'<form method="post" action="([^"]*)"', main)[1]
    return unescape(at), {unescape(name): unescape(value) for name, value in fields}


def late(console, path="/data-sets/visits/request", **fields):
    """A browser whose visit ended while ann typed, and the page that it is shown."""
    browser = console.anybody()
    browser.sign_in("ann")
    console.clock.passed += timedelta(hours=2)
    return browser, browser.send(path, **fields)


def test_no_link_plants_a_form_that_is_sent_after_signing_in(console):
    """As a link of another site would: by the query of a GET, in any of its names."""
    agreed = _digest_of_agreement(SentQuestion(**ASKED, epsilon="2"))
    fields = {**ASKED, "epsilon": "2", "agreed": agreed, "pay": "epsilon"}
    old = {f"kept:{name}": value for name, value in fields.items()} | {"kept:/at": "/ask/release"}
    _, page = late(console, "/ask/preview", **ASKED)
    sealed = kept_in(page.text)
    assert sealed, "which a browser of its own has"
    for query in (old, {"kept": sealed}, fields):
        victim = console.anybody()
        text = victim.see(f"/sign-in?{urlencode(query)}").text
        assert not kept_in(text)
        _, hidden = form_in(text)
        assert set(hidden) == {"csrf", "next"}
        answer = victim.send("/sign-in", name="ann", password=PASSWORD, **query)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_a_form_is_given_back_to_whoever_typed_it_and_to_nobody_else(console):
    for name, status in (("ben", 303), ("ann", 200)):
        browser, page = late(console, why=WHY, password_again="x")
        kept = kept_in(page.text)
        answer = browser.send("/sign-in", name=name, password=PASSWORD, kept=kept)
        assert answer.status_code == status
        assert (WHY.replace("'", "&#39;") in answer.text) == (name == "ann")
    shown = re.sub(r"<[^>]*>", " ", re.search(r"(?s)<main.*?</main>", answer.text)[0])
    assert "data sets › visits › request" in shown, "where it goes, in words"
    assert "reason of" in shown, "and what is in it"
    assert form_in(answer.text)[0] == "/data-sets/visits/request"
    assert "password_again" not in answer.text


def test_a_form_that_was_changed_on_its_way_is_dropped(console):
    browser, page = late(console, why=WHY)
    kept = kept_in(page.text)
    for wrong in (kept[1:], kept[:-1], kept + "é", "." + kept.rpartition(".")[2]):
        answer = browser.send("/sign-in", name="ann", password="wrong", kept=wrong)
        assert answer.status_code == 401
        assert not kept_in(answer.text)


def test_a_release_that_came_too_late_is_filled_in_again_and_not_sent(console):
    agreed = _digest_of_agreement(SentQuestion(**ASKED, epsilon="2"))
    fields = {**ASKED, "epsilon": "2", "agreed": agreed, "pay": "epsilon"}
    before = len(console.curator.ledger)
    browser, page = late(console, "/ask/release", **fields)
    kept = kept_in(page.text)
    shown = browser.send("/sign-in", name="ann", password=PASSWORD, kept=kept)
    assert shown.headers["location"].startswith("/ask?draft="), "and nothing of it in the address"
    form = browser.follow(shown).text
    assert "This is what you typed. Nothing was done with it." in form
    assert ASKED["sql"] in form
    assert 'name="epsilon" type="text" autocomplete="off" value="2"' in form
    assert agreed not in form
    assert len(console.curator.ledger) == before
    again = console.anybody()
    again.sign_in("ann")
    stale = again.follow(again.send("/ask/preview", csrf="0" * 64, **fields))
    assert ASKED["sql"] in stale.text, "also where the form is of an older visit"


def test_a_form_that_is_too_long_is_not_kept_and_that_is_said(console):
    _, page = late(console, why="x" * 600_000)
    assert page.status_code == 401
    assert not kept_in(page.text)
    assert "type it again" in page.text


def signed_out_elsewhere(console, **fields):
    """A browser that was signed out in another tab while ann typed, and the page it is shown."""
    browser = console.anybody()
    browser.sign_in("ann")
    secret = browser.csrf
    browser.send("/sign-out")
    return browser, browser.send("/data-sets/visits/request", csrf=secret, **fields)


def test_a_form_of_a_visit_that_was_ended_in_another_tab_is_kept_through_the_sign_in(console):
    for name, status in (("ben", 303), ("ann", 200)):
        browser, page = signed_out_elsewhere(console, why=WHY, password_again="x")
        assert page.status_code == 401
        assert "what you typed is kept" in page.text
        shown = browser.send("/sign-in", name=name, password=PASSWORD, kept=kept_in(page.text))
        assert shown.status_code == status
    at, fields = form_in(shown.text)
    assert (at, fields["why"]) == ("/data-sets/visits/request", WHY)
    assert "password_again" not in fields


def test_a_form_from_before_a_new_sign_in_is_shown_again_and_done_only_when_sent_again(console):
    """In the first tab; in the second somebody has signed out and in."""
    browser = console.anybody()
    browser.sign_in("ann")
    secret, before = browser.csrf, len(console.curator.ledger)
    asked = {"purpose": PURPOSE, "columns": "ward", "epsilon": "0.5", "why": WHY}
    browser.send("/sign-out")
    signed_out = browser.send("/data-sets/visits/request", csrf="0" * 64, **asked)
    assert "Sign in in another tab" in signed_out.text
    browser.sign_in("ann")
    for stale in (secret, form_in(signed_out.text)[1]["csrf"]):
        page = browser.send("/data-sets/visits/request", csrf=stale, **asked, password_again="x")
        assert page.status_code == 403
        assert "from another visit" in page.text
        assert "go back in your browser" not in page.text
        assert len(console.curator.ledger) == before
    at, fields = form_in(page.text)
    assert {name: fields[name] for name in asked} == asked
    assert "password_again" not in fields
    assert browser.send(at, **fields).status_code == 303
    assert len(console.curator.ledger) == before + 1


def test_what_another_site_has_sent_is_not_shown_to_be_sent_again(console):
    """Only a browser that says that a page of this service has sent it gets it back."""
    browser = console.anybody()
    browser.sign_in("ann")
    fields = {"csrf": "0" * 64, "why": WHY}
    others = ("cross-site", "same-site", "none")
    headers = [*({"Sec-Fetch-Site": one} for one in others), {"Origin": "https://evil.example"}, {}]
    for one in headers:
        page = browser.client.post("/data-sets/visits/request", data=fields, headers=one)
        assert page.status_code == 403
        assert "reason of" not in page.text, one


def test_a_sign_in_from_before_another_one_still_has_the_form_that_it_kept(console):
    """The visit ended, the form is kept in the page; then somebody signs in in another tab."""
    browser, page = late(console, why=WHY)
    secret, kept = browser.csrf, kept_in(page.text)
    browser.sign_in("ann")
    fields = {"csrf": secret, "name": "ann", "password": PASSWORD}
    shown = browser.send("/sign-in", **fields, kept=kept)
    at, found = form_in(shown.text)
    assert (at, found["why"]) == ("/data-sets/visits/request", WHY)
    assert PASSWORD not in shown.text
    for odd in ("x", "é.", "W10=.", "WzEsMl0=.x"):
        assert browser.send("/sign-in", **fields, kept=odd).status_code == 403


def test_passwords_alone_are_left_out_by_their_names():
    pages = "".join(path.read_text() for folder in TEMPLATES for path in folder.glob("*.html"))
    typed = set(re.findall(r'field\("(\w+)", [^}]*?kind="password"', pages))
    assert typed == set(SECRETS)


def test_half_a_letter_in_a_kept_form_is_nothing_to_show(console):
    browser = console.anybody()
    body = b64encode(rb'["\\ud800", [["a\\ud800", "\\udfff"]]]').decode()
    answer = browser.send("/sign-in", csrf="wrong", kept=f"{body}.x")
    assert answer.status_code < 500
