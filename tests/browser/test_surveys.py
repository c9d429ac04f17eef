"""Surveys in a real browser: the law of the sampler, what leaves the page, reloads, phones."""

import json
import math
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route
from scipy.stats import chisquare

from browser.conftest import chromium_at, serving
from browser.test_pages import LOOKS, faults
from browser.watching import HEIGHT, PHONE, Somebody, somebody
from curator.makers import open_curator, with_people
from letalone.local.questionnaires.questions import read_questionnaire
from letalone.mechanisms.randomized_response import clopper_pearson

SURVEY = {
    "name": "mood",
    "title": "How are we?",
    "purpose": "To plan the year.",
    "epsilon": 3,
    "ends": (datetime.now(UTC) + timedelta(days=2)).date().isoformat(),
    "questions": [
        {"text": "Do you smoke?", "kind": "yes_no"},
        {"text": "Which floor?", "kind": "one_of", "options": ["first", "second", "third", "top"]},
        {"text": "Hours of sleep?", "kind": "number", "lower": 0, "upper": 12, "measure": "h"},
    ],
}
ONE_OF_THREE = SURVEY | {"name": "one-of-three", "how": "sample"}
# All paths of the sampler: every number that `below` could give is taken once, with its weight.
EXPLORE = """([law, truth]) => {
  const found = {}, below = survey.below;
  const walk = (path, weight) => {
    let at = 0, bound = null;
    survey.below = (limit) => {
      if (at < path.length) return path[at++];
      bound = limit; throw "more";
    };
    let report;
    try { report = survey.report(law, truth); } catch (end) { if (end !== "more") throw end; }
    if (bound === null) { found[report] = (found[report] || 0) + weight; return; }
    for (let next = 0n; next < bound; next += 1n) walk([...path, next], weight / Number(bound));
  };
  try { walk([], 1); } finally { survey.below = below; }
  return found;
}"""
BELOW = """([bound, words]) => {
  const left = words.slice();
  const drawn = survey.below(BigInt(bound), () => left.shift());
  return [drawn.toString(), words.length - left.length];
}"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str], Path]]:
    """The address of a service with an open survey, its invitations, and its folder."""
    folder = tmp_path_factory.mktemp("surveys")
    with open_curator(folder) as curator:
        with_people(curator)
        curator.surveys.make(read_questionnaire(SURVEY), by="stan")
        secrets = curator.surveys.invite("mood", 70, by="stan")
        curator.surveys.make(read_questionnaire(ONE_OF_THREE), by="stan")
        secrets += curator.surveys.invite("one-of-three", 25, by="stan")
        folder = curator.settings.folder
    with serving(folder) as (address, _):
        yield address, secrets, folder


@pytest.fixture(scope="module")
def sampler(chromium: Browser, place: tuple[str, list[str], Path]) -> Iterator[Page]:
    with somebody(chromium, place[0]) as one:
        yield one.go("/survey/mood")


@pytest.mark.parametrize(("held", "of", "choices", "chosen"), [(3, 5, 2, 1), (4, 7, 5, 2)])
def test_every_report_has_exactly_the_chance_of_the_law(
    sampler: Page, held: int, of: int, choices: int, chosen: int
) -> None:
    """By all numbers that can be drawn: a set with the truth held/of over how many there are."""
    law = {"held": str(held), "of": str(of), "choices": choices, "chosen": chosen}
    for truth in range(choices):
        found = sampler.evaluate(EXPLORE, [law, truth])
        sets = list(combinations(range(choices), chosen))
        inside = Fraction(held, of) / math.comb(choices - 1, chosen - 1)
        outside = (1 - Fraction(held, of)) / math.comb(choices - 1, chosen)
        expected = {_hex(one): float(inside if truth in one else outside) for one in sets}
        assert found == pytest.approx(expected)


def _hex(places: tuple[int, ...]) -> str:
    return f"{sum(128 >> place for place in places):02x}"


def test_words_that_would_favour_small_numbers_are_drawn_again(sampler: Page) -> None:
    """2^64 is no multiple of 7: the last 2 words are passed over, and no other."""
    top = 2**32 - 1
    assert sampler.evaluate(BELOW, [7, [[0, 6]]]) == ["6", 1]
    assert sampler.evaluate(BELOW, [7, [[0, 7]]]) == ["0", 1]
    last = 2**64 - 2**64 % 7
    words = [[value >> 32, value & top] for value in (last, last - 1)]
    assert sampler.evaluate(BELOW, [7, words]) == [str((last - 1) % 7), 2]
    assert sampler.evaluate(BELOW, [7, [[top, top], [0, 3]]]) == ["3", 2]


def test_draws_of_the_browser_follow_the_law_and_not_one_of_a_larger_epsilon(
    sampler: Page,
) -> None:
    """80,000 draws of fresh bits: a right sampler fails once in 10^6 runs. The law of an ε that is
    a tenth larger is refused."""
    law = read_questionnaire(SURVEY).for_browser()["questions"][1]
    draw = "([law, n]) => Array.from({length: n}, () => survey.report(law, 2))"
    reports = sampler.evaluate(draw, [law, 80_000])
    sets = [_hex(one) for one in combinations(range(4), law["chosen"])]
    seen = [reports.count(one) for one in sets]
    assert sum(seen) == 80_000
    for epsilon, right in ((1.0, True), (1.1, False)):
        chance = _chances(law["chosen"], epsilon)
        assert (chisquare(seen, [80_000 * part for part in chance]).pvalue > 1e-6) == right


def _chances(chosen: int, epsilon: float) -> list[float]:
    weights = [math.exp(epsilon) if 2 in one else 1.0 for one in combinations(range(4), chosen)]
    return [weight / sum(weights) for weight in weights]


def test_an_audit_of_the_sampler_finds_nearly_all_of_epsilon_and_never_more(
    sampler: Page,
) -> None:
    """100,000 draws of each answer; both intervals hold with probability 1 − 2e-6."""
    law = read_questionnaire(SURVEY).for_browser()["questions"][0]
    count = """([law, n]) => [0, 1].map((truth) => {
      let yes = 0;
      for (let i = 0; i < n; i += 1) yes += survey.report(law, truth) === "80";
      return yes;
    })"""
    found = np.array(sampler.evaluate(count, [law, 100_000]))
    low, high = clopper_pearson(found, 100_000, 1 - 1e-6)
    audited = math.log(low[0] / high[1])
    assert 0.9 <= audited <= 1.0


def test_a_number_is_rounded_to_its_ends_so_that_its_mean_is_kept(sampler: Page) -> None:
    place = "([question, typed]) => survey.place(question, typed, 1000)"
    question = SURVEY["questions"][2]
    for typed, wanted in ((0, 0), (12, 1000), (6, 500), (-5, 0), (99, 1000), (0.006, 1)):
        assert sampler.evaluate(place, [question, typed]) == wanted
    below = """([place, steps]) => { let upper = 0; const kept = survey.below;
      for (let word = 0; word < steps; word += 1) {
        survey.below = () => BigInt(word);
        upper += survey.round(place, steps) === 0;
      }
      survey.below = kept; return upper; }"""
    for wanted in (0, 1, 500, 999, 1000):
        assert sampler.evaluate(below, [wanted, 1000]) == wanted


def test_the_request_has_the_random_answer_and_nothing_else_and_a_reload_draws_nothing(
    chromium: Browser, place: tuple[str, list[str], Path]
) -> None:
    address, secrets, _ = place
    with somebody(chromium, address, viewport={"width": PHONE, "height": 800}) as one:
        sent: list[Any] = []
        one.page.on("request", lambda request: sent.append(request))
        answer(one, secrets[0])
        for _ in range(3):
            one.press("Show what could be sent")
        assert not [request for request in sent if request.method == "POST"], "only shown"
        one.page.route("**/reports", lambda route: route.abort())
        one.press("Send a random answer")
        one.page.get_by_text("cannot be reached").wait_for()
        one.watch.wrong.clear()  # the request that was cut off on purpose
        first = sent[-1].post_data_json
        assert nothing_typed(one.page), "the draw is kept, so nothing needs the answers any more"
        one.page.unroute("**/reports")
        one.page.reload()
        one.page.get_by_text("made random on this device before").wait_for()
        assert not one.page.get_by_text("Which floor?").is_visible(), "there is nothing to answer"
        one.press("Send the same again")
        one.page.get_by_text("Thank you").wait_for()
        posted = [request for request in sent if request.method == "POST"]
        assert [request.post_data_json for request in posted] == [first, first]
        assert set(first) == {"token", "reports"}
        assert [len(report) for report in first["reports"]] == [2, 2, 2]
        assert "cookie" not in posted[-1].all_headers()
        assert one.page.context.cookies() == []
        assert not any(secrets[0] in request.url for request in posted)
        width = one.page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE


def open_page(one: Somebody, secret: str, name: str = "mood") -> Page:
    """The page anew: another # alone would only reload it later."""
    one.page.goto("about:blank")
    return one.go(f"/survey/{name}#{secret}")


