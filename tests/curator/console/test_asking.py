"""Asking in a browser: the price is shown before it is paid, and nothing else is paid."""

import json
import re
from datetime import timedelta
from html import escape, unescape
from urllib.parse import urlencode

import pytest

from curator.makers import NAME, PURPOSE, SECRET, ask, put, whats
from letalone.curator.asking.pages import _digest_of_agreement
from letalone.exact.typed import as_typed
from letalone.ledger.chain.receipts import verify_receipt
from letalone.wire.bodies import SentQuestion

FORM = {"data_set": NAME, "purpose": PURPOSE, "way": "sql", "epsilon": "0.1", "pay": "epsilon"}
COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
AGREED = re.compile(r'name="agreed" value="([0-9a-f]{64})"')


def spent(console, by="ann"):
    (grant,) = console.curator.requests.grants(by=by, own=True)
    return grant.spent.epsilon


def preview(browser, **more):
    return browser.follow(browser.send("/ask/preview", **{**FORM, "sql": COUNT, **more}))


def release(browser, **more):
    agreed = AGREED.search(preview(browser, **more).text)[1]
    return browser.send("/ask/release", agreed=agreed, **{**FORM, "sql": COUNT, **more})


def test_a_preview_shows_price_error_and_how_many_more_and_spends_nothing(console):
    before = spent(console)
    answer = preview(console.by("ann"), epsilon="0.25")
    assert answer.status_code == 200
    assert "ε = 0.25" in answer.text
    assert re.search(r"±\s*\d", answer.text)
    assert "more like this" in answer.text
    assert "Spend ε = 0.25 and see the answer" in answer.text
    assert spent(console) == before


def test_an_answer_is_a_page_of_its_own_with_table_chart_and_receipt(console):
    browser, before = console.by("ann"), spent(console)
    page = browser.follow(release(browser, sql=BY_WARD, epsilon="0.3"))
    assert float(spent(console) - before) == pytest.approx(0.3)
    assert page.text.count('<th scope="row">') == 2
    assert "<svg" in page.text
    assert "chart-error" in page.text
    found = re.search(r'href="(/history/[0-9a-f]{64}/receipt)"', page.text)[1]
    receipt = browser.see(found)
    assert "attachment" in receipt.headers["content-disposition"]
    assert verify_receipt(json.loads(receipt.text)).body["data_set"] == NAME


def test_auto_says_that_the_row_limit_is_found_first_and_the_answer_what_it_leaves_out(fresh):
    browser, auto = fresh.by("ann"), {"max_rows": "auto", "epsilon": "0.5"}
    shown = preview(browser, **auto).text
    assert "First ε = 0.05 finds how many rows per patient count whole" in shown
    assert "The errors are for 10 rows" in shown
    assert "Spend ε = 0.5 and see the answer" in shown
    page = browser.follow(release(browser, **auto)).text
    assert float(spent(fresh)) == pytest.approx(0.5)
    assert "per patient count less: totals may be low</li>" in page
    again = preview(browser, epsilon="0.25").text
    assert "finds how many rows" not in again, "an empty field means the limit that was found"


def test_what_was_not_shown_is_not_paid_for(console):
    """Another question, price, purpose or bound than the one previewed; or none previewed."""
    browser = console.by("ann")
    sql = "SELECT COUNT(*) AS other FROM visits WHERE ward = 'A'"
    agreed = AGREED.search(preview(browser, sql=sql).text)[1]
    before, entries = spent(console), len(console.curator.ledger)
    changes = ({"epsilon": "1"}, {"sql": COUNT + " WHERE ward = 'B'"}, {"max_rows": "3"})
    for change in ({"agreed": ""}, {"agreed": "0" * 64}, *changes):
        fields = {**FORM, "sql": sql, "agreed": agreed, **change}
        answer = browser.follow(browser.send("/ask/release", **fields))
        assert answer.status_code == 409, change
        assert "Nothing was spent" in answer.text
        assert AGREED.search(answer.text), "the new price is shown"
    assert (spent(console), len(console.curator.ledger)) == (before, entries)


