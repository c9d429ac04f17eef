"""One profile for every property test: the same examples on every run, and no clock.

A nightly run asks for fresh examples with `--hypothesis-profile=fresh`, which prints
how to repeat a failure.

Folders whose extra is not installed are not collected, and the header names them; LETALONE_ALL=1
makes that an error. Those that need a JVM or a browser run with LETALONE_ALL=1 only, or where they
are named (`pytest tests/browser`).

Tests marked `long` repeat with many draws what others show with few, or start many processes; they
run with LETALONE_ALL=1, as .ci/run has it. A comment beside the mark names a test that stays.
`few("a", "b")` makes all rows of a table of cases long but those whose id holds one of these words:
one for each branch.

Many tests ask at an ε that makes answers exact, so that they can be compared: there the guard rails
are down. Tests marked `guarded` have them as everybody else does, and so have programs that are
started.
"""

import gc
import os
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from shutil import disk_usage, which
from time import monotonic

import mpmath
import pytest
from hypothesis import settings

from stages import ALL, pick

# Before NumPy is loaded: tests already use all cores, and small sums are slower on many threads.
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(threads, "1")

# Every program that a test starts would compile all of letalone again, for half a second.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Files of the first stage lie in memory where there is room: a ledger waits for the disk at every
# commit, which is half of its tests' time, and no test pulls the plug of the machine.
MEMORY = Path("/dev/shm")
LAST_WAIT_SECONDS = 15  # for threads that a test left behind: none is patient for longer
if not ALL and os.access(MEMORY, os.W_OK) and disk_usage(MEMORY).free > 4 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Folders of the second stage alone, with what they need beside letalone[test]: each worker would
# start a JVM or a browser of its own, or load PyTorch.
EXTRAS = {
    "on_spark": "pyspark",
    "browser": "playwright",
    "in_jupyter": "nbclient",
    "deep_learning": "torch",
    "on_triton": "triton",
}
ABSENT = {folder: module for folder, module in EXTRAS.items() if find_spec(module) is None}
if which("nginx") is None:
    ABSENT["behind_nginx"] = "nginx"  # of the system: apt-get install nginx-light
collect_ignore = sorted(ABSENT) if ALL else sorted({*EXTRAS, *ABSENT})

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=pick(30, 100))
settings.register_profile("fresh", deadline=None, print_blob=True, max_examples=1000)
settings.load_profile("repeatable")


def pytest_report_header() -> list[str]:
    """What is left out, so that nobody takes it for tested."""
    absent = [f"not collected: tests/{folder} needs {module}" for folder, module in ABSENT.items()]
    folders = ",".join(EXTRAS)
    later = f"not run without LETALONE_ALL=1: tests marked long, tests/{{{folders}}}"
    return absent if ALL else [*absent, later]


# Thousands of tests stay until the end: looking through them for garbage again and again would
# take half of the collection's time.
gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    """What still holds a connection when the process ends was leaked, DuckDB's binding says."""
    gc.unfreeze()
    until = monotonic() + LAST_WAIT_SECONDS
    for thread in threading.enumerate():  # a probe of a server that is silent ends by itself
        if thread.daemon and thread is not threading.current_thread() and not _listens(thread):
            thread.join(max(0.0, until - monotonic()))


def _listens(thread: threading.Thread) -> bool:
    """Whether it waits for connections, which may never come."""
    frame = sys._current_frames().get(thread.ident or 0)
    return frame is not None and frame.f_code.co_name == "accept"


@pytest.hookimpl(tryfirst=True)  # before -m looks at the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mark_rows(config, items)
    parted: dict[bool, list[pytest.Item]] = {False: [], True: []}
    for item in items:
        parted[not ALL and item.get_closest_marker("long") is not None].append(item)
    if parted[True]:
        config.hook.pytest_deselected(items=parted[True])
        items[:] = parted[False]


def mark_rows(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks rows as long that `few` does not name; a name that no row has is a mistake."""
    named: dict[tuple[str, str], bool] = {}
    for item in items:
        if few := item.get_closest_marker("few"):
            test = item.nodeid.partition("[")[0]
            row = item.nodeid.removeprefix(test)
            for word in few.args:
                named[test, word] = word in row or named.get((test, word), False)
            if not any(word in row for word in few.args):
                item.add_marker(pytest.mark.long)
    nowhere = [f"{word!r} in {test}" for (test, word), is_there in named.items() if not is_there]
    if nowhere and not any("::" in asked for asked in config.args):
        raise pytest.UsageError(f"few names rows that are not there: {', '.join(nowhere)}")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: runs with LETALONE_ALL=1 only")
    config.addinivalue_line("markers", "guarded: prices that hardly protect need confirm=True")
    config.addinivalue_line("markers", "few(*words): rows whose id holds none of them are long")
    if ABSENT and ALL:
        raise pytest.UsageError(
            f"LETALONE_ALL=1 asks for all tests, but {', '.join(sorted(ABSENT.values()))} is not"
            " installed: pip install -e '.[test-all]'."
        )


@pytest.fixture(autouse=True)
def sixty_digits():
    """Slow sums are worth something only with more digits than a float, whatever ran before."""
    with mpmath.workdps(60):
        yield


@pytest.fixture(autouse=True)
def _lower_guard_rails(  # pyright: ignore[reportUnusedFunction]
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    from letalone.privacy import guard_rails  # some tests need nothing of letalone before

    if request.node.get_closest_marker("guarded") is None:
        monkeypatch.setattr(guard_rails, "MAX_UNCONFIRMED", 10**12)
        monkeypatch.setattr(guard_rails, "NEVER_EXACT", 10**12)
        monkeypatch.setattr(guard_rails, "MAX_THRESHOLD", 10**12)
