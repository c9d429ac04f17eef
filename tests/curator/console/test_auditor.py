"""Auditors read and verify the ledger in a browser; an entry that was changed is named."""

import json
import re
import sqlite3
from typing import Any

import pytest

from letalone.ledger import verify_export

Console = Any


@pytest.fixture(scope="module")
def long(console: Console) -> Console:
    """A ledger of more than one page, with words that are no markup."""
    for number in range(60):
        console.curator.ledger.note(f"<b>note {number}</b>")
    return console


def test_every_entry_is_on_one_page_the_newest_first(long: Console) -> None:
    seen, at = list[int](), "/ledger"
    while at:
        answer = long.by("aud").see(at)
        assert answer.status_code == 200
        seen += map(int, re.findall(r'<a href="/ledger/(\d+)">', answer.text))
        older = re.search(r'href="(/ledger\?before=\d+)', answer.text)
        at = older[1] if older else ""
    assert seen == list(range(len(long.curator.ledger), 0, -1))


def test_words_of_entries_are_escaped(long: Console) -> None:
    answer = long.by("aud").see("/ledger")
    assert "&lt;b&gt;note 59" in answer.text
    assert "<b>note" not in answer.text


def test_the_entries_of_one_data_set_are_found(long: Console) -> None:
    name = long.curator.data_sets.records()[0].name
    answer = long.by("aud").see(f"/ledger?data_set={name}")
    numbers = set(map(int, re.findall(r'<a href="/ledger/(\d+)">', answer.text)))
    assert numbers == {one.number for one in long.curator.ledger.entries(name)}
    assert long.by("aud").see("/ledger?data_set=none").status_code == 404


def test_an_entry_shows_all_that_it_holds_with_its_hashes(long: Console) -> None:
    one = next(e for e in long.curator.ledger.entries() if e.kind.value == "opened")
    answer = long.by("aud").see(f"/ledger/{one.number}")
    assert one.hash in answer.text
    assert one.previous in answer.text
    assert long.by("aud").see("/ledger/100000").status_code == 404
    assert long.by("aud").see("/ledger/x").status_code == 422


@pytest.mark.parametrize("path", ["/ledger", "/ledger/1", "/ledger/export"])
def test_only_auditors_and_owners_read_the_ledger(console: Console, path: str) -> None:
    roles = {
        name: console.by(name).see(path).status_code for name in ("olga", "aud", "stan", "ann")
    }
    assert roles == {"olga": 200, "aud": 200, "stan": 403, "ann": 403}
    assert console.anybody().see(path).status_code == 303


def test_acts_without_the_secret_of_a_form_are_refused(console: Console) -> None:
    auditor = console.by("aud")
    before = len(console.curator.ledger)
    for path in ("/ledger/checkpoint", "/ledger/verification"):
        assert auditor.send(path, csrf="0" * 64).status_code == 403
        assert console.by("ann").send(path).status_code == 403
    assert auditor.see("/ledger/checkpoint").status_code in (405, 422)
    assert len(console.curator.ledger) == before


def test_a_checkpoint_is_a_file_with_which_the_ledger_is_compared(console: Console) -> None:
    auditor = console.by("aud")
    auditor.see("/ledger")
    kept = auditor.send("/ledger/checkpoint")
    assert kept.headers["content-disposition"].startswith("attachment")
    answer = auditor.send("/ledger/verification", checkpoints=f"[{kept.text}]")
    assert answer.status_code == 200
    assert "include the hashes that you stored" in answer.text
    other = kept.json() | {"number": 1}
    refused = auditor.send("/ledger/verification", checkpoints=json.dumps(other))
    assert refused.status_code == 409
    assert "changed after it was signed" in refused.text


def test_what_is_no_checkpoint_is_kept_in_the_form_and_refused(console: Console) -> None:
    auditor = console.by("aud")
    auditor.see("/ledger")
    for typed in ("{<i>", "[" * 100_000, '"x"'):
        answer = auditor.send("/ledger/verification", checkpoints=typed, head="abc")
        assert answer.status_code == 422
        assert 'value="abc"' in answer.text
    assert auditor.send("/ledger/verification", head="0" * 64).status_code == 409


def test_the_export_is_verified_without_the_service(console: Console) -> None:
    answer = console.by("olga").see("/ledger/export")
    assert answer.headers["content-disposition"].startswith("attachment")
    verify_export(answer.content)


@pytest.mark.few("False")
@pytest.mark.parametrize("unreadable", [False, True])
def test_an_entry_that_was_changed_is_named(fresh: Console, unreadable: bool) -> None:
    fresh.curator.ledger.note("as it was")
    number = len(fresh.curator.ledger)
    with sqlite3.connect(fresh.curator.ledger.path) as file:
        for trigger in file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            file.execute(f'DROP TRIGGER "{trigger[0]}"')
        changed = "'{'" if unreadable else "replace(text, 'as it was', 'as it is not')"
        file.execute(f"UPDATE entries SET text = {changed} WHERE number = ?", (number,))
    auditor = fresh.by("aud")
    assert "Verify, to learn which" in auditor.see("/").text
    assert "Verify, to learn which" in auditor.see("/ledger").text
    answer = auditor.send("/ledger/verification")
    assert answer.status_code == 409
    assert 'role="alert"' in answer.text
    assert f"entry {number}" in answer.text
    assert str(fresh.curator.settings.folder) not in answer.text


def test_the_record_of_processing_is_for_those_who_oversee(console: Console) -> None:
    for name in ("olga", "stan", "aud"):
        answer = console.by(name).see("/processing")
        assert answer.status_code == 200
        assert console.curator.data_sets.records()[0].name in answer.text
    assert console.by("ann").see("/processing").status_code == 403
    assert console.by("aud").see("/processing.md").text.startswith("# Record")
