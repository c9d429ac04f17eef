"""One profile for every property test: the same examples on every run, and no clock.

A nightly run asks for fresh examples with `--hypothesis-profile=fresh`, which prints
how to repeat a failure.

Folders whose extra is not installed are not collected, and the header names them; LETALONE_ALL=1
makes that an error.
"""

import os
from importlib.util import find_spec

import mpmath
import pytest
from hypothesis import settings

# Folders of tests, and what they need beside letalone[test].
EXTRAS = {"on_spark": "pyspark", "browser": "playwright"}
ABSENT = {folder: module for folder, module in EXTRAS.items() if find_spec(module) is None}
collect_ignore = sorted(ABSENT)

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("fresh", deadline=None, print_blob=True, max_examples=1000)
settings.load_profile("repeatable")


def pytest_report_header() -> list[str]:
    """What is left out, so that nobody takes it for tested."""
    return [f"not collected: tests/{folder} needs {module}" for folder, module in ABSENT.items()]


def pytest_configure() -> None:
    if ABSENT and os.environ.get("LETALONE_ALL") == "1":
        raise pytest.UsageError(
            f"LETALONE_ALL=1 asks for all tests, but {', '.join(sorted(ABSENT.values()))} is not"
            " installed: pip install 'letalone[test-all]'."
        )


@pytest.fixture(autouse=True)
def sixty_digits():
    """Slow sums are worth something only with more digits than a float, whatever ran before."""
    with mpmath.workdps(60):
        yield