def test_an_answer_that_one_has_is_shown_to_be_free_before_anything_is_pressed(fresh):
    browser = fresh.by("ann")
    assert "free" not in price_in(preview(browser).text)
    first = release(browser).headers["location"]
    before, entries = spent(fresh), len(fresh.curator.ledger)
    again = price_in(preview(browser).text)
    assert "You have this answer" in again
    assert f'<a class="button" href="{first}">See the answer: free</a>' in again
    assert "Spend ε" not in again, "what is free is not sold"
    assert browser.see(first).status_code == 200
    assert (spent(fresh), len(fresh.curator.ledger)) == (before, entries)
    assert "Spend ε = 0.2 " in preview(browser, epsilon="0.2").text, "another price is another"


@pytest.mark.long  # curator/test_looking.py: those of older data cost again
def test_where_the_data_have_changed_the_same_question_is_said_to_cost_again(fresh):
    browser = fresh.by("ann")
    release(browser)
    fresh.curator.data_sets.renew(NAME, file=put(fresh.curator, "newer.csv"), by="olga")
    text = price_in(preview(browser).text)
    assert "the data have changed since: this costs" in text
    assert "Spend ε = 0.1 " in text
    assert "changed since" not in preview(browser, epsilon="0.2").text, "which was never asked"


def test_two_presses_of_the_same_button_are_charged_once(fresh):
    browser = fresh.by("ann")
    fields = {**FORM, "sql": COUNT, "agreed": AGREED.search(preview(browser).text)[1]}
    first, second = (browser.send("/ask/release", **fields) for _ in range(2))
    assert float(spent(fresh)) == 0.1
    assert second.headers["location"].partition("?")[0] == first.headers["location"]
    assert "it cost nothing" in browser.follow(second).text


def price_in(text):
    """The part of the page with the price."""
    return text[text.index('<section id="price"') :]


def test_the_error_wanted_finds_the_least_epsilon(console):
    answer = preview(console.by("ann"), pay="error", error="200", epsilon="7")
    assert answer.status_code == 200
    found = float(re.search(r"Spend ε = ([0-9.]+)", answer.text)[1])
    error = float(re.search(r"± ([0-9.]+)", answer.text)[1])
    assert error <= 200
    assert 0 < found < 2


def test_choosing_asks_the_same_as_typing(console):
    browser = console.by("ann")
    typed = release(browser, sql=BY_WARD.replace(" n ", " number "), epsilon="0.2")
    chosen = preview(browser, way="build", what="count", by="ward", epsilon="0.2")
    assert f'href="{typed.headers["location"]}">See the answer: free' in chosen.text


@pytest.mark.parametrize(
    ("more", "status", "words"),
    [
        ({"sql": "SELECT wrad FROM visits"}, 422, "Did you mean"),
        ({"sql": "SELECT AVG(age) FROM visits"}, 403, "is not in your grant"),
        ({"purpose": "fun"}, 403, "You have no grant to ask"),
        ({"epsilon": "-1"}, 422, "epsilon"),
        ({"epsilon": ""}, 422, "epsilon"),
        ({"data_set": "nothing"}, 404, "There is no"),
    ],
)
def test_a_refusal_has_the_words_of_the_api_and_keeps_what_was_typed(console, more, status, words):
    browser = console.by("ann")
    answer = preview(browser, **{"confidence": "0.9", **more})
    assert answer.status_code == status
    assert words in answer.text
    assert 'role="alert"' in answer.text
    assert more.get("sql", COUNT) in answer.text
    if not {"purpose", "data_set"} & set(more):
        assert 'value="0.9"' in answer.text


