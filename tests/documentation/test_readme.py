"""The README's two lines are the ones that are checked, and its first screen is short."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from letalone.cli.app import run

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


def test_the_answer_of_the_example_of_one_number_is_of_use(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The noise of a count at epsilon 0.5 passes 50 once in e^25 (7·10^10) runs."""
    _, code = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(f"import letalone as la\n{code}", {})
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


def test_a_sentence_a_picture_a_file_and_pandas_come_before_the_tests() -> None:
    places = [
        README.index(part)
        for part in ("letalone answers", "![", "letalone query", "import pandas", "pytest -q")
    ]
    assert places == sorted(places)
    assert README.count("\n") < 150
    assert "**What it does not promise.**" in README


def test_the_picture_is_of_the_numbers_in_the_text() -> None:
    (place,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    labels = [text.text for text in ET.parse(ROOT / place).iter() if text.text]
    (shown,) = re.findall(r"```console\n.*?───\n(.*?)```", README, re.S)
    groups = [line.split()[0] for line in shown.splitlines()]
    assert groups == [label for label in labels if label in groups]


@pytest.mark.long
def test_the_commands_of_the_terminal_are_answered_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two correct answers are three times both half ranges apart (six half ranges of each) with
    probability below 1e-6 for the noise of all six wards, also where its tails are Laplace's."""
    monkeypatch.chdir(tmp_path)
    (screen,) = re.findall(r"```console\n(.*?)```", README, re.S)
    commands = screen.replace("\\\n", "").split("\n$ ")
    for line in (command.split("\n")[0].removeprefix("$ ") for command in commands):
        program, *words = shlex.split(line)
        if program == "python":
            subprocess.run([sys.executable, *words], check=True)
        else:
            assert run(words) == 0
    numbers = re.compile(r"^(\w+) +[\d,]+ \[([\d,]+), ([\d,]+)\]", re.M)
    printed, now = (
        {name: (int(low.replace(",", "")), int(high.replace(",", ""))) for name, low, high in found}
        for found in (numbers.findall(screen), numbers.findall(capsys.readouterr().out))
    )
    assert len(printed) == 6
    assert printed.keys() == now.keys()
    for name, (low, high) in printed.items():
        (least, most), half_ranges = now[name], (high - low + now[name][1] - now[name][0]) / 2
        assert abs(low + high - least - most) / 2 < 3 * half_ranges, name
    assert (tmp_path / "answer.svg").exists()
