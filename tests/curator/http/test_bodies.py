"""Bodies that are too large or too slow end in a problem, whatever they announce."""

import asyncio
from collections.abc import Iterable
from json import loads

import pytest
from starlette.types import Message, Receive, Scope, Send

from letalone.curator.http.middleware import UPLOADS, BodyLimitMiddleware, BodyLimits
from letalone.curator.http.problems import HttpProblemError
from letalone.curator.surveys.counters import MAX_COUNTED

LIMITS = BodyLimits(bytes=10, seconds=0.05, upload_bytes=20, upload_chunk_seconds=0.05)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the body that it was given, as a route would."""
    body, more = b"", True
    try:
        while more:
            message = await receive()
            body += message["body"]
            more = message["more_body"]
    except HttpProblemError as error:
        await error.problem.response()(scope, receive, send)
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def asked(
    chunks: Iterable[bytes],
    *,
    announced: str | None = None,
    path: str = "/",
    pause: float = 0,
    kind: str = "",
) -> tuple[int, bytes]:
    """What comes back for a body that arrives in these chunks."""
    waiting, sent = list(chunks), list[Message]()
    headers = [] if announced is None else [(b"content-length", announced.encode())]
    headers.append((b"content-type", kind.encode()))
    scope: Scope = {"type": "http", "path": path, "headers": headers}

    async def receive() -> Message:
        await asyncio.sleep(pause)
        body = waiting.pop(0) if waiting else b""
        return {"type": "http.request", "body": body, "more_body": bool(waiting)}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(BodyLimitMiddleware(echo, LIMITS)(scope, receive, send))
    return sent[0]["status"], sent[1]["body"]


def test_a_body_within_the_limits_arrives_whole() -> None:
    assert asked([b"12345", b"67890"]) == (200, b"1234567890")
    assert asked([b"1234567890"] * 2, path=UPLOADS) == (200, b"1234567890" * 2)


@pytest.mark.parametrize("kind", ["", "application/x-www-form-urlencoded", "multipart/mixed"])
def test_only_files_are_large_where_the_console_takes_them(kind: str) -> None:
    whole, files = [b"1234567890"] * 2, "Multipart/Form-Data; boundary=x"
    assert asked(whole, path="/uploads", kind=kind)[0] == 413
    assert asked(whole, path="/uploads", kind=files)[0] == 200
    assert asked(whole, path="/uploads2", kind=files)[0] == 413


def test_a_counter_takes_the_names_of_as_many_reports_as_it_counts() -> None:
    """200,000 names of 32 digits, with what JSON puts around them."""
    names = [b'"' + b"0" * 32 + b'", '] * MAX_COUNTED
    assert asked([b"".join(names)], path="/api/v1/counters/mood/totals")[0] == 200
    assert asked([b"".join(names)] * 2, path="/api/v1/counters/mood/totals")[0] == 413
    for path in ("/api/v1/counters/mood/halves", "/api/v1/surveys/mood/totals"):
        assert asked([b"12345678901"], path=path)[0] == 413


@pytest.mark.parametrize("announced", ["11", "9" * 5000, "-1", "x", "²"])
def test_a_length_that_is_too_large_or_none_is_refused_before_anything_is_read(
    announced: str,
) -> None:
    status, body = asked([], announced=announced)
    assert status == 413
    assert "10 bytes" in loads(body)["detail"]


@pytest.mark.parametrize("announced", [None, "3"])
def test_a_body_in_chunks_that_grows_too_large_is_refused(announced: str | None) -> None:
    """Also where the length that was announced is a lie."""
    assert asked([b"123456"] * 2, announced=announced)[0] == 413
    assert asked([b"123456"] * 4, announced=announced, path=UPLOADS)[0] == 413


def test_a_slow_body_is_refused() -> None:
    """Each chunk of the first comes in time, and all together do not."""
    assert asked([b"1"] * 9, pause=0.02)[0] == 408
    assert asked([b"1"] * 9, pause=0.02, path=UPLOADS)[0] == 200, "files have a deadline a chunk"
    assert asked([b"1"] * 2, pause=0.1, path=UPLOADS)[0] == 408