def test_a_slip_in_a_preview_leaves_no_entry_and_a_refused_answer_does(fresh):
    before, sql = len(fresh.curator.ledger), "SELECT AVG(age) FROM visits"
    assert preview(fresh.by("ann"), sql=sql).status_code == 403
    assert len(fresh.curator.ledger) == before
    sent = SentQuestion(data_set=NAME, purpose=PURPOSE, sql=sql, epsilon="0.1")
    fields = {**FORM, "sql": sql, "agreed": _digest_of_agreement(sent)}
    refused = fresh.by("ann").send("/ask/release", **fields)
    assert len(fresh.curator.ledger) == before + 1
    assert "is not in your grant" in fresh.by("ann").follow(refused).text
    assert len(fresh.curator.ledger) == before + 1, "a reload asks nothing"
    assert whats(fresh.curator)[-1] == "refused"


def test_over_the_budget_nothing_is_answered_and_the_words_say_how_much_is_left(fresh):
    browser = fresh.by("ann")
    answer = browser.follow(release(browser, epsilon="2.5"))
    assert answer.status_code == 409
    assert "Nothing was spent" in answer.text
    assert spent(fresh) == 0


@pytest.mark.long  # arranging: answers/test_arranged.py
def test_sorted_and_cut_answers_have_an_address_of_their_own(fresh):
    browser, sql = fresh.by("ann"), f"{BY_WARD} ORDER BY n DESC LIMIT 1"
    answer = release(browser, sql=sql, epsilon="1")
    at, entries = answer.headers["location"], len(fresh.curator.ledger)
    for _ in range(2):
        page = browser.see(at)
        assert page.status_code == 200
        assert page.text.count('<th scope="row">') == 1
        assert "The whole answer" in page.text
    assert len(fresh.curator.ledger) == entries, "a reload asks nothing"
    again = unescape(re.search(r'href="(/ask/again/[^"]*)"', page.text)[1])
    form = browser.follow(browser.see(again))
    assert "ORDER BY n DESC\nLIMIT 1</textarea>" in form.text
    assert (
        f'href="{escape(at)}">See the answer: free' in preview(browser, sql=sql, epsilon="1").text
    )
    for wrong in ("x", "[]", '[["<",1,2,3],[],null,0,[]]', "[null,[[1]],null,0,[]]"):
        answer = browser.see(f"{at.partition('?')[0]}?{urlencode({'arranged': wrong})}")
        assert answer.status_code == 422


def test_nobody_sees_the_answers_of_anybody_else(fresh):
    ask(fresh.curator)
    (mine,) = fresh.curator.asking.history(by="ann")
    assert fresh.by("ann").see(f"/history/{mine.id}").status_code == 200
    for name in ("ben", "olga", "aud"):
        for path in (
            f"/history/{mine.id}",
            f"/history/{mine.id}/receipt",
            f"/history/{mine.id}/csv",
        ):
            assert fresh.by(name).see(path).status_code in (403, 404)
    assert mine.id not in fresh.by("ben").see("/history").text


@pytest.mark.long  # http/test_questions.py: test_history_has_own_answers_and_their_receipts
def test_the_history_can_be_searched_by_data_set(fresh):
    ask(fresh.curator)
    browser = fresh.by("ann")
    assert "/history/" in browser.see(f"/history?data_set={NAME}").text
    assert "None here" in browser.see("/history?data_set=other").text


@pytest.mark.long  # curator/test_asking.py: own answers and receipts
def test_an_answer_of_a_data_set_that_was_retired_stays(fresh):
    ask(fresh.curator, BY_WARD, epsilon=0.5)
    fresh.curator.data_sets.retire(NAME, why="over", by="olga")
    (mine,) = fresh.curator.asking.history(by="ann")
    assert fresh.by("ann").see(f"/history/{mine.id}").status_code == 200
    assert fresh.by("ann").see(f"/data-sets/{NAME}").status_code == 200


@pytest.mark.long  # arranging: answers/test_arranged.py
def test_a_long_answer_is_cut_on_the_page_and_whole_in_the_file(fresh):
    keys = [f"k{number:03}" for number in range(300)]
    browser = fresh.by("ann")
    page = browser.follow(release(browser, sql=BY_WARD, keys="\n".join(keys), epsilon="0.5"))
    assert page.text.count('<th scope="row">') == 200
    assert "100 more" in page.text
    assert len(page.content) < 100_000 - 20_000, "with its style sheets under 100 kB"
    lines = browser.see(re.search(r"/history/[0-9a-f]+/csv", page.text)[0]).text.splitlines()
    assert lines[0] == "ward,n,n_low,n_high,n_noisy"
    assert [line.partition(",")[0] for line in lines[1:]] == keys


