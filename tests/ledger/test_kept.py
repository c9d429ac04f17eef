"""Connections that are kept: of one process, of one file, and nothing is lost with them."""

import os
import shutil
from threading import Thread

import pytest

from letalone.errors import DataSetFrozen, LedgerDamaged, LetaloneError, ParameterError
from letalone.ledger import Ledger
from letalone.privacy import ADD_REMOVE, Budget, PureDP

COST = PureDP(0.1, neighbours=ADD_REMOVE)


def kept(path, budget=10):
    ledger = Ledger.open(path, keep=True)
    ledger.register("table", Budget(budget), neighbours=ADD_REMOVE)
    return ledger


def charge(ledger, number):
    paid = ledger.charge("table", COST, plan={"of": number}, digest=f"{number:064x}")
    ledger.settle(paid, {"answer": number})


def releases(path):
    with Ledger.open(path) as other:
        other.verify()
        return other.data_set("table").releases


def test_what_was_charged_is_there_for_others_at_once_and_after_closing(tmp_path):
    path = tmp_path / "ledger.db"
    with kept(path) as ledger:
        for number in range(3):
            charge(ledger, number)
            assert releases(path) == number + 1
    assert releases(path) == 3
    with pytest.raises(ParameterError, match="closed"):
        charge(ledger, 4)


def test_threads_share_one_budget(tmp_path):
    path = tmp_path / "ledger.db"
    refused = []

    def spend(ledger, first):
        for number in range(first, first + 10):
            try:
                charge(ledger, number)
            except LetaloneError:
                refused.append(number)

    with kept(path, budget=2) as ledger:
        threads = [Thread(target=spend, args=(ledger, 100 * n)) for n in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert releases(path) == 20
    assert len(refused) == 20


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_opens_connections_of_its_own(tmp_path):
    path = tmp_path / "ledger.db"
    with kept(path) as ledger:
        charge(ledger, 1)
        child = os.fork()
        if child == 0:
            pool = ledger._store._engine.pool
            charge(ledger, 2)
            own = ledger._store._engine.pool is not pool
            ledger.close()
            os._exit(0 if own else 1)
        assert os.waitpid(child, 0)[1] == 0
        charge(ledger, 3)
        assert releases(path) == 3


def test_a_file_that_was_put_in_its_place_is_opened_anew(tmp_path):
    path, other = tmp_path / "ledger.db", tmp_path / "other.db"
    with kept(other) as second:
        charge(second, 1)
    with kept(path) as ledger:
        shutil.move(other, path)
        for beside in ("-wal", "-shm"):
            (tmp_path / f"ledger.db{beside}").unlink(missing_ok=True)
        with pytest.raises(DataSetFrozen):  # it lacks what was seen in the first (test_remembering)
            charge(ledger, 2)
        ledger.thaw("table", "it is the right one")
        charge(ledger, 3)
        assert ledger.data_set("table").releases == 2
    assert releases(path) == 2


def test_a_file_that_is_gone_is_not_charged(tmp_path):
    path = tmp_path / "ledger.db"
    with kept(path) as ledger:
        charge(ledger, 1)
        for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)
        with pytest.raises(LetaloneError):
            charge(ledger, 2)


def test_a_backup_of_a_kept_ledger_is_whole(tmp_path):
    with kept(tmp_path / "ledger.db") as ledger:
        charge(ledger, 1)
        ledger.backup(tmp_path / "copy.db")
    assert releases(tmp_path / "copy.db") == 1


def test_a_file_that_is_written_over_and_loses_its_log_while_it_is_open_answers_nothing(tmp_path):
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    with kept(path) as ledger:
        ledger.backup(copy)
        charge(ledger, 1)
        shutil.copyfile(copy, path)  # the same file, with other bytes
        for beside in ("-wal", "-shm"):
            (tmp_path / f"ledger.db{beside}").unlink()
        for number in (2, 3):
            with pytest.raises(LedgerDamaged, match=r"ledger\.db-wal was taken away"):
                charge(ledger, number)
