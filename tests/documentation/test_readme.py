"""The README's two lines are the ones that are checked, and its first screen is short."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
LINES = [
    line for block in re.findall(r"```sh\n(.*?)```", README, re.S) for line in block.split("\n")
]


def test_the_first_line_installs_and_runs_the_demo_in_an_environment_of_its_own() -> None:
    line = LINES[0]
    assert line.startswith("python3 -m venv .venv && ")
    assert line.endswith(" && .venv/bin/letalone demo")


def test_the_test_line_is_called_word_for_word_by_the_required_checks() -> None:
    (line,) = [line for line in LINES if "pytest" in line]
    assert line in (ROOT / ".ci" / "run").read_text("utf-8")


def test_the_first_screen_has_code_that_prints_an_error_bar_and_epsilon() -> None:
    screen = "\n".join(README.splitlines()[:45])
    code = re.search(r"```python\n(.*?)```", screen, re.S)
    assert code is not None
    written = [line for line in code[1].splitlines() if line.strip()]
    assert len(written) <= 10
    assert "±" in code[1]
    assert "ε" in code[1]
    assert "**Not promised:**" in screen
