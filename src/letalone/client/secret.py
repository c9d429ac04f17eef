"""A token: given, from the environment, or from a file that nobody else can read.

It is never shown: not by repr, not in an error, not in a log.

  Tested:   tests/client/test_secret.py
"""

import os
import re
import stat
from pathlib import Path
from typing import NoReturn

from letalone.errors import ParameterError
from letalone.exact.typed import expand_home

VARIABLE = "LETALONE_TOKEN"
FILE_VARIABLE = "LETALONE_TOKEN_FILE"
FORM = re.compile(r"la_[A-Za-z0-9_-]{16,200}")
LONGEST_FILE = 10_000
READABLE_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO


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
