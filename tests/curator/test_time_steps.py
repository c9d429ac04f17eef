"""Nothing of an answer can be seen before its time step, at any address and by anybody.

No clock is used: an engine that stands still, and a step that comes when the test says so.
"""

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import datetime
from re import search
from shutil import copytree
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.console.conftest import Console
from curator.makers import NAME, PASSWORD, PURPOSE, Clock, ask, grant, open_curator
from letalone.curator.curator import Curator
from letalone.curator.data_sets.locks import Turns
from letalone.curator.data_sets.open_sessions import OpenSessions
from letalone.curator.grants import budget_pages as budgets
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice
from letalone.engines.duckdb.duck_engine import DuckEngine
from letalone.errors import DataSetFrozen
from letalone.ledger.chain.entries import EntryKind
from letalone.session import time_steps
from letalone.session.time_steps import until_the_next_step
from letalone.wire.records import Role, Scope

STEP = 60  # seconds, for which nobody waits here
SECONDS = 20  # after which a test gives up
BY_WARD = f"SELECT ward, COUNT(*) AS n FROM {NAME} GROUP BY ward"
BODY = {"data_set": NAME, "purpose": PURPOSE, "sql": BY_WARD, "epsilon": 0.1}
RELEASE = "/api/v1/questions/release"
FREE = ("preview", "explanation", "fitting")
SHOWS = {
    "ann": ("/history", "/api/v1/questions/history"),
    "aud": ("/ledger", "/api/v1/ledger", "/api/v1/ledger/export"),
    "olga": ("/ledger", "/metrics"),
}


class Still(Clock):
    """A clock that stands still."""

    def __init__(self) -> None:
        super().__init__()
        self._now = super().__call__()

    def __call__(self):
        return self._now


class Then(datetime):
    """The same moment, whenever a chart asks for it."""

    @classmethod
    def now(cls, tz=None):
        return datetime(2036, 1, 1, tzinfo=tz)


class Slowly:
    """An engine and a step that go on when they are told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, fails: bool = False) -> None:
        self.began, self.go_on, self.measured, self.step = Event(), Event(), Event(), Event()
        measure, slow = DuckEngine.measure, self

        def slowly(self: DuckEngine, *given: Any) -> Any:
            slow.began.set()
            assert slow.go_on.wait(SECONDS)
            if fails:
                raise MemoryError
            return measure(self, *given)

        def until_step(seconds: float) -> None:
            assert 0 < seconds <= STEP
            slow.measured.set()
            assert slow.step.wait(SECONDS)

        monkeypatch.setattr(DuckEngine, "measure", slowly)
        monkeypatch.setattr(time_steps, "sleep", until_step)

    def finish_measuring(self) -> None:
        self.go_on.set()
        assert self.measured.wait(SECONDS)


@contextmanager
def meanwhile(work: Callable[..., Any], *given: Any, **more: Any) -> Iterator[Future[Any]]:
    """Somebody's request, in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work, *given, **more)


@pytest.fixture
def stepping(made_once, tmp_path):
    """A service with a step of a minute; ann and ben have a grant, and ann an answer."""
    copytree(made_once[1], tmp_path, dirs_exist_ok=True)
    with open_curator(tmp_path) as curator:
        ask(grant(curator, "ben"))
    with open_curator(tmp_path, clock=Still(), time_step_seconds=STEP) as curator:
        yield curator


