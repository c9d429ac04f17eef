"""Every main page, at a phone's width and a screen's, light and dark.

Each person signs in once; their page is looked at in four ways. Policy, errors and other hosts are
watched all the while (`watching.somebody`).
"""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response

from browser.hospital import LONG, PASSWORD, PURPOSE, VISITS, people_of
from browser.watching import HEIGHT, PHONE, WIDE, Somebody, somebody

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
MOST_BYTES = 100_000
GRAVE = ("serious", "critical")
PAGES = {
    "": ["/open", "/epsilon", "/sign-in"],
    "analyst": [
        "/",
        "/data-sets",
        f"/data-sets/{VISITS}",
        f"/data-sets/{VISITS}/request",
        f"/ask?data_set={VISITS}&purpose={PURPOSE}",
        f"/ask?data_set={VISITS}&purpose={PURPOSE}&way=sql",
        "/history",
        "/requests",
        "/account",
    ],
    "steward": [
        "/",
        "/requests",
        "/grants",
        "/refusals",
        "/budgets",
        f"/budgets/{VISITS}",
        f"/data-sets/{LONG}",
        "/persons",
        "/people",
    ],
    "owner": ["/", "/people", "/people/ann", "/register", f"/data-sets/{VISITS}", "/processing"],
    "auditor": ["/", "/ledger", "/ledger/5", "/processing"],
}
LOOKS = [(width, scheme) for width in (PHONE, WIDE) for scheme in ("light", "dark")]