def answer(one: Somebody, secret: str, **given: str) -> None:
    fill(open_page(one, secret), **given)


def nothing_typed(page: Page) -> bool:
    return page.evaluate(
        "[...document.forms[0].elements].every((one) => one.type === 'radio' ? !one.checked"
        " : one.type !== 'number' || one.value === '')"
    )


def fill(page: Page, *, smoke: str = "no", floor: str = "third", sleep: str = "7.5") -> None:
    page.get_by_label(smoke, exact=True).check()
    page.get_by_label(floor, exact=True).check()
    page.get_by_label("Hours of sleep?").fill(sleep)


@pytest.fixture(scope="module")
def keeping_pages(chromium: Browser) -> Iterator[Browser]:
    """A browser that puts pages aside as people's do; the one of other tests is told not to."""
    browser = chromium.browser_type.launch(
        executable_path=chromium_at(),
        args=["--no-sandbox"] if os.geteuid() == 0 else [],
        ignore_default_args=["--disable-back-forward-cache"],
    )
    yield browser
    browser.close()


@pytest.mark.parametrize("sent", [True, False])
@pytest.mark.parametrize("away", ["back", "put aside", "reload"])
def test_no_answer_is_on_the_page_for_who_comes_next(
    chromium: Browser,
    keeping_pages: Browser,
    place: tuple[str, list[str], Path],
    away: str,
    sent: bool,
) -> None:
    """Back, from a page that the browser has put aside or loads again, and a reload."""
    address, secrets, _ = place
    secret = secrets[55 + 2 * ["back", "put aside", "reload"].index(away) + sent]
    with somebody(keeping_pages if away == "put aside" else chromium, address) as one:
        if away == "put aside":
            _let_be_put_aside(one.page)
        answer(one, secret)
        one.press("Show what could be sent")
        if sent:
            one.press("Send a random answer")
            one.page.get_by_text("Thank you").wait_for()
            assert nothing_typed(one.page)
        if away == "reload":
            one.page.reload()
        else:
            one.go("/open")
            one.page.go_back()
        one.page.wait_for_function("document.forms[0].dataset.state")
        one.page.wait_for_timeout(200)  # a browser puts values back a little later
        assert nothing_typed(one.page)
        assert one.page.locator("#survey-tried li").count() == 0, "nor draws of the same answer"
        state = one.page.evaluate("document.forms[0].dataset.state")
        assert state == ("sent" if sent else "open")
        if away == "put aside":
            assert one.page.evaluate("sessionStorage.getItem('put-aside')"), (
                "else nothing is tested"
            )


