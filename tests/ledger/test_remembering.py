"""An older copy that is put in the place of a ledger is noticed by whoever has it open."""

import shutil
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from letalone.errors import DataSetFrozen, ParameterError
from letalone.ledger import Ledger, Reservation
from letalone.ledger.chain.entries import EntryKind
from letalone.privacy import ADD_REMOVE, Budget, PureDP

COST = PureDP(0.1, neighbours=ADD_REMOVE)
NAMES = ("one", "two")


def opened(path: str | Path, *, keep: bool = True) -> Ledger:
    ledger = Ledger.open(path, keep=keep)
    for name in NAMES:
        ledger.register(name, Budget(10), neighbours=ADD_REMOVE)
    return ledger


def charge(ledger: Ledger, number: int, name: str = "one") -> None:
    paid = ledger.charge(name, COST, plan={"of": number}, digest=f"{number:064x}")
    ledger.settle(paid, {"answer": number})


def put_in_place(older: Path, path: Path) -> None:
    """Another file of this name, as a restored backup is."""
    for beside in ("-wal", "-shm"):
        path.with_name(path.name + beside).unlink(missing_ok=True)
    shutil.copy(older, older.with_suffix(".copy"))
    older.with_suffix(".copy").replace(path)


def written_over(older: Path, path: Path) -> None:
    """The same file with the older rows, as SQLite's .restore leaves it."""
    with closing(sqlite3.connect(older)) as source, closing(sqlite3.connect(path)) as target:
        source.backup(target)


def losses(ledger: Ledger) -> list[object]:
    return [
        one.body["body"] for one in ledger.entries() if one.body.get("what") == "entries missing"
    ]


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("put_back", [put_in_place, written_over])
def test_an_older_copy_that_is_put_in_place_while_it_is_open_freezes_all(
    tmp_path: Path, put_back, keep: bool
) -> None:
    path, older = tmp_path / "ledger.db", tmp_path / "older.db"
    with opened(path, keep=keep) as ledger:
        charge(ledger, 1)
        ledger.backup(older)
        last = len(ledger) + 4
        for number in (2, 3):
            charge(ledger, number)
        head = ledger.head
        put_back(older, path)
        for name in NAMES:
            with pytest.raises(DataSetFrozen, match="letalone ledger why"):
                charge(ledger, 4, name)
        why = ledger.newest("two", limit=1, kind=EntryKind.FROZEN)[0].body["why"]
        missing = f"4 entries are missing, up to entry {last}"
        assert why == f"an older copy of the ledger was put in place: {missing}"
        assert losses(ledger) == [{"number": last, "hash": head}]
        ledger.verify()
        for name in NAMES:  # what an owner has decided stands
            ledger.thaw(name, "the answers are counted")
            charge(ledger, 5, name)
        assert len(losses(ledger)) == 1


@pytest.mark.parametrize("act", ["look", "settle", "raise"])
def test_each_act_notices_it(tmp_path: Path, act: str) -> None:
    path, older = tmp_path / "ledger.db", tmp_path / "older.db"
    with opened(path) as ledger:
        ledger.backup(older)
        paid = ledger.charge("one", COST, plan={}, digest="d")
        put_in_place(older, path)
        if act == "settle":
            with pytest.raises(ParameterError, match="not of this ledger"):
                ledger.settle(paid, {"answer": 1})
        elif act == "raise":
            ledger.raise_version("two")
        assert ledger.data_set("one").frozen


def test_entries_that_others_have_added_since_do_not_hide_the_loss(tmp_path: Path) -> None:
    path, older = tmp_path / "ledger.db", tmp_path / "older.db"
    with opened(path) as ledger:
        ledger.backup(older)
        charge(ledger, 1)
        last = len(ledger)
        put_in_place(older, path)
        with Ledger.open(path) as unaware:
            for number in range(2, 6):
                charge(unaware, number)
        assert len(unaware_entries(path)) > last
        with pytest.raises(DataSetFrozen):
            charge(ledger, 7)
        why = ledger.newest("one", limit=1, kind=EntryKind.FROZEN)[0].body["why"]
        assert why == (
            f"another copy of the ledger was put in place: entry {last} is not the one that was"
            " there"
        )


def unaware_entries(path: Path) -> list[object]:
    with Ledger.open(path) as ledger:
        return list(ledger.entries())


def test_a_loss_is_decided_once_for_all_who_remember_it_and_again_for_the_next(
    tmp_path: Path,
) -> None:
    path, older, after = (tmp_path / name for name in ("ledger.db", "older.db", "after.db"))
    with opened(path) as first, Ledger.open(path, keep=True) as second:
        first.backup(older)
        charge(second, 1)
        charge(first, 2)
        put_in_place(older, path)
        assert first.data_set("one").frozen
        for name in NAMES:
            first.thaw(name, "looked at")
        charge(second, 3)  # it remembers an entry of before, about which was decided
        assert len(losses(second)) == 1
        first.backup(after)
        for number in range(4, 8):
            charge(second, number)
        put_in_place(after, path)
        with pytest.raises(DataSetFrozen):
            charge(second, 8)
        assert len(losses(second)) == 2


