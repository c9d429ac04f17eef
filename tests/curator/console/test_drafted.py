"""After a form was sent the browser stands at an address that can be reloaded and gone back to."""

import re
from datetime import timedelta
from html import unescape

import pytest

from curator.makers import NAME, PASSWORD, PURPOSE
from letalone.curator.asking.drafted import MAX_ADDRESS_LENGTH

FORM = {"data_set": NAME, "purpose": PURPOSE, "way": "sql", "epsilon": "0.1", "pay": "epsilon"}
COUNT = "SELECT COUNT(*) AS n FROM visits"
NAMING = "SELECT COUNT(*) AS n FROM visits WHERE patient = 'p3'"


def sent(browser, path="/ask/preview", **more):
    answer = browser.send(path, **{**FORM, "sql": COUNT, **more})
    assert answer.status_code == 303
    return answer.headers["location"]


@pytest.mark.long  # test_a_question_with_a_price_has_an_address_that_can_be_shared
def test_a_price_and_a_refusal_can_be_reloaded_and_gone_back_to(fresh):
    browser, before = fresh.by("ann"), len(fresh.curator.ledger)
    places = {sent(browser): 200, sent(browser, sql="SELECT wrad FROM visits"): 422}
    places[sent(browser, "/ask/release", agreed="0" * 64)] = 409
    places[sent(browser, "/ask/way", to="build")] = 200
    for _ in range(2):
        for at, status in places.items():
            page = browser.see(at)
            assert page.status_code == status, at
            assert "visits</textarea>" in page.text or "says" in page.text
    assert len(fresh.curator.ledger) == before


def test_nothing_that_was_typed_is_in_an_address_before_it_has_passed_the_checks(fresh):
    """A question may name a person, and addresses end up in logs."""
    browser = fresh.by("ann")
    for path in ("/ask/preview", "/ask/way", "/ask/release"):
        at = sent(browser, path, sql=NAMING, to="build", agreed="x")
        assert re.fullmatch(r"/ask\?draft=[\w-]{32}(&priced=1#price)?", at)
        page = browser.see(at)
        assert "p3" not in str(re.findall(r'(?:href|action|src|data-at)="[^"]*"', page.text))


def test_an_address_has_what_was_asked_and_nothing_that_no_check_has_seen(fresh):
    """The SQL of the other way goes along unseen, and it may name a person."""
    browser, chosen = fresh.by("ann"), {"way": "build", "what": "count", "sql": ""}
    unseen = {"other_sql": NAMING, "other_keys": "p3", "zzz": "p3", "error": "p3"}
    for asked in ({"sql": COUNT}, chosen):
        more = {"value_1": "p3", "of": "p3"} if asked is not chosen else {"sql": NAMING, "of": "p3"}
        addresses = [
            re.search(r'data-at="([^"]*)"', browser.see(sent(browser, **fields)).text)[1]
            for fields in (asked, {**asked, **unseen, **more})
        ]
        assert addresses[0] == addresses[1]
    assert 'data-at="' not in browser.see(sent(browser, sql=f"{COUNT} -- p3")).text


def test_a_question_with_a_price_has_an_address_that_can_be_shared(fresh):
    browser = fresh.by("ann")
    page = browser.see(sent(browser, epsilon="0.3", keys="", rows=""))
    at = unescape(re.search(r'data-at="([^"]*)"', page.text)[1])
    shared = fresh.anybody()
    shared.sign_in("ann")
    assert "Spend ε = 0.3 " in shared.see(at).text
    assert "Spend" not in fresh.by("ben").see(at).text, "who has no grant"
    long = browser.see(sent(browser, sql=COUNT.replace(" ", " " * 500)))
    assert "Spend" in long.text
    assert 'data-at="' not in long.text
    assert len(at) <= MAX_ADDRESS_LENGTH


def test_a_draft_is_for_its_own_person_and_outlives_a_sign_in(fresh):
    browser = fresh.by("ann")
    at = sent(browser, epsilon="0.3")
    other = fresh.by("ben").see(at)
    assert (other.status_code, "0.3" in other.text) == (404, False)
    assert "not kept any more" in other.text
    browser.send("/sign-out")
    led = browser.see(at).headers["location"]
    browser.see(led)
    back = browser.send("/sign-in", name="ann", password=PASSWORD, next=at.partition("#")[0])
    assert "Spend ε = 0.3 " in browser.follow(back).text
    fresh.clock.passed += timedelta(hours=13)
    browser.sign_in("ann")
    assert browser.see(at).status_code == 404


@pytest.mark.long  # test_a_question_with_a_price_has_an_address_that_can_be_shared
def test_a_refused_request_is_at_an_address_that_can_be_reloaded(console):
    ann, at = console.by("ann"), f"/data-sets/{NAME}/request"
    fields = {"purpose": PURPOSE, "columns": ["ward", "age"], "why": "beds in winter"}
    for epsilon, words in (("much", "Budget, ε: Write a number"), ("9", "Ask for less")):
        led = ann.send(at, **fields, epsilon=epsilon)
        page = ann.follow(led)
        assert page.status_code == 422
        assert words in page.text
        assert "beds in winter</textarea>" in page.text
        assert page.text.count(" checked") == 2
        assert ann.see(led.headers["location"]).text == page.text
        marked = 'aria-invalid="true"' in page.text
        assert marked == (epsilon == "much")
    assert ann.send("/data-sets/nothing/request", **fields, epsilon="1").status_code == 404
