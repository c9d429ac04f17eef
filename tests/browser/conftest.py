"""A real Chromium, and services that are started as people start them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from socket import create_connection, socket
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from browser.hospital import made

NAMES = ("chromium", "chromium-browser", "google-chrome")
CODE = "import sys; from letalone.cli.app import run; sys.exit(run(sys.argv[1:]))"
PATIENCE = 60  # seconds: it starts slowly on a busy machine


def chromium_at() -> str | None:
    return next(filter(None, map(which, NAMES)), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    place = chromium_at()
    if place is None:
        pytest.fail(f"None of {', '.join(NAMES)} is installed: apt-get install chromium.")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=place, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that has been used for some months."""
    with serving(made(tmp_path_factory.mktemp("hospital"))) as (address, _):
        yield address


@contextmanager
def serving(folder: Path, *more: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The address of `letalone serve`, and what it printed first."""
    words = ["serve", "--json", "--folder", str(folder), "--port", str(free_port()), *more]
    with (folder.parent / "log.txt").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", CODE, *words],
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        wait_for(first["address"], process)
        yield first["address"], first
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def wait_for(address: str, process: Any) -> None:
    until, port = time.monotonic() + PATIENCE, int(address.rpartition(":")[2])
    while time.monotonic() < until and process.poll() is None:
        try:
            create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("it does not answer")


def free_port() -> int:
    with socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
