"""The whole curator with both of its stores on PostgreSQL: the same promises."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import select

from curator.makers import (
    COUNT,
    NAME,
    PURPOSE,
    Clock,
    ask,
    grant,
    open_curator,
    registered,
    with_people,
)
from letalone.curator.people.browser_sessions import MAX_DRAFTS
from letalone.curator.storage.database import Database, DatabaseDamaged, DatabaseUnavailable
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice
from letalone.curator.storage.tables import ATTEMPTS, GRANTS
from letalone.errors import NotAllowed
from letalone.local.questionnaires.questions import read_questionnaire
from letalone.privacy import Budget
from letalone.wire.records import Scope
from postgres import running


@pytest.fixture(scope="module")
def address():
    with running() as server:
        yield str(server.get_uri())


@pytest.mark.long  # test_writers_on_postgresql_see_the_last_state; the ledger's own
def test_people_grants_answers_and_subjects_on_postgresql(address, tmp_path):
    clock = Clock(days=-8)
    with open_curator(tmp_path, clock=clock, database=address, ledger=address) as curator:
        with_people(curator)
        clock.passed = timedelta()
        grant(registered(curator))
        first = ask(curator)
        assert ask(curator).to_json() == first.to_json()
        asked = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=COUNT)
        (mine,) = curator.asking.history(by="ann")
        assert curator.asking.look(asked, QuestionPrice(epsilon=0.1), by="ann").mine == mine.id
        drafts = [curator.drafts.keep([("n", str(n))], by="ann") for n in range(MAX_DRAFTS + 1)]
        assert curator.drafts.kept(drafts[0], by="ann") is None
        assert curator.drafts.kept(drafts[1], by="ann") == [("n", "1")]
        with pytest.raises(NotAllowed):
            ask(curator, by="ben")
        secret, _ = curator.tokens.make("ann", [Scope.ASK])
        assert curator.tokens.bearer(secret).person.name == "ann"
        made = curator.proposals.make(NAME, Budget(9), why="more", by="olga")
        curator.proposals.second(made.id, by="stan")
        erased = curator.subjects.erase(NAME, "p1", by="stan", why="case 1")
        assert (erased.rows, "PostgreSQL's log (WAL)" in erased.words) == (3, True)
        curator.requests.withdraw_grant(NAME, purpose=PURPOSE, analyst="ann", why="x", by="stan")
        with pytest.raises(NotAllowed):
            ask(curator)
        entries = len(curator.ledger)
        for check in curator.checks.values():
            check()
        assert (len(curator.ledger), bool(curator.ledger.verify())) == (entries, True)
    with open_curator(tmp_path, database=address, ledger=address) as again:
        assert [one.question for one in again.asking.history(by="ann")] == [first.asked.question]


def test_writers_on_postgresql_see_the_last_state(address):
    database = Database(address)
    database.migrate()
    with database.writing() as connection:
        connection.execute(ATTEMPTS.insert().values(digest="x", since=0, number=0))
    one = ATTEMPTS.c.digest == "x"

    def add(_):
        with database.writing() as connection:
            number = connection.execute(select(ATTEMPTS.c.number).where(one)).scalar_one()
            connection.execute(ATTEMPTS.update().where(one).values(number=number + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(40)))
    with database.reading() as connection:
        assert connection.execute(select(ATTEMPTS.c.number).where(one)).scalar_one() == 40
    database.close()


CHANGES = {
    "ALTER TABLE grants RENAME TO away": "ALTER TABLE away RENAME TO grants",
    "ALTER TABLE grants RENAME made TO away": "ALTER TABLE grants RENAME away TO made",
    "REVOKE ALL ON grants FROM keeper": "GRANT ALL ON grants TO keeper",
    "ALTER TABLE alembic_version RENAME TO away": "ALTER TABLE away RENAME TO alembic_version",
    "ALTER SCHEMA public RENAME TO away": "ALTER SCHEMA away RENAME TO public",
}


def test_tables_that_others_have_changed_are_told_in_words(address):
    """While the service runs, and at its next start."""
    with psycopg.connect(address, autocommit=True) as server:
        server.execute("CREATE ROLE keeper LOGIN")
        server.execute("CREATE DATABASE kept OWNER keeper")
    place = address.replace("/postgres?", "/kept?")
    database = Database(place.replace("//postgres:", "//keeper:"))
    _start(database)
    with psycopg.connect(place, autocommit=True) as server:
        for change, back in CHANGES.items():
            error = DatabaseUnavailable if "REVOKE" in change else DatabaseDamaged
            server.execute(change)
            if "alembic" not in change:
                with pytest.raises(error), database.reading() as connection:
                    connection.execute(select(GRANTS)).all()
            with pytest.raises(error, match="curator's database"):
                _start(database)
            server.execute(back)
            _start(database)
    database.close()


def _start(database):
    database.migrate()
    database.check_tables()


@pytest.mark.long  # a server; the same on SQLite: test_surveys.py
def test_a_closed_survey_keeps_nothing_that_says_which_rows_were_written_together(tmp_path):
    """PostgreSQL tells of each row which transaction wrote it, and where it lies."""
    with running() as server:  # its own: a database belongs to one folder
        address = str(server.get_uri())
        with open_curator(tmp_path, database=address, ledger=address) as curator:
            with_people(curator)
            ends = (curator.surveys._shared.clock() + timedelta(days=3)).date().isoformat()
            question = {"text": "Which?", "kind": "one_of", "options": [str(n) for n in range(8)]}
            fields = {"name": "mood", "title": "How?", "purpose": "To plan.", "epsilon": 4}
            survey = read_questionnaire(fields | {"ends": ends, "questions": [question]})
            curator.surveys.make(survey, by="stan")
            secrets = curator.surveys.invite("mood", 8, by="stan")
            with ThreadPoolExecutor(4) as many:
                reports = [f"{128 >> place:02x}" for place in range(8)]
                list(many.map(lambda one: curator.surveys.take("mood", one[0], [one[1]]),
                              zip(secrets, reports, strict=True)))  # fmt: skip
            curator.surveys.close("mood", by="stan")
            assert curator.surveys.results("mood", by="stan")[0].people == 8
        with psycopg.connect(address) as connection:
            for table, key in (("invitations", "digest"), ("report_counts", "report")):
                rows = connection.execute(
                    f"SELECT xmin::text, {key} FROM {table} WHERE survey = 'mood' ORDER BY ctid"
                ).fetchall()
                assert len({writer for writer, _ in rows}) == 1
                assert [key for _, key in rows] == sorted(key for _, key in rows)
