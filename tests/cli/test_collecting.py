"""`letalone query` looks for garbage more rarely while it loads, other commands as Python does."""

import gc
import sys
from collections.abc import Iterator

import pytest

from letalone.cli import OBJECTS, app, main


@pytest.fixture
def thresholds(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many objects were looked at together when the command began."""
    usual, found = gc.get_threshold(), list[int]()

    def run(_: list[str]) -> int:
        found.append(gc.get_threshold()[0])
        return 0

    monkeypatch.setattr(app, "run", run)
    yield found
    gc.set_threshold(*usual)


@pytest.mark.parametrize("command", ["query", "serve"])
def test_a_query_looks_for_garbage_more_rarely(
    monkeypatch: pytest.MonkeyPatch, thresholds: list[int], command: str
) -> None:
    usual = gc.get_threshold()[0]
    monkeypatch.setattr(sys, "argv", ["letalone", command])
    with pytest.raises(SystemExit):
        main()
    assert thresholds == [OBJECTS if command == "query" else usual]
    assert gc.isenabled()
