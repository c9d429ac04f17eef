"""Database, key and ledger belong together: an old or missing one is noticed at the start."""

import sqlite3
from contextlib import closing
from shutil import copyfile, copytree
from traceback import format_exception

import pytest

from curator.makers import NAME, ask, grant, open_curator, registered, whats, with_people
from letalone.curator.http.problems import of_error
from letalone.errors import DataSetFrozen, FormatError, LedgerDamaged


@pytest.fixture
def folder(made_once, tmp_path):
    """A curator's folder that nobody has open, with a table, a grant and one answer."""
    copytree(made_once[1], tmp_path, dirs_exist_ok=True)
    with open_curator(tmp_path) as curator:
        ask(curator)
    return tmp_path


def place(folder, name):
    return folder / "curator" / name


def test_an_older_ledger_beside_answers_that_it_lacks_answers_nothing_more(folder):
    copyfile(place(folder, "ledger.db"), folder / "older.db")
    with open_curator(folder) as curator:
        assert curator.forgotten == ()
        ask(curator, epsilon=0.2)
    copyfile(folder / "older.db", place(folder, "ledger.db"))
    with open_curator(folder) as curator:
        assert curator.forgotten == (NAME,)
        with pytest.raises(DataSetFrozen):
            ask(curator, epsilon=0.3)
        curator.data_sets.thaw(NAME, why="counted by hand", by="olga")
    with open_curator(folder) as curator:  # what an owner has decided on stands
        assert curator.forgotten == ()
        ask(curator, epsilon=0.3)
        assert curator.ledger.verify()


def put_in_place(older, folder):
    """As a backup is restored."""
    for beside in ("-wal", "-shm"):
        place(folder, f"ledger.db{beside}").unlink(missing_ok=True)
    copyfile(older, folder / "copy.db")
    (folder / "copy.db").replace(place(folder, "ledger.db"))


@pytest.mark.long  # test_an_older_ledger_beside_answers_that_it_lacks stays
def test_an_older_ledger_that_is_put_in_place_while_it_runs_answers_nothing_more(folder):
    older, newest = folder / "older.db", folder / "newest.db"
    with open_curator(folder) as curator, open_curator(folder) as worker:
        curator.ledger.backup(older)
        ask(curator, epsilon=0.2)
        spent = curator.ledger.data_set(NAME).spent
        curator.ledger.backup(newest)
        put_in_place(older, folder)
        for one in (curator, worker):
            with pytest.raises(DataSetFrozen):
                ask(one, epsilon=0.3)
        assert whats(curator).count("entries missing") == 1
        put_in_place(older, folder)  # a second time, before anybody has decided
        assert curator.data_sets.record(NAME) is not None
        assert curator.ledger.data_set(NAME).frozen
    put_in_place(newest, folder)
    with open_curator(folder) as curator:  # nothing is missing in the newest
        assert curator.forgotten == ()
        assert not curator.ledger.data_set(NAME).frozen
        assert curator.ledger.data_set(NAME).spent == spent


@pytest.mark.long
def test_a_ledger_that_went_back_twice_to_the_same_backup_does_not_go_back_a_third_time_unnoticed(
    folder,
):
    older, later = folder / "older.db", folder / "later.db"
    prices = iter(range(20, 99))

    def spend(curator, many):
        for _ in range(many):
            ask(curator, epsilon=next(prices) / 1000)

    with open_curator(folder) as curator:
        curator.ledger.backup(older)
        spend(curator, 1)
    for many in (4, 1):
        put_in_place(older, folder)
        with open_curator(folder) as curator:
            assert curator.forgotten == (NAME,)
            curator.data_sets.thaw(NAME, why="decided", by="olga")
            spend(curator, many)
            if many == 1:
                curator.ledger.backup(later)
                spend(curator, 1)
    put_in_place(later, folder)
    with open_curator(folder) as curator:
        assert curator.forgotten == (NAME,)
        with pytest.raises(DataSetFrozen):
            spend(curator, 1)


@pytest.mark.parametrize("what", ["missing", "empty", "another"])
def test_no_ledger_takes_the_place_of_one_that_knows_what_was_spent(folder, what):
    place(folder, "ledger.db").unlink()
    if what == "empty":
        place(folder, "ledger.db").touch()
    if what == "another":
        with open_curator(folder / "other"):
            pass
        copyfile(place(folder / "other", "ledger.db"), place(folder, "ledger.db"))
    with pytest.raises(LedgerDamaged, match="Restore the newest backup"):
        open_curator(folder)


