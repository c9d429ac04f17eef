"""/health answers whatever is busy or away; /ready says in a bounded time what takes no writes."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from threading import Event
from threading import enumerate as enumerate_threads
from time import monotonic, sleep
from types import SimpleNamespace
from typing import Any

import pytest

from curator.http.conftest import Service
from letalone.curator import curator as curator_module
from letalone.curator.http import probes
from letalone.curator.http.probes import SLOW, WRONG
from letalone.curator.people.service import PeopleService
from letalone.curator.storage.database import Database
from letalone.ledger import Ledger

OK = {"ledger": "ok", "database": "ok", "disk": "ok"}
MANY = 60  # more than there are threads for pages, which are 40


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is remembered of the last try."""
    monkeypatch.setattr(probes, "FRESH_SECONDS", 0)


def parts_of(service: Service, status: int) -> Any:
    answer = service.client.get("/ready")
    assert answer.status_code == status, answer.text
    return answer.json()["parts"]


def test_health_answers_while_every_thread_is_taken_and_the_stores_are_away(
    bare: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, let_go = bare, Event()

    def hang(*_: object, **__: object) -> None:
        assert let_go.wait(60)
        raise RuntimeError

    monkeypatch.setattr(PeopleService, "recognised", hang)
    for store in (Database, Ledger):
        for name in ("reading", "writing", "head", "data_set"):
            monkeypatch.setattr(store, name, hang, raising=False)

    def log_in(_: int) -> int:
        body = {"name": "ann", "password": "x"}
        return service.client.post("/api/v1/tokens", json=body).status_code

    with ThreadPoolExecutor(MANY) as hanging:
        waiting = [hanging.submit(log_in, number) for number in range(MANY)]
        assert len(hanging._threads) == MANY
        with ThreadPoolExecutor(1) as probe:
            answer = probe.submit(service.client.get, "/health")
            try:
                assert answer.result(timeout=20).json() == {"status": "ok"}
            finally:
                let_go.set()
    assert {one.result() for one in waiting} == {500}


@contextmanager
def no_room() -> Iterator[None]:
    """No file of this process can be written beyond its first byte, as on a full disk."""
    usual = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (1, usual[1]))
    try:
        yield
    finally:
        setrlimit(RLIMIT_FSIZE, usual)


@pytest.mark.usefixtures("anew")
def test_stores_that_take_no_writes_are_not_ready_and_well_again_by_themselves(
    bare: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = bare
    folder, entries = service.curator.settings.folder, len(service.curator.ledger)
    assert parts_of(service, 200) == OK
    with no_room():
        assert parts_of(service, 503) == {**OK, "ledger": WRONG, "database": WRONG}
        answer = service.client.get("/ready")
        assert service.client.get("/health").status_code == 200
    assert answer.json()["type"] == "/problems/not-ready"
    assert "The ledger cannot be written" in answer.json()["detail"]
    assert str(folder) not in answer.text
    with monkeypatch.context() as patch:
        free = SimpleNamespace(free=curator_module.MIN_FREE_BYTES - 1)
        patch.setattr(curator_module, "disk_usage", lambda _: free)
        assert parts_of(service, 503) == {**OK, "disk": WRONG}
    assert parts_of(service, 200) == OK
    assert len(service.curator.ledger) == entries
    service.curator.ledger.verify()


@pytest.mark.usefixtures("anew")
def test_a_store_that_hangs_is_named_and_holds_one_thread_however_many_ask(
    bare: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "PATIENCE_SECONDS", 0.3)
    service = bare
    file, before = service.curator.settings.folder / "ledger.db", monotonic()
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(5):
            assert parts_of(service, 503) == {**OK, "ledger": SLOW}
        assert sum(one.name == "probe" for one in enumerate_threads()) == 1
        other.execute("ROLLBACK")
    assert monotonic() - before < 10
    _wait_until(lambda: service.client.get("/ready").status_code == 200)


def test_a_storm_of_probes_is_no_storm_of_writes() -> None:
    writes = list[int]()

    async def storm() -> set[str]:
        found = probes.Probe(lambda: writes.append(1))
        return {await found.state() for _ in range(50)}

    assert asyncio.run(storm()) == {"ok"}
    assert len(writes) <= 1 + 5 / probes.FRESH_SECONDS, "and 50 without"


def _wait_until(so: Callable[[], bool]) -> None:
    until = monotonic() + 40
    while not so():
        assert monotonic() < until
        sleep(0.05)
