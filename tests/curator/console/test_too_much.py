"""Who has too much under way is told so, in the form that they typed."""

from html import unescape

from curator.makers import NAME, PURPOSE
from letalone.curator.http.limits import AT_ONCE, TOO_MUCH

SQL = "SELECT COUNT(*) AS all_of_them FROM visits"
FORM = {"data_set": NAME, "purpose": PURPOSE, "way": "sql", "epsilon": "0.37", "pay": "epsilon"}


def test_what_was_typed_is_kept_where_too_much_is_under_way(fresh, monkeypatch):
    browser = fresh.by("ann")
    browser.see("/ask")
    entries = len(fresh.curator.ledger)
    monkeypatch.setattr("letalone.curator.http.limits.IN_LINE", -AT_ONCE)
    for path in ("/ask/preview", "/ask/release"):
        answer = browser.follow(browser.send(path, **FORM, sql=SQL))
        assert answer.status_code == 429
        assert TOO_MUCH in unescape(answer.text)
        assert SQL in unescape(answer.text)
        assert "0.37" in answer.text
    assert len(fresh.curator.ledger) == entries
    monkeypatch.undo()
    assert browser.follow(browser.send("/ask/preview", **FORM, sql=SQL)).status_code == 200
