"""Middleware before all routes: limits of bodies, no NUL in addresses, security headers.

A body is read whole before a route sees it: at most so many bytes in at most so many seconds,
whether its length was announced or it comes in chunks. Files that are imported go to the disk as
they come: their cap is larger, and each chunk has its own deadline.

An address with a NUL sign leads nowhere: no name here has one, and PostgreSQL takes none. Bodies
are held to the same by their models (`wire.bodies.NO_NUL`), forms drop it.

  Tested:   tests/curator/http/test_bodies.py: announced, chunked, lying and slow bodies;
            test_nul.py
  Assumed:  a proxy in front cuts off slow headers, which are not seen here
"""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from letalone.curator.http.problems import (
    HttpProblemError,
    ProblemDocument,
    of_status,
    problem_error,
)

UPLOADS = "/api/v1/uploads"
CONSOLE_UPLOADS = "/uploads"
COUNTERS, TOTALS = "/api/v1/counters/", "/totals"
FILES = "multipart/form-data"
NUL = "\0"
SECURITY_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=31536000",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The most bytes of a body, and the most seconds that it may take."""

    bytes: int = 1 << 20
    named_bytes: int = 8 << 20  # of all reports that a counter is asked to add up
    seconds: float = 10.0
    upload_bytes: int = 1 << 30
    upload_chunk_seconds: float = 10.0


class HttpMiddleware(ABC):
    """Handles requests; what is none, such as the app's start and end, passes it by."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.handle if scope["type"] == "http" else self._app)(scope, receive, send)

    @abstractmethod
    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None: ...


class BodyLimitMiddleware(HttpMiddleware):
    """Holds bodies to their limits."""

    def __init__(self, app: ASGIApp, limits: BodyLimits) -> None:
        super().__init__(app)
        self._limits = limits

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        upload = _is_upload(scope)
        max_bytes = self._limits.upload_bytes if upload else self._most_bytes(scope)
        try:
            check_announced(scope, max_bytes)
            read = self._count_chunks if upload else self._read_whole
            given = await read(receive, max_bytes)
        except HttpProblemError as error:
            await error.problem.response()(scope, receive, send)
            return
        await self._app(scope, given, send)

    def _most_bytes(self, scope: Scope) -> int:
        path = str(scope["path"])
        names = path.startswith(COUNTERS) and path.endswith(TOTALS)
        return self._limits.named_bytes if names else self._limits.bytes

    async def _read_whole(self, receive: Receive, max_bytes: int) -> Receive:
        """The body at once, read before the route begins."""
        try:
            async with asyncio.timeout(self._limits.seconds):
                body = await _read(receive, max_bytes)
        except TimeoutError:
            raise too_slow(self._limits.seconds) from None
        given = False

        async def once() -> Message:
            nonlocal given
            if given:
                return await receive()  # the client hangs up, or nothing comes
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        return once

    async def _count_chunks(self, receive: Receive, max_bytes: int) -> Receive:
        """Chunk by chunk; the route that reads them meets the refusal."""
        seconds, so_far = self._limits.upload_chunk_seconds, 0

        async def next_chunk() -> Message:
            nonlocal so_far
            try:
                async with asyncio.timeout(seconds):
                    message = await receive()
            except TimeoutError:
                raise too_slow(seconds) from None
            so_far += len(message.get("body", b""))
            if so_far > max_bytes:
                raise too_large(max_bytes)
            return message

        return next_chunk


def media_type(content_type: str) -> str:
    """What a header Content-Type says, without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def _is_upload(scope: Scope) -> bool:
    """A body whose route reads it itself, once it knows who sends it; of the console: files."""
    path, kind = str(scope["path"]), media_type(Headers(scope=scope).get("content-type", ""))
    return path.startswith(UPLOADS) or (path == CONSOLE_UPLOADS and kind == FILES)


async def _read(receive: Receive, max_bytes: int) -> bytes:
    body, more = bytearray(), True
    while more:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > max_bytes:
            raise too_large(max_bytes)
        more = message.get("more_body", False)
    return bytes(body)


def check_announced(scope: Scope, max_bytes: int) -> None:
    """A length that was announced and is too large is refused before anything is read."""
    announced = Headers(scope=scope).get("content-length", "0")
    if not announced.isdecimal() or int(announced[:20]) > max_bytes:
        raise too_large(max_bytes)


def too_large(max_bytes: int) -> HttpProblemError:
    """413, and that the connection ends: the rest of the body is not read."""
    words = f"The body is larger than {max_bytes:,} bytes, which is the most that is read."
    return problem_error("body-too-large", words, headers={"Connection": "close"})


def too_slow(seconds: float) -> HttpProblemError:
    """408."""
    words = f"The body did not come within {seconds:g} seconds. Send it again."
    return problem_error("body-too-slow", words, headers={"Connection": "close"})


class NulPathMiddleware(HttpMiddleware):
    """Refuses what has a NUL sign in its path or its query."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = _nul_problem(scope)
        answer = self._app if problem is None else problem.response()
        await answer(scope, receive, send)


def _nul_problem(scope: Scope) -> ProblemDocument | None:
    if NUL in str(scope["path"]):
        return of_status(404)
    query = bytes(scope["query_string"])
    if b"%00" in query or NUL.encode() in query:
        return ProblemDocument("not-valid", "The query has a NUL sign in it. Leave it out.")
    return None


class SecurityHeadersMiddleware(HttpMiddleware):
    """Adds security headers; a route that sets one of its own keeps it."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)
