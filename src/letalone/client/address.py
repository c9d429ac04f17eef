"""Where a service is, whether a token may be sent there, and the token.

A token in the clear can be read by everybody on the way, so http:// is for this machine only,
unless that is said to be wanted.

A token is given, or comes from the environment, or from a file that nobody else can read. It is
never shown: not by repr, not in an error, not in a log.

  Tested:   tests/client/test_address.py, tests/client/test_secret.py
"""

import os
import re
import stat
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import NoReturn
from urllib.parse import SplitResult, urlsplit

from letalone.errors import ParameterError
from letalone.exact.typed import expand_home, refusal

ALLOWED = "the address of a service, such as 'https://curator.example.org'"
LONGEST = 2000
VARIABLE = "LETALONE_TOKEN"
FILE_VARIABLE = "LETALONE_TOKEN_FILE"
FORM = re.compile(r"la_[A-Za-z0-9_-]{16,200}")
LONGEST_FILE = 10_000
READABLE_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO


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


class Secret:
    """A token that hides itself."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def header(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._text}"}

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A token is not pickled: give it where it is needed.")


def read_secret(
    token: object = None, *, token_file: str | os.PathLike[str] | None = None
) -> Secret:
    """The token: given, or in a file, or in LETALONE_TOKEN, or in the file it names."""
    if token is not None and token_file is not None:
        raise ParameterError("Give either token or token_file, and not both.")
    if token is not None:
        return _check_token(token, "token")
    if token_file is not None:
        return _from_file(expand_home(token_file))
    if VARIABLE in os.environ:
        return _check_token(os.environ[VARIABLE].strip(), VARIABLE)
    if FILE_VARIABLE in os.environ:
        return _from_file(expand_home(os.environ[FILE_VARIABLE]))
    raise ParameterError(
        f"There is no token. Give token=, or token_file=, or set {VARIABLE}; la.Client.log_in(url,"
        " name) gets one for a password."
    )


def _from_file(path: Path) -> Secret:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(LONGEST_FILE)
    except OSError as error:
        raise ParameterError(f"The token file {path} cannot be read: {error.strerror}.") from None
    if os.name == "posix" and mode & READABLE_BY_OTHERS:
        raise ParameterError(
            f"The token file {path} can be read or changed by others. Keep it to yourself: chmod"
            f" 600 {path}. If others may have read it, revoke the token."
        )
    return _check_token(content.decode("utf-8", "replace").strip(), f"The token file {path}")


def _check_token(token: object, place: str) -> Secret:
    if not isinstance(token, str) or not FORM.fullmatch(token):
        raise ParameterError(
            f"{place} has no token of this service: one begins with la_ and has no spaces. (It is"
            " not repeated here.)"
        )
    return Secret(token)
