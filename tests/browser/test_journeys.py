"""What people come for, from the first start on; with JavaScript, and the same without it.

Each test goes on where the one before ended: one service, one browser a person.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from re import search
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from browser.conftest import serving
from browser.watching import HEIGHT, PHONE, WIDE, Somebody, somebody

OWN = "green candle ninth river"
ROWS = "patient,ward,cost\n" + "".join(f"p{n % 40},{'ABC'[n % 3]},{n}\n" for n in range(120))
SUMS = "SELECT ward, SUM(cost) AS costs FROM stays GROUP BY ward"


@dataclass(slots=True)
class Place:
    """A service after its first start, and the browsers of its people."""

    address: str
    once: dict[str, str]
    enter: Any
    chromium: Browser
    options: dict[str, Any]
    folder: Path
    browsers: dict[str, Somebody] = field(default_factory=dict)

    def by(self, name: str) -> Somebody:
        if name not in self.browsers:
            made = somebody(self.chromium, self.address, **self.options)
            self.browsers[name] = self.enter(made)
        return self.browsers[name]


@pytest.fixture(scope="module", params=["script on a wide screen", "no script on a phone"])
def place(
    request: pytest.FixtureRequest, chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    script = request.param.startswith("script")
    size = {"width": WIDE if script else PHONE, "height": HEIGHT}
    options = {"viewport": size, "java_script_enabled": script, "accept_downloads": True}
    folder = tmp_path_factory.mktemp("first")
    with serving(folder / "curator") as (address, first), ExitStack() as stack:
        once = first["one_time_passwords"]
        yield Place(address, once, stack.enter_context, chromium, options, folder)


@pytest.mark.parametrize("name", ["owner", "analyst"])
def test_a_one_time_password_leads_to_the_choice_of_an_own_one_and_nowhere_else(place, name):
    one = place.by(name)
    one.sign_in(name, place.once[name])
    one.go("/data-sets")
    assert one.page.url.endswith("/password")
    one.page.get_by_label("Password until now").fill(place.once[name])
    one.page.get_by_label("New password", exact=True).fill(OWN)
    one.page.get_by_label("New password again").fill(OWN)
    one.press("Change the password")
    assert one.go("/data-sets").get_by_role("heading", level=1).inner_text() == "Data sets"


def test_an_owner_registers_a_file_and_sees_what_the_rules_touch(place):
    owner, file = place.by("owner"), place.folder / "stays.csv"
    file.write_text(ROWS)
    page = owner.go("/register")
    page.get_by_label("Password").fill(OWN)
    owner.press("Go on")
    page.get_by_label("CSV or Parquet").set_input_files(file)
    owner.press("Send")
    for name in ("patient", "ward", "cost"):
        page.get_by_role("checkbox", name=name).check()
    page.get_by_label("Type").nth(2).select_option("integer")
    page.get_by_role("group", name="cost").get_by_label("From").fill("0")
    page.get_by_role("group", name="cost").get_by_label("To").fill("100")
    page.get_by_role("group", name="ward").get_by_label("Groups").fill("A\nB\nC")
    page.get_by_label("Who is protected").select_option("patient")
    page.get_by_label("Whole budget").fill("1")
    page.get_by_role("group", name="Purpose 1").get_by_label("Name").fill("planning")
    page.get_by_role("group", name="Purpose 1").get_by_label("May spend").fill("1")
    owner.press("Check what the rules touch")
    assert cells(owner, "cost")[2] == "19", "101 to 119 are moved to the bound"
    owner.press("Register")
    expect(page.get_by_role("status")).to_contain_text("stays is registered")


def test_an_analyst_requests_access_and_an_owner_grants_it(place):
    analyst, owner = place.by("analyst"), place.by("owner")
    page = analyst.go("/data-sets/stays/request")
    page.get_by_label("ward").check()
    page.get_by_label("cost").check()
    page.get_by_label("Budget, ε").fill("0.5")
    page.get_by_label("Why").fill("how many beds in winter")
    analyst.press("Send the request")
    expect(page.get_by_role("status")).to_contain_text("A steward decides")
    owner.go("/").get_by_role("link", name="analyst asks for stays").click()
    owner.page.get_by_label("Reason").fill("as planned")
    owner.press("Grant")
    analyst.go("/requests")
    assert "granted" in analyst.words


def test_an_analyst_sees_price_and_error_before_anything_is_spent(place):
    analyst = place.by("analyst")
    ask_by_ward(analyst, epsilon="0.2")
    assert "ε = 0.2" in analyst.words
    assert search(r"±\s?\d", analyst.words)
    place.by("owner").go("/budgets/stays")
    assert "ε = 0 of ε = 1 spent" in place.by("owner").words


def test_an_answer_is_a_table_and_a_chart_and_the_budget_falls(place):
    analyst, owner = place.by("analyst"), place.by("owner")
    analyst.press("Spend ε = 0.2")
    page = analyst.page
    page.wait_for_url("**/history/**")
    assert page.get_by_role("table").first.get_by_role("row").count() == 4
    assert page.get_by_role("img").count() == 1
    assert search(r"\d more|more such|about", analyst.words)
    with page.expect_download() as found:
        page.get_by_role("link", name="Receipt").click()
    assert '"signature"' in found.value.path().read_text()
    owner.go("/budgets/stays")
    assert "ε = 0.2 of ε = 1 spent" in owner.words


def test_going_back_from_an_answer_shows_the_price_again_and_that_it_is_free(place):
    analyst = place.by("analyst")
    answer = analyst.page.url
    analyst.page.go_back()
    analyst.page.get_by_role("heading", name="Before you spend").wait_for()
    analyst.page.reload()
    assert "You have this answer" in analyst.words
    assert analyst.page.get_by_role("group", name="For each").get_by_label("ward").is_checked()
    analyst.page.get_by_role("link", name="See the answer: free").click()
    analyst.page.wait_for_url(answer)


def test_a_page_that_the_browser_had_put_aside_is_asked_for_again(place):
    """Chromium under test puts no page aside: it is told that it did."""
    if not place.options["java_script_enabled"]:
        return
    analyst = place.by("analyst")
    page = ask_by_ward(analyst, epsilon="0.2")
    page.evaluate("document.querySelector('.working').textContent = 'working…'")
    page.get_by_label("Confidence").evaluate("one => { one.closest('details').open = true }")
    page.get_by_label("Confidence").fill("0.8")
    with page.expect_navigation():
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    page.get_by_text("This spends nothing.").wait_for()
    assert page.get_by_label("Confidence").input_value() == "0.8"
    assert page.get_by_text("You changed something").is_visible()


def test_what_was_typed_and_not_sent_outlives_a_reload_and_another_page_but_no_sign_out(place):
    if not place.options["java_script_enabled"]:
        return
    analyst, at = place.by("analyst"), "/ask?data_set=stays&purpose=planning&way=sql"
    page = analyst.go(at)
    sql, epsilon = page.get_by_label("Your question in SQL"), page.get_by_label("ε", exact=True)
    sql.fill("SELECT 1")
    epsilon.fill("0.37")
    page.reload()
    assert (sql.input_value(), epsilon.input_value()) == ("SELECT 1", "0.37")
    analyst.go("/data-sets")
    analyst.go(at)
    assert (sql.input_value(), epsilon.input_value()) == ("SELECT 1", "0.37")
    analyst.go(f"{at}&sql=SELECT+2")
    assert sql.input_value() == "SELECT 2", "an address that asks something else is what it says"
    page.get_by_role("button", name="Sign out").click()
    page.get_by_text("You are signed out").wait_for()
    analyst.sign_in("analyst", OWN)
    analyst.go(at)
    assert sql.input_value().startswith("SELECT COUNT(*)")


def test_more_than_is_left_cannot_be_spent_and_nothing_of_the_form_is_lost(place):
    analyst = place.by("analyst")
    page = ask_by_ward(analyst, epsilon="0.4", sql=SUMS)
    assert "ε = 0.3 is left of your grant of ε = 0.5." in analyst.words
    assert page.get_by_role("button", name="Spend ε = 0.4").is_disabled()
    assert page.get_by_label("Your question in SQL").input_value() == SUMS
    assert page.get_by_label("ε", exact=True).input_value() == "0.4"


def test_sql_outlives_a_look_at_the_choices(place):
    analyst = place.by("analyst")
    page = ask_by_ward(analyst, epsilon="0.1", sql=f"{SUMS} ORDER BY costs DESC LIMIT 2")
    analyst.press("Choose")
    page.get_by_text("cannot be chosen here").wait_for()
    analyst.press("SQL")
    found = page.get_by_label("Your question in SQL").input_value()
    assert found == f"{SUMS} ORDER BY costs DESC LIMIT 2"
    page.go_back()
    page.get_by_text("cannot be chosen here").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Before you spend").wait_for()


def test_a_question_outlives_a_sign_out_in_another_tab(place):
    analyst = place.by("analyst")
    page = ask_by_ward(analyst, epsilon="0.1", sql=SUMS)
    other = page.context.new_page()
    other.goto(f"{place.address}/")
    other.get_by_role("button", name="Sign out").click()
    other.get_by_text("You are signed out").wait_for()
    page.get_by_label("ε", exact=True).fill("0.2")
    analyst.press("Show price and error")
    assert "what you typed is kept" in analyst.problem
    page.get_by_label("Name").fill("analyst")
    page.get_by_label("Password").fill(OWN)
    analyst.press("Sign in")
    page.get_by_text("This is what you typed").wait_for()
    assert page.get_by_label("Your question in SQL").input_value() == SUMS
    assert page.get_by_label("ε", exact=True).input_value() == "0.2"
    other.close()


def test_whoever_verifies_the_ledger_reads_that_it_holds(place):
    owner = place.by("owner")
    owner.go("/ledger")
    owner.press("Verify now")
    expect(owner.page.get_by_role("status").first).to_contain_text("The ledger holds")


def test_signing_out_ends_it(place):
    analyst = place.by("analyst")
    analyst.go("/").get_by_role("button", name="Sign out").click()
    analyst.go("/history")
    assert "/sign-in" in analyst.page.url


def ask_by_ward(one: Somebody, *, epsilon: str, sql: str = "") -> Any:
    way = "sql" if sql else "build"
    page = one.go(f"/ask?data_set=stays&purpose=planning&way={way}")
    if sql:
        page.get_by_label("Your question in SQL").fill(sql)
    else:
        page.get_by_role("group", name="For each").get_by_label("ward").check()
    page.get_by_label("ε", exact=True).fill(epsilon)
    one.press("Show price and error")
    page.get_by_role("heading", name="Before you spend").wait_for()
    return page


def cells(one: Somebody, name: str) -> list[str]:
    row = one.page.get_by_role("row").filter(has=one.page.get_by_role("rowheader", name=name))
    return [name, *row.get_by_role("cell").all_inner_texts()]
