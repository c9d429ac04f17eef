"""Memory as a whole: one amount for a process, a fixed share of it for each connection."""

from dataclasses import replace
from shutil import copytree

import pandas as pd
import pytest

from curator.makers import NAME, PURPOSE, SCHEMA, ask, open_curator, put, registration
from letalone.cli.trust.serve import memory_of_worker
from letalone.curator.data_sets import open_sessions
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice
from letalone.curator.storage.settings import MAX_OPEN_TABLES, SHARES, Settings
from letalone.engines.duckdb import lockdown
from letalone.errors import LetaloneError, ParameterError


@pytest.fixture
def limits(monkeypatch):
    """The memory of each connection that is opened."""
    seen, made = [], lockdown.LockedDuck.__init__

    def watched(self, **more):
        made(self, **more)
        seen.append(self.connection.execute("SELECT current_setting('memory_limit')").fetchone()[0])

    monkeypatch.setattr(lockdown.LockedDuck, "__init__", watched)
    return seen


def test_each_connection_has_the_same_share_whatever_is_open(made_once, tmp_path, limits):
    copytree(made_once[1], tmp_path, dirs_exist_ok=True)
    with open_curator(tmp_path, memory_megabytes=1024) as curator:
        ask(curator)
        file = put(curator, "again.csv")
        curator.beforehand.columns(by="olga", file=file)
        curator.data_sets.renew(NAME, by="olga", file=file)
        ask(curator, epsilon=0.2)
    assert len(limits) >= 4
    assert set(limits) == {"128.0 MiB"}


@pytest.mark.long  # test_each_connection_has_the_same_share_whatever_is_open
def test_so_many_tables_are_open_as_there_are_shares(ready, monkeypatch):
    monkeypatch.setattr(open_sessions, "MAX_OPEN_TABLES", 2)
    names = [f"t{n}" for n in range(4)]
    for name in names:
        one = registration(schema=replace(SCHEMA, name=name))
        ready.data_sets.register(one, file=put(ready), by="olga")
    shelf = ready.data_sets.store
    for name in (*names, names[0]):
        with shelf.opened(name) as (session,):
            assert session.name == name
    kept = list(shelf._sessions._open)
    assert kept == [names[-1], names[0]]
    with shelf.opened(*names) as opened:  # what is being asked is not closed
        assert all(one.bound().table.is_open for one in opened)
    assert SHARES == MAX_OPEN_TABLES + 1


def test_the_amount_is_typed_and_divided_among_workers(tmp_path, monkeypatch):
    monkeypatch.setattr("letalone.engines.duckdb.lockdown.half_of_memory", lambda: 4 << 30)
    assert memory_of_worker("4GB", 2) == memory_of_worker("4 GiB", 2) == 2048
    assert memory_of_worker("1.5g", 1) == 1536
    assert memory_of_worker("600MB", 1) == 600
    assert memory_of_worker(None, 1) >= 512
    for odd in ("", "4", "lots", "-4GB", "4TB", "500MB", "nan GB", "0GB"):
        with pytest.raises(ParameterError, match="an amount such as 4GB"):
            memory_of_worker(odd, 1)
    for much in ("8193MB", "999999999999999999GB", f"{'9' * 400}GB"):
        with pytest.raises(ParameterError, match="at most the 8192MB that this machine has"):
            memory_of_worker(much, 2)
    assert memory_of_worker("8GB", 2) == 4096
    with pytest.raises(ParameterError, match="at least 1024MB for 2 workers"):
        memory_of_worker("1000MB", 2)
    with pytest.raises(ParameterError, match="memory_megabytes is 100, but must be at least 512"):
        Settings(folder=tmp_path, memory_megabytes=100)


def test_no_public_table_stays_after_a_preview_or_an_answer(ready):
    """Neither where the question is refused, nor beside another that still uses the same one."""
    with ready.data_sets.store.opened(NAME) as (session,):
        engine = session.bound().table.engine
    sites = pd.DataFrame({"ward": ["A", "B"], "beds": [10, 20]})
    sql = f"SELECT SUM(beds) AS b FROM {NAME} JOIN sites ON {NAME}.ward = sites.ward"
    more = {"data_set": NAME, "purpose": PURPOSE, "sql": sql, "tables": {"sites": sites}}
    question = DataSetQuestion(**more, bounds={"beds": (0, 30)})
    for _ in range(3):
        assert ready.asking.preview(question, QuestionPrice(epsilon=0.1), by="ann")
        assert not engine._public
    refused = more | {"sql": sql.replace("SUM(beds)", "SUM(diary)")}
    with pytest.raises(LetaloneError):
        ready.asking.preview(DataSetQuestion(**refused), QuestionPrice(epsilon=0.1), by="ann")
    assert not engine._public
    granted = ready.asking._granted(question, by="ann")
    with ready.asking._ready(granted):
        assert ready.asking.preview(question, QuestionPrice(epsilon=0.1), by="ann")
        assert len(engine._public) == 1
        assert ready.asking.release(question, QuestionPrice(epsilon=0.1), by="ann")
        assert len(engine._public) == 1
    assert not engine._public
    left = engine._duck.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert not [name for (name,) in left if "public" in name]
    assert ready.asking.release(question, QuestionPrice(epsilon=0.1), by="ann").repeated
