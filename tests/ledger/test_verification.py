"""Any change to a ledger is found; what a file cannot prove, a head that was kept does."""

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from behind import PATIENTS, execute, forge, sign
from letalone.errors import FormatError, LedgerDamaged, ParameterError
from letalone.ledger import EntryKind, Ledger, data_sets, levels, verify_export
from letalone.ledger.chain.entries import Entry
from letalone.privacy import Budget, PureDP

TABLES = {
    "entries": ("number", "name", "kind", "text", "hash", "changed", "digest"),
    "settlements": (
        "reserved",
        "settled",
        "name",
        "digest",
        "version",
        "release",
        "release_digest",
    ),
    "head": ("only", "number", "hash", "signed"),
    "keys": ("only", "private", "public"),
    "levels": ("name", "purpose", "analyst", "entry"),
    "payments": ("reserved", "purpose", "analyst", "entry"),
}


def copied(ledger: Ledger, folder: Path) -> Path:
    """A copy with nothing left in the log."""
    assert ledger.path is not None
    place = folder / "copy.db"
    shutil.copy(ledger.path, place)
    return place


def changed(value: object, chance: random.Random) -> object:
    """The value with one character, bit or unit changed."""
    if value is None or value == "":
        return "x"
    if isinstance(value, int):
        return value + 1000
    if isinstance(value, bytes):
        place = chance.randrange(len(value))
        flipped = value[place] ^ (1 << chance.randrange(8))
        return value[:place] + bytes([flipped]) + value[place + 1 :]
    text = str(value)
    place = chance.randrange(len(text))
    return text[:place] + ("x" if text[place] != "x" else "y") + text[place + 1 :]


def test_a_ledger_with_everything_in_it_holds(full: Ledger) -> None:
    kinds = {entry.kind for entry in full.entries()}
    assert kinds == set(EntryKind), "the other tests here must meet every kind"
    found = full.verify()
    assert found.entries == len(full) == len(full.entries())
    assert found.data_sets == ("visits", "survey", "rationed")
    assert (found.head, found.fingerprint) == (full.head, full.fingerprint)
    assert (found.compared, found.repriced) == (False, ())
    assert "cannot detect" in str(found)


@pytest.mark.parametrize("table", TABLES)
def test_any_change_to_any_column_of_any_row_is_found(
    full: Ledger, tmp_path: Path, table: str
) -> None:
    """One character, bit or number of each; of texts, three places."""
    chance, tried = random.Random(7), 0
    assert full.path is not None
    rows = execute(Path(full.path), f"SELECT rowid, * FROM {table}")
    for identity, *values in rows:
        for column, value in zip(TABLES[table], values, strict=True):
            for _ in range(3 if column == "text" else 1):
                place = copied(full, tmp_path)
                words = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
                execute(place, words, changed(value, chance), identity)
                with pytest.raises(LedgerDamaged):
                    Ledger.open(place).verify()
                tried += 1
    assert tried >= len(rows) * len(TABLES[table])


@pytest.mark.parametrize("table", TABLES)
def test_bytes_in_any_column_are_damage_in_words(full: Ledger, tmp_path: Path, table: str) -> None:
    """SQLite keeps bytes in a column of text or numbers, but not in a whole-number key."""
    words = f"WHERE rowid = (SELECT min(rowid) FROM {table})"
    for column in TABLES[table]:
        place = copied(full, tmp_path)
        with suppress(sqlite3.IntegrityError):
            execute(place, f"UPDATE {table} SET {column} = ? {words}", b"\xff\x00")
            with pytest.raises(LedgerDamaged):
                Ledger.open(place).verify()


@pytest.mark.parametrize("table", TABLES)
def test_any_row_that_is_missing_or_added_is_found(
    full: Ledger, tmp_path: Path, table: str
) -> None:
    assert full.path is not None
    first = TABLES[table][0]
    more = f"{first} || 'x'" if first == "name" else f"{first} + 1000"
    others = ", ".join(TABLES[table][1:])
    for (identity,) in execute(Path(full.path), f"SELECT rowid FROM {table}"):
        for words in (
            f"DELETE FROM {table} WHERE rowid = ?",
            f"INSERT INTO {table} SELECT {more}, {others} FROM {table} WHERE rowid = ?",
        ):
            place = copied(full, tmp_path)
            execute(place, words, identity)
            with pytest.raises(LedgerDamaged):
                Ledger.open(place).verify()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM settlements; END",
        "CREATE TABLE more (x)",
        "DROP INDEX entries_by_name",
        "CREATE VIEW v AS SELECT 1",
    ],
)
def test_a_changed_declaration_is_found(full: Ledger, tmp_path: Path, statement: str) -> None:
    place = copied(full, tmp_path)
    execute(place, statement)
    with pytest.raises(LedgerDamaged, match="added to the file or removed"):
        Ledger.open(place).verify()


