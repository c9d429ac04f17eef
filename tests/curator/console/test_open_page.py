"""The open page (G6) in the console's looks: for anybody, with no name, no row, no markup."""

from typing import Any

import pytest

Console = Any


@pytest.fixture(scope="module")
def page(console: Console) -> str:
    console.curator.facts.say(controller="St. <Mary>", contact="privacy@example.org", by="olga")
    answer = console.anybody().see("/open")
    assert answer.status_code == 200
    assert len(answer.content) < 30_000
    return answer.text


def test_it_says_what_is_held_for_what_and_who_is_protected(page: str) -> None:
    for words in ("visits", "planning", "research", "Each patient is protected", "ward", "ε = "):
        assert words in page


def test_it_says_who_answers_and_typed_words_are_no_markup(page: str) -> None:
    assert "St. &lt;Mary&gt;" in page
    assert "privacy@example.org" in page


def test_no_analyst_is_named_and_no_column_that_was_left_out(page: str) -> None:
    for name in (">ann<", "ann,", "Zyxwvut", "diary"):
        assert name not in page


def test_every_budget_leads_to_what_epsilon_means(page: str) -> None:
    assert page.count('href="/epsilon?epsilon=') >= 3


def test_who_is_signed_in_keeps_their_links(console: Console) -> None:
    assert 'action="/sign-out"' in console.by("ann").see("/open").text
    assert 'href="/sign-in"' in console.anybody().see("/open").text


def test_the_page_for_machines_says_the_same(console: Console) -> None:
    found = console.anybody().see("/api/v1/open").json()
    text = console.anybody().see("/open").text
    for one in found["data_sets"]:
        assert one["spent_in_words"] in text
        assert all(purpose["name"] in text for purpose in one["purposes"])
