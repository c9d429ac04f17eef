"""The whole curator with both of its stores on PostgreSQL: the same promises."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

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
from letalone.curator.database import Database
from letalone.curator.drafts import MOST
from letalone.curator.records import Price, Question, Scope
from letalone.curator.tables import TRIES
from letalone.errors import NotAllowed
from letalone.privacy import Budget
from postgres import running


@pytest.fixture(scope="module")
def address():
    with running() as server:
        yield str(server.get_uri())


def test_people_grants_answers_and_subjects_on_postgresql(address, tmp_path):
    clock = Clock(days=-8)
    with open_curator(tmp_path, clock=clock, database=address, ledger=address) as curator:
        with_people(curator)
        clock.passed = timedelta()
        grant(registered(curator))
        first = ask(curator)
        assert ask(curator).to_json() == first.to_json()
        asked = Question(data_set=NAME, purpose=PURPOSE, sql=COUNT)
        (mine,) = curator.asking.history(by="ann")
        assert curator.asking.look(asked, Price(epsilon=0.1), by="ann").mine == mine.id
        drafts = [curator.drafts.keep([("n", str(n))], by="ann") for n in range(MOST + 1)]
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
        connection.execute(TRIES.insert().values(digest="x", since=0, number=0))
    one = TRIES.c.digest == "x"

    def add(_):
        with database.writing() as connection:
            number = connection.execute(select(TRIES.c.number).where(one)).scalar_one()
            connection.execute(TRIES.update().where(one).values(number=number + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(40)))
    with database.reading() as connection:
        assert connection.execute(select(TRIES.c.number).where(one)).scalar_one() == 40
    database.close()
