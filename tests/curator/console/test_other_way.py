"""From SQL to choosing and back: no text that was typed is lost, and the page says what it did."""

import re
from html import unescape

import pytest

from curator.makers import NAME, PURPOSE

FORM = {"data_set": NAME, "purpose": PURPOSE, "epsilon": "0.1", "pay": "epsilon", "way": "sql"}
CUT = "SELECT ward,\r\n  COUNT(*) AS n\r\nFROM visits\r\nGROUP BY ward\r\nORDER BY n DESC LIMIT 1"
PLAIN = "select count(*) as visits\r\nfrom visits where ward = 'A'"


def pressed(browser, fields, to):
    """The page after a press, and the fields that its form would send then."""
    page = browser.follow(browser.send("/ask/way", **fields, to=to)).text
    form = page[page.index('<form id="ask"') :]
    found = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form))
    for name in ("what", "where_1", "how_1"):
        chosen = re.search(rf'(?s)<select id="{name}".*?</select>', form)
        value = re.search(r'<option value="([^"]*)" selected', chosen[0]) if chosen else None
        found |= {name: value[1]} if value else {}
    found |= dict(re.findall(r'<input id="(value_1|epsilon)"[^>]* value="([^"]*)"', form))
    found |= dict(re.findall(r'(?s)<textarea id="(sql|keys)"[^>]*>\n(.*?)</textarea>', form))
    if 'name="by" value="ward" checked' in form:
        found["by"] = "ward"
    del found["csrf"]
    return page, {name: unescape(value) for name, value in found.items()}


@pytest.mark.parametrize("sql", [CUT, "SELECT wrad", "SELECT SUM(cost + 1) AS s FROM visits"])
def test_sql_that_cannot_be_chosen_comes_back_as_it_was_typed(console, sql):
    browser = console.by("ann")
    page, fields = pressed(browser, {**FORM, "sql": sql, "keys": "A\r\nC"}, "build")
    assert "It is kept: press <em>SQL</em>" in page
    assert "cannot be chosen" in page
    page, fields = pressed(browser, fields, "sql")
    assert (fields["sql"], fields["keys"]) == (sql, "A\r\nC")
    assert "Take it back" not in page


def test_sql_that_can_be_chosen_fills_the_choices_and_comes_back_as_it_was_typed(console):
    browser = console.by("ann")
    page, fields = pressed(browser, {**FORM, "sql": PLAIN}, "build")
    assert "These choices ask what your SQL asks" in page
    assert (fields["where_1"], fields["value_1"]) == ("ward", "A")
    assert pressed(browser, fields, "sql")[1]["sql"] == PLAIN


def test_sql_from_before_is_offered_where_something_else_was_chosen(console):
    browser = console.by("ann")
    _, fields = pressed(browser, {**FORM, "sql": CUT, "keys": "A"}, "build")
    page, fields = pressed(browser, {**fields, "by": "ward"}, "sql")
    assert fields["sql"].endswith("GROUP BY ward")
    assert "The SQL that you typed before is kept" in page
    assert "ORDER BY n DESC" in page
    page, fields = pressed(browser, fields, "back")
    assert (fields["sql"], fields["keys"]) == (CUT, "A")
    assert "other_sql" not in fields


def test_what_was_chosen_is_still_chosen_after_sql_that_says_more(console):
    browser = console.by("ann")
    chosen = {**FORM, "way": "build", "what": "median", "of": "cost", "by": "ward"}
    _, fields = pressed(browser, chosen, "sql")
    assert "MEDIAN(cost)" in fields["sql"]
    _, fields = pressed(browser, {**fields, "sql": CUT}, "build")
    assert (fields["what"], fields["by"]) == ("median", "ward")


def test_only_what_is_seen_is_asked(console):
    """SQL that is carried along is not what the price is for."""
    browser = console.by("ann")
    _, fields = pressed(browser, {**FORM, "sql": CUT, "keys": "A\nC"}, "build")
    page = browser.follow(browser.send("/ask/preview", **fields)).text
    assert "<pre>SELECT COUNT(*) AS number\nFROM visits</pre>" in page
    assert 'name="sql"' in page, "and it is still kept"
