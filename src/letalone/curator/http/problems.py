"""Every error as a problem (RFC 9457): a kind, a title, a status and words that can be acted on.

A problem holds what was typed, what is declared and what is public, never a private value: the
messages of letalone's own errors keep to that, and any other exception is told as one fact
without detail. What a validator was given is not repeated, since it may be a password.

  Tested:   tests/curator/http/test_problems.py: every class of error has a kind, no text of an
            unforeseen exception leaves, each status has the right form
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from json import dumps
from typing import Any

from fastapi import Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from letalone import errors
from letalone.errors import BudgetExceeded, LetaloneError, ServiceUnavailable
from letalone.errors.codes import MAYBE_PAID, NOT_WRITTEN, Code
from letalone.errors.in_http import in_http, members_in_http, served_code
from letalone.wire.json_values import budget_as_json

MEDIA_TYPE = "application/problem+json"
WHERE = "/problems/"
AWAY, AWAY_SECONDS = 503, 5  # what cannot be reached now, and when to try again
NOT_FOUND = 404
AMOUNTS = ("spent", "asked", "left", "level")


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """A kind of problem: its status, and what it means in one sentence."""

    status: int
    title: str
    means: str


KINDS: dict[str, ProblemKind] = {
    "parameter": ProblemKind(
        422, "A value is not allowed", "Change the value; the message names it."
    ),
    "unsupported-query": ProblemKind(
        422,
        "The question has no proven private answer",
        "Ask it in one of the ways that are named.",
    ),
    "neighbours-differ": ProblemKind(
        422, "Two guarantees are for different neighbours", "Convert one of them first."
    ),
    "format": ProblemKind(
        422, "A stored text is damaged or newer", "Send what a current letalone wrote."
    ),
    "not-valid": ProblemKind(422, "A field is missing or wrong", "Each of `errors` names a field."),
    "not-json": ProblemKind(400, "The body is not JSON", "Send one JSON object in UTF-8."),
    "not-authenticated": ProblemKind(
        401,
        "Not signed in, or the token is not valid",
        "Send a token that is valid: Authorization: Bearer la_…",
    ),
    "elevation-needed": ProblemKind(
        401, "The password is asked for again", "Call POST /api/v1/elevations, then send its token."
    ),
    "password-change-needed": ProblemKind(
        403, "The one-time password must be changed first", "Call POST /api/v1/passwords."
    ),
    "not-permitted": ProblemKind(
        403, "This is not yours to do", "Ask somebody with the role that the words name."
    ),
    "not-granted": ProblemKind(
        403, "No grant covers this question", "Request one: POST /api/v1/requests."
    ),
    "retired": ProblemKind(
        410, "The data set was retired", "Nothing is answered about it any more; nothing was spent."
    ),
    "not-found": ProblemKind(
        404, "There is no such thing", "Check the name; the lists show what there is."
    ),
    "method-not-allowed": ProblemKind(
        405, "This address does not know the method", "The header Allow names those that it knows."
    ),
    "conflict": ProblemKind(
        409, "This has changed in the meantime", "Look at it again, and decide then."
    ),
    "budget-exceeded": ProblemKind(
        409, "The answer would cost more than is left", "Ask for less; nothing was spent."
    ),
    "body-too-large": ProblemKind(
        413, "The body is too large", "Send less; the words say how much."
    ),
    "body-too-slow": ProblemKind(
        408, "The body came too slowly", "Send it again on a better line."
    ),
    "data-set-frozen": ProblemKind(
        423, "The data set is frozen", "Nothing is answered about it until its owner acts."
    ),
    "too-many-requests": ProblemKind(
        429, "Too many requests", "Wait as many seconds as the header Retry-After says."
    ),
    "too-much-at-once": ProblemKind(
        429,
        "Too much of yours is under way",
        "Wait until some of it is answered, and as many seconds as the header Retry-After says.",
    ),
    "internal": ProblemKind(
        500, "The service failed", "Nothing more is said; its owner finds the place in the log."
    ),
    "ledger-damaged": ProblemKind(
        500, "The ledger is not as it was written", "Tell its owner at once."
    ),
    "ledger-unavailable": ProblemKind(503, "The ledger cannot be reached now", MAYBE_PAID),
    "answer-not-written": ProblemKind(500, "The ledger did not take the answer", NOT_WRITTEN),
    "under-way": ProblemKind(
        503,
        "The same question is being answered at this moment",
        "Ask the same again in a moment: its answer is then a repeat.",
    ),
    "database-unavailable": ProblemKind(
        503, "The curator's database cannot be reached now", MAYBE_PAID
    ),
    "database-damaged": ProblemKind(
        500, "The curator's database is not as it was written", "Tell its owner at once."
    ),
    "service-unavailable": ProblemKind(
        503, "Another service cannot be reached now", "Nothing was released. Try again later."
    ),
    "data-unreadable": ProblemKind(
        503,
        "The data cannot be read now",
        "Nothing is frozen. Its owner has to look at the file or the table that has the rows.",
    ),
    "stopping": ProblemKind(503, "The service is stopping", MAYBE_PAID),
    "not-ready": ProblemKind(
        503,
        "The service cannot answer questions now",
        "`parts` says what cannot be written: make room, or bring it back. Nothing was released.",
    ),
    "http": ProblemKind(400, "The request cannot be served", "The status says why."),
}

# What a field is refused for, where the validator's own words are not plain.
WHY = {
    "missing": "This field is missing.",
    "extra_forbidden": "There is no such field here; /api/v1/openapi.json lists them.",
    "string_pattern_mismatch": "It does not have the right form.",
    "model_attributes_type": "Send one JSON object, with Content-Type: application/json.",
    "dict_type": "It must be a JSON object.",
    "list_type": "It must be a list.",
    "string_type": "It must be text.",
    "string_too_short": "It must have at least {min_length} letters.",
    "string_too_long": "It has more than {max_length} letters.",
    "too_short": "It must have at least {min_length}.",
    "too_long": "It has more than {max_length}.",
    **dict.fromkeys(("bool_type", "bool_parsing"), "It must be true or false."),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "It must be a whole number."),
    **dict.fromkeys(("enum", "literal_error"), "It must be one of: {expected}."),
    "greater_than": "It must be more than {gt:g}.",
    "greater_than_equal": "It must be at least {ge:g}.",
    "less_than": "It must be less than {lt:g}.",
    "less_than_equal": "It must be at most {le:g}.",
    **dict.fromkeys(
        ("datetime_from_date_parsing", "datetime_parsing", "datetime_type"),
        "It must be a time such as 2027-12-31T00:00:00Z.",
    ),
    "timezone_aware": "The time needs its zone, such as Z at the end for UTC.",
    **dict.fromkeys(
        ("date_from_datetime_parsing", "date_parsing", "date_type"),
        "It must be a day such as 2027-12-31.",
    ),
    "number": 'It must be a number such as 0.5, or digits in quotes such as "1/3".',
}
TRIED = {"float", "constrained-str"}  # the ways in which a typed number may be sent


@dataclass(frozen=True, slots=True)
class ProblemDocument:
    """What is sent instead of an answer; `more` are members beside the usual ones."""

    kind: str
    detail: str
    status: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def code(self) -> int:
        return self.status or KINDS[self.kind].status

    @property
    def title(self) -> str:
        """What it is in a few words; `more` may have better ones than the kind."""
        return str(self.more.get("title", KINDS[self.kind].title))

    def to_json(self) -> dict[str, Any]:
        """The members of RFC 9457, and `more`."""
        usual = {"type": WHERE + self.kind, "title": self.title, "status": self.code}
        return {**usual, "detail": self.detail, **self.more}

    def response(self) -> Response:
        content = dumps(self.to_json(), ensure_ascii=False).encode()
        return Response(content, self.code, dict(self.headers), media_type=MEDIA_TYPE)


class HttpProblemError(Exception):
    """Raised where a request ends in a problem."""

    def __init__(self, problem: ProblemDocument) -> None:
        super().__init__(problem.kind)
        self.problem = problem


def problem_error(
    kind: str, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any
) -> HttpProblemError:
    """A problem to raise."""
    return HttpProblemError(ProblemDocument(kind, detail, more=more, headers=headers or {}))


def of_exception(error: Exception) -> ProblemDocument:
    """The problem that an exception is; one that nobody foresaw is raised again."""
    match error:
        case HttpProblemError():
            return error.problem
        case LetaloneError():
            return of_error(error)
        case RequestValidationError():
            return of_validation(error.errors())
        case HTTPException():
            return of_status(error.status_code, error.headers)
        case _:
            raise error


def of_error(error: LetaloneError) -> ProblemDocument:
    """The problem that one of letalone's errors is; its class is named, for clients."""
    problem, code = error.problem, served_code(error.code)
    known = error if code is error.code else getattr(errors, code.error)
    kind = code.value.problem_type or known.problem_type
    name = code.error if code.value.served else type(error).__name__
    more: dict[str, Any] = {"error": name, **members_in_http(problem, budget_as_json)}
    if isinstance(error, BudgetExceeded):
        more |= {name: more["facts"][name] for name in AMOUNTS if name in more["facts"]}
    return ProblemDocument(kind, in_http(problem), more=more, headers=_headers(error, kind))


