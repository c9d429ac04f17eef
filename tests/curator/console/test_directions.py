"""Words from right to left move nothing that stands next to them, on any page."""

import re
from contextlib import suppress
from html.parser import HTMLParser
from shutil import copytree
from urllib.parse import urldefrag

import pytest
from jinja2 import Environment

from curator.console.conftest import Console
from curator.makers import Clock, open_curator, put
from letalone.curator.console.directions import RIGHT_TO_LEFT, Isolation, isolate
from letalone.curator.console.formatting import FILTERS
from letalone.curator.storage.service_records import (
    DataSetQuestion,
    Purpose,
    QuestionPrice,
    Registration,
)
from letalone.errors import BudgetExceeded
from letalone.plans.schema import Column, Schema
from letalone.privacy import Budget

SET, PURPOSE, WARD, GROUPS = "زيارات", "Planning – تخطيط", "قسم", ("قلب", "עיניים", "Other")
LINES = [f"person,{WARD},cost"] + [f"p{n},{GROUPS[n % 3]},{n}" for n in range(60)]
COUNT = f'SELECT "{WARD}", COUNT(*) AS "عدد" FROM "{SET}" GROUP BY "{WARD}"'
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "wbr"}
VOID |= {"circle", "line", "polygon", "polyline", "rect"}
STARTS = {
    "": ["/open", "/sign-in"],
    "ann": ["/"],
    "stan": ["/", "/persons", "/refusals"],
    "olga": ["/", "/register", "/processing"],
    "aud": ["/", "/ledger"],
}
FIRST = {"": ["/open"], "ann": ["/", "/history"]}


