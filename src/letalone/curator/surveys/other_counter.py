"""Talks to the second counter: two calls, as JSON over HTTPS, with a time limit and no redirects.

The address is the operator's (`letalone serve --other-counter`), never a survey's or a person's.
"""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, Request, build_opener

from letalone.curator.surveys.counters import CounterPart
from letalone.errors import ParameterError, ServiceUnavailable

SECONDS = 10.0
MAX_BYTES = 16 << 20
LOOPBACK = ("127.0.0.1", "[::1]", "localhost")
# It stands in the page's policy and in its script: no password, no query, no odd signs.
ADDRESS = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?(/[\w./~-]*)?",
    re.ASCII | re.IGNORECASE,
)


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def check_address(address: str) -> str:
    """The address of the second counter, without a slash at its end: HTTPS, or this machine."""
    match = ADDRESS.fullmatch(address)
    if match is None or (match["scheme"] == "http" and match["host"] not in LOOPBACK):
        raise ParameterError(
            f"The other counter is {address!r}, but must be an address such as"
            " https://counter.example.org."
        )
    return address.rstrip("/")


def ask_to_check(address: str, part: CounterPart, *, nonce: str, told: list[str]) -> list[str]:
    """What the second counter tells about a report; ParameterError where it is not valid."""
    answer = _post(address, part, "checks", {"nonce": nonce, "told": told})
    with _in_words():
        return [str(each) for each in answer["told"]]


def ask_for_total(address: str, part: CounterPart, nonces: list[str]) -> list[list[int]]:
    """The second counter's total of these reports, with its noise."""
    answer = _post(address, part, "totals", {"nonces": nonces})
    wanted = [question.question.outputs for question in part.questions()]
    with _in_words():
        totals = [[int(number) for number in vector] for vector in answer["totals"]]
    if [len(vector) for vector in totals] != wanted:
        raise _away(None)
    return totals


def _post(address: str, part: CounterPart, what: str, body: dict[str, Any]) -> Any:
    at = f"{address}/api/v1/counters/{quote(part.survey.name)}/{what}"
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {part.bearer}"}
    request = Request(at, json.dumps(body).encode(), headers, method="POST")
    try:
        with _in_words(), build_opener(_NoRedirects).open(request, timeout=SECONDS) as answer:
            return json.loads(answer.read(MAX_BYTES))
    except HTTPError as error:
        if error.code == 422:
            raise ParameterError("The other counter finds that this report is not valid.") from None
        raise _away(error.code) from None


@contextmanager
def _in_words() -> Generator[None]:
    """Whatever the other counter sends instead of an answer, it is away."""
    try:
        yield
    except HTTPError:
        raise
    except (
        HTTPException,
        OSError,
        ArithmeticError,
        ValueError,
        TypeError,
        LookupError,
        RecursionError,
    ):
        raise _away(None) from None


def _away(status: int | None) -> ServiceUnavailable:
    what = "cannot be reached" if status is None else f"answers with status {status}"
    return ServiceUnavailable(f"The other counter {what}. Nothing was counted: try again later.")
