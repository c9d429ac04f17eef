"""Copies a file from elsewhere into a private file of this machine: once, when it is opened.

The copy lies in a folder that nobody else can read, and is removed when the table is closed. Only
its owner lets it be made (`copy=True`): private data come to this disk by a deliberate act. It is
made before any question, so how long that takes, or that it fails, tells nothing of a question.

  Tested:   tests/engines/test_remote_copy.py, with a server of this machine
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, cast
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Spelled, problem, without_context
from letalone.sources.remote_address import WEB, RemoteFile, is_remote, read_remote

TIMEOUT_SECONDS = 60.0


class _SafeRedirects(HTTPRedirectHandler):
    """Follows a redirection only to where it is as safe."""

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        if newurl.startswith("https://") or req.full_url.startswith("http://"):
            return super().redirect_request(req, fp, code, msg, headers, newurl)
        return None


def copy_here(address: str, *, allowed: bool) -> tuple[Path, Callable[[], None]]:
    """The copy of a file, and what removes it."""
    remote = read_remote(address)
    if not allowed:
        raise _not_allowed(remote)
    folder = Path(mkdtemp(prefix="letalone-"))
    remove = _Removal(folder)
    path = folder / remote.file_name.replace("/", "_")
    try:
        without_context(
            lambda: _fetch(remote, path),
            OSError,  # also of urllib
            ValueError,  # of Arrow
            error=lambda error: _make_error(remote, error),
        )
    except BaseException:
        remove()
        raise
    return path, remove


@contextmanager
def local_file(file: str, *, allowed: bool) -> Generator[str]:
    """The file itself; of one elsewhere a copy, for as long as it is needed."""
    if not is_remote(file):
        yield file
        return
    path, remove = copy_here(file, allowed=allowed)
    try:
        yield str(path)
    finally:
        remove()


class _Removal:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def _fetch(remote: RemoteFile, path: Path) -> None:
    with _stream(remote) as source, path.open("xb") as target:
        shutil.copyfileobj(source, target)


def _stream(remote: RemoteFile) -> Any:
    if remote.scheme == WEB:
        opener = build_opener(_SafeRedirects)
        return opener.open(Request(remote.address), timeout=TIMEOUT_SECONDS)
    from pyarrow.fs import FileSystem

    system, _ = cast("Any", FileSystem).from_uri(f"{remote.scheme}://{remote.host}")
    return system.open_input_stream(f"{remote.host}/{remote.path}")


def _make_error(remote: RemoteFile, error: Exception) -> ParameterError:
    why = "it cannot be reached from here, or you may not read it"
    if isinstance(error, HTTPError):
        why = f"the server answered {error.code}"
    return ParameterError(f"{remote.file_name} of {remote.host} could not be copied: {why}.")


def _not_allowed(remote: RemoteFile) -> ParameterError:
    words = (
        f"{remote.file_name} is a file of {remote.host}. It can be copied to this machine, into a"
        " file that nobody else can read and that is removed at the end"
    )
    spelled = Spelled(f"{words}: la.open(…, copy=True).", f"{words}: add --copy.")
    return ParameterError(problem(Code.OTHER, words=spelled))
