"""One profile for every property test: the same examples on every run, and no clock.

A nightly run asks for fresh examples with `--hypothesis-profile=fresh`, which prints
how to repeat a failure.

Folders whose extra is not installed are not collected, and the header names them; LETALONE_ALL=1
makes that an error. Tests marked `long` repeat with many draws what others show with few, or start
many processes; they run with LETALONE_ALL=1, as .ci/run has it.
"""

import gc
import os
from importlib.util import find_spec
from shutil import which

import mpmath
import pytest
from hypothesis import settings

# Folders of tests, and what they need beside letalone[test].
EXTRAS = {"on_spark": "pyspark", "browser": "playwright"}
ABSENT = {folder: module for folder, module in EXTRAS.items() if find_spec(module) is None}
if which("nginx") is None:
    ABSENT["behind_nginx"] = "nginx"  # of the system: apt-get install nginx-light
ALL = os.environ.get("LETALONE_ALL") == "1"
collect_ignore = sorted(ABSENT)

settings.register_profile(
    "repeatable", derandomize=True, deadline=None, max_examples=100 if ALL else 50
)
settings.register_profile("fresh", deadline=None, print_blob=True, max_examples=1000)
settings.load_profile("repeatable")


def pytest_report_header() -> list[str]:
    """What is left out, so that nobody takes it for tested."""
    absent = [f"not collected: tests/{folder} needs {module}" for folder, module in ABSENT.items()]
    return absent if ALL else [*absent, "not run: tests marked long, without LETALONE_ALL=1"]


# Thousands of tests stay until the end: looking through them for garbage again and again would
# take half of the collection's time.
gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    gc.unfreeze()  # else a binding says at the end that its objects were leaked


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    parted: dict[bool, list[pytest.Item]] = {False: [], True: []}
    for item in items:
        parted[not ALL and item.get_closest_marker("long") is not None].append(item)
    if parted[True]:
        config.hook.pytest_deselected(items=parted[True])
        items[:] = parted[False]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: runs with LETALONE_ALL=1 only")
    if ABSENT and ALL:
        raise pytest.UsageError(
            f"LETALONE_ALL=1 asks for all tests, but {', '.join(sorted(ABSENT.values()))} is not"
            " installed: pip install 'letalone[test-all]'."
        )


@pytest.fixture(autouse=True)
def sixty_digits():
    """Slow sums are worth something only with more digits than a float, whatever ran before."""
    with mpmath.workdps(60):
        yield