def test_no_page_of_an_analyst_holds_a_private_value_or_how_long_it_took(fresh):
    """The planted secret, the exact counts of wards and the number of rows."""
    ask(fresh.curator, BY_WARD, epsilon=0.5)
    browser = fresh.by("ann")
    (mine,) = fresh.curator.asking.history(by="ann")
    for path in ("/", "/data-sets", f"/data-sets/{NAME}", "/ask", f"/history/{mine.id}"):
        text = browser.see(path).text
        assert SECRET not in text
        assert not re.search(r"\b(seconds|milliseconds| ms)\b", text)
        assert "p19" not in text


@pytest.mark.long  # test_over_the_budget_nothing_is_answered stays
def test_a_price_that_does_not_fit_is_said_before(fresh):
    browser = fresh.by("ann")
    assert 'id="why-not"' in preview(browser, epsilon="3").text
    assert 'id="why-not"' not in preview(browser, epsilon="1").text


@pytest.mark.parametrize("keys", ["A\nB", '["A", "B"]'])
def test_groups_that_are_not_declared_are_typed(console, keys):
    answer = preview(console.by("ann"), sql=BY_WARD, keys=keys)
    assert answer.status_code == 200
    assert "among &#39;A&#39;, &#39;B&#39;" in answer.text
    assert preview(console.by("ann"), sql=BY_WARD, keys="[1").status_code == 422


def test_a_slider_of_somebody_signed_out_gets_nothing_to_put_in_the_place_of_the_price(fresh):
    """However the visit ended: the page keeps the price and says why (tests/browser)."""
    for end in ("idle", "signed out elsewhere", "in again"):
        browser = fresh.anybody()
        browser.sign_in("ann")
        form = {**FORM, "sql": COUNT, "csrf": browser.csrf}
        if end == "idle":
            fresh.clock.passed += timedelta(hours=2)
        else:
            browser.send("/sign-out")
        if end == "in again":
            browser.sign_in("ann")
        answer = browser.send("/ask/preview", headers={"HX-Request": "true"}, **form)
        assert (answer.status_code, answer.text) == (401, ""), end
    page = fresh.by("ben").see("/ask")
    assert page.status_code == 200


def test_a_price_stands_where_the_form_leads_and_no_button_comes_before_the_one_that_shows_it(
    fresh,
):
    """Enter presses the first button of a form: that is never the one that spends, or switches."""
    text = preview(fresh.by("ann"), way="build").text
    form = text[text.index('<form id="ask"') :]
    sent = fresh.by("ann").send("/ask/preview", **FORM, sql=COUNT)
    assert sent.headers["location"].endswith("#price")
    assert re.search(r'<section id="price"[^>]* tabindex="-1"', form)
    assert "formaction" not in re.search(r"<button[^>]*>", form)[0]


def test_sql_begins_with_a_question_that_can_be_read(console):
    text = console.by("ann").see(f"/ask?data_set={NAME}&purpose={PURPOSE}&way=sql").text
    start = re.search(r"<textarea id=\"sql\"[^>]*>\n([^<]*)<", text)[1]
    assert preview(console.by("ann"), sql=start).status_code == 200


@pytest.mark.parametrize("path", ["/ask/preview", "/ask/release", "/ask/way"])
def test_an_address_that_only_forms_go_to_leads_to_the_form(console, path):
    assert console.by("ann").see(path).headers["location"] == "/ask"


