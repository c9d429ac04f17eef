"""Two pieces of work of a person at a time, some more in line; nobody else waits for them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Semaphore
from typing import Any

import pytest

from curator.http.conftest import Making
from letalone.curator.asking.service import AskingService
from letalone.curator.http.limits import AT_ONCE, IN_LINE, WorkLimit
from letalone.curator.http.problems import HttpProblemError

FULL = AT_ONCE + IN_LINE


def test_pieces_come_in_turn_the_next_after_the_line_is_refused_and_nobody_else_waits() -> None:
    async def check() -> None:
        under_way, began, done = WorkLimit(), list[tuple[str, int]](), asyncio.Event()

        async def work(person: str, number: int) -> None:
            async with under_way.of(person):
                began.append((person, number))
                await done.wait()

        async def all_others() -> None:
            for _ in range(3 * FULL):
                await asyncio.sleep(0)

        tasks = [asyncio.create_task(work("ann", number)) for number in range(FULL)]
        await all_others()
        assert began == [("ann", number) for number in range(AT_ONCE)]
        with pytest.raises(HttpProblemError) as refused:
            await work("ann", FULL)
        assert (refused.value.problem.kind, refused.value.problem.code) == ("too-much-at-once", 429)
        assert int(refused.value.problem.headers["Retry-After"]) > 0
        tasks.append(asyncio.create_task(work("ben", 0)))
        tasks[-2].cancel()  # somebody who hung up leaves the line
        await all_others()
        assert began[AT_ONCE:] == [("ben", 0)]
        done.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert began[-1] == ("ann", FULL - 2), "first come, first served"
        assert not under_way._lines, "nothing is kept of who has nothing under way"

    asyncio.run(check())


@pytest.fixture
def holding(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Previews that go on until they are let go: how many have begun, and a way to end them."""
    usual, began, go_on = AskingService.preview, Semaphore(0), Event()

    def preview(self: AskingService, question: Any, price: Any, *, by: str) -> Any:
        if by == "ann":
            began.release()
            assert go_on.wait(60)
        return usual(self, question, price, by=by)

    monkeypatch.setattr(AskingService, "preview", preview)
    yield began, go_on
    go_on.set()


@pytest.mark.long  # console/test_too_much.py
def test_others_are_answered_beside_a_hundred_previews_of_one_person(
    making: Making, holding: Any
) -> None:
    began, go_on = holding
    service = making()
    body, again = service.question(), service.question(epsilon=0.05)
    before = service.ask("POST", "/questions/release", by="ann", json=again).json()

    def look(_: int) -> Any:
        return service.ask("POST", "/questions/preview", by="ann", json=body)

    with ThreadPoolExecutor(100) as hostile:
        looks = [hostile.submit(look, number) for number in range(100)]
        assert all(began.acquire(timeout=60) for _ in range(AT_ONCE))
        _wait_until(lambda: sum(one.done() for one in looks) >= 100 - FULL)
        assert not began.acquire(blocking=False), "no more threads are taken than two"
        for path in ("preview", "release"):
            assert service.ask("POST", f"/questions/{path}", by="ben", json=body).status_code == 200
        repeat = service.ask("POST", "/questions/release", by="ann", json=again)
        assert repeat.json()["release"] == before["release"], "repeats at hand take no turn"
        for path in ("release", "explanation", "fitting", "epsilon"):
            refused = service.ask("POST", f"/questions/{path}", by="ann", json=body)
            assert (refused.status_code, refused.json()["type"]) == (
                429, "/problems/too-much-at-once",
            )  # fmt: skip
        go_on.set()
        statuses = sorted(one.result().status_code for one in looks)
    assert statuses == [200] * FULL + [429] * (100 - FULL)
    assert look(0).status_code == 200


def _wait_until(so: Callable[[], bool]) -> None:
    done = Event()
    for _ in range(1200):
        if so():
            return
        done.wait(0.05)
    raise AssertionError("it did not come to that within a minute")