def _let_be_put_aside(page: Page) -> None:
    """As by a browser that does not heed "no-store" for this; notes that a page came back so."""

    def without_the_header(route: Route) -> None:
        answer = route.fetch()
        headers = {name: it for name, it in answer.headers.items() if name != "cache-control"}
        route.fulfill(response=answer, headers=headers)

    page.route("**/survey/mood", without_the_header)
    page.add_init_script(
        "addEventListener('pageshow', (event) =>"
        " event.persisted && sessionStorage.setItem('put-aside', 'yes'))"
    )


def test_which_question_is_asked_is_even_over_all_numbers_that_can_be_drawn(sampler: Page) -> None:
    asked = """(count) => { const kept = survey.below, found = [], bounds = [];
      for (let word = 0; word < count; word += 1) {
        survey.below = (bound) => { bounds.push(Number(bound)); return BigInt(word); };
        found.push(survey.question(count));
      }
      survey.below = kept; return [found, bounds]; }"""
    assert sampler.evaluate(asked, 3) == [[0, 1, 2], [3, 3, 3]]


def test_the_question_is_drawn_before_anything_is_typed_and_a_reload_asks_the_same(
    chromium: Browser, place: tuple[str, list[str], Path]
) -> None:
    """A draw that looked at answers would tell about them: here there are none yet. Of 12 people
    all would be asked the same question once in 3^11 runs."""
    address, secrets, _ = place
    asked = "() => [...document.querySelectorAll('.asked')].findIndex((one) => !one.hidden)"
    drawn = list[int]()
    with somebody(chromium, address) as one:
        for secret in secrets[70:82]:
            page = open_page(one, secret, "one-of-three")
            page.wait_for_function("document.forms[0].dataset.state")
            first = page.evaluate(asked)
            assert page.locator(".asked:visible").count() == 1
            assert f"drew question {first + 1} of 3" in one.words
            page.reload()
            page.wait_for_function("document.forms[0].dataset.state")
            assert page.evaluate(asked) == first
            drawn.append(first)
    assert len(set(drawn)) > 1


