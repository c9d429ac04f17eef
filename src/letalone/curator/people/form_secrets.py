"""Keeps the cookie of a visit, and checks the secret in each form.

The cookie holds a visit's secret and 256 bits for its forms, which outlive a new secret, so a
form that is open in another tab can still be sent. Over https the name begins with `__Host-`:
then no other host can have set it. Without https it is given on this machine alone.

  Tested:   tests/curator/console/test_visits.py, test_forms.py
"""

import hmac
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address
from secrets import token_urlsafe

from fastapi import Request, Response

from letalone.curator.http.problems import problem_error

VISIT, BEFORE = "letalone", "letalone-form"
FORM_BYTES = 32
NOT_PRIVATE = (
    "Nobody can sign in here: what is sent could be read on its way. Open the console over https,"
    " or on the machine that it runs on (http://127.0.0.1)."
)
STALE = (
    "This form is from another visit, so nothing was done: you have signed out, or in again, since"
    " it was opened."
)
ELSEWHERE = "This form was sent from another site, so nothing was done."


@dataclass(frozen=True, slots=True)
class Secrets:
    """A visit's secret, where there is one, and what its forms are known by."""

    visit: str | None = field(repr=False)
    forms: str = field(repr=False)

    @property
    def csrf(self) -> str:
        """What each form carries: it says nothing of the cookie."""
        return self._keyed("form", "")

    def seal(self, words: str, *, what: str = "said") -> str:
        """Shows that this service told this browser these words."""
        return self._keyed(what, words)[:32]

    @property
    def is_somebodys(self) -> bool:
        """Whether these secrets were made for a visit, which may be over."""
        return "." in self.forms

    def is_of(self, person: str) -> bool:
        bits, point, mark = self.forms.partition(".")
        return bool(point) and is_same(mark, _mark(bits, person))

    def _keyed(self, what: str, words: str) -> str:
        return hmac.new(_bytes(self.forms), _bytes(f"{what}\0{words}"), sha256).hexdigest()


def new_forms(person: str = "") -> str:
    """Bits for the forms of a new visit, with a mark of whose it is."""
    bits = token_urlsafe(FORM_BYTES)
    return f"{bits}.{_mark(bits, person)}" if person else bits


def secrets_of(request: Request) -> Secrets:
    """The secrets that the browser sent; those for forms are made where there are none."""
    visit, sign, forms = request.cookies.get(cookie_name(request, VISIT), "").partition("~")
    if sign and visit and forms:
        return Secrets(visit, forms)
    return Secrets(None, request.cookies.get(cookie_name(request, BEFORE)) or new_forms())


def keep(request: Request, response: Response, secrets: Secrets) -> None:
    """Puts the secrets into the browser."""
    in_visit = secrets.visit is not None
    visit = f"{secrets.visit}~{secrets.forms}" if in_visit else None
    for name, value in ((VISIT, visit), (BEFORE, None if in_visit else secrets.forms)):
        full = cookie_name(request, name)
        if value is None:
            if full in request.cookies:
                response.delete_cookie(full, path="/", secure=is_https(request), httponly=True)
        elif request.cookies.get(full) != value:
            response.set_cookie(
                full, value, path="/", secure=is_https(request), httponly=True, samesite="strict"
            )


def check_form(request: Request, sent: str) -> None:
    """Refused where a form is not of this visit, or was sent from elsewhere."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    # Browsers say where a form comes from; what says nothing has no cookies to lend.
    if not (is_from_here(request) or (site is None and origin is None)):
        raise problem_error("not-permitted", ELSEWHERE)
    if not is_same(sent, secrets_of(request).csrf):
        raise problem_error("not-permitted", STALE)


def is_from_here(request: Request) -> bool:
    """Whether the browser says that a form was sent from a page of this service."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    is_own = origin is not None and origin.partition("://")[2] == request.headers.get("host")
    return site == "same-origin" or (site is None and is_own)


def check_private(request: Request) -> None:
    """Refused where a password could be read on its way."""
    if not is_https(request) and not _is_here(request.url.hostname or ""):
        raise problem_error("not-permitted", NOT_PRIVATE)


def is_https(request: Request) -> bool:
    """Whether the browser came by https, as the server or its proxy says."""
    return request.url.scheme == "https"


def cookie_name(request: Request, name: str) -> str:
    """The full name of a cookie; over https no other host can have set it."""
    return f"__Host-{name}" if is_https(request) else name


def is_same(sent: str, expected: str) -> bool:
    """Whether what was sent is what this service made; how long it takes does not tell."""
    return hmac.compare_digest(_bytes(sent), expected.encode())


def _mark(bits: str, person: str) -> str:
    return hmac.new(_bytes(bits), _bytes(f"person\0{person}"), sha256).hexdigest()[:32]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
