"""Answers to questions leave at whole steps since the request came, refusals too."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from letalone.curator.http.timing import QUESTIONS, TimeSteps, until_the_next_step


class Clock:
    """Time that passes only where the test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def left_after(
    path: str, works_seconds: float, step: float, monkeypatch: pytest.MonkeyPatch
) -> float:
    """When the answer leaves, if the route works so long."""
    clock, left = Clock(), list[float]()

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        clock.now += works_seconds
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Message) -> None:
        left.append(clock.now - 100.0)

    async def sleep(seconds: float) -> None:
        clock.now += seconds

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    monkeypatch.setattr(asyncio, "sleep", sleep)
    app = TimeSteps(route, step, clock)
    asyncio.run(app({"type": "http", "path": path}, receive, send))
    return left[0]


@pytest.mark.parametrize(("works", "leaves"), [(0.0, 0.5), (0.1, 0.5), (0.49, 0.5), (0.51, 1.0)])
def test_an_answer_leaves_at_a_whole_step(
    works: float, leaves: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert left_after(f"{QUESTIONS}/release", works, 0.5, monkeypatch) == pytest.approx(leaves)


def test_other_addresses_and_a_step_of_nothing_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    assert left_after("/health", 0.1, 0.5, monkeypatch) == pytest.approx(0.1)
    assert left_after(QUESTIONS, 0.1, 0.0, monkeypatch) == pytest.approx(0.1)


@given(passed=st.floats(0, 1e4), step=st.floats(1e-3, 10))
def test_the_wait_ends_at_a_multiple_and_is_at_most_a_step(passed: float, step: float) -> None:
    wait = until_the_next_step(passed, step)
    steps = (passed + wait) / step
    assert steps == pytest.approx(round(steps))
    assert round(steps) >= 1
    assert -1e-9 <= wait <= step + 1e-9