def test_a_sampled_person_sends_one_report_and_results_count_who_answered_each(
    chromium: Browser, place: tuple[str, list[str], Path]
) -> None:
    """Two of the three reports are empty; each result is from those who were asked."""
    address, secrets, _ = place
    with somebody(chromium, address) as one:
        sent: list[Any] = []
        one.page.on("request", lambda request: sent.append(request))
        for secret in secrets[82:94]:
            page = open_page(one, secret, "one-of-three")
            page.wait_for_function("document.forms[0].dataset.state")
            answer_what_is_asked(page)
            one.press("Send a random answer")
            page.get_by_text("Thank you").wait_for()
            assert page.locator("#survey-sent li").count() == 1
    posted = [request.post_data_json["reports"] for request in sent if request.method == "POST"]
    assert [sorted(map(len, reports)) for reports in posted] == [[0, 0, 2]] * 12
    counted = [sum(bool(reports[at]) for reports in posted) for at in range(3)]
    with somebody(chromium, address) as stan:
        stan.sign_in("stan")
        found = stan.page.request.get(f"{address}/surveys/one-of-three/json").json()
    assert [result["people"] for result in found["questions"]] == counted


def answer_what_is_asked(page: Page) -> None:
    asked = page.locator(".asked:visible")
    if asked.locator("[type=number]").count():
        asked.locator("[type=number]").fill("8")
    else:
        asked.locator("[type=radio]").first.check()


