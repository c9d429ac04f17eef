"""The database: upgrades from every past revision, many at once, on both kinds."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from traceback import format_exception

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import func, insert, select, text

from curator.makers import NAME, ask, open_curator
from letalone.curator.data_sets.demo_data_set import NAME as DEMO
from letalone.curator.data_sets.demo_data_set import PURPOSE, register_demo
from letalone.curator.data_sets.locks import exclusive_lock, shared_lock
from letalone.curator.http.problems import of_error
from letalone.curator.storage.database import MIGRATIONS, Database
from letalone.curator.storage.settings import Settings
from letalone.curator.storage.tables import ATTEMPTS, METADATA, PEOPLE
from letalone.errors import FormatError, ParameterError, ServiceUnavailable

REVISIONS = [one.revision for one in ScriptDirectory(str(MIGRATIONS)).walk_revisions()][::-1]


@pytest.fixture
def database(tmp_path):
    found = Database(f"sqlite:///{tmp_path / 'x.db'}")
    yield found
    found.close()


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_migrations_lead_from_every_revision_to_exactly_the_tables(database, revision):
    database.migrate(revision)
    database.migrate()
    database.migrate()
    with database.reading() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), METADATA)
    assert [one for one in differences if "alembic_version" not in str(one)] == []


def test_people_of_the_first_revision_are_in_their_own_hands_since_they_were_made(database):
    database.migrate("1")
    made = "2026-01-02T03:04:05Z"
    row = f"('ann', '[]', 'x', false, true, '{made}')"
    with database.writing() as connection:
        connection.execute(text(f"INSERT INTO people VALUES {row}"))
    database.migrate()
    with database.reading() as connection:
        (found,) = connection.execute(select(PEOPLE)).all()
    assert (found.handed, found.handed_by) == (made, None)


def test_a_newer_database_is_refused(database):
    database.migrate()
    with database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(FormatError, match="newer letalone"):
        database.migrate()


def test_processes_that_start_at_once_migrate_once(tmp_path):
    url = f"sqlite:///{tmp_path / 'x.db'}"

    def start(_):
        one = Database(url)
        one.migrate()
        one.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(start, range(4))) == [None] * 4


def test_a_block_that_raises_writes_nothing(database):
    database.migrate()

    def broken():
        with database.writing() as connection:
            connection.execute(insert(ATTEMPTS).values(digest="x", since=1, number=1))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    with database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(ATTEMPTS)).scalar_one() == 0


def test_writers_see_the_last_state(database):
    database.migrate()
    with database.writing() as connection:
        connection.execute(insert(ATTEMPTS).values(digest="x", since=0, number=0))

    def add(_):
        with database.writing() as connection:
            number = connection.execute(select(ATTEMPTS.c.number)).scalar_one()
            connection.execute(ATTEMPTS.update().values(number=number + 1))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(40)))
    with database.reading() as connection:
        assert connection.execute(select(ATTEMPTS.c.number)).scalar_one() == 40


@pytest.mark.parametrize("url", ["nonsense", "mysql://host/x", ""])
def test_other_databases_are_refused(url):
    with pytest.raises(ParameterError, match="must be a URL such as"):
        Database(url)


def test_who_changes_waits_for_readers_and_readers_share(tmp_path):
    place, inside, order = tmp_path / "x.lock", Event(), []

    def change():
        inside.set()
        with exclusive_lock(place):
            order.append("changed")

    with shared_lock(place), shared_lock(place):
        thread = Thread(target=change)
        thread.start()
        inside.wait()
        thread.join(0.2)
        order.append("read")
    thread.join()
    assert order == ["read", "changed"]


def test_settings_are_read(tmp_path):
    for name, value in (("tries", 0), ("token_days", 1.5), ("time_step_seconds", -1)):
        with pytest.raises(ParameterError, match=name):
            Settings(folder=tmp_path, **{name: value})
    found = Settings(folder=Path("~/x"), imports=Path("y"))
    assert found.folder.is_absolute()
    assert found.imports_folder.is_absolute()
    for name in ("folder", "imports"):
        with pytest.raises(ParameterError, match="nobody here is called"):
            Settings(**{"folder": tmp_path, name: Path("~nobody_here/x")})


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "curator").write_text("a file")
    with pytest.raises(ParameterError, match="cannot be made"):
        open_curator(tmp_path)


def test_the_demo_is_there_after_every_start(peopled):
    first = register_demo(peopled, by="olga")
    assert register_demo(peopled, by="olga") == first
    assert first.name == DEMO
    assert [one.name for one in first.purposes] == [PURPOSE]
    assert "zip" not in {column.name for column in first.schema.columns}


def test_closing_ends_all(ready):
    ask(ready)
    ready.close()
    ready.close()
    with pytest.raises(ParameterError, match="closed"):
        ready.ledger.data_set(NAME)


def test_a_server_that_is_not_there_is_told_in_words_without_the_password(tmp_path):
    away = "postgresql://curator:Zyxwvut@127.0.0.1:9/curator"
    with pytest.raises(ServiceUnavailable, match=r"curator:\*\*\*@127.* cannot be used") as caught:
        open_curator(tmp_path, database=away)
    assert "Zyxwvut" not in "".join(format_exception(caught.value))
    said = of_error(caught.value)
    assert (said.code, "127" in said.detail) == (503, False)
