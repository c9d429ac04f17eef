"""Reads where people sign in elsewhere: a file `sign-in.toml` in the curator's folder.

issuer = "https://login.example.org"
client = "letalone"
secret_file = "provider.secret"     # in the same folder, or a whole path
name = "St. Mary's"                 # what the button says
"""

import tomllib
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from letalone.errors import ParameterError

NEEDED = ("issuer", "client", "secret_file")
ALLOWED = {*NEEDED, "name"}


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """A provider of OpenID Connect, and who this service is to it."""

    issuer: str
    client: str
    secret: str = field(repr=False)
    name: str = "your organisation"


def read_provider(path: Path) -> ProviderSettings | None:
    """What the file says; None where there is none."""
    if not path.is_file():
        return None
    try:
        fields = tomllib.loads(path.read_text("utf-8"))
    except (ValueError, OSError):
        raise ParameterError(f"{path} cannot be read: it must be TOML.") from None
    wrong = set(fields) - ALLOWED | {name for name in NEEDED if name not in fields}
    if wrong or not all(isinstance(name, str) and name for name in fields.values()):
        raise ParameterError(
            f"{path} must have issuer, client and secret_file, and may have name, each as text."
        )
    secret = _secret(path.parent / fields.pop("secret_file"))
    issuer = check_address(fields.pop("issuer"), what="The issuer")
    return ProviderSettings(issuer=issuer, secret=secret, **fields)


def check_address(address: str, *, what: str) -> str:
    """An address that nobody can read along: https, or this machine's own."""
    try:
        parts = urlsplit(address)
        is_here = parts.scheme == "http" and ip_address(parts.hostname or "").is_loopback
        is_private = is_here or (parts.scheme == "https" and bool(parts.netloc))
    except ValueError:
        is_private = False
    if is_private:
        return address
    raise ParameterError(f"{what} is {address[:200]!r}, but must be an address with https://.")


def _secret(path: Path) -> str:
    try:
        secret = path.read_text("utf-8").strip()
    except (ValueError, OSError):
        secret = ""
    if not secret:
        raise ParameterError(f"{path} must hold the secret that the provider gave this service.")
    return secret
