"""How to add an extra, in the way that letalone itself was installed.

pip writes down where a distribution came from (`direct_url.json`, by PyPA's specification): a
folder, a file, a repository; nothing for what an index gave. A command that names an index would
fail for everybody who has a clone.

  Tested:   tests/errors/test_installing.py
"""

import json
import sys
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

NAME = "letalone"
A_CLONE: dict[str, Any] = {"url": "", "dir_info": {}}  # the source alone, never installed


def not_installed(what: str, package: str, extra: str) -> str:
    """That a package is missing, and the command that brings it."""
    command = how_to_install(extra)
    return f"{what} needs {package}, which is not installed. To install it: {command}."


def how_to_install(extra: str = "") -> str:
    """The command that installs letalone with this extra, and where to type it."""
    wanted, origin = f"[{extra}]" if extra else "", _origin()
    if origin is None:
        return f"pip install {_quote(NAME + wanted)}"
    url = str(origin["url"])
    if "dir_info" in origin:
        editable = "-e " if origin["dir_info"].get("editable") else ""
        command = f"{_pip(url)} install {editable}{_quote('.' + wanted)}"
        return f"{command} in your clone of letalone"
    if "archive_info" in origin and url.startswith("file:"):
        file = PurePosixPath(urlsplit(url).path).name
        return f"pip install {_quote(file + wanted)} in the folder of that file"
    kind = origin.get("vcs_info", {}).get("vcs")
    return f"pip install '{NAME}{wanted} @ {f'{kind}+{url}' if kind else url}'"


def _origin() -> dict[str, Any] | None:
    """Where pip had it from; nothing if from an index."""
    from importlib.metadata import PackageNotFoundError, distribution  # slow, and seldom needed

    try:
        written = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        return A_CLONE
    return None if written is None else json.loads(written)


def _pip(url: str) -> str:
    """The pip of this environment, where it is the clone's own, which nobody has to activate."""
    clone = Path(url2pathname(urlsplit(url).path)) / ".venv"
    return ".venv/bin/pip" if Path(sys.prefix) == clone and sys.platform != "win32" else "pip"


def _quote(asked: str) -> str:
    """Brackets are special in a shell."""
    return f"'{asked}'" if "[" in asked else asked
