"""What is sent is bounded before it is read, and no address fails for odd signs in it."""

import pytest

from curator.console.conftest import SAME, Console
from curator.makers import NAME, Purpose, Registration
from letalone.curator.console import sent
from letalone.curator.http.limits import RateLimits
from letalone.errors import ParameterError
from letalone.plans.schema import Column, Schema
from letalone.privacy import Budget

FORM = {"Content-Type": "application/x-www-form-urlencoded", **SAME}


@pytest.fixture
def reads(monkeypatch):
    """The sizes of the bodies that were parsed."""
    found = []
    read = sent._read

    def counted(body):
        found.append(len(body))
        return read(body)

    monkeypatch.setattr(sent, "_read", counted)
    return found


def test_a_form_of_too_many_fields_is_refused_before_it_is_read(console, reads):
    client = console.anybody().client
    for path, few, many in (("/sign-in", 1_999, 2_000), ("/register/declare", 2_000, 20_000)):
        answer = client.post(path, content=b"&" * many, headers=FORM)
        assert (answer.status_code, reads) == (413, [])
        assert client.post(path, content=b"&" * few, headers=FORM).status_code == 403
        assert reads.pop() == few


def test_a_stranger_is_counted_before_a_form_is_read(fresh, reads):
    client = Console(fresh.curator, fresh.clock, rates=RateLimits(of_an_address=3)).anybody().client
    codes = [client.post("/ask/preview", data={"csrf": "0"}).status_code for _ in range(5)]
    assert codes == [403, 403, 403, 429, 429]
    assert len(reads) == 3


def test_a_wrong_secret_counts_against_the_address_and_a_right_one_does_not(fresh):
    other = Console(fresh.curator, fresh.clock, rates=RateLimits(of_an_address=20))
    browser = other.by("ann")
    for _ in range(25):
        assert browser.send("/again", password="").status_code in (401, 403, 422, 429)
    browser.see("/account")
    codes = {browser.send("/again", csrf="0").status_code for _ in range(25)}
    assert codes == {403, 429}
    assert browser.see("/account").status_code == 200, "who is signed in is not shut out"


def test_only_files_at_their_own_address_may_be_large(console):
    """Elsewhere a body with files is refused in words, and what is no file is capped there, too."""
    browser = console.by("olga")
    browser.see("/account")
    for path in ("/ask/preview", "/sign-in", "/people"):
        answer = browser.client.post(
            f"{path}?csrf={browser.csrf}", files={"rows": ("x.csv", b"a")}, headers=SAME
        )
        assert answer.status_code == 415
        assert "Files go to" in answer.text
    large = b"csrf=" + b"x" * (1 << 20)
    assert browser.client.post("/uploads", content=large, headers=FORM).status_code == 413
    assert browser.send("/uploads").status_code == 415


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/open?said=a&seal=é", 200),
        ("/sign-in?next=//[", 303),
        ("/static/x/" + "a" * 300 + ".css", 404),
        ("/history?start=" + "9" * 30, 200),
        ("/history?start=-" + "9" * 30, 200),
    ],
)
def test_no_address_makes_the_service_fail(console, path, status):
    assert console.by("ann").see(path).status_code == status


@pytest.mark.parametrize("name", ["a/b", "/", ".", ".."])
def test_a_new_data_set_has_a_name_that_can_stand_in_an_address(console, name):
    schema = Schema(name, (Column("u", "text"),), unit="u")
    with pytest.raises(ParameterError, match="cannot be part of an address"):
        console.curator.data_sets.check_registration(
            Registration(schema=schema, budget=Budget(1), purposes=(Purpose("p", Budget(1)),)),
            by="olga",
        )
    assert console.curator.data_sets.record(NAME).name == NAME


def test_a_file_of_too_many_columns_is_refused_and_not_kept(console):
    browser = console.by("olga", elevated=True)
    browser.see("/register")
    folder = console.curator.settings.incoming_folder
    for columns, taken in ((1_000, True), (1_001, False)):
        before = set(folder.iterdir())
        rows = ",".join(f"c{place}" for place in range(columns)) + "\n" + "1," * (columns - 1) + "1"
        answer = browser.client.post(
            f"/uploads?csrf={browser.csrf}", files={"rows": ("x.csv", rows.encode())}, headers=SAME
        )
        assert ("/register/declare" in answer.headers["location"]) == taken
        assert (set(folder.iterdir()) != before) == taken
    assert "1,001 columns" in browser.follow(answer).text
