"""Pages: what a browser may do with them, who sees which, how large they are."""

import re

import pytest

from curator.makers import NAME, PASSWORD, whats
from letalone.curator.console.files import files_sent
from letalone.curator.console.pages import TEMPLATES

PAGES = ("/", "/data-sets", f"/data-sets/{NAME}", "/requests", "/account", "/password", "/again")
OF_ANALYSTS = ("/ask", "/history", f"/data-sets/{NAME}/request")
LARGEST = 100_000


@pytest.mark.parametrize("path", [*PAGES, *OF_ANALYSTS])
def test_a_page_is_small_unkept_and_runs_nothing_of_others(console, path):
    """All in: the page, its style sheets and its scripts, as they are sent without packing."""
    answer = console.by("ann").see(path)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    for words in ("default-src 'none'", "script-src 'self'", "style-src 'self'"):
        assert words in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    names = set(re.findall(r'/static/[0-9a-f]+/([^"]+)"', answer.text))
    whole = len(answer.content) + sum(files_sent()[name].stat().st_size for name in names)
    assert whole < LARGEST, f"{path} has {whole:,} bytes"


def test_no_template_has_a_style_or_a_script_in_it():
    """The policy would stop them."""
    for place in (path for folder in TEMPLATES for path in folder.glob("*.html")):
        text = place.read_text("utf-8")
        assert not re.search(r"\sstyle=|<style|\son[a-z]+=|javascript:|hx-on|\|\s*safe\b", text), (
            place.name
        )
        for script in re.findall(r"<script[^>]*>(.*?)</script>", text, re.S):
            assert not script.strip(), place.name


def test_every_input_has_a_label(console):
    for path in (*PAGES, *OF_ANALYSTS, "/ask?way=sql"):
        text = console.by("ann").see(path).text
        named = set(re.findall(r'<label[^>]* for="([^"]+)"', text))
        for found in re.findall(r"<(?:input|select|textarea)\b[^>]*>", text):
            if 'type="hidden"' in found or "aria-hidden" in found:
                continue
            if 'type="checkbox"' in found or 'type="radio"' in found:
                continue  # within their labels
            assert re.search(r'\bid="([^"]+)"', found)[1] in named, (path, found)


def test_a_page_is_for_its_role(console):
    for name in ("olga", "stan", "aud"):
        for path in OF_ANALYSTS:
            answer = console.by(name).see(path)
            assert answer.status_code == 403
            assert "for the role analyst" in answer.text
        assert 'href="/ask"' not in console.by(name).see("/").text
    for path in (*PAGES[1:], *OF_ANALYSTS):
        assert console.anybody().see(path).headers["location"].startswith("/sign-in")


def test_what_is_not_there_is_said_on_a_page(console):
    for path in ("/data-sets/nothing", "/nothing-at-all"):
        answer = console.by("ann").see(path, headers={"Accept": "text/html"})
        assert answer.status_code == 404
        assert "text/html" in answer.headers["content-type"]
    program = console.by("ann").see("/api/v1/nothing", headers={"Accept": "text/html"})
    assert program.headers["content-type"] == "application/problem+json"


def test_a_request_is_sent_seen_and_taken_back(fresh):
    browser, path = fresh.by("ben"), f"/data-sets/{NAME}/request"
    fields = {"purpose": "research", "columns": ["age"], "epsilon": "0.5", "why": "a <b>study</b>"}
    wrong = browser.follow(browser.send(path, **{**fields, "epsilon": "99"}))
    assert wrong.status_code == 422
    assert 'value="99"' in wrong.text
    assert "a &lt;b&gt;study&lt;/b&gt;" in wrong.text
    assert re.search(r'value="age" checked', wrong.text)
    seen = browser.follow(browser.send(path, **fields))
    assert "A steward decides" in seen.text
    (found,) = fresh.curator.requests.requests(by="ben", own=True)
    assert (found.columns, str(found.budget.epsilon)) == (("age",), "1/2")
    browser.follow(browser.send(f"/requests/{found.id}/withdraw"))
    assert "request withdrawn" in whats(fresh.curator)
    assert fresh.by("ann").send(f"/requests/{found.id}/withdraw").status_code == 404


def test_a_token_takes_the_password_again_is_shown_once_and_ends(fresh):
    browser = fresh.by("ann")
    fields = {"label": "my notebook", "scopes": "ask", "days": "3"}
    wrong = browser.send("/account/tokens", password="wrong", **fields)
    assert wrong.status_code == 401
    assert 'value="my notebook"' in wrong.text
    made = browser.send("/account/tokens", password=PASSWORD, **fields)
    secret = re.search(r"la_[\w-]+", made.text)[0]
    assert fresh.curator.tokens.bearer(secret).person.name == "ann"
    listed = browser.see("/account").text
    assert secret not in listed
    token = re.search(r"/account/tokens/(\w+)/revoke", listed)[1]
    assert fresh.by("ben").send(f"/account/tokens/{token}/revoke").status_code == 404
    browser.send(f"/account/tokens/{token}/revoke")
    assert "my notebook" not in browser.see("/account").text


def test_a_page_that_is_not_there_knows_who_is_signed_in(console):
    html = {"Accept": "text/html"}
    assert "Sign out" in console.by("ann").see("/nowhere", headers=html).text
    assert "Sign out" not in console.anybody().see("/nowhere", headers=html).text