@pytest.mark.parametrize("name", ["mood", "one-of-three"])
def test_the_page_has_no_grave_fault_in_any_look_or_state(
    chromium: Browser, place: tuple[str, list[str], Path], name: str
) -> None:
    """Light and dark, at a phone's width and a screen's: open, drawn from, sent, and too late."""
    address, secrets, _ = place
    secret = secrets[62 if name == "mood" else 94]
    with somebody(chromium, address) as one:
        page = open_page(one, secret, name)
        without_faults(page)
        answer_what_is_asked(page) if name != "mood" else fill(page)
        one.press("Show what could be sent")
        without_faults(page)
        one.press("Send a random answer")
        page.get_by_text("Thank you").wait_for()
        without_faults(page)
        one.go(f"/survey/{name}")
        page.get_by_text("You need your personal link").wait_for()
        without_faults(page)
        one.go("/survey/nothing")
        without_faults(page)


def without_faults(page: Page) -> None:
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.emulate_media(color_scheme=scheme)
        assert faults(page) == [], (width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_each_state_of_the_page_says_what_is_so_and_shows_nothing_else(
    chromium: Browser, place: tuple[str, list[str], Path]
) -> None:
    address, secrets, _ = place
    with somebody(chromium, address) as one:
        page = open_page(one, secrets[61])
        send = page.get_by_role("button", name="Send a random answer")
        assert send.is_enabled()
        headings = page.get_by_role("heading", level=2)
        assert headings.count() == 0, "nothing is said to be sent before something is"
        fill(page)
        one.press("Show what could be sent")
        assert headings.all_inner_texts() == ["What could be sent"]
        one.press("Send a random answer")
        page.get_by_text("Thank you").wait_for()
        assert headings.all_inner_texts() == ["What was sent"]
        assert page.locator("#survey-sent li").count() == 3
        assert page.get_by_role("main").get_by_role("button").count() == 0
        page.reload()
        page.get_by_text("was sent with this link before").wait_for()
        assert "press" not in one.words.lower()
        assert page.get_by_role("main").get_by_role("button").count() == 0
        assert headings.all_inner_texts() == ["What was sent"]
        page.evaluate("localStorage.clear()")  # as on another device
        page.reload()
        fill(page)
        one.press("Send a random answer")
        for _ in range(2):
            page.get_by_text("used before").wait_for()
            assert page.get_by_role("main").get_by_role("button").count() == 0
            assert headings.count() == 0
            page.reload()


def test_a_button_that_cannot_be_pressed_looks_so(
    chromium: Browser, place: tuple[str, list[str], Path]
) -> None:
    with somebody(chromium, place[0]) as one:
        one.go("/survey/mood").get_by_text("You need your personal link.").wait_for()
        look = "(one) => getComputedStyle(one).opacity"
        assert float(one.page.locator("button[disabled]").first.evaluate(look)) < 0.7


def test_words_of_a_number_say_to_which_end_it_was_rounded(sampler: Page) -> None:
    words = "([question, report]) => survey.words(question, report)"
    number = SURVEY["questions"][2]
    assert sampler.evaluate(words, [number, "80"]) == "12 h (the upper end)"
    assert sampler.evaluate(words, [number, "40"]) == "0 h (the lower end)"


@pytest.mark.parametrize("broken", ["no script", "script lost", "nothing kept"])
def test_a_page_whose_script_does_not_run_sends_nothing(
    chromium: Browser, place: tuple[str, list[str], Path], broken: str
) -> None:
    """Without the script there is nobody to make an answer random: no road leads out."""
    address, secrets, _ = place
    context = chromium.new_context(java_script_enabled=broken != "no script")
    page, sent = context.new_page(), list[Any]()
    page.on("request", lambda request: sent.append(request))
    if broken == "script lost":
        page.route("**/survey*.js", lambda route: route.abort())
    if broken == "nothing kept":
        page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); };")
    page.goto(f"{address}/survey/mood#{secrets[2]}")
    sent.clear()
    fill(page)
    page.get_by_label("Hours of sleep?").press("Enter")
    page.get_by_role("button", name="Send a random answer").click(force=True)
    if broken == "script lost":  # and even if something else submits the form
        page.evaluate("document.getElementById('survey').submit()")
    page.wait_for_timeout(300)
    assert [request.url for request in sent if "/static/" not in request.url] == []
    assert page.url.endswith(f"/survey/mood#{secrets[2]}")
    context.close()


