"""Database, key and ledger belong together: an old or missing one is noticed at the start."""

from shutil import copyfile, copytree

import pytest

from curator.makers import NAME, ask, open_curator, whats
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


def test_a_missing_master_key_is_not_made_anew_beside_a_database_in_use(folder):
    place(folder, "master.key").unlink()
    with pytest.raises(FormatError, match="Restore it from the backup"):
        open_curator(folder)
    assert not place(folder, "master.key").exists()
