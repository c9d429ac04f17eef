"""A page says what somebody at it can do: no command line, no Python, no address of the API."""

import re
from datetime import timedelta

from curator.console.test_asking import COUNT, preview, price_in, why_not
from curator.makers import NAME, grant
from letalone.errors import DataSetFrozen
from letalone.ledger.charging import Work, frozen_error

NOT_FOR_PEOPLE = re.compile(r"letalone ledger|LEDGER|/api/|keys=|delta=|POST ")


def test_an_analyst_is_told_to_ask_the_owner_of_what_is_frozen(fresh):
    browser = fresh.by("ann")
    fresh.curator.ledger.freeze(NAME, "the disk was full")
    text = price_in(preview(browser).text)
    assert "is frozen" in why_not(text)
    assert why_not(text).endswith("Its owner has to look at it: ask them.")
    assert not NOT_FOR_PEOPLE.search(text)


def test_what_froze_while_it_was_answered_says_that_the_charge_stays(fresh, monkeypatch):
    def broken(*_, **__):
        raise frozen_error([NAME], Work.failure)

    browser = fresh.by("ann")
    monkeypatch.setattr(type(fresh.curator.asking), "look", broken)
    text = preview(browser).text
    assert "what was charged stays spent. Its owner has to look at it: ask them." in text
    assert not NOT_FOR_PEOPLE.search(text)
    assert "letalone ledger thaw" in str(frozen_error([NAME], Work.failure)), (
        "on a command line it is what to type"
    )
    assert str(DataSetFrozen("Words.")) == "Words."


def test_sql_to_be_explained_says_which_word_to_remove(fresh):
    text = price_in(preview(fresh.by("ann"), sql=f"EXPLAIN {COUNT}").text)
    assert why_not(text) == "It begins with EXPLAIN: remove that word to spend."


def test_groups_that_nobody_declared_are_asked_for_in_an_open_section(fresh):
    grant(fresh.curator, "ben", columns=["age", "ward"])
    where = "Write them under Which groups?,"
    asked = {
        "age": f"Which values of age? {where} one in each line, such as 2019.",
        "age, ward": f"Which values of age and ward? {where} as JSON, such as",
    }
    for by, words in asked.items():
        sql = f"SELECT {by}, COUNT(*) AS n FROM visits GROUP BY {by}"
        page = preview(fresh.by("ben"), sql=sql)
        assert page.status_code == 422
        assert words in page.text
        assert "<details open><summary>Which groups?" in page.text
        assert re.search(r'<textarea id="keys"[^>]*aria-invalid="true"', page.text)
        assert not NOT_FOR_PEOPLE.search(page.text)
        assert "1e-6" not in page.text, "where a grant has no δ, none is advised"


def test_an_error_as_wide_as_the_declared_range_says_nothing(console):
    """A mean of 0 to 500 from 100 rows: at ε = 0.01 the range to expect holds all of that."""
    mean = {"sql": "SELECT AVG(cost) AS m FROM visits", "max_rows": "10"}
    text = preview(console.by("ann"), **mean, epsilon="0.01").text
    assert "with 100 rows says nothing;" in text
    sized = price_in(preview(console.by("ann"), **mean, epsilon="0.01", rows="100").text)
    assert '<td class="small">says nothing</td>' in sized
    for words in re.findall(r"±\s([0-9,.]+)", text):
        assert float(words.replace(",", "")) < 500


def test_whoever_is_not_signed_in_reads_why(fresh):
    wrong = fresh.anybody().sign_in("ann", "not it at all")
    assert wrong.status_code == 401
    assert "That name and password do not match." in wrong.text
    browser = fresh.anybody()
    browser.sign_in("ann")
    fresh.clock.passed += timedelta(hours=2)
    ended = browser.send(f"/data-sets/{NAME}/request", why="beds")
    assert "You were signed out." in ended.text
    assert "Who asks" not in wrong.text + ended.text