class Looks:
    """All that somebody can look at: each address of the app that can be got, and what is free."""

    def __init__(self, console: Console, name: str) -> None:
        curator, self._client = console.curator, console.by(name).client
        analyst = Role.ANALYST in curator.people.person(name).roles
        tokens = curator.tokens
        made = tokens.make(name, [Scope.ASK]) if analyst else tokens.elevate(name, PASSWORD)
        self.token = {"Authorization": f"Bearer {made[0]}"}
        (before,) = curator.asking.history(by="ann")
        (request, *_) = curator.requests.requests(by="stan")
        examples = {
            "name": NAME, "data_set": NAME, "release_id": before.id, "request_id": request.id,
            "number": "1", "kind": "not-found", "proposal_id": "none", "digest": "none",
            "draft": "none",
        }  # fmt: skip
        self._sent("GET", "/api/v1/me")  # so that the token is one that was used
        self._paths = [path.format(**examples) for path in sorted(got(console.app.routes))]

    def all(self) -> dict[str, object]:
        """What is at each address, and what is said of a question for nothing."""
        found: dict[str, object] = {path: self.at(path) for path in self._paths}
        for kind in FREE:
            found[kind] = self._sent("POST", f"/api/v1/questions/{kind}", json=BODY)
        return found

    def at(self, path: str) -> tuple[int, object]:
        """The bytes; of the counters those that do not count these looks."""
        status, text = self._sent("GET", path)
        own = rf'route="(?!{RELEASE}")'
        counted = [line for line in text.splitlines() if not search(own, line)]
        return status, counted if path == "/metrics" else text

    def _sent(self, method: str, path: str, **more: Any) -> tuple[int, str]:
        of_the_api = path.startswith("/api") or path == "/metrics"
        headers = self.token if of_the_api else {"Accept": "text/html"}
        answer = self._client.request(method, path, headers=headers, **more)
        return answer.status_code, answer.text


def got(routes: Any) -> set[str]:
    """The addresses that can be got, also those of routers within."""
    inner = [one.original_router.routes for one in routes if hasattr(one, "original_router")]
    found = {one.path for one in routes if "GET" in (getattr(one, "methods", None) or ())}
    return found.union(*map(got, inner))


@pytest.mark.long
@pytest.mark.parametrize("name", ["ann", "ben", "stan", "aud", "olga"])
def test_an_answer_that_is_there_looks_like_one_that_is_not_until_its_step(
    stepping, monkeypatch, name
):
    """At every address, byte by byte. Power: from its step on, the same looks see it."""
    monkeypatch.setattr(budgets, "datetime", Then)
    console, slow = Console(stepping, Still()), Slowly(monkeypatch)
    looks, asker = Looks(console, name), Looks(console, "ann")
    send = console.anybody().client.post
    with meanwhile(send, RELEASE, json=BODY, headers=asker.token) as answer:
        assert slow.began.wait(SECONDS)
        while_it_runs = looks.all()
        slow.finish_measuring()
        until_its_step = looks.all()
        assert not answer.done()
        slow.step.set()
        assert answer.result(SECONDS).status_code == 200
    assert len(while_it_runs) > 60
    assert sum(status == 200 for status, _ in while_it_runs.values()) > 20
    assert until_its_step == while_it_runs
    for path in SHOWS.get(name, ()):
        assert looks.at(path) != while_it_runs[path]


def stored(curator: Curator) -> list[str]:
    """All that is in database and ledger, as another process reads it."""
    found: list[str] = []
    for place in sorted(curator.settings.folder.glob("*.db")):
        with closing(sqlite3.connect(place)) as connection:
            found += connection.iterdump()
    return found


def test_nothing_is_stored_between_the_charge_and_the_step(stepping, monkeypatch):
    """So another process shows nothing either. Power: from the step on the answer is there."""
    slow = Slowly(monkeypatch)
    with meanwhile(ask, stepping, BY_WARD) as answer:
        assert slow.began.wait(SECONDS)
        charged = stored(stepping)
        slow.finish_measuring()
        assert stored(stepping) == charged
        slow.step.set()
        answer.result(SECONDS)
    assert len(set(stored(stepping)) - set(charged)) >= 2  # an entry, and a line of the history


def test_a_failure_is_seen_from_its_step_on(stepping, monkeypatch):
    slow = Slowly(monkeypatch, fails=True)
    with meanwhile(ask, stepping, BY_WARD) as answer:
        assert slow.began.wait(SECONDS)
        charged = stored(stepping)
        slow.finish_measuring()
        assert stored(stepping) == charged
        slow.step.set()
        with pytest.raises(DataSetFrozen):
            answer.result(SECONDS)
    assert stepping.ledger.data_set(NAME).frozen


