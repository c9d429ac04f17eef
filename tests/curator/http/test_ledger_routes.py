"""An auditor reads and verifies the ledger over HTTP; a row that was changed is named."""

import json
import sqlite3
from typing import Any

import pytest

from letalone.ledger import verify_export
from letalone.ledger.storage import transaction

Service = Any
Making = Any


@pytest.fixture(scope="module")
def asked(making: Making) -> Service:
    service = making()
    service.ask("POST", "/questions/release", by="ann", json=service.question())
    service.ask("POST", "/questions/release", by="ann", json=service.question("SELECT"))
    return service


def test_entries_are_read_page_by_page(asked: Service) -> None:
    pages, after = list[Any](), 0
    while True:
        page = asked.ask("GET", f"/ledger?after={after}&limit=7", by="aud").json()
        pages += page["entries"]
        if not page["more"]:
            break
        after = page["entries"][-1]["number"]
    assert [entry["number"] for entry in pages] == list(range(1, len(asked.curator.ledger) + 1))
    assert pages[-1]["hash"] == page["head"]
    about = asked.ask("GET", "/ledger?data_set=visits&limit=1000", by="aud").json()["entries"]
    assert {entry["name"] for entry in about} == {"visits"}


def test_every_release_and_every_refusal_is_an_entry(asked: Service) -> None:
    entries = asked.ask("GET", "/ledger?limit=1000", by="aud").json()["entries"]
    kinds = [entry["kind"] for entry in entries]
    assert {"reserved", "settled", "refused"} <= set(kinds)


def test_an_export_is_verified_without_the_service(asked: Service) -> None:
    answer = asked.ask("GET", "/ledger/export", by="aud")
    assert answer.headers["content-disposition"].startswith("attachment")
    verify_export(answer.content)


def test_a_checkpoint_that_was_kept_is_compared(asked: Service) -> None:
    kept = asked.ask("POST", "/ledger/checkpoint", by="aud")
    assert kept.status_code == 201
    answer = asked.ask(
        "POST", "/ledger/verification", by="aud", json={"checkpoints": [kept.json()]}
    )
    assert answer.json()["verified"] is True, answer.text
    key = asked.ask("GET", "/ledger/key", by="ann").json()
    assert key["public_key"] == asked.curator.ledger.public_key


def test_a_head_that_never_was_is_noticed(asked: Service) -> None:
    answer = asked.ask("POST", "/ledger/verification", by="aud", json={"head": "0" * 64})
    assert answer.json()["type"] == "/problems/ledger-damaged"


@pytest.mark.long  # ledger/test_verification.py; console/test_auditor.py
def test_a_row_that_was_changed_is_named(making: Making) -> None:
    service = making()
    body = service.question()
    service.ask("POST", "/questions/release", by="ann", json=body)
    assert service.ask("POST", "/ledger/verification", by="aud", json={}).status_code == 200
    with sqlite3.connect(service.curator.ledger.path) as file:
        number, text = file.execute(
            "SELECT number, text FROM entries WHERE text LIKE '%\"reserved\"%'"
        ).fetchone()
        for trigger in file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            file.execute(f'DROP TRIGGER "{trigger[0]}"')
        file.execute(
            "UPDATE entries SET text = ? WHERE number = ?",
            (text.replace('"analyst":"ann"', '"analyst":"ben"'), number),
        )
    assert '"analyst":"ann"' in text
    answer = service.ask("POST", "/ledger/verification", by="aud", json={})
    assert answer.status_code == 409
    assert answer.json()["type"] == "/problems/ledger-damaged"
    assert f"entry {number}" in answer.json()["detail"]


def test_the_record_of_processing_and_the_open_page_hold_no_exact_number(asked: Service) -> None:
    record = asked.ask("GET", "/processing", by="aud")
    assert "visits" in record.text
    assert asked.ask("GET", "/processing.md", by="aud").text.startswith("#")
    page = asked.client.get("/open")
    assert page.headers["content-type"].startswith("text/html")
    for text in (record.text, page.text, asked.client.get("/api/v1/open").text):
        assert "visits" in text
        for secret in ("Zyxwvut", "987654", "31415926", "rows_kept"):
            assert secret not in text
    json.loads(record.text)


def test_a_page_reads_its_own_entries_and_no_others(
    asked: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page by page, everything is read about once."""
    read, texts = transaction.read_entry, list[str]()
    monkeypatch.setattr(transaction, "read_entry", lambda text: texts.append(text) or read(text))
    for page in ("/ledger?limit=3", "/ledger?limit=3&after=4&data_set=visits"):
        asked.token("aud")
        texts.clear()
        assert len(asked.ask("GET", page, by="aud").json()["entries"]) == 3
        assert len(texts) <= 3 + 1, "one more tells whether there are more"
    many, after = len(asked.curator.ledger), 0
    texts.clear()
    while after < many:
        page = asked.ask("GET", f"/ledger?after={after}&limit=5", by="aud").json()
        after = page["entries"][-1]["number"]
    assert len(texts) <= many + many // 5 + 1