def test_damaged_pages_are_found(full: Ledger, tmp_path: Path) -> None:
    place = copied(full, tmp_path)
    content = bytearray(place.read_bytes())
    for start in range(4096, len(content), 4096):
        content[start : start + 64] = b"\xff" * 64
    place.write_bytes(content)
    with pytest.raises(LedgerDamaged):
        Ledger.open(place).verify()


def test_the_first_bad_entry_is_named(full: Ledger, tmp_path: Path) -> None:
    place = copied(full, tmp_path)
    execute(place, "UPDATE entries SET text = replace(text, 'Ann', 'Bob') WHERE number = 4")
    with pytest.raises(LedgerDamaged, match=r"at entry 4 .*Entries 1 to 3 hold"):
        Ledger.open(place).verify()


def test_a_removed_entry_is_named_and_not_the_one_after_it(full: Ledger, tmp_path: Path) -> None:
    place = copied(full, tmp_path)
    execute(place, "DELETE FROM entries WHERE number = 4")
    words = r"at entry 4: it is missing, entry 5 comes instead\. Entries 1 to 3 hold"
    with pytest.raises(LedgerDamaged, match=words):
        Ledger.open(place).verify()


def test_the_last_entries_cannot_be_cut_off(full: Ledger, tmp_path: Path) -> None:
    for count in (1, 2, 5):
        place = copied(full, tmp_path)
        execute(place, "DELETE FROM entries WHERE number > ?", len(full) - count)
        with pytest.raises(LedgerDamaged, match="Entries are missing"):
            Ledger.open(place).verify()


def test_a_ledger_whose_end_was_cut_off_charges_nothing(ledger: Ledger, path: Path) -> None:
    ledger.charge("visits", PureDP(0.5), plan={}, digest="d")
    execute(path, "DELETE FROM entries WHERE number = 3")
    with pytest.raises(LedgerDamaged, match="Nothing was charged"):
        ledger.charge("visits", PureDP(0.5), plan={}, digest="d")


def test_a_state_that_was_changed_by_hand_charges_nothing(ledger: Ledger, path: Path) -> None:
    ledger.charge("visits", PureDP(1), plan={}, digest="d")
    words = """UPDATE entries SET text = replace(text, '"amount":"1"', '"amount":"0"')"""
    execute(path, f"{words} WHERE number = 3")
    with pytest.raises(LedgerDamaged, match="entry 3: its hash does not fit"):
        ledger.charge("visits", PureDP(1), plan={}, digest="d")


def test_an_answer_that_was_changed_is_not_repeated(full: Ledger, tmp_path: Path) -> None:
    full.register("again", Budget(1), neighbours=PATIENTS)
    full.settle(full.charge("again", PureDP(1), plan={}, digest="d"), {"values": [17]})
    place = copied(full, tmp_path)
    execute(place, "UPDATE settlements SET release = replace(release, '17', '18')")
    with pytest.raises(LedgerDamaged, match="not the one that was settled"):
        Ledger.open(place).repeat_of("again", "d")


# The holder of the file can sign anything: what is still found, and what a kept head finds.


def cheaper(entry: dict[str, Any]) -> None:
    entry["body"]["privacy"]["epsilon"] = "1/1000"


def without_a_trace(entry: dict[str, Any]) -> None:
    entry["body"]["after"]["state"]["accounts"][0]["amount"] = "0"


def larger_budget(entry: dict[str, Any]) -> None:
    entry["body"]["after"]["state"]["epsilon"] = "9"


def thawed(entry: dict[str, Any]) -> None:
    entry["body"]["after"]["frozen"] = False


def older_version(entry: dict[str, Any]) -> None:
    entry["body"]["version"] = entry["body"]["after"]["version"] = 1


def other_data_set(entry: dict[str, Any]) -> None:
    entry["name"] = "survey"


def unknown_data_set(entry: dict[str, Any]) -> None:
    entry["name"] = "nobody"


