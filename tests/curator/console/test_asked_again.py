"""A past question fills the form so that the same is asked again, or says that it cannot."""

import re
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest

from curator.makers import NAME, PURPOSE, ask

CHOSEN = "SELECT ward, COUNT(*) AS number FROM visits WHERE ward <> 'B' GROUP BY ward"
TYPED = [
    "SELECT COUNT(*) AS n, COUNT(DISTINCT patient) AS people FROM visits",
    "SELECT SUM(cost) AS s, AVG(cost) AS m FROM visits WHERE ward IN ('A', 'it''s') OR cost > 1.5",
    "SELECT MEDIAN(cost) AS n FROM visits WHERE NOT (cost <= 3) AND ward IS NOT NULL",
]


def filled(console, found):
    """The form that an answer leads back to, as what it would send."""
    answer = console.by("ann").see(f"/ask/again/{found}")
    assert answer.status_code == 303
    return answer, parse_qsl(urlsplit(answer.headers["location"]).query)


def newest(console):
    return console.curator.asking.history(by="ann")[0]


@pytest.mark.few("ward <>", "IN ('A'")
@pytest.mark.parametrize("sql", [CHOSEN, *TYPED])
def test_the_filled_form_asks_the_same_question_at_the_same_price(fresh, sql):
    """The same question costs nothing the second time: that is how it is known to be the same."""
    ask(fresh.curator, sql, epsilon=0.25)
    mine, browser = newest(fresh), fresh.by("ann")
    answer, fields = filled(fresh, mine.id)
    assert dict(fields)["way"] == ("build" if sql == CHOSEN else "sql")
    assert unescape(browser.follow(answer).text).count('value="0.25"') == 1
    shown = browser.follow(browser.send("/ask/preview", **dict(fields)))
    assert f'href="/history/{mine.id}">See the answer: free' in shown.text


def test_bounds_and_groups_that_were_typed_are_filled_in_again(fresh):
    browser = fresh.by("ann")
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    fields = {"data_set": NAME, "purpose": PURPOSE, "way": "sql", "sql": sql, "epsilon": "0.25"}
    fields |= {"keys": "A\nC", "max_rows": "3", "confidence": "0.9"}
    shown = browser.follow(browser.send("/ask/preview", **fields))
    agreed = re.search(r'name="agreed" value="([0-9a-f]{64})"', shown.text)[1]
    browser.send("/ask/release", agreed=agreed, **fields)
    found = dict(filled(fresh, newest(fresh).id)[1])
    assert found["keys"] == '["A", "C"]'
    assert (found["max_rows"], found["confidence"]) == ("3", "0.9")
    assert found["sql"].split() == sql.split()


def test_what_the_form_cannot_hold_is_said_and_the_price_is_kept(fresh):
    ask(fresh.curator, "SELECT SUM(cost + 1) AS s FROM visits", epsilon=0.125)
    answer, fields = filled(fresh, newest(fresh).id)
    assert not {"sql", "what"} & set(dict(fields))
    assert (dict(fields)["epsilon"], dict(fields)["purpose"]) == ("0.125", PURPOSE)
    assert "cannot hold that question" in fresh.by("ann").follow(answer).text


def test_nobody_fills_a_form_with_the_question_of_anybody_else(fresh):
    ask(fresh.curator)
    assert fresh.by("ben").see(f"/ask/again/{newest(fresh).id}").status_code in (403, 404)


def test_an_answer_leads_to_its_question(fresh):
    ask(fresh.curator)
    mine = newest(fresh)
    assert f'href="/ask/again/{mine.id}"' in fresh.by("ann").see(f"/history/{mine.id}").text
    assert mine.data_set == NAME
