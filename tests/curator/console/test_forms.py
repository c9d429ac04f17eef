"""Forms: nothing is done by a look, by another site, or by a form of another visit."""

import pytest

from curator.makers import PASSWORD
from letalone.curator.console.pages import ConsoleRoute, local
from letalone.curator.console.routes import ROUTES


def acts():
    """The addresses of all forms, with something in the place of each name."""
    routes = [one for module in ROUTES for one in module.routes.routes]
    assert all(isinstance(one, ConsoleRoute) for one in routes), "only these check forms"
    found = [one.path for one in routes if "POST" in one.methods]
    assert len(found) >= 8
    return [path.replace("{", "").replace("}", "") for path in found]


def test_no_form_is_taken_without_its_secret(console):
    """Each route that takes a form is found in the app itself."""
    browser = console.by("olga")
    for path in acts():
        for csrf in ("", "0" * 64):
            answer = browser.send(path, csrf=csrf, password=PASSWORD)
            assert answer.status_code == 403, path
            assert "from another visit" in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_no_form_is_taken_from_another_site(console, headers):
    browser = console.by("ann")
    browser.see("/password")
    assert browser.send("/sign-out", headers=headers).status_code == 403
    assert browser.see("/password").status_code == 200, "still signed in"


@pytest.mark.parametrize(
    ("origin", "status"),
    [("https://testserver", 422), ("https://evil.example", 403), ("null", 403), (None, 422)],
)
def test_a_browser_that_knows_no_fetch_metadata_is_known_by_its_origin(console, origin, status):
    browser = console.by("ann")
    browser.see("/password")
    headers = {} if origin is None else {"Origin": origin}
    fields = {"csrf": browser.csrf, "new": "a", "new_again": "b"}
    assert browser.client.post("/password", data=fields, headers=headers).status_code == status


def test_the_secret_of_one_visit_does_not_fit_another(console):
    other = console.by("ben")
    other.see("/password")
    ann = console.by("ann")
    assert ann.send("/sign-out", csrf=other.csrf).status_code == 403


def test_words_that_this_service_did_not_say_are_not_shown(console):
    answer = console.by("ann").see("/?said=Call+this+number&seal=0")
    assert "Call this number" not in answer.text


def test_what_was_typed_is_escaped(console):
    browser = console.anybody()
    answer = browser.sign_in('"><script>alert(1)</script>', "x")
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;" in answer.text


def test_only_addresses_of_this_service_are_gone_on_to():
    assert local("/ask?x=1") == "/ask?x=1"
    for wrong in ("", "ask", "//x", "///x", "/\\x", "http://x", "/\tx", "\\/x"):
        assert local(wrong) == "/", wrong