def other_outcome(entry: dict[str, Any]) -> None:
    entry["body"]["outcome"] = "failed"


def no_creation(entry: dict[str, Any]) -> None:
    entry["kind"] = "note"


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (EntryKind.CREATED, no_creation),
        (EntryKind.OPENED, larger_budget),
        (EntryKind.RESERVED, cheaper),
        (EntryKind.RESERVED, without_a_trace),
        (EntryKind.RESERVED, larger_budget),
        (EntryKind.RESERVED, other_data_set),
        (EntryKind.SETTLED, other_data_set),
        (EntryKind.SETTLED, other_outcome),
        (EntryKind.REFUSED, unknown_data_set),
        (EntryKind.FROZEN, thawed),
        (EntryKind.THAWED, without_a_trace),
        (EntryKind.BUDGET_RAISED, larger_budget),
        (EntryKind.BUDGET_RAISED, without_a_trace),
        (EntryKind.VERSION_RAISED, older_version),
    ],
)
def test_a_history_that_does_not_add_up_is_found_though_it_is_signed(
    full: Ledger, tmp_path: Path, kind: EntryKind, change: Callable[[dict[str, Any]], None]
) -> None:
    place = copied(full, tmp_path)
    number = next(entry.number for entry in full.entries() if entry.kind is kind)
    forge(place, number, lambda _: None)
    Ledger.open(place).verify(head=full.head)  # signing again changes nothing by itself
    forge(place, number, change)
    with pytest.raises(LedgerDamaged):
        Ledger.open(place).verify()


def test_a_charge_for_another_version_is_found_though_it_is_signed(
    full: Ledger, tmp_path: Path
) -> None:
    """Nobody settled the charge, so nothing but the version of the data set contradicts it."""
    place = copied(full, tmp_path)
    number = next(
        e.number for e in full.entries() if e.kind is EntryKind.RESERVED and e.name == "survey"
    )
    forge(place, number, lambda entry: entry["body"].update(version=7))
    with pytest.raises(LedgerDamaged, match="another version than the current one"):
        Ledger.open(place).verify()


def test_a_charge_that_is_settled_twice_is_found_though_it_is_signed(
    full: Ledger, tmp_path: Path
) -> None:
    """The second answer stands where the first one stood, in every table."""
    place = copied(full, tmp_path)
    first = next(entry for entry in full.entries() if entry.kind is EntryKind.SETTLED)
    number = len(full) + 1
    again = replace(first, number=number, previous=full.head)
    columns = (number, again.name, again.kind.value, again.text(), again.hash)
    execute(place, "INSERT INTO entries VALUES (?, ?, ?, ?, ?, NULL, NULL)", *columns)
    execute(place, "UPDATE settlements SET settled = ? WHERE settled = ?", number, first.number)
    sign(place)
    with pytest.raises(LedgerDamaged, match="settles what is settled"):
        Ledger.open(place).verify()


def test_a_history_that_was_rewritten_is_found_by_a_head_that_was_kept(
    ledger: Ledger, path: Path
) -> None:
    ledger.charge("visits", PureDP(0.5), plan={"asked": "ages"}, digest="d")
    kept = ledger.head
    forge(path, 3, lambda entry: entry["body"].update(plan={"asked": "nothing"}))
    assert ledger.verify().entries == 3, "a file cannot prove its own history"
    with pytest.raises(LedgerDamaged, match="not the one whose head was kept"):
        ledger.verify(head=kept)


def test_an_older_copy_is_found_by_a_head_that_was_kept(
    ledger: Ledger, path: Path, tmp_path: Path
) -> None:
    assert ledger.path == str(path), "copies of files"
    early = ledger.head
    place = copied(ledger, tmp_path)
    ledger.charge("visits", PureDP(0.5), plan={}, digest="d")
    late = ledger.head
    older = Ledger.open(place)
    older.verify(head=early)
    assert older.verify().entries == 2
    with pytest.raises(LedgerDamaged, match="older copy"):
        older.verify(head=late)
    found = ledger.verify(head=early)
    assert found.compared
    assert "that you stored" in str(found)


def test_the_end_cut_off_and_signed_again_is_found_by_a_head_that_was_kept(
    ledger: Ledger, path: Path
) -> None:
    ledger.charge("visits", PureDP(0.5), plan={}, digest="d")
    kept = ledger.head
    execute(path, "DELETE FROM entries WHERE number = 3")
    sign(path)
    assert ledger.verify().entries == 2
    with pytest.raises(LedgerDamaged):
        ledger.verify(head=kept)


