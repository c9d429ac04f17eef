"""A look tells whether anybody has written: never that nobody has where somebody did."""

import os
import shutil
import sqlite3
from contextlib import closing

import pytest

from letalone.errors import BudgetExceeded
from letalone.ledger import Ledger
from letalone.ledger.storage import transaction as stored
from letalone.ledger.storage.watch import watch_of_file
from letalone.privacy import ADD_REMOVE, Budget, PureDP

COST = PureDP(0.1, neighbours=ADD_REMOVE)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "some.db"
    with closing(sqlite3.connect(found)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (x)")
    return found


def test_a_stamp_stays_until_somebody_commits_and_never_comes_back(path):
    with closing(watch_of_file(path)) as watch, closing(sqlite3.connect(path)) as other:
        seen = [watch.stamp()]
        assert watch.stamp() == seen[0] is not None
        for number in range(3):
            other.execute("INSERT INTO t VALUES (?)", [number])
            assert watch.stamp() == seen[-1], "what is not committed is not there"
            other.commit()
            assert watch.stamp() not in seen
            seen.append(watch.stamp())
        other.execute("DELETE FROM t")
        other.commit()
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert watch.stamp() not in seen
        watch.close()
        assert watch.stamp() not in seen, "another connection counts from elsewhere"


def test_a_commit_of_another_process_is_seen_and_a_fork_has_its_own_connection(path):
    with closing(watch_of_file(path)) as watch:
        before = watch.stamp()
        child = os.fork()
        if child == 0:
            own = watch.stamp()
            with closing(sqlite3.connect(path)) as other:
                other.execute("INSERT INTO t VALUES (1)")
                other.commit()
            os._exit(0 if None not in (own, watch.stamp()) and own != watch.stamp() else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert watch.stamp() != before


def test_another_file_in_its_place_is_seen_and_one_that_is_gone_is_not_made(path):
    with closing(watch_of_file(path)) as watch:
        before, aside = watch.stamp(), path.with_name("aside.db")
        shutil.copy(path, aside)
        aside.replace(path)
        assert watch.stamp() not in (before, None)
        path.unlink()
        assert watch.stamp() is None
        assert not path.exists()


def test_every_act_on_a_ledger_changes_its_stamp_for_all_who_have_it_open(tmp_path):
    place = tmp_path / "ledger.db"
    with Ledger.open(place, keep=True) as one, Ledger.open(place) as other:
        seen = [one.stamp]

        def acted():
            assert one.stamp not in seen
            seen.append(one.stamp)
            assert one.stamp == seen[-1]
            assert one.data_set("table") == other.data_set("table"), "known, or read anew"

        other.register("table", Budget(0.15), neighbours=ADD_REMOVE)
        acted()
        paid = one.charge("table", COST, plan={}, digest="a")
        acted()
        other.settle(paid, {"answer": 1})
        acted()
        with pytest.raises(BudgetExceeded):
            other.charge("table", COST, plan={}, digest="b")
        acted()
        other.freeze("table", "why")
        acted()
        assert other.stamp is None, "not known: the connection is not kept"


def test_what_is_known_of_an_own_charge_is_what_its_entry_says(tmp_path):
    with Ledger.open(tmp_path / "ledger.db", keep=True) as ledger:
        ledger.register("table", Budget(5, 1e-6), neighbours=ADD_REMOVE)
        ledger.allow("table", Budget(3, 1e-7), purpose="care")
        ledger.allow("table", Budget(2, 1e-8), purpose="care", analyst="ann")
        stored._SAID.clear()
        for number in range(3):
            ledger.charge("table", COST, plan={}, digest=f"{number}", analyst="ann", purpose="care")
        known = dict(stored._SAID)
        assert len(known) == 3
        for row, (after, levels) in known.items():
            assert stored._data_set_in(row) == after
            assert stored._levels_in(row) == levels != {}
        assert ledger.data_set("table") == after
