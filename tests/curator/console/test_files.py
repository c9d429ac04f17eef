"""The console's files: htmx as it was published, kept by browsers, and nothing else is sent."""

from gzip import decompress
from hashlib import sha256
from re import findall

import pytest

from curator.makers import PURPOSE, ask
from letalone.curator.asking.answer_numbers import as_text
from letalone.curator.asking.service import release_id
from letalone.curator.console.files import STATIC, address_of_file

HTMX = "e484d9171a9db30a39c8f16e3d709d4137f3211c659f8e6125816635033d593f"


def test_htmx_is_what_was_published_and_has_its_licence():
    """The SHA-256 of dist/htmx.min.js in htmx.org 4.0.0 of the npm registry."""
    assert sha256((STATIC / "htmx.min.js").read_bytes()).hexdigest() == HTMX
    assert "Zero-Clause BSD" in (STATIC / "htmx.LICENSE").read_text()


def test_files_are_kept_for_good_and_named_by_their_content(console):
    browser = console.anybody()
    answer = browser.see(address_of_file("console.css"))
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/css")
    assert answer.content == (STATIC / "console.css").read_bytes()
    assert browser.see("/static/0000000000000000/console.css").status_code == 404


@pytest.mark.parametrize("name", ["..%2Fpages.py", "htmx.LICENSE", "nothing.css", ".."])
def test_nothing_else_is_sent(console, name):
    assert console.anybody().see(f"/static/0000000000000000/{name}").status_code == 404


def test_every_file_that_a_page_names_is_there_and_of_this_service(console):
    page = console.by("ann").see("/").text
    names = findall(r'(?:src|href)="(/static/[^"]+)"', page)
    assert len(names) >= 3
    assert all(console.anybody().see(name).status_code == 200 for name in names)
    assert not findall(r'(?:src|href)="https?:', page)


def test_text_in_a_table_that_is_taken_home_is_no_formula(console):
    """Spreadsheets compute what begins with these signs; numbers stay numbers."""
    signs = ["=", "+", "-", "@", "＝", "＋", "－", "＠", "﹦", "﹢"]
    before = ["", " ", "  ", "\t", "\r", "\n", "\u3000", "\u00a0", "\ufeff", "\u200b", "\x00"]
    for text in [blank + sign + "1" for blank in before for sign in signs] + ["\n1", "\t1"]:
        assert as_text(text) == "'" + text, repr(text)
    for cell in (-1, -1.5, None, "a=b", "", " ", " a", "é", "1-2"):
        assert as_text(cell) == cell
    answered = ask(console.curator, 'SELECT COUNT(*) AS "=n" FROM visits')
    place = release_id(answered, analyst="ann", purpose=PURPOSE)
    header, row = console.by("ann").see(f"/history/{place}/csv").text.splitlines()
    assert header.startswith("'=n,")
    assert all(float(cell) is not None for cell in row.split(","))


def test_a_packed_file_is_the_same(console):
    address = address_of_file("htmx.min.js")
    headers = {"Accept-Encoding": "gzip"}
    with console.anybody().client.stream("GET", address, headers=headers) as answer:
        packed = b"".join(answer.iter_raw())
    assert decompress(packed) == (STATIC / "htmx.min.js").read_bytes()
