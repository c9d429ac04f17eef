"""Surveys as those see them who make and read them: live results, and the form for a new one."""

import json
from collections.abc import Iterator
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Page

from browser.conftest import serving
from browser.hospital import PASSWORD
from browser.test_surveys import SURVEY, without_faults
from browser.watching import somebody
from curator.makers import open_curator, with_people
from letalone.local.questionnaires.questions import read_questionnaire


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """The address of a service with an open survey, and its invitations."""
    with open_curator(tmp_path_factory.mktemp("console")) as curator:
        with_people(curator)
        curator.surveys.make(read_questionnaire(SURVEY | {"name": "live"}), by="stan")
        secrets = curator.surveys.invite("live", 5, by="stan")
        folder = curator.settings.folder
    with serving(folder) as (address, _):
        yield address, secrets


def test_results_come_in_by_themselves_and_nothing_that_is_open_closes(
    chromium: Browser, place: tuple[str, list[str]]
) -> None:
    """With a clock that the test moves. What a screen reader hears changes three times a minute."""
    address, secrets = place
    with somebody(chromium, address) as one:
        one.sign_in("stan")
        page, asked = one.page, list[str]()
        page.on("request", lambda request: asked.append(request.url))
        page.clock.install()
        _send(address, secrets[0])
        one.go("/surveys/live")
        page.locator("#results summary").first.focus()
        page.locator("#results summary").first.press("Enter")
        _send(address, secrets[1])
        page.clock.run_for(5_000)
        page.get_by_text("2 of 5 invited people").first.wait_for()
        assert page.locator("#results details").first.evaluate("(one) => one.open")
        focused = "document.activeElement === document.querySelector('#results summary')"
        assert page.evaluate(focused)
        assert page.locator("#results-said").inner_text() == "", "told a moment ago, by the page"
        _run(page, 4)
        assert "2 of 5 invited" in page.locator("#results-said").inner_text()
        _send(address, secrets[2])
        _run(page, 1)
        assert "2 of 5" in page.locator("#results-said").inner_text(), "not at every turn"
        assert "3 of 5" in page.locator("#results-people").inner_text()
        _show(page, hidden=True)
        asked.clear()
        page.clock.run_for(60_000)
        page.wait_for_timeout(200)
        assert asked == [], "nobody looks"
        with page.expect_response("**/live"):
            _show(page, hidden=False)
        page.clock.fast_forward("16:00")
        page.get_by_text("Paused, since nobody has moved").wait_for()
        asked.clear()
        page.clock.run_for(60_000)
        assert asked == [], "a browser that was left open is signed out in time"
        with page.expect_response("**/live"):
            page.keyboard.press("Shift")
            page.clock.run_for(5_000)
        page.context.clear_cookies()
        page.clock.run_for(5_000)
        page.get_by_text("You are signed out.").wait_for()


def test_the_pages_of_who_makes_and_reads_surveys_have_no_grave_fault(
    chromium: Browser, place: tuple[str, list[str]]
) -> None:
    with somebody(chromium, place[0]) as one:
        one.sign_in("stan")
        for path in ("/surveys", "/surveys/new", "/surveys/live", "/surveys/coins"):
            one.go(path)
            without_faults(one.page)
        page = one.go("/surveys/new")
        assert not page.get_by_label("Options").first.is_visible()
        page.get_by_label("Answered by").first.select_option("number")
        assert page.get_by_label("Largest number").first.is_visible()
        fields = {"Name": "x", "Title": "x", "What is it for?": "x", "Last day": SURVEY["ends"]}
        for label, words in fields.items():
            page.get_by_label(label, exact=True).fill(words)
        page.locator("[name=text-0]").fill("How many?")
        page.get_by_label("Smallest number").first.fill("5")
        page.get_by_label("Largest number").first.fill("1")
        page.locator("[name=password_again]").fill(PASSWORD)
        one.press("Make the survey")
        page.get_by_text("lower must be below upper").wait_for()
        without_faults(page)


def _send(address: str, secret: str) -> None:
    sent = {"token": secret, "reports": ["80", "80", "80"]}
    url, kind = f"{address}/api/v1/surveys/live/reports", {"Content-Type": "application/json"}
    urlopen(Request(url, json.dumps(sent).encode(), kind)).close()


def _run(page: Page, turns: int) -> None:
    for _ in range(turns):
        with page.expect_response("**/live") as answer:
            page.clock.run_for(5_000)
        answer.value.finished()
        page.wait_for_timeout(100)


def _show(page: Page, *, hidden: bool) -> None:
    page.evaluate(
        """(value) => {
        Object.defineProperty(document, "hidden", { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )
