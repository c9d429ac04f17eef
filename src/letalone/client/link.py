"""One service over HTTP: JSON there and back, errors in letalone's own classes.

Redirects are not followed, so that a token goes to no other place than the one that was named.
An error of the network is told in words and not raised from: what httpx raises holds the request.

  Tested:   tests/client/test_link.py
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from letalone.client.address import Address
from letalone.client.problems import error_of
from letalone.client.secret import Secret
from letalone.errors import LetaloneError, ParameterError, ServiceUnavailable
from letalone.exact.typed import Constraint, Number

if TYPE_CHECKING:
    import httpx

Json = dict[str, Any]
API = "/api/v1"
SECONDS = Constraint("a positive number of seconds", lambda seconds: seconds > 0)
NOT_FOUND, NOTHING = 404, "nothing at this address"
SPENT = " If an answer was under way it may be paid for: ask the same again, a repeat is free."


class Link:
    """Requests to one service, all with the same token; safe among threads."""

    __slots__ = ("_http", "_seconds", "address")

    def __init__(
        self,
        address: Address,
        secret: Secret | None,
        *,
        timeout_seconds: Number,
        transport: Any = None,
    ) -> None:
        self.address = address
        self._seconds = float(SECONDS.typed("timeout_seconds", timeout_seconds))
        self._http: httpx.Client = _httpx().Client(
            base_url=f"{address}{API}",
            headers={"Accept": "application/json", **({} if secret is None else secret.header())},
            timeout=self._seconds,
            transport=transport,
            follow_redirects=False,
            trust_env=address.is_encrypted,  # a proxy could read what is not encrypted
        )

    def get(self, path: str, **params: str | int) -> Json:
        """What is at an address."""
        return self._answered("GET", path, params=params)

    def post(self, path: str, body: Mapping[str, Any]) -> Json:
        """What a body is answered with."""
        return self._answered("POST", path, json=body)

    def close(self) -> None:
        """Closes the connections; what was spent stays spent."""
        self._http.close()

    def _answered(self, method: str, path: str, **more: Any) -> Json:
        if self._http.is_closed:
            raise ParameterError("This client is closed. Make another one: la.Client(…).")
        response = self._response(method, path, more)
        found = _read(response)
        if response.is_success and isinstance(found, dict):
            return cast("Json", found)
        wait = response.headers.get("Retry-After")
        error = error_of(response.status_code, found, where=str(self.address), wait=wait)
        raise self._with_hint(error, response.status_code)

    def _with_hint(self, error: LetaloneError, status: int) -> LetaloneError:
        """A page's address given in place of the service's leads nowhere."""
        path = urlsplit(self.address.url).path
        if status != NOT_FOUND or not path or NOTHING not in str(error):
            return error
        base = self.address.url.removesuffix(path)
        return ParameterError(f"There is no service at {self.address}. Is it at {base}?")

    def _response(self, method: str, path: str, more: Mapping[str, Any]) -> "httpx.Response":
        library = _httpx()
        try:
            return self._http.request(method, path, **more)
        except library.ConnectError as error:
            words = _unreached(str(self.address), error)
        except library.TimeoutException:
            words = f"{self.address} did not answer within {self._seconds:g} seconds.{SPENT}"
            words += " la.Client(…, timeout_seconds=300) waits longer."
        except library.HTTPError:
            words = f"The connection to {self.address} broke off.{SPENT}"
        raise ServiceUnavailable(words)


def _read(response: "httpx.Response") -> object:
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _unreached(address: str, error: Exception) -> str:
    """Why there was no connection; nothing was sent then."""
    said = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return (
            f"{address} is there, but its certificate is not trusted here: {_why(error)}. Nothing"
            " was sent. Where a firm has an authority of its own, name its certificates in the"
            " environment: SSL_CERT_FILE=/path/to/authority.pem."
        )
    if "SSL" in said or "TLS" in said:
        return (
            f"{address} is there, but no encrypted connection came about: {_why(error)}. Nothing"
            " was sent. Look at the address: does https:// belong there, and is it the right port?"
        )
    return (
        f"{address} cannot be reached: {_why(error)}. Look at the address, and whether the service"
        " runs."
    )


def _why(error: Exception) -> str:
    """What the system says of a connection: no header is in it."""
    words = str(error) or "the connection was refused"
    return "".join(letter for letter in words[:200] if letter.isprintable()).rstrip(".")


def _httpx() -> Any:
    try:
        return import_module("httpx")
    except ImportError:
        raise ParameterError(
            "la.Client needs httpx. To install: pip install 'letalone[client]'."
        ) from None
