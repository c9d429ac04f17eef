"""One service over HTTP: JSON there and back, errors in letalone's own classes.

Redirects are not followed, so that a token goes to no other place than the one that was named.
An error of the network is told in words and not raised from: what httpx raises holds the request.
A question that is paid for is sent under a name of its own, and a few times again under it where
the connection breaks or the service is away: however often it arrives, it is charged once.
An answer is read up to a declared size, however small it is while it is compressed.

  Tested:   tests/client/test_link.py
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from json import loads
from secrets import token_hex
from time import sleep
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from letalone.client.address import Secret, ServiceAddress
from letalone.client.problems import read_error
from letalone.errors import LetaloneError, ParameterError, ServiceUnavailable
from letalone.errors.codes import Code
from letalone.exact.typed import Constraint, Number

if TYPE_CHECKING:
    import httpx

    Heard = tuple[httpx.Response, bytes]

Json = dict[str, Any]
API = "/api/v1"
SECONDS = Constraint("a positive number of seconds", lambda seconds: seconds > 0)
NOT_FOUND = 404
SPENT = " An answer that was under way may be charged already: the same again is not charged twice."
AWAY = 503
MOST_BYTES = 1 << 27  # of an answer as it is read
PLAIN, PACKED = ("", "identity"), ("gzip", "deflate")  # each at most a thousand times smaller
PAUSES = (0.2, 1.0, 3.0)  # seconds, before what must happen once is sent again


@dataclass(frozen=True, slots=True)
class Unheard:
    """Why there is no response, and whether it may help to send the same again at once."""

    words: str
    again: bool = False


class ServiceConnection:
    """Requests to one service, all with the same token; safe among threads."""

    __slots__ = ("_http", "_seconds", "address")

    def __init__(
        self,
        address: ServiceAddress,
        secret: Secret | None,
        *,
        timeout_seconds: Number,
        transport: Any = None,
    ) -> None:
        self.address, token = address, {} if secret is None else secret.header()
        self._seconds = float(SECONDS.typed("timeout_seconds", timeout_seconds))
        self._http: httpx.Client = _httpx().Client(
            base_url=f"{address}{API}",
            headers={"Accept": "application/json", "Accept-Encoding": PACKED[0], **token},
            timeout=self._seconds,
            transport=transport,
            follow_redirects=False,
            trust_env=address.is_encrypted,  # a proxy could read what is not encrypted
        )

    def get(self, path: str, **params: str | int) -> Json:
        return self._answered("GET", path, params=params)

    def post(self, path: str, body: Mapping[str, Any]) -> Json:
        return self._answered("POST", path, json=body)

    def post_once(self, path: str, body: Mapping[str, Any]) -> Json:
        """For what must happen once: if need be it is sent again, under one name."""
        headers = {"Idempotency-Key": token_hex(16)}
        return self._answered("POST", path, PAUSES, json=body, headers=headers)

    def close(self) -> None:
        self._http.close()

    def _answered(self, method: str, path: str, pauses: Sequence[float] = (), **more: Any) -> Json:
        if self._http.is_closed:
            raise ParameterError("This client is closed. Make another one: la.Client(…).")
        heard = self._heard(method, path, more)
        for pause in pauses:
            may_help = heard.again if isinstance(heard, Unheard) else heard[0].status_code == AWAY
            if not may_help:
                break
            sleep(pause)
            heard = self._heard(method, path, more)
        if isinstance(heard, Unheard):
            raise ServiceUnavailable(heard.words)
        response, body = heard
        answer = _read(body)
        if response.is_success and isinstance(answer, dict):
            return cast("Json", answer)
        wait = response.headers.get("Retry-After")
        error = read_error(response.status_code, answer, where=str(self.address), wait=wait)
        raise self._with_hint(error, response.status_code)

    def _with_hint(self, error: LetaloneError, status: int) -> LetaloneError:
        """A page's address given in place of the service's leads nowhere."""
        path = urlsplit(self.address.url).path
        if status != NOT_FOUND or not path or error.code is not Code.NO_SUCH_ADDRESS:
            return error
        base = self.address.url.removesuffix(path)
        return ParameterError(f"There is no service at {self.address}. Is it at {base}?")

    def _heard(self, method: str, path: str, more: Mapping[str, Any]) -> "Heard | Unheard":
        library = _httpx()
        try:
            with self._http.stream(method, path, **more) as response:
                return response, self._body(response)
        except library.ConnectError as error:
            return _not_reached_error(str(self.address), error)
        except library.TimeoutException:
            words = f"{self.address} did not answer within {self._seconds:g} seconds.{SPENT}"
            return Unheard(words + " la.Client(…, timeout_seconds=300) waits longer.")
        except library.HTTPError:
            return Unheard(f"The connection to {self.address} broke off.{SPENT}", again=True)

    def _body(self, response: "httpx.Response") -> bytes:
        """The whole answer; refused where it is larger than any, or packed in another way."""
        packed = response.headers.get("Content-Encoding", "").strip().lower()
        if packed not in (*PLAIN, *PACKED):
            raise ServiceUnavailable(
                f"The answer of {self.address} is packed as {packed[:40]!r}, and only"
                f" {' and '.join(PACKED)} are read. Is there a proxy in between?{SPENT}"
            )
        content = bytearray()
        for part in response.iter_bytes():
            content += part
            if len(content) > MOST_BYTES:
                raise ServiceUnavailable(
                    f"The answer of {self.address} has more than {MOST_BYTES >> 20} MiB, the most"
                    f" that is read. Ask for less at a time: client.history(most=10).{SPENT}"
                )
        return bytes(content)


def _read(body: bytes) -> object:
    try:
        return loads(body)
    except (ValueError, RecursionError):
        return None


def _not_reached_error(address: str, error: Exception) -> Unheard:
    """Why there was no connection; nothing was sent then."""
    words = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in words:
        return Unheard(
            f"{address} is there, but its certificate is not trusted here: {_why(error)}. Nothing"
            " was sent. If your firm has its own authority, name its certificates in the"
            " environment: SSL_CERT_FILE=/path/to/authority.pem."
        )
    if "SSL" in words or "TLS" in words:
        return Unheard(
            f"{address} is there, but no encrypted connection came about: {_why(error)}. Nothing"
            " was sent. Look at the address: does https:// belong there, and is it the right port?"
        )
    return Unheard(
        f"{address} cannot be reached: {_why(error)}. Look at the address, and whether the service"
        " runs.",
        again=True,
    )


def _why(error: Exception) -> str:
    """What the system says of a connection: no header is in it."""
    words = str(error) or "the connection was refused"
    return "".join(letter for letter in words[:200] if letter.isprintable()).rstrip(".")


def _httpx() -> Any:
    try:
        return import_module("httpx")
    except ImportError:
        from letalone.errors.installing import not_installed

        raise ParameterError(not_installed("la.Client", "httpx", "client")) from None