def test_a_loss_that_others_have_decided_does_not_excuse_a_later_one(tmp_path: Path) -> None:
    """Who has seen nothing of what was lost goes on, and knows of the decision all the same."""
    path, older, after = (tmp_path / name for name in ("ledger.db", "older.db", "after.db"))
    with opened(path) as first, Ledger.open(path, keep=True) as second:
        first.backup(older)
        assert not second.data_set("one").frozen  # it has seen what the older copy has, too
        for number in range(20):
            charge(first, number)
        put_in_place(older, path)
        assert first.data_set("one").frozen
        for name in NAMES:
            first.thaw(name, "looked at")
        charge(second, 21)
        second.backup(after)
        charge(second, 22)
        put_in_place(after, path)
        with pytest.raises(DataSetFrozen):
            charge(second, 23)


def test_what_was_decided_stays_known_where_the_same_backup_is_restored_twice(
    tmp_path: Path,
) -> None:
    path, older = tmp_path / "ledger.db", tmp_path / "older.db"
    known: list[frozenset[str]] = []
    with opened(path) as ledger:
        ledger.backup(older)
        for number in range(3):
            charge(ledger, number)
            put_in_place(older, path)
            assert ledger.data_set("one").frozen
            ledger.thaw("one", "looked at")
            assert ledger.seen is not None
            known.append(ledger.seen.decided)
    assert known[0] < known[1] < known[2]


def test_what_was_kept_elsewhere_is_recalled(tmp_path: Path) -> None:
    path, older = tmp_path / "ledger.db", tmp_path / "older.db"
    with opened(path) as ledger:
        ledger.backup(older)
        charge(ledger, 1)
        seen = ledger.seen
    assert seen is not None
    with Ledger.open(path) as same:
        assert same.recall(seen) == []
    put_in_place(older, path)
    with Ledger.open(path) as ledger:
        assert ledger.recall(seen) == list(NAMES)
    with Ledger.open(path) as ledger:
        assert ledger.recall(seen) == [], "it was decided"


def begin(ledger: Ledger) -> Reservation:
    return ledger.charge("one", COST, plan={}, digest="d", run="r")


def check_drawn_once(ledger: Ledger, told: Reservation) -> None:
    """What was told after the copy was made is paid for anew, and not under the same charge."""
    with pytest.raises(DataSetFrozen):
        begin(ledger)
    ledger.thaw("one", "decided")
    assert begin(ledger) != told
    assert ledger.data_set("one").releases == 2
    ledger.verify()


def test_what_was_under_way_when_a_copy_was_made_is_not_drawn_for_again_after_it_was_restored(
    tmp_path: Path,
) -> None:
    path, older = tmp_path / "ledger.db", tmp_path / "older.db"
    with opened(path) as ledger:
        told = begin(ledger)
        written_over(path, older)  # a copy that letalone has not made
        ledger.settle(told, {"answer": 1})
        put_in_place(older, path)
        check_drawn_once(ledger, told)


def test_a_backup_closes_what_is_under_way_in_the_copy_and_only_there(tmp_path: Path) -> None:
    path, older = tmp_path / "ledger.db", tmp_path / "older.db"
    with opened(path) as ledger:
        under_way, head = begin(ledger), ledger.head
        ledger.backup(older)
        assert (begin(ledger), ledger.head) == (under_way, head)
        seen = ledger.seen
    assert seen is not None
    assert sorted(one.name for one in tmp_path.glob("older*")) == ["older.db"]
    with Ledger.open(older) as copy:
        copy.verify(head=head)
        assert copy.recall(seen) == [], "it has all that was seen"
        assert begin(copy) != under_way
        assert copy.data_set("one").releases == 2


@contextmanager
def going_back(database: str) -> Generator[Callable[[], None]]:
    """Puts back what a server has now, as a restored dump does."""
    tables = ("entries", "settlements", "head")
    with psycopg.connect(database, autocommit=True) as server:
        server.execute("SET search_path = letalone_ledger")
        for one in tables:
            server.execute(f"CREATE TEMP TABLE old_{one} AS TABLE {one}")

        def go_back() -> None:
            with server.transaction():
                for one in reversed(tables):
                    server.execute(f"DELETE FROM {one}")
                for one in tables:
                    server.execute(f"INSERT INTO {one} TABLE old_{one}")

        yield go_back


def test_what_was_under_way_in_a_dump_of_postgresql_is_not_drawn_for_again(database: str) -> None:
    with opened(database) as ledger:
        told = begin(ledger)
        with going_back(database) as go_back:
            ledger.settle(told, {"answer": 1})
            go_back()
        check_drawn_once(ledger, told)


def test_a_ledger_restored_from_a_backup_of_postgresql_is_frozen(database: str) -> None:
    with opened(database) as ledger, going_back(database) as go_back:
        charge(ledger, 1)
        go_back()
        assert ledger.data_set("two").frozen
        with pytest.raises(DataSetFrozen):
            charge(ledger, 2)