class Texts(HTMLParser):
    """The texts of a page that are not isolated, and attributes that hold markup."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.seen, self.loose, self.links = 0, list[str](), list[str]()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        assert not any("<bdi" in (value or "") for value in given.values()), given
        if tag == "a" and (given.get("href") or "").startswith("/"):
            self.links.append(urldefrag(given["href"]).url)
        if tag not in VOID:
            # What an SVG draws is a paragraph of its own.
            apart = tag in ("bdi", "text", "title") or "dir" in given
            self.open.append((tag, apart))

    def handle_endtag(self, tag):
        if tag not in VOID:
            while self.open and self.open.pop()[0] != tag:
                pass

    def handle_data(self, data):
        if RIGHT_TO_LEFT.search(data):
            self.seen += 1
            plain = re.sub("\u2068.*?\u2069", "", data)
            if RIGHT_TO_LEFT.search(plain) and not any(apart for _, apart in self.open):
                self.loose.append(data)


@pytest.fixture(scope="module")
def arabic(made_once, tmp_path_factory):
    """A data set all of whose names and words are written from right to left."""
    folder = tmp_path_factory.mktemp("arabic")
    copytree(made_once[0], folder, dirs_exist_ok=True)
    with open_curator(folder, clock=Clock()) as curator:
        _register(curator)
        _ask(curator)
        yield Console(curator, Clock())


def _register(curator):
    columns = (
        Column("person", "text"),
        Column(WARD, "text", keys=GROUPS),
        Column("cost", "number", lower=0, upper=60),
    )
    purposes = (Purpose(PURPOSE, Budget(2), description="لماذا, 2026"),)
    words = Registration(Schema(SET, columns, unit="person"), Budget(3), purposes, "وصف, 2026")
    curator.data_sets.register(words, file=put(curator, lines=LINES), by="olga")
    curator.facts.say(controller="مستشفى", contact="بريد", by="olga")
    given = {"purpose": PURPOSE, "columns": [WARD, "cost"], "budget": Budget(1)}
    made = curator.requests.make(SET, why="رسالة, 2026", by="ann", **given)
    curator.requests.decide(made.id, grant=True, reason="مناسب, 2026", by="stan")
    curator.requests.make(SET, why="سبب, 2026", by="ben", **given)


def _ask(curator):
    question = DataSetQuestion(data_set=SET, purpose=PURPOSE, sql=COUNT)
    curator.asking.release(question, QuestionPrice(epsilon=0.5), by="ann")
    with suppress(BudgetExceeded):
        curator.asking.release(question, QuestionPrice(epsilon=0.9), by="ann")
    curator.proposals.make(SET, budget=Budget(4), why="أكثر, 2026", by="olga")


def shown_in(browser, starts, *, most):
    """The pages that one comes to by following links, by their address."""
    waiting, found = list(starts), {}
    while waiting and len(found) < most:
        path = waiting.pop(0)
        if path in found:
            continue
        answer = browser.see(path)
        if not answer.headers.get("content-type", "").startswith("text/html"):
            continue
        found[path] = Texts(answer.text)
        waiting += [link for link in found[path].links if link not in found]
    return found


@pytest.mark.parametrize("name", FIRST)
def test_names_and_reasons_are_isolated_where_they_are_seen_first(arabic, name):
    browser = arabic.by(name) if name else arabic.anybody()
    pages = {path: Texts(browser.see(path).text) for path in FIRST[name]}
    assert all(page.seen for page in pages.values()), "no such words are on the page"
    assert {path: page.loose for path, page in pages.items() if page.loose} == {}


@pytest.mark.long
@pytest.mark.parametrize("name", STARTS)
def test_no_page_that_links_lead_to_shows_such_words_without_isolation(arabic, name):
    browser = arabic.by(name) if name else arabic.anybody()
    pages = shown_in(browser, STARTS[name], most=150)
    assert sum(page.seen for page in pages.values()) > 5
    assert {path: page.loose for path, page in pages.items() if page.loose} == {}


def test_a_date_after_a_purpose_stays_behind_it(arabic):
    browser = arabic.by("ann")
    place = re.search(r"/history/[0-9a-f]+", browser.see("/history").text)[0]
    page = browser.see(place).text
    assert f"<bdi>{SET}</bdi> for <bdi>{PURPOSE}</bdi>, <time" in page
    assert f'<th scope="row"><bdi>{GROUPS[0]}</bdi></th>' in page
    assert f"<title>\u2068{GROUPS[1]}\u2069: " in page, "what is heard and pointed at"
    listed = browser.see("/ask").text
    assert "<bdi>قلب</bdi>, <bdi>עיניים</bdi>, Other" in listed, "groups do not change places"


def test_a_form_and_its_options_take_the_direction_of_what_is_in_them(arabic):
    page = arabic.by("ann").see(f"/data-sets/{SET}/request").text
    assert re.search(rf'<option value="{PURPOSE}" dir="auto"', page)
    assert re.search(r'<textarea id="why"[^>]* dir="auto"', page)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("<p>{{ x }}</p>", "<p><bdi>ب</bdi></p>"),
        ("<p>{{ missing or x }}!</p>", "<p><bdi>ب</bdi>!</p>"),
        ("{{ 'a' if no else x }}", "<bdi>ب</bdi>"),
        ("{{ [x, 'a', x] | join(', ') }}", "<bdi>ب</bdi>, a, <bdi>ب</bdi>"),
        ('<a title="{{ x }}">{{ x }}</a>', '<a title="ب"><bdi>ب</bdi></a>'),
        ('<a{% if x %} title=">{{ x }}"{% endif %}>a</a>', '<a title=">ب">a</a>'),
        ("<textarea a='>'>{{ x }}</textarea>{{ x }}", "<textarea a='>'>ب</textarea><bdi>ب</bdi>"),
        ("<option>{{ x }}</option>", "<option>ب</option>"),
        ("{% block title %}{{ x }}{% endblock %}{{ x }}", "ب<bdi>ب</bdi>"),
        ("<!-- {{ x }} -->", "<!-- ب -->"),
        ("{{ '<' ~ x }}", "<bdi>&lt;ب</bdi>"),
        ("{{ 'a' }} {{ 7 }} {{ none }}", "a 7 None"),
        ("{{ turned }}.", "<bdi>a\u202eb</bdi>."),
    ],
)
def test_what_a_template_shows_in_text_is_isolated_and_nothing_else(template, expected):
    made = Environment(autoescape=True, extensions=[Isolation])
    made.filters.update(FILTERS)
    found = made.from_string(template).render(x="ب", missing="", no=False, turned="a\u202eb")
    assert found == expected


def test_words_of_a_picture_are_isolated_and_cannot_end_that():
    assert isolate("plain – ü 日本") == "plain – ü 日本"
    assert isolate("ب\u2069\u202eb") == "\u2068بb\u2069"
