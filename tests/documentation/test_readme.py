"""The README's two lines are the ones that are checked, and its first screen is short."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
LINES = [
    line for block in re.findall(r"```sh\n(.*?)```", README, re.S) for line in block.split("\n")
]


def test_the_first_line_installs_and_runs_the_demo_in_an_environment_of_its_own() -> None:
    line = LINES[0]
    assert line.startswith("python3 -m venv .venv && ")
    assert line.endswith(" && .venv/bin/letalone demo")


def test_after_the_first_line_the_program_is_put_on_the_path() -> None:
    for page in ("README.md", "docs/tutorial/first-answer.md", "docs/how-to/terminal.md"):
        text = (ROOT / page).read_text("utf-8")
        after = text.split(".venv/bin/letalone demo")[-1]
        assert "source .venv/bin/activate" in after, page


def test_the_answer_of_the_first_example_is_of_use(capsys: pytest.CaptureFixture[str]) -> None:
    """The noise of a count at epsilon 0.5 passes 50 once in e^25 (7·10^10) runs."""
    code = re.search(r"```python\n(.*?)```", README, re.S)
    assert code is not None
    exec(code[1], {})
    found = re.match(r"(\d+) ± (\d+) people", capsys.readouterr().out)
    assert found is not None
    answer, error = map(int, found.groups())
    assert answer > 10 * error


def test_the_error_bar_of_a_quotient_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """The page is run 200 times; a bar that holds 95 % of the time fails more than 30 times
    with probability below 1e-6. One of a tenth of the width would fail in most runs."""
    page = (ROOT / "docs/how-to/average.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)[:3]
    names: dict[str, object] = {}
    exec(blocks[0], names)
    exact = float(names["cents"].mean()) / 100  # pyright: ignore[reportAttributeAccessIssue]
    off: list[float] = []
    capsys.readouterr()
    for _ in range(200):
        exec(blocks[1] + blocks[2], names)
        mean, error = map(float, capsys.readouterr().out.splitlines()[-1].split(" ± "))
        off.append(abs(mean - exact) / error)
    assert sum(width > 1 for width in off) <= 30
    assert sum(width > 0.1 for width in off) > 30, "the bar would be too wide to be of use"


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
