"""Processes that die: scripts that fork and kill their children, and what they tell."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

EVENTS = ("before_cursor_execute", "after_cursor_execute", "commit")  # of SQLAlchemy


def told_by(script: Path, *arguments: object) -> Any:
    """The JSON that a script prints, run in a process of its own that can import from here."""
    call = [sys.executable, "-W", "ignore", str(script), *map(str, arguments)]
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    where = {**os.environ, "PYTHONPATH": paths.rstrip(os.pathsep)}
    shown = subprocess.run(
        call, capture_output=True, text=True, check=False, timeout=300, env=where
    )
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def in_child(work: Callable[[], None]) -> tuple[int, str]:
    """How the child ended, and what it wrote before."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        os.dup2(theirs, 1)
        work()
        os._exit(0)
    os.close(theirs)
    told = b""
    while part := os.read(ours, 65536):
        told += part
    os.close(ours)
    return os.waitpid(child, 0)[1], told.decode()
