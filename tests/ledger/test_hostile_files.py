"""The file of a ledger, changed below SQLite: bytes, length, the log beside it, another's copy."""

import random
import shutil
from pathlib import Path

import pytest

from behind import PATIENTS
from letalone.errors import LedgerDamaged, LetaloneError
from letalone.ledger import Ledger
from letalone.privacy import Budget, PureDP
from stages import pick


def told(path: Path) -> tuple[object, ...]:
    """All that a ledger says, if it holds."""
    ledger = Ledger.open(path)
    try:
        ledger.verify()
        states = tuple((one.name, one.spent, one.budget, one.frozen) for one in ledger.data_sets())
        return (ledger.head, states, tuple(entry.text() for entry in ledger.entries()))
    finally:
        ledger.close()


def test_any_byte_that_is_changed_is_found_or_means_nothing(full: Ledger, tmp_path: Path) -> None:
    """Bytes that SQLite does not use (free room in pages) may change; no word of the ledger may."""
    assert full.path is not None
    content, wanted = Path(full.path).read_bytes(), told(Path(full.path))
    chance, found = random.Random(5), 0
    used = [place for place, byte in enumerate(content) if byte]
    places = [
        *chance.sample(used, pick(40, 80)),
        *chance.sample(range(len(content)), 10),
        *range(16, 40),
    ]
    for place in places:
        path = tmp_path / "copy.db"
        changed = bytearray(content)
        changed[place] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        try:
            assert told(path) == wanted, place
        except LetaloneError:
            found += 1
        for beside in ("-wal", "-shm"):
            Path(f"{path}{beside}").unlink(missing_ok=True)
    assert found > pick(25, 50), "too few changes were found to say that they are looked for"


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_found(full: Ledger, tmp_path: Path, part: float) -> None:
    assert full.path is not None
    content = Path(full.path).read_bytes()
    path = tmp_path / "copy.db"
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(LetaloneError):
        Ledger.open(path, create=False).verify()


def test_a_file_that_was_cut_off_charges_nothing(full: Ledger, tmp_path: Path) -> None:
    assert full.path is not None
    content = Path(full.path).read_bytes()
    for pages in range(1, len(content) // 4096):
        path = tmp_path / f"{pages}.db"
        path.write_bytes(content[: pages * 4096])
        with pytest.raises(LetaloneError):
            Ledger.open(path, create=False).charge("visits", PureDP(0.01), plan={}, digest="d")


def test_a_log_that_was_removed_is_an_older_copy_and_a_kept_head_finds_it(
    path: Path, tmp_path: Path
) -> None:
    """A killed process leaves its last charges in the log beside the file. Without it the file is
    what it was before: a file cannot prove that it is the newest."""
    ledger = Ledger.open(path)
    ledger.register("visits", Budget(1), neighbours=PATIENTS)
    early = ledger.head
    with ledger._store.reading():  # somebody reads, so nothing is moved out of the log
        ledger.charge("visits", PureDP(0.5), plan={}, digest="d")
        for ending in ("", "-wal"):
            if Path(f"{path}{ending}").exists():
                shutil.copy(f"{path}{ending}", tmp_path / f"killed.db{ending}")
    late = ledger.head
    assert (tmp_path / "killed.db-wal").exists()
    shutil.copy(tmp_path / "killed.db", tmp_path / "cut.db")
    whole, cut = Ledger.open(tmp_path / "killed.db"), Ledger.open(tmp_path / "cut.db")
    assert whole.data_set("visits").spent == Budget(0.5)
    whole.verify(head=late)
    assert cut.data_set("visits").spent == Budget(0), "it cannot know"
    cut.verify(head=early)
    with pytest.raises(LedgerDamaged, match="older copy"):
        cut.verify(head=late)


def test_the_log_of_another_time_is_not_read_into_a_ledger(path: Path, tmp_path: Path) -> None:
    """A log that was put beside another state of the file changes nothing, or is found."""
    ledger = Ledger.open(path)
    ledger.register("visits", Budget(1), neighbours=PATIENTS)
    with ledger._store.reading():
        ledger.charge("visits", PureDP(0.25), plan={}, digest="d")
        shutil.copy(f"{path}-wal", tmp_path / "old-wal")
    for number in range(3):
        ledger.charge("visits", PureDP(0.125), plan={}, digest=str(number))
    spent = ledger.data_set("visits").spent
    ledger.close()
    shutil.copy(path, tmp_path / "copy.db")
    shutil.copy(tmp_path / "old-wal", tmp_path / "copy.db-wal")
    try:
        assert told(tmp_path / "copy.db")[1] == (("visits", spent, Budget(1), False),)
    except LedgerDamaged:
        return  # found