def test_another_way_to_ask_keeps_the_price_and_takes_the_question_along(fresh):
    before = len(fresh.curator.ledger)
    chosen = {**FORM, "way": "build", "by": "ward", "where_1": "ward", "value_1": "A"}
    fields = chosen | {"epsilon": "0.7", "confidence": "0.8", "max_rows": "3", "to": "sql"}
    page = fresh.by("ann").follow(fresh.by("ann").send("/ask/way", **fields))
    assert page.status_code == 200
    assert "WHERE ward = &#39;A&#39;\nGROUP BY ward</textarea>" in page.text
    for name, value in (("epsilon", "0.7"), ("confidence", "0.8"), ("max_rows", "3")):
        assert re.search(rf'<input id="{name}"[^>]* value="{value}"', page.text), name
    other = fields | {"way": "sql", "to": "build", "sql": COUNT}
    back = fresh.by("ann").follow(fresh.by("ann").send("/ask/way", **other))
    assert re.search(r'<input id="epsilon"[^>]* value="0.7"', back.text)
    assert 'id="what"' in back.text
    assert len(fresh.curator.ledger) == before


@pytest.mark.parametrize(
    "half", [{"value_1": "A"}, {"where_1": "ward"}, {"where_2": "ward"}, {"value_2": "A"}]
)
def test_half_a_filter_is_refused_and_kept(console, half):
    answer = preview(console.by("ann"), way="build", **half)
    assert answer.status_code == 422
    assert "Only rows with:" in answer.text
    assert not AGREED.search(answer.text)
    assert "selected>ward" in answer.text or 'value="A"' in answer.text


def test_a_value_that_is_no_group_is_priced_with_a_hint_of_those_there_are(console):
    fields = {"way": "build", "where_1": "ward", "value_1": "a"}
    assert "is none of the groups of ward: A, B." in preview(console.by("ann"), **fields).text
    for other in ({"value_1": "A"}, {"how_1": ">="}):
        assert "none of the groups" not in preview(console.by("ann"), **fields | other).text


def test_where_the_error_depends_on_rows_their_number_is_asked_for_beside_the_price(console):
    """The field stands in the form once, wherever it stands."""
    mean = {"sql": "SELECT AVG(cost) AS m FROM visits"}
    for more in (mean, {}, {"sql": "SELECT wrad"}, {**mean, "rows": "100"}):
        text = preview(console.by("ann"), **more).text
        assert [text.count(f'name="{name}"') for name in ("rows", "max_rows")] == [1, 1]
    text = preview(console.by("ann"), **mean).text
    place = [text.index(words) for words in ('id="price"', 'name="rows"', 'name="agreed"')]
    assert place == sorted(place)
    assert "<details" not in text[place[0] : place[1]]


def test_the_error_of_a_mean_is_shown_for_several_numbers_of_rows_before_it_is_paid_for(console):
    browser, mean = console.by("ann"), {"sql": "SELECT AVG(cost) AS m FROM visits", "epsilon": "1"}
    text, sized = preview(browser, **mean).text, preview(browser, **mean, rows="1000").text
    shown = "; ".join(rf"with {rows} rows ±\s([\d,.]+)" for rows in ("100", "1,000", "10,000"))
    few, some, many = (float(one.replace(",", "")) for one in re.search(shown, text).groups())
    assert few > 5 * some > 25 * many > 0
    assert f'<td class="number">± {some:.3g}</td>' in sized
    assert "depends on how many rows" not in text
    spend = '<button{} formaction="/ask/release"'
    assert spend.format(' class="second"') in text, "first say about how many rows there are"
    assert spend.format("") in sized


def why_not(text):
    """Why the button is disabled, without marks."""
    return re.sub("<[^>]*>", "", re.search(r'id="why-not">(.*?)</p>', text)[1])


