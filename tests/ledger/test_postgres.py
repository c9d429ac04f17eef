"""A ledger in PostgreSQL: found damaged where it is changed, shared by threads and processes.

What does not depend on the store is tested on both in the other files (conftest.py).
"""

import os
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import psycopg
import pytest

from behind import PATIENTS
from letalone.errors import (
    BudgetExceeded,
    FormatError,
    LedgerDamaged,
    LedgerUnavailable,
    ParameterError,
)
from letalone.ledger import Ledger, verify_export, verify_receipt
from letalone.ledger.storage import postgres_store as postgres
from letalone.privacy import Budget, PureDP

RELOAD = "SELECT pg_reload_conf()"


@pytest.fixture
def kept(database: str) -> Any:
    with Ledger.open(database) as ledger:
        ledger.register("t", Budget(1), neighbours=PATIENTS)
        ledger.allow("t", Budget(1), purpose="p")
        for analyst in ("Ann", "Bob"):
            ledger.allow("t", Budget(1), purpose="p", analyst=analyst)
        ann = {"analyst": "Ann", "purpose": "p"}
        paid = ledger.charge("t", PureDP(0.25), plan={}, digest="d", **ann)
        ledger.settle(paid, {"values": [1]})
        ledger.share("t", "d", analyst="Bob", purpose="p")
        yield ledger


def execute(address: str, *statements: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET text = replace(text, 'Ann', 'Eve') WHERE number = 4",
        "UPDATE entries SET kind = 'note' WHERE number = 4",
        "UPDATE settlements SET release = replace(release, '1', '2')",
        "UPDATE settlements SET release_digest = 'x'",
        "UPDATE levels SET entry = entry - 1 WHERE analyst = 'Ann'",
        "DELETE FROM payments",
        "DELETE FROM levels",
        "DELETE FROM settlements",
        "UPDATE head SET signed = head.hash",
        "UPDATE keys SET public = 'x'",
        "CREATE TABLE more (x int)",
        "CREATE VIEW more AS SELECT 1",
        "DROP INDEX entries_by_name",
        "CREATE RULE more AS ON UPDATE TO head DO INSTEAD NOTHING",
        "CREATE POLICY more ON entries",
    ],
)
@pytest.mark.few("'Ann', 'Eve'", "DELETE FROM payments", "CREATE POLICY", "DROP INDEX")
def test_a_change_behind_its_back_is_found(kept: Ledger, database: str, statement: str) -> None:
    kept.verify()
    execute(database, "SET search_path = letalone_ledger; " + statement)
    with pytest.raises(LedgerDamaged):
        kept.verify()


def test_exports_and_receipts_hold_as_those_of_a_file_do(kept: Ledger, tmp_path: Path) -> None:
    found = Path(kept.export(tmp_path / "ledger.json")).read_text("utf-8")
    assert verify_export(found) == kept.verify()
    receipt = kept.receipt({"values": [1]})
    assert verify_receipt(receipt, public_key=kept.fingerprint).compared
    with pytest.raises(ParameterError, match="pg_dump"):
        kept.backup(tmp_path / "copy.db")


def test_what_was_charged_is_there_for_whoever_opens_it_next(kept: Ledger, database: str) -> None:
    with Ledger.open(database, create=False) as other:
        assert other.data_set("t").spent == Budget(0.25)
        assert (other.head, other.durable) == (kept.head, True)


