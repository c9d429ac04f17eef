"""A receipt says what was asked and what it cost, and no byte of it can be changed."""

import json
from typing import Any

import pytest

from behind import PATIENTS
from letalone.errors import FormatError, LedgerDamaged, ParameterError
from letalone.ledger import Ledger, verify_receipt
from letalone.ledger.chain.canonical import canonical
from letalone.ledger.chain.signing_key import new_key
from letalone.privacy import Budget, GaussianDP, Privacy, PureDP, from_json

RELEASE: dict[str, Any] = {"columns": ["n"], "values": [[17], ["1/3"]], "note": "ε ≤ 1"}


@pytest.fixture
def receipt(ledger: Ledger) -> dict[str, Any]:
    paid = ledger.charge("visits", PureDP(0.1), plan={"count": "*"}, digest="d")
    ledger.settle(paid, RELEASE)
    return ledger.receipt(RELEASE)


def test_a_receipt_says_what_was_asked_what_it_cost_and_where_it_stands(
    ledger: Ledger, receipt: dict[str, Any]
) -> None:
    body = receipt["body"]
    assert body["plan"] == {"count": "*"}
    assert (body["digest"], body["data_set"], body["version"]) == ("d", "visits", 1)
    assert (body["epsilon"], body["delta"]) == ("0.1", "0")
    assert from_json(body["privacy"]) == PureDP(0.1)
    assert body["neighbours"] == {"relation": "add/remove", "unit": "patient"}
    assert body["release"] == RELEASE
    assert {"letalone", "duckdb"} <= body["versions"].keys()
    settled = ledger.entries()[-1]
    assert (body["entry"], body["ledger_hash"]) == (settled.number, settled.hash)
    ledger.verify(head=body["ledger_hash"])


@pytest.mark.parametrize(
    ("privacy", "delta", "expected"),
    [
        (PureDP(0.3), None, ("0.3", "0")),
        (PureDP(0.3), 1e-7, ("0.3", "0")),
        (GaussianDP(0.1), 1e-7, (repr(GaussianDP(0.1).epsilon(1e-7)), "1/10000000")),
        (GaussianDP(0.1), None, (repr(GaussianDP(0.1).epsilon(1e-9)), "1/1000000000")),
    ],
)
def test_the_price_is_a_point_of_the_curve(
    ledger: Ledger, privacy: Privacy, delta: float | None, expected: tuple[str, str]
) -> None:
    paid = ledger.charge("visits", privacy, plan={}, digest="d", delta=delta)
    ledger.settle(paid, {"values": []})
    body = ledger.receipt({"values": []})["body"]
    assert isinstance(body, dict)
    assert (body["epsilon"], body["delta"]) == expected


def test_a_receipt_is_checked_as_an_object_as_text_and_as_bytes(receipt: dict[str, Any]) -> None:
    text = json.dumps(receipt, indent=2, ensure_ascii=True)
    for stored in (receipt, text, text.encode(), canonical(receipt)):
        assert verify_receipt(stored).body == receipt["body"]


def test_any_byte_that_is_changed_is_found(receipt: dict[str, Any]) -> None:
    """Every byte of the canonical text, with its lowest bit flipped and replaced by 'A'."""
    content = canonical(receipt).encode()
    verify_receipt(content)
    for place, byte in enumerate(content):
        for other in (byte ^ 1, ord("A")):
            if other != byte:
                with pytest.raises(FormatError):
                    verify_receipt(content[:place] + bytes([other]) + content[place + 1 :])


@pytest.mark.parametrize("field", ["format", "kind", "body", "public_key", "signature"])
def test_a_missing_or_additional_field_is_found(receipt: dict[str, Any], field: str) -> None:
    with pytest.raises(FormatError):
        verify_receipt({name: value for name, value in receipt.items() if name != field})
    for value in (None, 5, "x", [], {}):
        with pytest.raises(FormatError):
            verify_receipt({**receipt, field: value})
    with pytest.raises(FormatError, match="nothing else"):
        verify_receipt({**receipt, "comment": "true"})


def test_digits_in_capitals_are_a_change(receipt: dict[str, Any]) -> None:
    for field in ("public_key", "signature"):
        with pytest.raises(FormatError):
            verify_receipt({**receipt, field: receipt[field].upper()})


def test_a_receipt_signed_by_another_key_is_told_from_the_owners(
    ledger: Ledger, receipt: dict[str, Any]
) -> None:
    forger = new_key()
    statement = {name: receipt[name] for name in ("format", "kind")}
    statement |= {"body": {**receipt["body"], "epsilon": "0.001"}, "public_key": forger.public}
    forged = {**statement, "signature": forger.sign(statement)}
    found = verify_receipt(forged)
    assert not found.compared
    assert "for you to compare" in str(found)
    assert found.fingerprint != ledger.fingerprint
    for key in (ledger.public_key, ledger.fingerprint, ledger.fingerprint.upper()):
        assert verify_receipt(receipt, public_key=key).compared
        with pytest.raises(LedgerDamaged, match="another key"):
            verify_receipt(forged, public_key=key)


@pytest.mark.parametrize("key", ["", "abcd", "x" * 64, "0" * 40, 5])
def test_a_key_that_is_none_is_refused(receipt: dict[str, Any], key: str) -> None:
    with pytest.raises(ParameterError, match="public_key is"):
        verify_receipt(receipt, public_key=key)


def test_a_newer_receipt_is_refused_with_both_formats(receipt: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match="has format 2, and this letalone reads up to format 1"):
        verify_receipt({**receipt, "format": 2})


def test_what_was_not_settled_has_no_receipt(ledger: Ledger, receipt: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="not in the ledger"):
        ledger.receipt({**RELEASE, "values": [[18], ["1/3"]]})
    ledger.fail(ledger.charge("visits", PureDP(0.1), plan={}, digest="e"))
    with pytest.raises(ParameterError, match="not in the ledger"):
        ledger.receipt({})


def test_each_ledger_has_a_key_of_its_own_that_is_printed_nowhere(ledger: Ledger) -> None:
    other = Ledger.in_memory()
    other.register("t", Budget(1), neighbours=PATIENTS)
    assert other.public_key != ledger.public_key
    with ledger._store.reading() as books:
        key = books.key()
    assert key.private.hex() not in repr(key)