def _headers(error: LetaloneError, kind: str) -> dict[str, str]:
    if kind == "not-authenticated":
        return {"WWW-Authenticate": "Bearer"}
    if "seconds" in error.facts:
        return {"Retry-After": str(error.facts["seconds"])}
    away = KINDS[kind].status == AWAY and error.code is not Code.DATA_UNREADABLE
    return {"Retry-After": str(AWAY_SECONDS)} if away else {}  # else nobody knows when


def of_validation(errors: Sequence[Mapping[str, Any]]) -> ProblemDocument:
    """Which fields are wrong, and why; never what was sent."""
    if any(error["type"] == "json_invalid" for error in errors):
        return ProblemDocument(
            "not-json", "The body cannot be read as JSON. Send one object in UTF-8."
        )
    whys: dict[str, str] = {}
    for error in errors:
        whys.setdefault(_field(error["loc"]), _why(error))
    words = " ".join(f"{field}: {why}" for field, why in whys.items())
    listed = [{"field": field, "why": why} for field, why in whys.items()]
    return ProblemDocument("not-valid", words, more={"errors": listed})


def _field(place: Sequence[str | int]) -> str:
    """The field as it was sent; which of several types was tried is left out."""
    parts = [str(part) for part in place[1:] if part not in TRIED]
    return ".".join(parts) or str(place[0])


