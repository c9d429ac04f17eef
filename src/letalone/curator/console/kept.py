"""A form that came after its visit was over: kept through the sign-in for whoever had typed it.

It lies in the page alone, sealed with the secret of the visit that was over, which knows whose it
was: nobody else can plant one or be given one. One whose visit is not known any more is shown to
the browser that sent it from a page of this service, to be sent from there once more. None is
sent on by itself: a page shows where it goes and what is in it, and a release is previewed again.

  Tested:   tests/curator/console/test_kept.py, test_visits.py
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hmac import compare_digest
from json import dumps, loads
from urllib.parse import unquote

from starlette.datastructures import FormData
from starlette.requests import Request

from letalone.curator.console.secrets import secrets_of

FIELD, WHAT = "kept", "kept"
LONGEST = 700_000  # letters: it must fit into a body again
SECRETS = ("password", "password_again", "new", "new_again")
DROPPED = ("csrf", FIELD, "agreed")
RELEASE, PREVIEW = "/ask/release", "/ask/preview"
SIGN_IN = "/sign-in"
NOT_SHOWN = (SIGN_IN, "/sign-out", "/again", "/password")  # of which nothing is left but secrets


@dataclass(frozen=True, slots=True)
class SealedForm:
    """Where a form goes, and what was typed into it."""

    at: str
    fields: list[tuple[str, str]]

    @property
    def words(self) -> str:
        """The address as words."""
        parts = unquote(self.at.partition("?")[0]).strip("/").split("/")
        return " › ".join(part.replace("-", " ") for part in parts if part)


def keep_form(request: Request, at: str) -> str:
    """The form of this request, sealed; "" where it is too long, or of nobody known.

    Its secret was checked. Passwords are left out, and so is what was agreed to.
    """
    kept = _keep_form(request.state.form, at)
    body = urlsafe_b64encode(dumps([kept.at, kept.fields]).encode()).decode()
    secrets = secrets_of(request)
    if not secrets.is_somebodys or len(body) > LONGEST:
        return ""
    return f"{body}.{secrets.seal(body, what=WHAT)}"


def late_form(request: Request, at: str) -> SealedForm | None:
    """A form of another visit, to be shown to who sent it; None where there is nothing to show."""
    form: FormData | None = getattr(request.state, "late", None)
    if form is None:
        return None
    carried = str(form.get(FIELD, "")) if at.startswith(SIGN_IN) else ""
    form_kept = _read(carried) if carried else _keep_form(form, at)
    return None if form_kept is None or form_kept.at.startswith(NOT_SHOWN) else form_kept


def still_kept(request: Request) -> str:
    """What a form of the sign-in page carries on; "" where this service did not seal it."""
    form = getattr(request.state, "form", None)
    text = str(form.get(FIELD, "")) if form is not None else ""
    body, _, seal = text.rpartition(".")
    expected = secrets_of(request).seal(body, what=WHAT)
    return text if body and compare_digest(_bytes(seal), expected.encode()) else ""


def kept_for(request: Request, person: str) -> SealedForm | None:
    """The form that this person had typed; None where there is none of theirs."""
    text = still_kept(request)
    if not text or not secrets_of(request).is_of(person):
        return None
    return _read(text)


def _keep_form(form: FormData, at: str) -> SealedForm:
    fields = [(name, str(value)) for name, value in form.multi_items() if _is_kept(name)]
    return SealedForm(PREVIEW if at.startswith(RELEASE) else at, fields)


def _read(text: str) -> SealedForm | None:
    try:
        at, fields = loads(urlsafe_b64decode(text.rpartition(".")[0]))
        dumps([at, fields], ensure_ascii=False).encode()  # no page can show halves of letters
        return SealedForm(str(at), [(str(name), str(value)) for name, value in fields])
    except (ValueError, TypeError, RecursionError):
        return None


def _is_kept(name: str) -> bool:
    return name not in (*DROPPED, *SECRETS)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
