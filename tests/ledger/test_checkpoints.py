"""Checkpoints that were kept elsewhere find what a ledger cannot prove of itself; backups."""

import json
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from behind import PATIENTS, execute, forge, sign
from letalone.errors import FormatError, LedgerDamaged, ParameterError
from letalone.ledger import EntryKind, Ledger, verify_export
from letalone.privacy import Budget, PureDP


def charge(ledger: Ledger, asked: str) -> None:
    ledger.charge("visits", PureDP(0.1), plan={"asked": asked}, digest=asked)


def other_question(entry: dict[str, Any]) -> None:
    entry["body"]["plan"] = {"asked": "nothing"}


def test_a_checkpoint_is_an_entry_and_names_the_one_before_it(ledger: Ledger) -> None:
    head, number = ledger.head, len(ledger)
    kept = ledger.checkpoint()
    assert (kept["format"], kept["number"], kept["hash"]) == (1, number, head)
    assert kept["public_key"] == ledger.public_key
    last = ledger.entries()[-1]
    assert (last.kind, last.body, last.time) == (EntryKind.CHECKPOINT, kept, kept["time"])
    charge(ledger, "ages")
    for given in (kept, json.dumps(kept), json.dumps(kept).encode()):
        found = ledger.verify(checkpoints=[given])
        assert found.compared
        assert "that you stored" in str(found)


def test_the_first_entry_that_can_have_been_changed_is_named(ledger: Ledger, path: Path) -> None:
    """Entries 3 to 8: charge, checkpoint, three times; the holder rewrites and signs the fifth."""
    kept: list[dict[str, Any]] = []
    for asked in ("ages", "wards", "visits"):
        charge(ledger, asked)
        kept.append(ledger.checkpoint())
    forge(path, 5, other_question)
    assert ledger.verify().entries == 8, "a file cannot prove its own history"
    ledger.verify(checkpoints=kept[:1])
    with pytest.raises(LedgerDamaged, match=r"at entry 4: it, or a later one up to entry 5, was"):
        ledger.verify(checkpoints=kept[::-1])
    with pytest.raises(LedgerDamaged, match=r"at entry 1: it, or a later one up to entry 5, was"):
        ledger.verify(checkpoints=kept[1:2])


def test_with_two_checkpoints_in_a_row_the_entry_itself_is_named(
    ledger: Ledger, path: Path
) -> None:
    kept = [ledger.checkpoint(), ledger.checkpoint()]
    forge(path, 3, lambda entry: entry.update(time="2031-01-01T00:00:00Z"))
    with pytest.raises(LedgerDamaged, match=r"at entry 3: it was changed, removed or moved"):
        ledger.verify(checkpoints=kept)


def test_an_older_copy_and_a_cut_end_are_found_with_what_is_missing(
    ledger: Ledger, path: Path, tmp_path: Path
) -> None:
    backup = Path(ledger.backup(tmp_path / "backup.db"))
    charge(ledger, "ages")
    kept = ledger.checkpoint()
    with Ledger.open(backup) as older:
        assert older.verify().entries == 2
        with pytest.raises(LedgerDamaged, match=r"Entries 3 to 3 are missing.*older copy"):
            older.verify(checkpoints=[kept])
        charge(older, "wards")  # another history from the same beginning
        with pytest.raises(LedgerDamaged, match="at entry 1: it, or a later one up to entry 3"):
            older.verify(checkpoints=[kept])
    execute(path, "DELETE FROM entries WHERE number > 2")
    sign(path)
    with pytest.raises(LedgerDamaged, match="are missing"):
        ledger.verify(checkpoints=[kept])


def test_an_export_is_compared_with_checkpoints_too(ledger: Ledger, tmp_path: Path) -> None:
    early = Path(ledger.export(tmp_path / "early.json")).read_text("utf-8")
    kept = ledger.checkpoint()
    charge(ledger, "ages")
    late = ledger.checkpoint()
    verify_export(early, checkpoints=[kept])
    with pytest.raises(LedgerDamaged, match="are missing"):
        verify_export(early, checkpoints=[kept, late])


def test_a_checkpoint_that_was_changed_or_is_of_another_ledger_is_refused(ledger: Ledger) -> None:
    kept = ledger.checkpoint()
    for part, value in (("number", 1), ("hash", "0" * 64), ("time", "2031-01-01T00:00:00Z")):
        with pytest.raises(LedgerDamaged, match="changed after it was signed"):
            ledger.verify(checkpoints=[{**kept, part: value}])
    other = Ledger.in_memory().checkpoint()
    with pytest.raises(LedgerDamaged, match="of another ledger"):
        ledger.verify(checkpoints=[other])
    for wrong in ({}, {**kept, "kind": "head"}, {**kept, "more": 1}, {**kept, "number": "2"}, "[]"):
        with pytest.raises(FormatError):
            ledger.verify(checkpoints=[wrong])
    with pytest.raises(FormatError, match="has format 2, and this letalone reads up to format 1"):
        ledger.verify(checkpoints=[{**kept, "format": 2}])


@pytest.mark.parametrize("part", ["number", "hash", "time"])
def test_a_checkpoint_within_the_chain_says_what_was_the_last_entry(
    ledger: Ledger, path: Path, part: str
) -> None:
    """Signed by the holder, but not of the entry before it."""
    other = {"number": 1, "hash": "0" * 64, "time": "2031-01-01T00:00:00Z"}[part]
    ledger.checkpoint()
    charge(ledger, "ages")
    forge(path, 3, lambda _: None)
    ledger.verify()
    forge(path, 3, lambda _: None, checkpoint={part: other})
    with pytest.raises(LedgerDamaged, match="not a checkpoint of the entry before it"):
        ledger.verify()


# Backups.


def test_a_backup_is_the_ledger_as_it_stood_for_its_owner_only(
    ledger: Ledger, path: Path, tmp_path: Path
) -> None:
    charge(ledger, "ages")
    place = Path(ledger.backup(tmp_path / "backup.db"))
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.glob("backup*")] == ["backup.db"]
    with Ledger.open(place, create=False) as copy:
        assert copy.verify(head=ledger.head) == ledger.verify(head=ledger.head)
        assert copy.data_set("visits") == ledger.data_set("visits")


def test_a_backup_while_another_writes_is_whole(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    with ledger._store.writing() as books:
        books.append(EntryKind.NOTE, None, {"text": "not yet committed"})
        place = ledger.backup(tmp_path / "backup.db")
    with Ledger.open(place) as copy:
        assert copy.verify().entries == 2
    assert ledger.verify().entries == 3


def test_a_backup_never_overwrites_and_memory_has_none(
    ledger: Ledger, path: Path, tmp_path: Path
) -> None:
    before = shutil.copy(path, tmp_path / "before.db").read_bytes()
    for there in (path, tmp_path / "before.db"):
        with pytest.raises(ParameterError, match="is there already"):
            ledger.backup(there)
    assert Path(path).read_bytes() == before
    memory = Ledger.in_memory()
    memory.register("t", Budget(1), neighbours=PATIENTS)
    with pytest.raises(ParameterError, match="lives in memory"):
        memory.backup(tmp_path / "memory.db")
    assert not (tmp_path / "memory.db").exists()
