"""Reads the address of a file elsewhere: https://host/visits.csv, s3://bucket/visits.parquet, gs://.

Such a file is copied to this machine when it is opened (engines/remote_copy.py), and never again
while it is open. Its schema file and its ledger lie in the working folder: HOST.NAME.letalone.toml
and HOST.letalone.db, of a bucket s3.BUCKET.NAME.letalone.toml and s3.BUCKET.letalone.db.

  Theorem.  Two ways to write one address give one identity: the host in small letters, without the
  usual port or a last dot; the path with the same letters written as in addresses; without its
  ending, as files beside each other are one table. http and https are one.
  Proven:   what else could differ is refused: a user, a password, a query, a fragment, and parts of
            a path that are empty or dots. A key of a bucket is taken as it is written.
  Tested:   tests/sources/test_remote_address.py, tests/sources/test_one_budget.py
  Assumed:  not covered: a second name of a host, a redirection, a server that tells no capitals
            apart: these are other tables here
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard
from urllib.parse import quote, unquote, urlsplit

from letalone.errors import ParameterError
from letalone.sources.files import SINGLE, ending_of, stem_of

WEB, S3, GOOGLE = "https", "s3", "gs"
SCHEMES = {
    "https://": WEB, "http://": WEB, "s3://": S3, "s3a://": S3, "gs://": GOOGLE, "gcs://": GOOGLE,
}  # fmt: skip
USUAL_PORTS = {"https": 443, "http": 80}
LOCAL = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file elsewhere; `address` is what is fetched."""

    scheme: str
    host: str
    path: str
    address: str

    @property
    def file_name(self) -> str:
        """The last part of the path."""
        return unquote(self.path.rsplit("/", 1)[-1]) if self.scheme == WEB else self._last

    @property
    def _last(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def name(self) -> str:
        """The file's name without its endings, which the data set is called by."""
        return stem_of(Path(self.file_name))

    @property
    def whole(self) -> str:
        """The one spelling, without the ending."""
        above = self.path[: len(self.path) - len(self._last)]
        return f"{self.scheme}://{self.host}/{above}{self.name}"

    @property
    def stand_in(self) -> Path:
        """A path in the working folder beside which its schema file and its ledger lie."""
        before = "" if self.scheme == WEB else f"{self.scheme}."
        return Path(f"{before}{quote(self.host, safe='')}.remote")


def is_remote(source: object) -> TypeGuard[str]:
    """Whether this is the address of a file elsewhere."""
    return isinstance(source, str) and source.startswith(tuple(SCHEMES))


def read_remote(written: str) -> RemoteFile:
    """The file at an address; nothing is connected to."""
    prefix = next(prefix for prefix in SCHEMES if written.startswith(prefix))
    scheme = SCHEMES[prefix]
    file = _on_web(written) if scheme == WEB else _in_bucket(written, prefix, scheme)
    if ending_of(Path(file.file_name)) not in SINGLE:
        raise ParameterError(
            f"The address of a file must end in one of {', '.join(SINGLE)}. Copy other files here"
            " yourself, and open the copy."
        )
    return file


def _on_web(written: str) -> RemoteFile:
    parts = urlsplit(written)
    if "@" in parts.netloc or "?" in written or "#" in written:
        raise ParameterError(
            "The address has a user, a password, a ? or a #, which may be a secret, and would make"
            " several addresses of one file. Copy the file here yourself, and open the copy."
        )
    host = (parts.hostname or "").rstrip(".")
    if not host or (parts.scheme == "http" and host not in LOCAL):
        raise ParameterError("The address must begin with https:// and name a host.")
    try:
        port = parts.port or USUAL_PORTS[parts.scheme]
    except ValueError:
        raise ParameterError("The port of the address is not a number.") from None
    where = host if port == USUAL_PORTS[parts.scheme] else f"{host}:{port}"
    names = [unquote(part) for part in parts.path.split("/")[1:]]
    _check_parts(names)
    path = "/".join(quote(name, safe="") for name in names)
    return RemoteFile(WEB, where, path, f"{parts.scheme}://{where}/{path}")


def _in_bucket(written: str, prefix: str, scheme: str) -> RemoteFile:
    bucket, _, key = written.removeprefix(prefix).partition("/")
    if not bucket or "@" in bucket or ":" in bucket or "?" in key:
        raise ParameterError(f"The address must be {prefix}bucket/path, without a secret.")
    _check_parts(key.split("/"))
    return RemoteFile(scheme, bucket, key, f"{scheme}://{bucket}/{key}")


def _check_parts(parts: list[str]) -> None:
    if not parts or any(part in ("", ".", "..") for part in parts):
        raise ParameterError(
            "The path of the address must name a file, without empty parts, . or .. between its"
            " slashes."
        )
