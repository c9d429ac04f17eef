"""Runs one command of letalone in this process, as `letalone …` would."""

import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from unittest.mock import patch

from letalone.cli import main


@dataclass(frozen=True, slots=True)
class Outcome:
    code: int
    out: str
    err: str


def letalone(*words: str) -> Outcome:
    """The exit code and both streams, at 80 columns and without colour."""
    out, err = StringIO(), StringIO()
    plain = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    with (
        patch.dict("os.environ", plain),
        patch.object(sys, "argv", ["letalone", *words]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
    return Outcome(code, out.getvalue(), err.getvalue())


def commands(*path: str) -> Sequence[str]:
    """The names below a group of commands, as it lists them itself."""
    lines = letalone(*path, "--help").out.split("Commands:\n")
    if len(lines) == 1:
        return ()
    return [line.split()[0] for line in lines[1].splitlines() if line[:3].strip() and line.strip()]
