"""The playground of the documentation in a real browser: no service, no other file."""

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

HOST = "http://docs.invalid/explanation/"
DOCS = Path(__file__).parents[2] / "docs"
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
SOURCE = (DOCS / "explanation" / "playground.md").read_text("utf-8")
STATIC = "http://docs.invalid/_static/"


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    (block,) = re.findall(r"```\{raw\} html\n(.*?)```", SOURCE, re.S)
    html = f'<!doctype html><html lang="en"><title>p</title><main><h1>p</h1>{block}</main></html>'
    context, wrong = chromium.new_context(), list[str]()
    opened = context.new_page()
    opened.on("pageerror", lambda error: wrong.append(str(error)))

    def answer(route: Route) -> None:
        if route.request.url == HOST:
            route.fulfill(body=html, content_type="text/html; charset=utf-8")
        elif route.request.url.startswith(STATIC):
            route.fulfill(path=DOCS / "_static" / route.request.url.removeprefix(STATIC))
        else:
            wrong.append(f"asked for {route.request.url}")
            route.abort()

    opened.route("**/*", answer)
    opened.goto(HOST)
    yield opened
    context.close()
    assert wrong == []


def test_the_arrow_keys_move_the_promise_and_the_picture(page: Page) -> None:
    expect(page.locator("#playground-guess")).to_have_text("73.2 %")
    before = page.locator("#playground-area").get_attribute("points")
    page.get_by_role("slider").press("End")
    expect(page.locator("#playground-epsilon")).to_have_text("ε = 10")
    expect(page.locator("#playground-guess")).to_have_text("99.996 %")
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == "ε = 10"
    assert page.locator("#playground-area").get_attribute("points") != before


def test_answers_are_drawn_again_around_the_count(page: Page) -> None:
    page.get_by_role("slider").press("Home")  # ε = 0.01: twelve answers repeat once in e^60 times
    shown = page.locator("#playground-answers")
    first = shown.inner_text()
    page.get_by_role("button", name="Draw again").press("Enter")
    assert shown.inner_text() != first
    answers = [float(word.replace(",", "")) for word in shown.inner_text().split()]
    assert len(answers) == 12
    # Each is beyond 3,000 with probability e^-30: all of that is a broken sampler.
    assert all(abs(answer - 1000) < 3000 for answer in answers)


def test_nobody_is_kept_out_by_how_it_is_drawn(page: Page) -> None:
    page.evaluate(AXE)
    found = page.evaluate("axe.run('#playground-page')")["violations"]
    assert [rule["id"] for rule in found if rule["impact"] in ("serious", "critical")] == []
