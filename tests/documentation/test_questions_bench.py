"""bench/questions.py runs: questions of strangers are answered, and answered rightly."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "questions.py"


@pytest.mark.long
@pytest.mark.parametrize(
    ("part", "first", "followed"), [("newcomer", 0.7, 1.0), ("text to sql", 0.9, 0.9)]
)
def test_the_share_that_is_answered_does_not_fall(part, first, followed) -> None:
    """Of some hundred numbers in ranges of 95 %, fewer than 8 in 10 are right by chance in fewer
    than one run of a million."""
    asked = [sys.executable, str(BENCH), "--json", "--only", part]
    found = json.loads(subprocess.run(asked, capture_output=True, check=True, text=True).stdout)
    assert found["first"] >= first
    assert found["followed"] >= followed
    assert found["right_of_answered"] >= 0.8