@pytest.mark.few("missing")
@pytest.mark.parametrize("what", ["missing", "empty"])
def test_a_lost_database_beside_a_used_ledger_makes_no_new_owner(folder, what):
    with open_curator(folder) as curator:
        spent = curator.ledger.data_set(NAME).spent
    rows = list(place(folder, "data").iterdir())
    place(folder, "master.key").unlink()
    place(folder, "curator.db").unlink()
    if what == "empty":
        place(folder, "curator.db").touch()
    for _ in range(2):
        with pytest.raises(FormatError, match=r"curator\.db, has nobody.*--start-anew"):
            open_curator(folder)
    assert list(place(folder, "data").iterdir()) == rows
    assert not place(folder, "master.key").exists(), "it would stand where the right one belongs"
    with open_curator(folder, start_anew=True) as curator:
        with_people(curator)
        grant(registered(curator))
        ask(curator, epsilon=0.3)
        stands = curator.ledger.data_set(NAME)
        assert stands.version == 2
        assert stands.spent.epsilon > spent.epsilon > 0, "budgets belong to names"
    with open_curator(folder):
        pass


def damage_file(file):
    """The middle of the file is overwritten."""
    size = file.stat().st_size
    with file.open("r+b") as opened:
        opened.seek(size // 3)
        opened.write(b"\xa5" * (size // 3))


def damage_beginning(file):
    with file.open("r+b") as opened:
        opened.write(b"\0" * 100)


def damage_row(statement):
    def damage(file):
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(statement)
            connection.commit()

    return damage


def damage_name(file):
    """SQLite's own words about it have a byte that is no letter."""
    content = file.read_bytes()
    changed = content.replace(b"tablepeople", b"tablepeopl\xff")
    assert changed != content
    file.write_bytes(changed.replace(b"CREATE TABLE people", b"CREATE TABLf people"))


DAMAGES = {
    "a name of the schema": damage_name,
    "a table": damage_row("DROP TABLE grants"),
    "a column": damage_row("ALTER TABLE drafts DROP COLUMN number"),
    "the revision": damage_row("DROP TABLE alembic_version"),
    "pages": damage_file,
    "the beginning": damage_beginning,
    "a date": damage_row("UPDATE data_sets SET retention = 'Zyxwvut'"),
    "what was seen": damage_row("UPDATE seen SET decided = '[Zyxwvut'"),
}


@pytest.mark.parametrize("what", DAMAGES)
@pytest.mark.few("a table", "pages")
def test_a_damaged_database_ends_the_start_in_words_that_name_it(folder, what):
    DAMAGES[what](place(folder, "curator.db"))
    with pytest.raises(FormatError, match=r"curator\.db, is damaged.*newest backup") as error:
        open_curator(folder)
    assert "Zyxwvut" not in "".join(format_exception(error.value))


ROWS = {
    "roles": "UPDATE people SET roles = '[\"Zyxwvut\"]'",
    "a list": "UPDATE grants SET columns = 'Zyxwvut'",
    "a schema": "UPDATE data_sets SET schema = 'Zyxwvut'",
    "an answer": "UPDATE releases SET release = '{Zyxwvut'",
    "a time": "UPDATE releases SET time = 'Zyxwvut'",
    "letters": "UPDATE people SET roles = CAST(x'5bff5d' AS TEXT)",
    "a table": "DROP TABLE releases",
}


def look_around(curator):
    curator.asking.history(by="ann")
    curator.data_sets.record(NAME)
    curator.requests.grants(by="stan")


@pytest.mark.parametrize("what", ROWS)
@pytest.mark.few("roles", "an answer")
def test_a_row_that_cannot_be_read_is_told_without_its_words(folder, what):
    with open_curator(folder) as curator:
        damage_row(ROWS[what])(place(folder, "curator.db"))
        with pytest.raises(FormatError) as error:
            look_around(curator)
    assert "database" in str(error.value)
    assert "Zyxwvut" not in "".join(format_exception(error.value))
    said = of_error(error.value)
    assert (said.code, said.kind) == (500, "database-damaged")
    assert str(folder) not in said.detail


def test_a_missing_master_key_is_not_made_anew_beside_a_database_in_use(folder):
    place(folder, "master.key").unlink()
    with pytest.raises(FormatError, match="Restore it from the backup"):
        open_curator(folder)
    assert not place(folder, "master.key").exists()


@pytest.mark.parametrize("marked", [True, False])
def test_a_database_starts_with_the_key_that_it_knows_and_no_other(folder, marked):
    """A database of an earlier letalone knows the key with which it is first opened."""
    own, key = place(folder, "master.key").read_bytes(), place(folder, "master.key")
    if not marked:
        damage_row("DELETE FROM facts")(place(folder, "curator.db"))
        open_curator(folder).close()
    key.write_bytes(bytes(32))
    with pytest.raises(FormatError, match=r"not the key of the curator's database.*Restore"):
        open_curator(folder)
    key.write_bytes(own)
    with open_curator(folder) as curator:
        assert ask(curator)
