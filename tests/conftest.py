"""One profile for every property test: the same examples on every run, and no clock.

A nightly run asks for fresh examples with `--hypothesis-profile=fresh`, which prints
how to repeat a failure.
"""

import mpmath
import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("fresh", deadline=None, print_blob=True, max_examples=1000)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def sixty_digits():
    """Slow sums are worth something only with more digits than a float, whatever ran before."""
    with mpmath.workdps(60):
        yield
