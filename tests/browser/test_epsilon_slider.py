"""The slider of notebooks in a real browser, by keyboard; the kernel's end of it is the real one.

A page of our own stands in for Jupyter: its model has what the script uses of a widget's model,
and hands what is sent to the slider in Python.
"""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, Route, expect

import letalone as la
from letalone.notebook import epsilon_slider

HOST = "http://notebook.invalid/"
FOLDER = Path(epsilon_slider.__file__).parent
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
TRAITS = ("epsilons", "place", "shown", "state", "answered")
PAGE = """<!doctype html><html lang="en"><title>A notebook</title>
<link rel="stylesheet" href="epsilon_slider.css">
<main><h1>A notebook</h1><div id="cell"></div></main>
<script type="module">
import slider from "./epsilon_slider.js";
const state = await kernel({}), changed = {}, heard = {};
const take = (next, own = {}) => {
  for (const name of Object.keys(next)) {
    if (name in own) continue; // as Jupyter: an echo of what was set here may be older than it
    if (JSON.stringify(next[name]) === JSON.stringify(state[name])) continue;
    state[name] = next[name];
    (heard[`change:${name}`] ?? []).forEach((hear) => hear());
  }
};
const model = {
  get: (name) => state[name],
  set: (name, value) => { state[name] = changed[name] = value; },
  save_changes: async () => take(await kernel({ update: { ...changed } }), changed),
  send: async (message) => take(await kernel({ message })),
  on: (event, hear) => (heard[event] ??= []).push(hear),
  off: () => {},
};
slider.render({ model, el: document.getElementById("cell") });
</script></html>"""


class KernelEnd:
    """The slider in Python, and how often the button was heard there."""

    def __init__(self) -> None:
        frame = pd.DataFrame({"person": range(90), "ward": ["A", "B", "C"] * 30})
        self.table = la.open(frame, unit="person", budget=2)
        question = self.table.group_by("ward", keys=["A", "B", "C"]).agg(n=la.count())
        self.slider: Any = la.EpsilonSlider(question)

    def take(self, sent: dict[str, Any]) -> dict[str, Any]:
        if "update" in sent:
            self.slider.set_state(sent["update"])
        if "message" in sent:
            self.slider._handle_custom_msg(sent["message"], [])
        return {name: json.loads(json.dumps(getattr(self.slider, name))) for name in TRAITS}


@pytest.fixture
def kernel() -> KernelEnd:
    return KernelEnd()


@pytest.fixture
def page(chromium: Browser, kernel: KernelEnd) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 800, "height": 900})
    opened, wrong = context.new_page(), list[str]()
    opened.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.expose_function("kernel", kernel.take)

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(HOST)
        if name == "":
            route.fulfill(body=PAGE, content_type="text/html; charset=utf-8")
        elif (FOLDER / name).is_file():
            route.fulfill(path=FOLDER / name)
        else:
            wrong.append(f"asked for {route.request.url}")
            route.abort()

    opened.route("**/*", answer)
    opened.goto(HOST)
    opened.get_by_role("button").wait_for()
    yield opened
    context.close()
    assert wrong == []  # no error, and nothing asked for but the page, its script and its style


def spent(kernel: KernelEnd) -> float:
    return float(kernel.table.spent.epsilon)


def test_the_price_follows_the_arrow_keys_and_costs_nothing(page: Page, kernel: KernelEnd) -> None:
    button = page.get_by_role("button")
    expect(button).to_have_text("Spend ε = 0.5 and answer")
    before = page.get_by_role("table").inner_text()
    page.keyboard.press("Tab")
    expect(page.get_by_role("slider")).to_be_focused()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(button).to_have_text("Spend ε = 1 and answer")
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == "ε = 1"
    assert page.get_by_role("table").inner_text() != before
    assert spent(kernel) == 0


def test_enter_asks_once_and_the_answer_stands_below(page: Page, kernel: KernelEnd) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button")).to_be_focused()
    for _ in range(3):
        page.keyboard.press("Enter")
    expect(page.get_by_role("button")).to_have_text("Answered for ε = 0.5")
    expect(page.get_by_role("button")).to_be_focused()
    expect(page.locator(".letalone-answer table tbody tr")).to_have_count(3)
    expect(page.locator(".letalone-answer svg").first).to_be_visible()
    assert spent(kernel) == pytest.approx(0.5)


def test_a_refusal_is_told_in_words(page: Page, kernel: KernelEnd) -> None:
    page.get_by_role("slider").press("End")
    expect(page.get_by_role("button")).to_have_text("Spend ε = 2 and answer")
    page.get_by_role("button").press("Enter")
    expect(page.get_by_role("button")).to_have_text("Answered for ε = 2")
    page.get_by_role("slider").press("Home")
    expect(page.locator(".letalone-left")).to_contain_text("This does not fit.")
    page.get_by_role("button").press("Enter")
    expect(page.locator(".letalone-answer")).to_contain_text("does not fit into the budget")
    assert spent(kernel) == pytest.approx(2)


def test_nobody_is_kept_out_by_how_it_is_drawn(page: Page) -> None:
    page.get_by_role("button").press("Enter")
    expect(page.locator(".letalone-answer svg").first).to_be_visible()
    page.evaluate(AXE)
    found = page.evaluate("axe.run('#cell')")["violations"]
    assert [rule["id"] for rule in found if rule["impact"] in ("serious", "critical")] == []


def test_jupyterlab_leaves_the_keys_to_what_has_the_focus(page: Page) -> None:
    """Its commands take arrow keys and Enter of any element without this mark."""
    for role in ("slider", "button"):
        mark = page.get_by_role(role).get_attribute("data-lm-suppress-shortcuts")
        assert mark == "true"