def test_threads_share_a_ledger_and_never_overspend(database: str) -> None:
    with Ledger.open(database) as ledger:
        ledger.register("t", Budget(1), neighbours=PATIENTS)

        def charge_on() -> None:
            for _ in range(5):
                with suppress(BudgetExceeded):
                    ledger.charge("t", PureDP(0.1), plan={}, digest="d")

        threads = [Thread(target=charge_on) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.data_set("t").spent == Budget(1)
        assert ledger.verify().entries == 2 + 20


def test_after_a_fork_a_process_opens_connections_of_its_own(
    kept: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that two processes use would mix up their charges."""

    def server_process() -> int:
        with kept._store.reading() as books:
            return int(books.connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())

    mine = server_process()
    assert server_process() == mine, "connections are kept"
    old = kept._store._engine.pool
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: -1)
        assert server_process() != mine
        kept.close()
    old.dispose()  # those of the parent, which has not ended here


def test_a_writer_that_waits_too_long_is_told_and_readers_do_not_wait(
    kept: Ledger, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = tuple(one.replace("8s", "50ms") for one in postgres.QUEUE)
    monkeypatch.setattr(postgres, "QUEUE", quick)
    with Ledger.open(database) as other, kept._store.writing() as books:
        books.head()
        assert other.data_set("t").releases == 1
        with pytest.raises(LedgerUnavailable, match="another process has held it"):
            other.note("x")
    kept.note("x")


def test_a_commit_is_on_the_disk_whatever_the_server_usually_does(
    kept: Ledger, database: str
) -> None:
    execute(database, "ALTER ROLE postgres SET synchronous_commit = off")
    try:
        with Ledger.open(database) as other, other._store.writing() as books:
            shown = books.connection.exec_driver_sql("SHOW synchronous_commit").scalar_one()
            level = books.connection.exec_driver_sql("SHOW transaction_isolation").scalar_one()
    finally:
        execute(database, "ALTER ROLE postgres RESET synchronous_commit")
    assert (shown, level) == ("on", "serializable")


def test_a_server_that_restarts_is_used_again(kept: Ledger, database: str) -> None:
    """All its connections are cut, as a restart cuts them."""
    kept.note("before")
    own = "pid <> pg_backend_pid() AND application_name = 'letalone'"
    execute(database, f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {own}")
    kept.note("after")
    kept.verify()


def test_what_is_not_ours_or_newer_is_refused_and_left_alone(database: str) -> None:
    with pytest.raises(ParameterError, match="holds no ledger"):
        Ledger.open(database, create=False)
    execute(database, "CREATE SCHEMA letalone_ledger")
    with pytest.raises(FormatError, match="of another program"):
        Ledger.open(database)
    execute(database, "COMMENT ON SCHEMA letalone_ledger IS 'letalone ledger, format 7'")
    with pytest.raises(FormatError, match="has format 7, and this letalone reads up to format 3"):
        Ledger.open(database)


def test_a_missing_table_is_damage_and_no_answer(kept: Ledger, database: str) -> None:
    execute(database, "DROP TABLE letalone_ledger.settlements CASCADE")
    with pytest.raises(LedgerDamaged, match="not as it was made"):
        kept.repeat_of("t", "d")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://ann:secret@localhost:1/x", "cannot be reached"),
        ("postgresql://ann:secret@localhost:port/x", "cannot be read"),
    ],
)
def test_a_server_that_is_not_there_is_named_without_the_password(address: str, words: str) -> None:
    with pytest.raises((LedgerUnavailable, ParameterError), match=words) as told:
        Ledger.open(address)
    assert "secret" not in str(told.value)


def test_a_database_that_is_not_there_is_named(database: str) -> None:
    with pytest.raises(LedgerUnavailable, match="the database cannot be reached"):
        Ledger.open(database.replace("/postgres?", "/nowhere?"))


def test_a_ledger_shows_where_it_is_but_not_the_password(database: str) -> None:
    with Ledger.open(database.replace("postgres:@", "postgres:secret@")) as ledger:
        assert "secret" not in repr(ledger) + str(ledger.path)
        assert str(ledger.path).startswith("postgresql://postgres:***@")
    with pytest.raises(ParameterError, match="is closed"):
        ledger.data_sets()


def test_every_act_changes_the_stamp_which_stays_between_them(kept: Ledger, database: str) -> None:
    with Ledger.open(database) as other:
        seen = [other.stamp]
        assert seen[0] is not None
        for number in range(3):
            assert any(other.stamp == other.stamp for _ in range(9)), "but for the server's own"
            seen.append(other.stamp)
            kept.note(f"act {number}")
            assert other.stamp not in seen
            seen.append(other.stamp)
        with kept._store.writing() as books:
            books.connection.exec_driver_sql("UPDATE letalone_ledger.head SET number = number")
            seen.append(other.stamp)  # it goes on
        assert other.stamp not in seen, "what is committed later is seen later"


def test_a_server_that_may_forget_a_commit_is_noticed(database: str) -> None:
    def becomes(wanted: list[str]) -> bool:
        until = monotonic() + 20
        while postgres.switched_off(database) != wanted and monotonic() < until:
            sleep(0.02)  # a reload takes a moment
        return postgres.switched_off(database) == wanted

    assert becomes([])
    names = ("fsync", "full_page_writes")
    execute(database, *(f"ALTER SYSTEM SET {one} = off" for one in names), RELOAD)
    try:
        assert becomes([*names])
    finally:
        execute(database, *(f"ALTER SYSTEM RESET {one}" for one in names), RELOAD)


def test_a_role_that_may_not_change_an_entry_suffices(kept: Ledger, database: str) -> None:
    """As docs/how-to/deploy.md has it."""
    page = Path(__file__).parents[2] / "docs" / "how-to" / "deploy.md"
    text = page.read_text("utf-8").partition("-- a ledger that the service can only add to\n")[2]
    execute(database, "CREATE ROLE adding LOGIN")
    try:
        grants = text.partition("```")[0].replace(" curator", " adding")
        execute(database, *(one for one in grants.split(";") if "GRANT" in one))
        as_adding = database.replace("postgres:@", "adding@")
        with Ledger.open(as_adding) as ledger:
            paid = ledger.charge("t", PureDP(0.25), plan={}, digest="e", analyst="Ann", purpose="p")
            ledger.settle(paid, {"values": [2]})
            ledger.share("t", "e", analyst="Bob", purpose="p")
            ledger.allow("t", Budget(1), purpose="q")
            ledger.freeze("t", "x")
            ledger.thaw("t", "x")
            assert ledger.verify()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            execute(as_adding, "UPDATE letalone_ledger.entries SET text = ''")
        for table in ("entries", "settlements", "payments", "keys", "levels", "head"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                execute(as_adding, f"DELETE FROM letalone_ledger.{table}")
    finally:
        execute(database, "DROP OWNED BY adding", "DROP ROLE adding")
