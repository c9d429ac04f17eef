"""Surveys with two counters in a real browser: what each gets, and what is sent again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from browser.conftest import serving
from browser.hospital import PASSWORD
from browser.test_surveys import SURVEY, answer, fill, nothing_typed, open_page, without_faults
from browser.watching import somebody
from curator.makers import open_curator, with_people
from letalone.curator.console import files as static
from letalone.local.questionnaires.questions import read_questionnaire


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, list[str]]]:
    """A service with a survey, another one that only counts, and invitations."""
    one, two = (tmp_path_factory.mktemp(name) for name in ("first", "second"))
    with open_curator(two) as curator:
        with_people(curator)
        second = curator.settings.folder
    with serving(second, "--aggregator") as (other, _):
        with open_curator(one, other_counter=other) as curator:
            with_people(curator)
            curator.surveys.make(read_questionnaire(SURVEY | {"two_counters": True}), by="stan")
            shared = curator.surveys.counters.invitation("mood")
            secrets = curator.surveys.invite("mood", 5, by="stan")
            first = curator.settings.folder
        with open_curator(two) as curator:
            curator.surveys.counters.join(shared)
        with serving(first, "--other-counter", other) as (address, _):
            yield address, other, secrets


def test_a_service_that_only_says_it_failed_gets_no_second_report_of_a_person(
    chromium: Browser, pair: tuple[str, str, list[str]]
) -> None:
    """Reports of one invitation have one name, and a counter counts one of a name."""
    address, other, secrets = pair
    with somebody(chromium, address) as one:
        sent: list[Any] = []
        one.page.on("request", lambda request: sent.append(request))
        one.page.route("**/surveys/mood/halves", lambda route: route.fulfill(status=422, body="{}"))
        answer(one, secrets[3])
        for reload in (False, True):
            if reload:
                one.page.reload()
                fill(one.page)
            for words in ("Send two halves", "Send the same again"):
                with one.page.expect_response("**/surveys/mood/halves"):
                    one.press(words)
                one.page.get_by_text("did not take it").wait_for()
            assert nothing_typed(one.page), "the halves are made"
            without_faults(one.page)
        one.watch.hosts.discard(urlsplit(other).netloc)
    posted = [request.post_data_json for request in sent if request.method == "POST"]
    assert len(posted) == 8
    assert len({half["nonce"] for half in posted}) == 1
    assert posted[:2] == posted[2:4], "the page sends the same halves again"
    assert posted[0]["shares"] != posted[4]["shares"], "and keeps none"


def test_it_is_told_which_of_the_two_counters_is_away(
    chromium: Browser, pair: tuple[str, str, list[str]]
) -> None:
    address, other, secrets = pair
    with somebody(chromium, address) as one:
        for away, words in ((other, "The other counter"), (address, "The service")):
            one.page.route(f"{away}/**/halves", lambda route: route.abort())
            one.page.goto("about:blank")
            answer(one, secrets[4])
            one.press("Send two halves")
            one.page.get_by_text(f"{words} cannot be reached").wait_for()
            one.page.unroute(f"{away}/**/halves")
        one.watch.hosts.discard(urlsplit(other).netloc)
        one.watch.wrong.clear()  # the requests that were cut off on purpose


def test_each_of_two_counters_gets_a_half_and_both_together_count(
    chromium: Browser, pair: tuple[str, str, list[str]]
) -> None:
    address, other, secrets = pair
    with somebody(chromium, address) as one:
        sent: list[Any] = []
        one.page.on("request", lambda request: sent.append(request))
        for secret in secrets[:2]:
            one.page.goto("about:blank")
            answer(one, secret, smoke="yes")
            one.press("Send two halves")
            one.page.get_by_text("Thank you").wait_for()
        posted = [request for request in sent if request.method == "POST"]
        assert [urlsplit(request.url).netloc for request in posted[:2]] == [
            urlsplit(other).netloc,
            urlsplit(address).netloc,
        ]
        halves = [request.post_data_json for request in posted[:2]]
        assert halves[0]["nonce"] == halves[1]["nonce"]
        assert set(halves[0]["shares"]).isdisjoint(halves[1]["shares"])
        assert "token" not in halves[0]
        open_page(one, secrets[0])
        one.page.get_by_text("was sent with this link before").wait_for()
        one.page.evaluate("localStorage.clear()")  # as on another device
        one.page.reload()
        fill(one.page)
        one.press("Send two halves")
        one.page.get_by_text("used before").wait_for()
        one.watch.hosts.discard(urlsplit(other).netloc)  # where the other half goes
    with somebody(chromium, address) as stan:
        stan.sign_in("stan")
        stan.go("/surveys/mood")
        assert "tell their totals when the survey is closed" in stan.words
        stan.page.locator("form[action$=close] input[type=password]").fill(PASSWORD)
        stan.press("Close it")
        assert "Counted by two services" in stan.words
        assert "2 of 5 invited" in stan.words


def test_the_split_of_the_browser_is_that_of_the_published_vectors(chromium: Browser) -> None:
    path = Path(__file__).parents[1] / "local" / "split" / "vectors.json"
    script = next(Path(static.__file__).parent.glob("static/prio3.js")).read_text()
    page = chromium.new_page()
    page.evaluate(f"{script}; window.prio3 = prio3;")
    shard = """([law, context, answer, nonce, random]) => {
      const bytes = (hex) => Uint8Array.from(hex.match(/../g).map((pair) => parseInt(pair, 16)));
      const hex = (part) => Array.from(part, (byte) => byte.toString(16).padStart(2, "0")).join("");
      const made = prio3.shard(law, context, answer, bytes(nonce), bytes(random));
      return [hex(made.public), made.shares.map(hex)];
    }"""
    compared = 0
    for name, vector in json.loads(path.read_text()).items():
        law = {"kind": "yes_no"}
        if "Sum" in name:
            law = {"kind": "number", "largest": vector["max_measurement"]}
        if "Histogram" in name:
            law = {"kind": "one_of", "options": vector["length"], "chunk": vector["chunk_length"]}
        for report in vector["reports"] if vector["shares"] == 2 else []:
            if report["measurement"] is None:
                continue
            context = bytes.fromhex(vector["ctx"]).decode()
            given = [law, context, report["measurement"], report["nonce"], report["rand"]]
            found = page.evaluate(shard, given)
            assert found == [report["public_share"], report["input_shares"]], name
            compared += 1
    page.close()
    assert compared == 16
