"""Files of every past format stay readable: format 1 knew no levels, format 2 no such columns."""

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from behind import execute
from letalone.errors import BudgetExceeded
from letalone.ledger import Ledger, verify_export, verify_receipt
from letalone.ledger.storage.store import APPLICATION
from letalone.ledger.storage.tables import SCHEMA
from letalone.privacy import Budget, PureDP

SAMPLES = Path(__file__).parent / "samples"
BOB = {"analyst": "Bob", "purpose": "research"}


def restore(path: Path, written: int) -> None:
    with sqlite3.connect(path) as connection:
        connection.executescript((SAMPLES / f"ledger_format_{written}.sql").read_text("utf-8"))
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {written}")
    connection.close()


def restore_format_1(path: Path) -> None:
    restore(path, 1)


def test_a_ledger_of_format_1_is_read_checked_and_continued(path: Path) -> None:
    restore_format_1(path)
    ledger = Ledger.open(path, create=False)
    assert ledger.verify().entries == 10
    found = ledger.data_set("visits")
    assert (found.budget, found.releases) == (Budget(2, 1e-6), 2)
    assert ledger.repeat_of("visits", "first") == {"values": [17, "1/3"]}
    with pytest.raises(BudgetExceeded):
        ledger.charge("visits", PureDP(2), plan={}, digest="fourth")
    ledger.charge("visits", PureDP(0.5), plan={}, digest="fifth")
    assert ledger.verify().entries == 12


def test_a_ledger_of_format_1_is_upgraded_once_and_no_entry_changes(path: Path) -> None:
    restore_format_1(path)
    texts = execute(path, "SELECT text, hash FROM entries ORDER BY number")
    ledger = Ledger.open(path)
    assert execute(path, "PRAGMA user_version") == [(3,)]
    assert execute(path, "SELECT text, hash FROM entries ORDER BY number") == texts
    verify_receipt(ledger.receipt({"values": [17, "1/3"]}))
    ledger.allow("visits", Budget(1), purpose="research")
    ledger.allow("visits", Budget(1), purpose="research", analyst="Ann")
    asker = {"analyst": "Ann", "purpose": "research"}
    assert ledger.share("visits", "first", **asker) == {"values": [17, "1/3"]}
    assert Ledger.open(path).verify().entries == 13


def test_a_ledger_of_format_2_is_upgraded_and_no_entry_changes(path: Path) -> None:
    restore(path, 2)
    texts = execute(path, "SELECT text, hash FROM entries ORDER BY number")
    with Ledger.open(path) as ledger:
        assert execute(path, "PRAGMA user_version") == [(3,)]
        assert execute(path, "SELECT text, hash FROM entries ORDER BY number") == texts
        check_format_2(ledger)


def check_format_2(ledger: Ledger) -> None:
    """What an upgraded sample holds: a charge that nobody settled is found, and stays spent."""
    assert ledger.verify().entries == 14
    assert (ledger.data_set("visits").version, ledger.unsettled("visits")) == (2, [5])
    paid = ledger.charge("visits", PureDP(0.125), plan={}, digest="sixth", run="one", **BOB)
    assert ledger.charge("visits", PureDP(0.125), plan={}, digest="sixth", run="one", **BOB) == paid
    assert ledger.verify().entries == 15


# What a letalone of format 2 runs for each act, in its own transaction.
OLD_ACT = (
    "SELECT head.only, head.number, head.hash, head.signature FROM head",
    "INSERT INTO entries (number, name, kind, text, hash) VALUES (15, 'visits', 'note', '', '')",
    "UPDATE head SET number = 15, hash = '', signature = ''",
)


@pytest.mark.parametrize("written", [1, 2])
def test_an_older_letalone_that_has_the_file_open_can_write_nothing_after_the_upgrade(
    path: Path, written: int
) -> None:
    restore(path, written)
    with closing(sqlite3.connect(path, isolation_level=None)) as older:
        for act in OLD_ACT:
            older.execute("BEGIN IMMEDIATE")
            older.execute(act)  # until now it can
            older.execute("ROLLBACK")
        with Ledger.open(path) as ledger:
            for act in (OLD_ACT[0], OLD_ACT[2]):
                with pytest.raises(sqlite3.OperationalError, match="no such column"):
                    older.execute(act)
            ledger.verify()


def test_an_older_letalone_that_has_the_database_open_can_write_nothing_after_the_upgrade(
    database: str, path: Path
) -> None:
    restore_in_database(database, path)
    with psycopg.connect(database, prepare_threshold=1, autocommit=True) as older:
        older.execute(f"SET search_path = {SCHEMA}")
        for act in OLD_ACT * 3:
            with older.transaction(force_rollback=True):
                older.execute(act)  # until now it can, and the server has prepared it
        with Ledger.open(database) as ledger:
            for act in (OLD_ACT[0], OLD_ACT[2]):
                with pytest.raises(psycopg.errors.UndefinedColumn):
                    older.execute(act)
            ledger.verify()


def test_a_ledger_of_format_2_in_a_database_is_upgraded(database: str, path: Path) -> None:
    restore_in_database(database, path)
    with Ledger.open(database) as ledger:
        check_format_2(ledger)
    with Ledger.open(database) as again:
        assert again.verify().entries == 15


def restore_in_database(database: str, path: Path) -> None:
    """The rows of the sample, in tables as they were in format 2."""
    restore(path, 2)
    Ledger.open(database).close()
    old = ("entries_by_change", "entries_by_digest")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"SET search_path = {SCHEMA}")
        for one in old:
            connection.execute(f"DROP INDEX {one}")
        connection.execute("ALTER TABLE entries DROP COLUMN changed, DROP COLUMN digest")
        connection.execute("ALTER TABLE head RENAME COLUMN signed TO signature")
        connection.execute(f"COMMENT ON SCHEMA {SCHEMA} IS 'letalone ledger, format 2'")
        for name in ("head", "keys", "entries", "settlements", "levels", "payments"):
            connection.execute(f"DELETE FROM {name}")
            for row in execute(path, f"SELECT * FROM {name}"):
                marks = ", ".join(["%s"] * len(row))
                connection.execute(f"INSERT INTO {name} VALUES ({marks})", row)


def test_an_upgrade_that_is_cut_short_has_not_happened(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restore_format_1(path)
    tables = execute(path, "SELECT name, sql FROM sqlite_master")
    with monkeypatch.context() as patch:
        patch.setattr("letalone.ledger.storage.upgrades.text_digest", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            Ledger.open(path)
    assert execute(path, "PRAGMA user_version") == [(1,)]
    assert execute(path, "SELECT name, sql FROM sqlite_master") == tables
    assert Ledger.open(path).verify().entries == 10


def test_a_receipt_and_an_export_of_format_1_are_checked() -> None:
    receipt = verify_receipt((SAMPLES / "receipt_format_1.json").read_bytes())
    assert (receipt.body["epsilon"], receipt.body["delta"]) == ("0.25", "0")
    export = verify_export(
        (SAMPLES / "export_format_1.json").read_bytes(), head=str(receipt.body["ledger_hash"])
    )
    assert export.entries == 10
    assert export.fingerprint == receipt.fingerprint
