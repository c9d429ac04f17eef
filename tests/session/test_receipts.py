"""Receipts: signed, read back exactly, and any change is found."""

import json
from pathlib import Path

import pytest

import letalone as la
from letalone.ledger import verify_receipt
from session.makers import EVERYTHING, by_ward, opened


def test_a_saved_release_is_read_back_exactly(tmp_path: Path) -> None:
    session = opened()
    for query in (by_ward(session), session.agg(**EVERYTHING)):
        release = query.release(0.5)
        path = release.save(tmp_path / "x.json")
        again = la.Release.load(path)
        assert again == release
        assert again.rows() == release.rows()
        assert again.privacy == release.privacy
        assert "compare it with the owner's" in " ".join(str(again).split())
        assert again.save(tmp_path / "y.json").read_bytes() == path.read_bytes()


def test_a_receipt_holds_what_was_promised(tmp_path: Path) -> None:
    session = opened()
    release = by_ward(session).release(0.5)
    receipt = verify_receipt(release.save(tmp_path / "x.json").read_bytes())
    body = receipt.body
    assert body["plan"] == release.plan
    assert body["digest"] == release.asked.digest
    assert (body["epsilon"], body["delta"]) == ("0.5", "0")
    assert body["neighbours"] == {"relation": "add/remove", "unit": "patient_id"}
    assert body["data_set"] == "data"
    assert receipt.fingerprint == session.ledger.fingerprint


def test_a_receipt_is_saved_after_the_session_is_closed(tmp_path: Path) -> None:
    with opened() as session:
        release = session.agg(n=la.count()).release(1)
    assert la.Release.load(release.save(tmp_path / "x.json")) == release


def test_a_changed_receipt_is_refused(tmp_path: Path) -> None:
    session = opened()
    path = session.agg(n=la.count()).release(1).save(tmp_path / "x.json")
    stored = json.loads(path.read_text("utf-8"))
    stored["body"]["release"]["outputs"][0]["values"] = ["1000000"]
    path.write_text(json.dumps(stored))
    with pytest.raises(la.LedgerDamaged):
        la.Release.load(path)


def test_another_key_is_refused(tmp_path: Path) -> None:
    session, other = opened(), opened()
    path = session.agg(n=la.count()).release(1).save(tmp_path / "x.json")
    release = la.Release.load(path, public_key=session.ledger.fingerprint)
    assert "Signed by the key that was given" in str(release)
    with pytest.raises(la.LedgerDamaged, match="another key"):
        la.Release.load(path, public_key=other.ledger.fingerprint)


def test_the_receipt_of_a_batch_holds_all_of_it(tmp_path: Path) -> None:
    session = opened()
    releases = session.batch([by_ward(session), session.agg(n=la.count())], epsilon=0.5)
    path = releases[1].save(tmp_path / "x.json")
    assert la.Release.load_all(path) == releases
    with pytest.raises(la.FormatError, match="receipt of a batch of 2"):
        la.Release.load(path)


def test_what_cannot_be_read_or_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(la.ParameterError, match="cannot be read"):
        la.Release.load(tmp_path / "none.json")
    release = opened().agg(n=la.count()).release(1)
    with pytest.raises(la.ParameterError, match="cannot be written"):
        release.save(tmp_path / "no" / "folder.json")
    bare = la.Release.from_json(release.to_json())
    with pytest.raises(la.ParameterError, match="no receipt"):
        bare.save(tmp_path / "x.json")


def test_the_receipt_of_a_batch_of_format_1_is_still_read() -> None:
    """Signed by an earlier letalone; the file is never written anew."""
    path = Path(__file__).parent / "samples" / "batch_receipt_format_1.json"
    one, other = la.Release.load_all(path)
    assert (one.columns, other.columns) == (("n", "n_low", "n_high"),) * 2
    assert other.asked.question.startswith("number of units")