def test_without_a_personal_link_the_page_says_so_and_sends_nothing(
    chromium: Browser, place: tuple[str, list[str], Path]
) -> None:
    address, secrets, _ = place
    with somebody(chromium, address) as one:
        sent: list[Any] = []
        one.page.on("request", lambda request: sent.append(request))
        page = one.go("/survey/mood")
        page.get_by_text("You need your personal link.").wait_for()
        send = page.get_by_role("button", name="Send a random answer")
        assert send.is_disabled()
        fill(page)
        page.get_by_label("Hours of sleep?").press("Enter")
        page.evaluate("document.getElementById('survey').requestSubmit()")
        one.press("Show what could be sent")
        assert not [request for request in sent if request.method == "POST"]
        page.goto(f"{address}/survey/mood#{secrets[4]}")
        page.wait_for_function("!document.querySelector('#survey [type=submit]').disabled")
        assert "You need your personal link" not in one.words


def test_a_link_that_was_cut_off_is_told_before_anything_is_typed(
    chromium: Browser, place: tuple[str, list[str], Path]
) -> None:
    """Programs for mail cut links, or take the sign behind one for a part of it."""
    address, secrets, _ = place
    with somebody(chromium, address) as one:
        for broken in (secrets[5][:-1], f"{secrets[5]}.", f"{secrets[5]}%3E"):
            page = one.go("/survey/nothing")
            page.goto(f"{address}/survey/mood#{broken}")
            page.get_by_text("is not whole, or has something behind it").wait_for()
            assert page.get_by_role("button", name="Send a random answer").is_disabled()


def test_a_survey_can_be_answered_with_the_keyboard_alone(
    chromium: Browser, place: tuple[str, list[str], Path]
) -> None:
    address, secrets, _ = place
    with somebody(chromium, address) as one:
        page = one.go(f"/survey/mood#{secrets[1]}")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        page.keyboard.type("8")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_text("Thank you").wait_for()
        assert page.evaluate("document.activeElement.id") == "survey-said", "heard by readers"


def test_the_answers_of_fifty_browsers_are_counted_and_the_results_are_shown(
    chromium: Browser, place: tuple[str, list[str], Path]
) -> None:
    address, secrets, _ = place
    with somebody(chromium, address) as one:
        for number, secret in enumerate(secrets[5:55]):
            answer(one, secret, smoke="yes" if number % 2 else "no")
            one.press("Send a random answer")
            one.page.get_by_text("Thank you").wait_for()
    with somebody(chromium, address) as stan:
        stan.sign_in("stan")
        page = stan.go("/surveys/mood")
        assert "invited people have answered" in stan.words
        assert page.locator("svg").count() >= 3
        found = json.loads(json.dumps(stan.words))
        assert "more answers are needed" in found


def test_two_tabs_of_a_browser_send_the_same_and_both_say_that_it_was_sent(
    chromium: Browser, place: tuple[str, list[str], Path]
) -> None:
    address, secrets, _ = place
    with somebody(chromium, address) as one:
        sent: list[Any] = []
        one.page.context.on("request", lambda request: sent.append(request.post_data_json))
        other = one.page.context.new_page()
        for page in (one.page, other):
            page.goto(f"{address}/survey/mood#{secrets[63]}")
            fill(page)
        for page, words in ((one.page, "Thank you"), (other, "was sent with this link before")):
            page.get_by_role("button", name="Send a random answer").click()
            page.get_by_text(words).wait_for()
        posted = [body for body in sent if body]
        assert len(posted) == 2
        assert posted[0] == posted[1], "nothing is drawn twice"
        one.page.reload()
        one.page.get_by_text("was sent with this link before").wait_for()