def _why(error: Mapping[str, Any]) -> str:
    if TRIED & set(error["loc"]):
        return WHY["number"]
    words = WHY.get(error["type"])
    if words is None:
        return f"{error['msg']}."
    try:
        return words.format(**error.get("ctx", {}))  # limits that were declared, nothing sent
    except (LookupError, TypeError, ValueError):
        return "It does not have the right form."


def of_status(status: int, headers: Mapping[str, str] | None = None) -> ProblemDocument:
    """The problem of an address or a method that does not exist."""
    kinds = {404: "not-found", 405: "method-not-allowed", 413: "body-too-large"}
    words = {
        404: Code.NO_SUCH_ADDRESS.template,
        405: f"This address does not know the method. It knows: {(headers or {}).get('Allow')}.",
        413: "The body is too large.",
    }
    phrase = words.get(status, f"{HTTPStatus(status).phrase}.")
    more = {"code": Code.NO_SUCH_ADDRESS.name} if status == NOT_FOUND else {}
    return ProblemDocument(kinds.get(status, "http"), phrase, status, more, headers or {})


STOPPING = ProblemDocument(
    "stopping",
    f"The service is stopping, so there is no answer from here. {MAYBE_PAID}",
    more={"error": ServiceUnavailable.__name__},
    headers={"Retry-After": str(AWAY_SECONDS)},
)
INTERNAL = ProblemDocument(
    "internal", "The service failed, and says no more than that. Tell its owner."
)