@pytest.fixture(scope="module", params=PAGES)
def role(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def one(role: str, chromium: Browser, hospital: str) -> Iterator[Somebody]:
    with somebody(chromium, hospital) as found:
        if role:
            found.sign_in(people_of(role))
        yield found


def test_no_page_has_a_serious_fault_for_people_with_disabilities(one: Somebody, role: str):
    found = [
        (path, *look, fault)
        for path in PAGES[role]
        for look in each_look(one, path)
        for fault in faults(one.page)
    ]
    assert found == []


def test_no_page_is_wider_than_the_screen(one: Somebody, role: str):
    one.page.set_viewport_size({"width": PHONE, "height": HEIGHT})
    wider = {path: beyond(one.go(path)) for path in PAGES[role]}
    assert {path: pixels for path, pixels in wider.items() if pixels > 0} == {}


def test_a_page_with_all_its_files_is_under_100_kb(
    one: Somebody, role: str, chromium: Browser, hospital: str
):
    """Before anything is packed, with no file kept from an earlier page."""
    cookies = one.page.context.storage_state()
    with somebody(chromium, hospital, storage_state=cookies) as fresh:
        fresh.page.route("**", lambda route: route.continue_())  # which turns the cache off
        sizes = {path: size(fresh, path) for path in PAGES[role]}
    assert {path: bytes_ for path, bytes_ in sizes.items() if bytes_ >= MOST_BYTES} == {}
    assert min(sizes.values()) > 20_000, "the files are not counted"


def test_answers_previews_and_refusals_have_no_fault_either(chromium: Browser, hospital: str):
    with somebody(chromium, hospital) as ann:
        ann.sign_in("ann")
        ann.go("/history").get_by_role("main").get_by_role("listitem").last.get_by_role(
            "link"
        ).first.click()
        check(ann)
        ask(ann, epsilon="0.3")
        check(ann)
        ask(ann, epsilon="2.9")
        assert "ask a steward to propose a larger share" in ann.words
        assert ann.page.get_by_role("button", name="Spend ε = 2.9").is_disabled()
        check(ann)


def test_a_long_name_of_a_group_leaves_the_numbers_in_sight(chromium: Browser, hospital: str):
    with somebody(chromium, hospital) as ben:
        ben.sign_in("ben")
        newest = ben.go("/history").get_by_role("main").get_by_role("listitem").first
        newest.get_by_role("link").first.click()
        assert LONG in ben.words
        hidden = {width: beyond_its_table(ben.page, width) for width in (PHONE, WIDE)}
    assert max(hidden.values()) <= 0, hidden


def test_the_slider_moves_the_price_without_a_new_page(chromium: Browser, hospital: str):
    with somebody(chromium, hospital) as ann:
        ann.sign_in("ann")
        ask(ann, epsilon="0.3")
        ann.page.evaluate("window.stays = true")
        ann.page.get_by_role("slider").focus()
        ann.page.keyboard.press("Home")
        ann.page.get_by_role("button", name="Spend ε = 0.001").wait_for()
        assert ann.page.get_by_label("ε", exact=True).input_value() == "0.001"
        assert ann.page.evaluate("window.stays"), "the whole page was loaded again"


def test_a_price_that_does_not_come_leaves_the_last_one_and_says_why(
    chromium: Browser, hospital: str
):
    """A proxy's error, a network that is gone, and a visit that was ended in another tab."""
    with somebody(chromium, hospital) as ann:
        ann.sign_in("ann")
        ask(ann, epsilon="0.3")
        page, slider = ann.page, ann.page.get_by_role("slider")
        for answer in (
            lambda to: to.fulfill(status=502, body="Bad Gateway"),
            lambda to: to.abort(),
        ):
            page.route("**/ask/preview", answer)
            slider.press("Home")
            page.get_by_role("alert").get_by_text("cannot be reached").wait_for()
            assert "ε = 0.3" in page.locator("#price").inner_text()
            assert page.get_by_role("button", name="Spend ε").is_disabled()
            check(ann)
            page.unroute("**/ask/preview")
            slider.press("End")
            page.get_by_role("alert").wait_for(state="hidden")
            ask(ann, epsilon="0.3")
        ann.watch.wrong = [one for one in ann.watch.wrong if "Failed to " not in one]
        other = page.context.new_page()
        other.goto(f"{hospital}/")
        other.get_by_role("button", name="Sign out").click()
        slider.press("Home")
        alert = page.get_by_role("alert")
        alert.get_by_text("You are signed out").wait_for()
        assert page.locator("#price").is_visible()
        check(ann)
        with page.context.expect_page() as found:
            alert.get_by_role("link", name="Sign in in another tab").click()
        there = found.value
        there.get_by_label("Name").fill("ann")
        there.get_by_label("Password").fill(PASSWORD)
        there.get_by_role("main").get_by_role("button", name="Sign in").click()
        there.wait_for_url(f"{hospital}/")
        ann.press("Show price and error")
        page.get_by_text("This is what you typed").wait_for()
        assert page.get_by_label("ε", exact=True).input_value() == "0.001"


def test_the_slider_and_the_price_are_on_the_screen_together(chromium: Browser, hospital: str):
    for width, height in ((WIDE, 800), (PHONE, 844)):
        with somebody(chromium, hospital, viewport={"width": width, "height": height}) as ann:
            ann.sign_in("ann")
            ask(ann, epsilon="0.3")
            for seen in (ann.page.get_by_role("slider"), ann.page.locator("#price .price")):
                box = seen.bounding_box()
                assert box is not None
                assert 0 <= box["y"] <= height - box["height"], (width, box)


def test_a_price_has_the_focus_and_is_nothing_to_spend_once_the_form_changes(
    chromium: Browser, hospital: str
):
    with somebody(chromium, hospital) as ann:
        ann.sign_in("ann")
        ask(ann, epsilon="0.3")
        spend = ann.page.get_by_role("button", name="Spend ε = 0.3")
        assert ann.page.evaluate("document.activeElement.id") == "price"
        assert spend.is_enabled()
        ann.page.get_by_role("group", name="For each").get_by_label("ward").uncheck()
        assert spend.is_disabled()
        assert "this price is not for it" in ann.words


def test_the_keyboard_alone_signs_in_and_asks(chromium: Browser, hospital: str):
    with somebody(chromium, hospital) as ann:
        keys = ann.go("/sign-in").keyboard
        tab_to(ann.page, "#name")
        keys.type("ann")
        tab_to(ann.page, "#password")
        keys.type("correct horse battery staple")
        keys.press("Enter")
        ann.page.wait_for_url(f"{hospital}/")
        tab_to(ann.page, 'main a[href^="/ask"]')
        keys.press("Enter")
        ann.page.wait_for_url("**/ask?**")
        tab_to(ann.page, 'input[name="by"][value="ward"]')
        keys.press("Space")
        tab_to(ann.page, "#epsilon")
        keys.press("Enter")
        ann.page.get_by_role("heading", name="Before you spend").wait_for()
        tab_to(ann.page, 'button[name="agreed"]')
        assert outlined(ann.page), "who uses the keyboard must see where they are"


def test_a_policy_that_is_broken_is_noticed(chromium: Browser, hospital: str):
    """The watch has power: an inline style, an inline script and another host are seen."""
    for broken in ("<b style='color: red'>", "<img src=x onerror=1>", "<img src=http://a.test/>"):
        with pytest.raises(AssertionError):
            show_broken(chromium, hospital, broken)


def test_axe_sees_a_field_without_a_label_and_pale_words(chromium: Browser, hospital: str):
    with somebody(chromium, hospital) as anybody:
        anybody.go("/sign-in").evaluate("document.querySelector('label[for=name]').remove()")
        anybody.page.evaluate("document.querySelector('h1').setAttribute('class', 'pale')")
        anybody.page.evaluate(
            "const sheet = new CSSStyleSheet(); sheet.replaceSync('.pale { color: #eee; }');"
            "document.adoptedStyleSheets = [sheet];"
        )
        assert {fault.partition(":")[0] for fault in faults(anybody.page)} >= {
            "label",
            "color-contrast",
        }


def show_broken(chromium: Browser, address: str, html: str) -> None:
    with somebody(chromium, address) as anybody:
        anybody.go("/open").evaluate("(html) => { document.body.innerHTML = html }", html)
        anybody.page.wait_for_timeout(200)


def each_look(one: Somebody, path: str) -> Iterator[tuple[int, str]]:
    one.go(path)
    for width, scheme in LOOKS:
        one.page.set_viewport_size({"width": width, "height": HEIGHT})
        one.page.emulate_media(color_scheme=scheme)
        yield width, scheme


def check(one: Somebody) -> None:
    for width, scheme in LOOKS:
        one.page.set_viewport_size({"width": width, "height": HEIGHT})
        one.page.emulate_media(color_scheme=scheme)
        assert faults(one.page) == []
        assert beyond(one.page) <= 0


def faults(page: Page) -> list[str]:
    """What axe finds serious or critical: the rule, and where."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)  # by the debugger, which the policy does not bind
    found: Any = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{one['id']}: {[node['html'][:120] for node in one['nodes'][:3]]}"
        for one in found["violations"]
        if one["impact"] in GRAVE
    ]


def beyond_its_table(page: Page, width: int) -> float:
    """How many pixels of a number lie beyond the right edge of its table's box, at most."""
    page.set_viewport_size({"width": width, "height": HEIGHT})
    return page.evaluate(
        """() => Math.max(...[...document.querySelectorAll(".answer td.number")].map(one =>
          one.getBoundingClientRect().right
          - one.closest(".table-box").getBoundingClientRect().right))"""
    )


def beyond(page: Page) -> int:
    """How many pixels of the page lie beyond the right edge."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def size(fresh: Somebody, path: str) -> int:
    """How many bytes came, once they were unpacked."""
    seen: list[Response] = []
    fresh.page.on("response", lambda response: seen.append(response))
    fresh.go(path)
    fresh.page.wait_for_load_state("networkidle")
    return sum(len(one.body()) for one in seen if one.status == 200)


def ask(one: Somebody, *, epsilon: str) -> None:
    page = one.go(f"/ask?data_set={VISITS}&purpose={PURPOSE}")
    page.get_by_role("group", name="For each").get_by_label("ward").check()
    page.get_by_label("ε", exact=True).fill(epsilon)
    one.press("Show price and error")
    page.get_by_role("heading", name="Before you spend").wait_for()


def tab_to(page: Page, selector: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("(where) => document.activeElement.matches(where)", selector):
            return
    raise AssertionError(f"the tabulator does not reach {selector}")


def outlined(page: Page) -> bool:
    return page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