@pytest.mark.parametrize("head", ["", "abc", 5, "0" * 63])
def test_a_head_that_is_none_is_refused(ledger: Ledger, head: str) -> None:
    with pytest.raises(ParameterError, match="head is"):
        ledger.verify(head=head)


@pytest.mark.parametrize(("part", "holds"), [("1/1000000000", True), ("1/100", False)])
def test_last_digits_of_another_machine_are_named_and_more_is_damage(
    full: Ledger, tmp_path: Path, part: str, holds: bool
) -> None:
    """The charge of half a unit is moved by the part; later entries of it do not exist."""
    place = copied(full, tmp_path)
    number = max(entry.number for entry in full.entries() if entry.kind is EntryKind.RESERVED)

    def moved(entry: dict[str, Any]) -> None:
        account = entry["body"]["after"]["state"]["accounts"][0]
        account["amount"] = str(Fraction(account["amount"]) * (1 - Fraction(part)))

    forge(place, number, moved)
    if holds:
        assert Ledger.open(place).verify().repriced == (number,)
        return
    with pytest.raises(LedgerDamaged, match="after what was charged"):
        Ledger.open(place).verify()


# Exports.


def test_an_export_is_checked_without_the_ledger_and_holds_no_key(
    full: Ledger, tmp_path: Path
) -> None:
    place = Path(full.export(tmp_path / "ledger.json"))
    text = place.read_text("utf-8")
    assert verify_export(text) == full.verify()
    assert verify_export(json.loads(text), head=full.head).compared
    ((private,),) = execute(Path(str(full.path)), "SELECT hex(private) FROM keys")
    assert str(private).lower() not in text.lower()
    assert not list(tmp_path.glob("*.unfinished"))


def test_any_change_to_an_export_is_found(full: Ledger, tmp_path: Path) -> None:
    """Two hundred characters, at random places of a fixed seed."""
    text = Path(full.export(tmp_path / "ledger.json")).read_text("utf-8")
    chance = random.Random(3)
    for _ in range(200):
        with pytest.raises(FormatError):
            verify_export(str(changed(text, chance)))


@pytest.mark.parametrize("part", ["head", "entries", "releases"])
def test_a_part_of_an_export_that_is_missing_is_found(
    full: Ledger, tmp_path: Path, part: str
) -> None:
    stored = json.loads(Path(full.export(tmp_path / "ledger.json")).read_text("utf-8"))
    with pytest.raises(FormatError):
        verify_export({**stored, part: {}})
    with pytest.raises(FormatError):
        verify_export({name: value for name, value in stored.items() if name != part})


def test_an_answer_that_no_entry_names_is_found_in_an_export(full: Ledger, tmp_path: Path) -> None:
    stored = json.loads(Path(full.export(tmp_path / "ledger.json")).read_text("utf-8"))
    stored["releases"]["99"] = {"values": [1]}
    with pytest.raises(FormatError, match="answers that no entry names"):
        verify_export(stored)


def test_an_export_does_not_overwrite_the_ledger(full: Ledger) -> None:
    assert full.path is not None
    with pytest.raises(ParameterError, match="is the ledger itself"):
        full.export(full.path)
    full.verify()


def test_each_entry_is_spelled_once_and_no_state_is_read_that_is_as_expected(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States are found by doing the charges again, and what an entry says is compared as it is."""
    ledger, asker = Ledger.open(path), {"purpose": "p", "analyst": "Ann"}
    ledger.register("t", Budget(1), neighbours=PATIENTS)
    ledger.allow("t", Budget(1), purpose="p")
    ledger.allow("t", Budget(1), **asker)
    for number in range(3):
        ledger.charge("t", PureDP(0.1), plan={}, digest=str(number), **asker)
    spelled, read = list[object](), list[object]()
    text, from_json = Entry.text, data_sets.state_from_json
    monkeypatch.setattr(Entry, "text", lambda one: spelled.append(one) or text(one))
    for module in (data_sets, levels):
        monkeypatch.setattr(
            module, "state_from_json", lambda stored: read.append(stored) or from_json(stored)
        )
    assert (ledger.verify().entries, len(spelled), len(read)) == (7, 7, 0)
