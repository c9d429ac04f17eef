"""A line a request; nothing that was sent, and no words of an exception, are in it."""

import asyncio
import json
import logging
import sys
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from letalone.curator.http.logs import LogMiddleware, ServerLogFormatter, duration_class, make_log

SECRET = "Zyxwvut"


def logged(app: Any, **scope: Any) -> tuple[dict[str, Any], list[Message]]:
    """The line that a request leaves, and what was sent."""
    out, sent = StringIO(), list[Message]()
    full: Scope = {"type": "http", "method": "GET", "path": f"/{SECRET}", "headers": [], **scope}

    async def receive() -> Message:
        return {"type": "http.request", "body": SECRET.encode(), "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(LogMiddleware(app, make_log(out), lambda *_: None)(full, receive, send))
    assert SECRET not in out.getvalue()
    return json.loads(out.getvalue()), sent


async def found(scope: Scope, receive: Receive, send: Send) -> None:
    scope["route"] = SimpleNamespace(path="/data-sets/{name}")
    scope["state"] = {"person": "ann"}
    await send({"type": "http.response.start", "status": 200, "headers": []})


async def failing(scope: Scope, receive: Receive, send: Send) -> None:
    raise ValueError(f"Conversion Error: {SECRET}")


def test_a_line_has_the_template_of_the_route_and_who_asked() -> None:
    line, _ = logged(found)
    assert line["route"] == "/data-sets/{name}"
    assert (line["method"], line["status"], line["person"]) == ("GET", 200, "ann")
    assert line["took"] == "<0.01s"


def test_an_address_or_a_method_that_does_not_exist_is_not_repeated() -> None:
    async def nowhere(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})

    line, _ = logged(nowhere, method=SECRET)
    assert (line["route"], line["method"]) == ("(none)", "other")


def test_what_a_stop_cuts_off_is_told_to_ask_the_same_again() -> None:
    async def cut_off(scope: Scope, receive: Receive, send: Send) -> None:
        raise asyncio.CancelledError

    line, sent = logged(cut_off)
    assert (line["status"], line["level"]) == (503, "info")
    assert dict(sent[0]["headers"])[b"retry-after"] == b"5"
    assert "is stopping" in sent[1]["body"].decode()
    assert "the same again is not charged twice" in sent[1]["body"].decode()


def test_a_failure_leaves_its_class_and_place_and_no_words() -> None:
    line, sent = logged(failing)
    assert line["failure"] == "ValueError"
    assert line["at"].startswith("test_logs.py:")
    assert line["level"] == "error"
    assert sent[0]["status"] == 500
    assert SECRET not in str(sent)


def test_the_web_servers_own_lines_have_no_traceback() -> None:
    try:
        raise ValueError(SECRET)
    except ValueError:
        record = logging.LogRecord("uvicorn", 40, "x", 1, "boom", None, sys.exc_info())
    line = ServerLogFormatter().format(record)
    assert SECRET not in line
    assert json.loads(line)["failure"] == "ValueError"


@pytest.mark.parametrize(("seconds", "word"), [(0, "<0.01s"), (0.5, "<1s"), (99, ">=10s")])
def test_durations_are_told_as_coarse_classes(seconds: float, word: str) -> None:
    assert duration_class(seconds) == word
