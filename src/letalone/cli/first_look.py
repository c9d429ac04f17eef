"""Refuses a file that is not there before a command loads the rest of letalone.

A mistyped name is the most common mistake, and its answer should not wait for databases. Whether
a file that is there can be read is found out later, by the command.
"""

from pathlib import Path

from letalone.errors import ParameterError
from letalone.errors.problem import without_context
from letalone.errors.spelling import did_you_mean
from letalone.exact.typed import expand_home
from letalone.sources.files import KINDS, find_files

ADDRESS = ":"  # in postgresql://… and spark:…, which no file is looked for
PATTERN = set("*?[")


def check_there(file: str) -> None:
    """Refuses a path that leads nowhere, with the nearest name in its folder."""
    path = expand_home(file)
    if ADDRESS in file or set(file) & PATTERN or path.exists():
        return
    without_context(
        lambda: find_files(file),
        ParameterError,
        error=lambda error: error.with_words(f"{_words(error)}{_nearest(path)}"),
    )


def _words(error: ParameterError) -> str:
    from letalone.errors.in_options import in_options

    return in_options(error.problem, str)


def _nearest(path: Path) -> str:
    if not path.parent.is_dir():
        return ""
    tables = [file.name for file in path.parent.iterdir() if file.suffix.lower() in KINDS]
    return did_you_mean(path.name, tables)
