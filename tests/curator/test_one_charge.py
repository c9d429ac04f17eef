"""One question, one charge: asked at once in several workers, or again after one was killed."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from curator.makers import COUNT, NAME, ask, grant, open_curator, put
from letalone.engines.duckdb.duck_engine import DuckEngine
from letalone.ledger.chain.entries import EntryKind
from letalone.ledger.claims import BesideFile
from letalone.privacy import Budget

SUM = f"SELECT SUM(cost) AS s FROM {NAME}"


def charges(curator):
    entries = curator.ledger.entries(NAME)
    return sum(entry.kind is EntryKind.RESERVED for entry in entries)


class Killed(BaseException):
    """What nobody catches, as nobody does when a process is killed."""


def killed(curator, monkeypatch, **more):
    """A question that is charged, and whose worker ends before it is settled."""

    def end(*_, **__):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(DuckEngine, "measure", end)
        with pytest.raises(Killed):
            ask(curator, **more)


def test_equal_questions_at_once_in_two_workers_are_charged_once(ready, tmp_path):
    with (
        open_curator(tmp_path, time_step_seconds=0.05) as one,
        open_curator(tmp_path, time_step_seconds=0.05) as other,
        ThreadPoolExecutor(6) as pool,
    ):
        for number in (1, 2, 3):
            asked = [
                pool.submit(ask, worker, epsilon=number / 100)
                for _ in range(3)
                for worker in (one, other)
            ]
            answers = [one.result().to_json() for one in asked]
            assert all(answer == answers[0] for answer in answers)
    assert charges(ready) == 3
    ready.ledger.verify()


def test_after_a_kill_the_same_question_is_not_charged_again(ready, tmp_path, monkeypatch):
    killed(ready, monkeypatch, epsilon=0.1)
    assert (charges(ready), len(ready.ledger.unsettled(NAME))) == (1, 1)
    with open_curator(tmp_path) as other:
        first = ask(other, epsilon=0.1)
        assert (charges(other), other.ledger.unsettled(NAME)) == (1, [])
        assert first.to_json() == ask(ready, epsilon=0.1).to_json()
    ready.ledger.verify()


def test_another_analyst_purpose_and_version_are_charged_for_their_own(ready, monkeypatch):
    grant(ready, "ben")
    killed(ready, monkeypatch, epsilon=0.1)
    ask(ready, epsilon=0.1, by="ben")
    assert charges(ready) == 2
    killed(ready, monkeypatch, sql=SUM, epsilon=0.1)
    ready.data_sets.renew(NAME, file=put(ready), by="olga")
    ask(ready, sql=SUM, epsilon=0.1)
    assert charges(ready) == 4
    assert len(ready.ledger.unsettled(NAME)) == 2
    ready.ledger.verify()


def test_who_waits_for_an_equal_question_holds_no_rows(ready, monkeypatch):
    waits, free = Event(), Event()
    take = BesideFile.take

    def taken(claims, *given):
        waits.set()
        return free.is_set() and take(claims, *given)

    monkeypatch.setattr(BesideFile, "take", taken)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, ready, sql=COUNT, epsilon=0.1)
        assert waits.wait(10)
        ready.data_sets.renew(NAME, file=put(ready), by="olga")
        assert not asked.done()
        free.set()
        assert asked.result().asked.version == 2


def test_what_a_level_has_left_does_not_matter_to_what_it_has_paid(ready, monkeypatch):
    killed(ready, monkeypatch, epsilon=2)
    assert ready.ledger.levels(NAME)[1].spent == Budget(2)
    assert not ask(ready, epsilon=2).repeated
