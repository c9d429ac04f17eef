"""SIGTERM ends a service of several workers within seconds, whatever they do."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from curator.http.test_serving import CODE, PATIENCE, children, free_port, serving
from letalone.curator.http.serving import SECONDS_TO_END, end_children

BUSY_SECONDS = 5  # what a machine with other work may take more


@pytest.mark.long
def test_a_worker_that_hangs_does_not_keep_the_service_from_ending(tmp_path: Path) -> None:
    with serving(tmp_path / "curator", "--workers", "2") as (process, _, _):
        found = children(process)
        os.kill(found[0], signal.SIGSTOP)
        time.sleep(1.5)  # the supervisor waits for its answer by now
        assert stopped(process) < SECONDS_TO_END + BUSY_SECONDS
        assert not [one for one in found if Path(f"/proc/{one}").exists()]


@pytest.mark.long
def test_workers_that_are_starting_end_as_well(tmp_path: Path) -> None:
    words = ["serve", "--json", "--folder", str(tmp_path / "curator"), "--workers", "2"]
    started = [sys.executable, "-c", CODE, *words, "--port", str(free_port())]
    with subprocess.Popen(started, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(1.5)
        assert stopped(process) < SECONDS_TO_END + BUSY_SECONDS


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_service_that_has_nothing_to_do_ends_in_a_moment_and_without_a_failure(
    tmp_path: Path, workers: str
) -> None:
    with serving(tmp_path / "curator", "--workers", workers) as (process, _, _):
        assert stopped(process) < BUSY_SECONDS


def stopped(process: Any) -> float:
    """How long it took to end; the status says that this was no failure."""
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(2 * PATIENCE) == 0
    return time.monotonic() - began


def deaf() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(PATIENCE)


def test_a_child_that_does_not_end_is_ended() -> None:
    """A fork: it starts at once."""
    child = get_context("fork").Process(target=deaf)
    child.start()
    time.sleep(0.05)
    end_children(0.1)
    assert child.exitcode == -signal.SIGKILL
