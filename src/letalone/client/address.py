"""Where a service is, and whether a token may be sent there.

A token in the clear can be read by everybody on the way, so http:// is for this machine only,
unless that is said to be wanted.

  Tested:   tests/client/test_address.py
"""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from letalone.errors import ParameterError
from letalone.exact.typed import refusal

ALLOWED = "the address of a service, such as 'https://curator.example.org'"
LONGEST = 2000


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """The beginning of every address of a service, without a slash at its end."""

    url: str
    is_encrypted: bool

    def __str__(self) -> str:
        return self.url


def read_address(url: object, *, allow_insecure: bool = False) -> ServiceAddress:
    """The address, if a token may be sent to it."""
    if not isinstance(url, str) or not url.strip() or len(url) > LONGEST:
        raise refusal("url", url, ALLOWED)
    parts = _split(url.strip())
    if parts.username is not None or parts.password is not None:
        raise ParameterError("url has a name or a password in it. Leave them out: give token=.")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise refusal("url", url, ALLOWED)
    if parts.query or parts.fragment:
        raise ParameterError("url has a part after ? or #. Leave it out.")
    is_encrypted = parts.scheme == "https"
    if not is_encrypted and not allow_insecure and not is_local(parts.hostname):
        raise ParameterError(
            f"url begins with http://, and {parts.hostname} is another machine: everybody on the"
            " way could read the token and the answers. Use https://, or, in a network that you"
            " trust, la.Client(…, allow_insecure=True)."
        )
    path = parts.path.rstrip("/").removesuffix("/api/v1")
    return ServiceAddress(f"{parts.scheme}://{parts.netloc}{path}", is_encrypted)


def is_local(host: str) -> bool:
    """Whether this is the same machine, by its name alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost" or host.lower().endswith(".localhost")


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # read here, since a wrong one is found only when it is read
    except ValueError:
        raise refusal("url", url, ALLOWED) from None
    if any(letter.isspace() or not letter.isprintable() for letter in url) or "\\" in url:
        raise refusal("url", url, ALLOWED)
    return parts
