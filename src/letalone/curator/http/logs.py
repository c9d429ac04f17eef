"""Logs one JSON line a request, without values, literals, SQL or addresses.

A line has the method, the template of the route (`/data-sets/{name}`, never the name), the
status, a coarse class of how long it took, and the id of the person. A failure adds the class of
the exception and the line of code, never its message: that may quote data. The lines of the web
server itself go through `ServerLogFormatter`, which leaves tracebacks out.

  Tested:   tests/curator/http/test_logs.py: planted secrets and literals are nowhere in the lines
"""

import json
import logging
import sys
from asyncio import CancelledError
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from traceback import extract_tb
from typing import Any, TextIO

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from letalone.curator.http.middleware import HttpMiddleware
from letalone.curator.http.problems import INTERNAL, STOPPING

DURATION_CLASSES = (0.01, 0.1, 1.0, 10.0)  # seconds
UNKNOWN_ROUTE = "(none)"
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
CountRequest = Callable[[str, str, int, float], None]
CountFailure = Callable[[Scope], None]


def make_log(out: TextIO | None = None) -> Any:
    """A logger that writes JSON lines; no other logger of the process is changed."""
    return structlog.wrap_logger(
        structlog.PrintLogger(out or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
    )


class LogMiddleware(HttpMiddleware):
    """Writes down each request, and turns what nobody caught into a problem without words.

    What was cut off because the service stops is told so (503): who asked can ask the same again.
    """

    def __init__(
        self, app: ASGIApp, log: Any, seen: CountRequest, *, failed: CountFailure | None = None
    ) -> None:
        super().__init__(app)
        self._log, self._seen, self._failed = log, seen, failed

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, status = monotonic(), 0

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        failure: dict[str, str] = {}
        try:
            await self._app(scope, receive, watch)
        except CancelledError:  # the web server does that to what is under way when it stops
            if status == 0:
                await STOPPING.response()(scope, receive, watch)
        except Exception as error:
            failure = place_of_failure(error)
            if self._failed is not None:
                self._failed(scope)
            if status == 0:
                await INTERNAL.response()(scope, receive, watch)
        self._write(scope, status, monotonic() - started, failure)

    def _write(self, scope: Scope, status: int, seconds: float, failure: dict[str, str]) -> None:
        method = scope["method"] if scope["method"] in METHODS else "other"
        # The route as it was declared: it holds no value of the request.
        route = str(getattr(scope.get("route"), "path", UNKNOWN_ROUTE))
        self._seen(method, route, status, seconds)
        facts = {"method": method, "route": route, "status": status}
        person, took = scope.get("state", {}).get("person"), duration_class(seconds)
        level = self._log.error if failure else self._log.info
        level("request", person=person, **facts, took=took, **failure)


def duration_class(seconds: float) -> str:
    """The class of a duration."""
    return next(
        (f"<{edge:g}s" for edge in DURATION_CLASSES if seconds < edge),
        f">={DURATION_CLASSES[-1]:g}s",
    )


def place_of_failure(error: BaseException) -> dict[str, str]:
    """The class and the last line of code, which hold no data."""
    trace = extract_tb(error.__traceback__)
    place = f"{Path(trace[-1].filename).name}:{trace[-1].lineno}" if trace else "unknown"
    return {"failure": type(error).__name__, "at": place}


class ServerLogFormatter(logging.Formatter):
    """Writes the web server's own lines as JSON; of a traceback the class and the line of code."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {"event": record.name, "level": record.levelname.lower()}
        if record.exc_info and record.exc_info[1] is not None:
            line |= place_of_failure(record.exc_info[1])
        else:
            line["words"] = record.getMessage()
        return json.dumps(line, sort_keys=True)


class ServerLogFilter(logging.Filter):
    """Lets warnings through, and that a worker was replaced, which the web server says quietly."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING or record.getMessage().endswith("] died")


SERVER_LOGS: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"()": "letalone.curator.http.logs.ServerLogFormatter"}},
    "filters": {"told": {"()": "letalone.curator.http.logs.ServerLogFilter"}},
    "handlers": {
        "plain": {"class": "logging.StreamHandler", "formatter": "plain", "filters": ["told"]}
    },
    "loggers": {
        name: {"handlers": ["plain"], "level": "INFO", "propagate": False}
        for name in ("uvicorn", "uvicorn.error", "uvicorn.access")
    },
}
