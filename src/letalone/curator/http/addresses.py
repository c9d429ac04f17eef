"""Addresses with a NUL sign lead nowhere: no name here has one, and PostgreSQL takes none.

Bodies are held to the same by their shapes (`shapes.NO_NUL`), forms drop it.

  Tested:   tests/curator/http/test_nul.py
"""

from starlette.types import ASGIApp, Receive, Scope, Send

from letalone.curator.http.problems import Problem, of_status

NUL = "\0"


class PlainAddresses:
    """Refuses what has a NUL sign in its path or its query."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        problem = _problem(scope) if scope["type"] == "http" else None
        answer = self._app if problem is None else problem.response()
        await answer(scope, receive, send)


def _problem(scope: Scope) -> Problem | None:
    if NUL in str(scope["path"]):
        return of_status(404)
    query = bytes(scope["query_string"])
    if b"%00" in query or NUL.encode() in query:
        return Problem("not-valid", "The query has a NUL sign in it. Leave it out.")
    return None