def test_whoever_waits_for_the_table_waits_for_the_step(stepping, monkeypatch):
    """The next question is not even charged before, and the same one is free then."""
    slow = Slowly(monkeypatch)
    with meanwhile(ask, stepping, BY_WARD) as first, meanwhile(ask, stepping, BY_WARD) as same:
        assert slow.began.wait(SECONDS)
        charged = stepping.ledger.entries()
        with meanwhile(ask, stepping, BY_WARD, by="ben", epsilon=0.2) as other:
            slow.finish_measuring()
            assert stepping.ledger.entries() == charged
            assert not any(one.done() for one in (first, same, other))
            slow.step.set()
            answers = [one.result(SECONDS) for one in (first, same, other)]
    assert answers[0].to_json() == answers[1].to_json()
    kinds = [one.kind for one in stepping.ledger.entries()[len(charged) :]]
    assert kinds == [EntryKind.SETTLED, EntryKind.RESERVED, EntryKind.SETTLED]


def test_whoever_waits_for_a_turn_keeps_no_erasure_from_the_rows(stepping, monkeypatch):
    """The lock that an erasure needs is held by the question that is answered, not by a queue."""
    slow, waiting, holding = Slowly(monkeypatch), Event(), list[str]()
    reading, taken = OpenSessions.reading, Turns._take

    @contextmanager
    def counted(self: OpenSessions, name: str) -> Iterator[None]:
        with reading(self, name):
            holding.append(name)
            yield
            holding.remove(name)

    def waits(self: Turns, name: str, stack: Any, *, wait: bool) -> bool:
        if wait:
            waiting.set()
        return taken(self, name, stack, wait=wait)

    monkeypatch.setattr(OpenSessions, "reading", counted)
    monkeypatch.setattr(Turns, "_take", waits)
    with meanwhile(ask, stepping, BY_WARD) as first:
        assert slow.began.wait(SECONDS)
        with meanwhile(ask, stepping, BY_WARD, by="ben", epsilon=0.2) as other:
            assert waiting.wait(SECONDS)
            assert holding == [NAME]
            slow.finish_measuring()
            slow.step.set()
            assert [one.result(SECONDS).repeated for one in (first, other)] == [False, False]


def test_what_reads_no_data_waits_for_no_step(stepping, monkeypatch):
    """Not even while another question has the table."""
    slow = Slowly(monkeypatch)
    with meanwhile(ask, stepping, BY_WARD, by="ben") as answer:
        assert slow.began.wait(SECONDS)
        question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=BY_WARD)
        assert (
            stepping.asking.preview(question, QuestionPrice(epsilon=0.1), by="ann").epsilon == 0.1
        )
        assert ask(stepping).repeated  # which this process does not remember
        assert ask(stepping).repeated  # and now does
        slow.go_on.set()
        slow.step.set()
        answer.result(SECONDS)


@pytest.fixture
def waited(monkeypatch):
    """How long questions would have waited."""
    found: list[float] = []
    monkeypatch.setattr(time_steps, "sleep", found.append)
    return found


def test_a_fresh_answer_waits_once_and_not_at_all_where_there_is_no_step(
    stepping, tmp_path, waited
):
    def waits(curator: Curator, epsilon: float) -> int:
        waited.clear()
        ask(curator, BY_WARD, epsilon=epsilon)
        return len(waited)

    with open_curator(tmp_path) as other:
        assert [waits(stepping, 0.3), waits(stepping, 0.3), waits(other, 0.4)] == [1, 0, 0]


@given(passed=st.floats(0, 1e4), step=st.floats(1e-3, 10))
def test_the_wait_ends_at_a_multiple_and_is_at_most_a_step(passed: float, step: float) -> None:
    wait = until_the_next_step(passed, step)
    steps = (passed + wait) / step
    assert steps == pytest.approx(round(steps))
    assert round(steps) >= 1
    assert -1e-9 <= wait <= step + 1e-9


@pytest.mark.parametrize(("took", "told"), [(0.0, 0.5), (0.1, 0.5), (0.49, 0.5), (0.51, 1.0)])
def test_an_answer_is_told_at_a_whole_step(took: float, told: float) -> None:
    assert took + until_the_next_step(took, 0.5) == pytest.approx(told)