@pytest.mark.long  # test_over_the_budget_nothing_is_answered stays
def test_over_the_budget_the_page_says_how_much_is_left_and_the_advice_can_be_followed(fresh):
    """A request cannot ask for more than the grant: the page does not lead there."""
    browser, sums = fresh.by("ann"), "SELECT SUM(cost) AS s FROM visits"
    over = preview(browser, epsilon="3").text
    spend = re.search(r"<button[^>]*formaction=./ask/release[^>]*>", over)[0]
    assert " disabled " in spend
    assert 'aria-describedby="why-not"' in spend
    larger = "a steward to propose a larger share for you."
    words = f"ε = 2 is left of your grant of ε = 2. Take a smaller ε, or ask {larger}"
    assert why_not(over) == words
    assert "/request" not in price_in(over)
    assert "Allow a larger error" in preview(browser, sql=sums, pay="error", error="100").text
    assert '<button formaction="/ask/release"' in preview(browser, epsilon="0.1").text
    release(browser, epsilon="1.5")
    assert why_not(preview(browser, epsilon="0.7").text).startswith("ε = 0.5 is left of")
    release(browser, epsilon="0.5")
    empty = why_not(preview(browser, epsilon="0.1").text.replace("&#39;", "'"))
    assert empty == f"Nothing is left of your grant of ε = 2. Ask {larger}"


def test_an_answer_that_would_be_refused_is_not_offered(fresh):
    """Frozen, or only to be explained: the button is not pressed in vain, and says why."""
    browser = fresh.by("ann")
    explained = price_in(preview(browser, sql=f"EXPLAIN {COUNT}").text)
    assert "begins with EXPLAIN" in explained
    fresh.curator.ledger.freeze(NAME, "the disk was full")
    frozen = price_in(preview(browser).text)
    for text in (explained, frozen):
        assert re.search(r"<button[^>]* disabled [^>]*formaction=./ask/release", text)
        assert "Take a smaller ε" not in text
    assert re.search('id="why-not">[^<]+', frozen)


def test_a_comma_may_stand_for_the_point(console):
    browser = console.by("ann")
    assert "Spend ε = 0.25 " in preview(browser, epsilon="0,25").text
    unsure = preview(browser, epsilon="1,500")
    assert (unsure.status_code, AGREED.search(unsure.text)) == (422, None)
    assert "Write 1500 or 1.500" in unsure.text
    wrong = preview(browser, epsilon="much")
    assert "a fraction such as 1/3" in wrong.text
    field = re.search(r'<input id="epsilon"[^>]*>', wrong.text)[0]
    assert 'aria-invalid="true" aria-describedby="problem epsilon-hint"' in field
    assert wrong.text.count("aria-invalid") == 1
    assert "in quotes" not in wrong.text


def test_questions_are_said_in_the_words_of_their_data_set(console):
    browser = console.by("ann")
    units = preview(browser, way="build", what="units").text
    assert "Number of different patient" in units
    assert "number of units" not in units
    assert "Median of cost" in preview(browser, way="build", what="median", of="cost").text
    assert re.search("Left of your grant: about <a [^>]*>ε = [0-9.]+</a> of <a ", units)


def test_notes_are_in_the_words_of_people(console):
    browser = console.by("ann")
    sql = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward"
    text = browser.follow(release(browser, sql=sql, epsilon="0.05")).text
    assert "<li>at most 10 rows per patient are counted (of n &gt; 10 rows, each" in text
    assert "rows within that limit, and the values within their bounds" in text
    assert "<li>rows of groups that are not listed are not counted</li>" in text
    assert "intervals speak" not in text


@pytest.mark.guarded
def test_a_price_that_hardly_protects_has_a_box_to_tick(fresh, monkeypatch):
    monkeypatch.setattr("letalone.privacy.guard_rails.MAX_UNCONFIRMED", as_typed(0.2))
    browser, before = fresh.by("ann"), spent(fresh)
    assert 'name="confirm"' not in preview(browser, epsilon="0.1").text
    assert 'name="confirm"' in preview(browser, epsilon="0.3").text
    refused = browser.follow(release(browser, epsilon="0.3"))
    assert "almost surely" in refused.text
    assert spent(fresh) == before
    agreed = AGREED.search(preview(browser, epsilon="0.3").text)[1]
    fields = {**FORM, "sql": COUNT, "epsilon": "0.3", "agreed": agreed, "confirm": "yes"}
    assert browser.send("/ask/release", **fields).headers["location"].startswith("/history/")
    assert float(spent(fresh) - before) == pytest.approx(0.3)
