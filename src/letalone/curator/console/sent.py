"""Counts and bounds forms as they arrive, before anything is read; keeps those that are late.

Who has no visit that holds is counted by address first, and so is whoever sends a wrong secret.
Of files nothing is read here, so the secret of their form stands in its address.

A form that came after its visit was over is kept through the sign-in for whoever had typed it. It
lies in the page alone, sealed with the secret of the visit that was over, which knows whose it
was: nobody else can plant one or be given one. One whose visit is not known any more is shown to
the browser that sent it from a page of this service, to be sent from there once more. None is
sent on by itself: a page shows where it goes and what is in it, and a release is previewed again.

  Tested:   tests/curator/console/test_sent.py, test_kept.py, test_visits.py
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from json import dumps, loads
from urllib.parse import parse_qsl, unquote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request

from letalone.curator.http.middleware import CONSOLE_UPLOADS, FILES, media_type
from letalone.curator.http.problems import HttpProblemError, ProblemDocument, problem_error
from letalone.curator.people.access import count_address
from letalone.curator.people.form_secrets import check_form, is_from_here, is_same, secrets_of
from letalone.curator.people.visitors import holds, visitor_of

TYPED = "application/x-www-form-urlencoded"
MAX_FIELDS, MAX_FIELDS_DECLARED = 2_000, 20_000
DECLARING = "/register/declare"
LARGE_FORM = 1 << 15  # bytes; from here on others do not wait while a form is read
NOT_A_FORM = (
    "This address takes a form as a browser sends it, and no files. Files go to the page where a"
    " data set is registered or renewed."
)
NO_FILES = "This address takes a file: send the form as multipart/form-data."
KEPT = "kept"  # the field, and what the seal is of
MAX_SEALED_LENGTH = 700_000  # letters: it must fit into a body again
SECRETS = ("password", "password_again", "new", "new_again")
DROPPED = ("csrf", KEPT, "agreed")
RELEASE, PREVIEW = "/ask/release", "/ask/preview"
SIGN_IN = "/sign-in"
NOT_SHOWN = (SIGN_IN, "/sign-out", "/again", "/password")  # of which nothing is left but secrets


async def check_sent(request: Request) -> None:
    """Reads a form into `request.state.form`, if its secret is right; Refused.

    One of another visit, sent from a page of this service, is left in `request.state.late`: it is
    shown again, and nothing else is done with it.
    """
    service = request.app.state.service
    held = await run_in_threadpool(holds, request, service)
    if not held:
        count_address(request, service)
    form = await _form(request)
    secret = request.query_params.get("csrf", "") if form is None else form.get("csrf", "")
    try:
        check_form(request, str(secret))
    except HttpProblemError:
        count_address(request, service)
        if form is not None and is_from_here(request):
            request.state.late = form
            await run_in_threadpool(visitor_of, request, service)
        raise
    if form is not None:
        if request.url.path == CONSOLE_UPLOADS:
            raise HttpProblemError(ProblemDocument("http", NO_FILES, 415))
        request.state.form = form


async def _form(request: Request) -> FormData | None:
    """What was typed; None of a file, which its route reads."""
    kind = request.headers.get("content-type", "")
    if media_type(kind) == FILES:
        if request.url.path != CONSOLE_UPLOADS:
            raise HttpProblemError(ProblemDocument("http", NOT_A_FORM, 415))
        return None
    body = await request.body() if kind.lower().startswith(TYPED) else b""
    max_fields = MAX_FIELDS_DECLARED if request.url.path == DECLARING else MAX_FIELDS
    if body.count(b"&") >= max_fields:
        raise problem_error("body-too-large", f"The form has more than {max_fields:,} fields.")
    return await run_in_threadpool(_read, body) if len(body) > LARGE_FORM else _read(body)


def _read(body: bytes) -> FormData:
    pairs = parse_qsl(body.decode("latin-1"), keep_blank_values=True)
    return FormData([(name, value) for name, value in pairs])


@dataclass(frozen=True, slots=True)
class SealedForm:
    """Where a form goes, and what was typed into it."""

    at: str
    fields: list[tuple[str, str]]

    @property
    def words(self) -> str:
        parts = unquote(self.at.partition("?")[0]).strip("/").split("/")
        return " › ".join(part.replace("-", " ") for part in parts if part)


def keep_form(request: Request, at: str) -> str:
    """The form of this request, sealed; "" where it is too long, or of nobody known.

    Its secret was checked. Passwords are left out, and so is what was agreed to.
    """
    kept = _keep_form(request.state.form, at)
    body = urlsafe_b64encode(dumps([kept.at, kept.fields]).encode()).decode()
    secrets = secrets_of(request)
    if not secrets.is_somebodys or len(body) > MAX_SEALED_LENGTH:
        return ""
    return f"{body}.{secrets.seal(body, what=KEPT)}"


def late_form(request: Request, at: str) -> SealedForm | None:
    """A form of another visit, to be shown to who sent it; None where there is nothing to show."""
    form: FormData | None = getattr(request.state, "late", None)
    if form is None:
        return None
    carried = str(form.get(KEPT, "")) if at.startswith(SIGN_IN) else ""
    late = _unseal(carried) if carried else _keep_form(form, at)
    return None if late is None or late.at.startswith(NOT_SHOWN) else late


def still_kept(request: Request) -> str:
    """What a form of the sign-in page carries on; "" where this service did not seal it."""
    form = getattr(request.state, "form", None)
    text = str(form.get(KEPT, "")) if form is not None else ""
    body, _, seal = text.rpartition(".")
    return text if body and is_same(seal, secrets_of(request).seal(body, what=KEPT)) else ""


def kept_for(request: Request, person: str) -> SealedForm | None:
    """The form that this person had typed; None where there is none of theirs."""
    text = still_kept(request)
    if not text or not secrets_of(request).is_of(person):
        return None
    return _unseal(text)


def _keep_form(form: FormData, at: str) -> SealedForm:
    left_out = (*DROPPED, *SECRETS)
    fields = [(name, str(value)) for name, value in form.multi_items() if name not in left_out]
    return SealedForm(PREVIEW if at.startswith(RELEASE) else at, fields)


def _unseal(text: str) -> SealedForm | None:
    try:
        at, fields = loads(urlsafe_b64decode(text.rpartition(".")[0]))
        dumps([at, fields], ensure_ascii=False).encode()  # no page can show halves of letters
        return SealedForm(str(at), [(str(name), str(value)) for name, value in fields])
    except (ValueError, TypeError, RecursionError):
        return None
