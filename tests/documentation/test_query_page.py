"""The commands on the page about querying a file are answered, in their order."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from letalone.cli.app import run

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "query_a_file.md"
LINES = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    for line in block.splitlines()
]


# commands: cli/test_offered_commands.py; the page in Python: test_code_blocks.py
@pytest.mark.long
def test_every_command_on_the_page_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(LINES) > 10
    for line in LINES:
        program, *words = shlex.split(line)
        if program == "python":
            subprocess.run([sys.executable, *words], check=True)
            continue
        assert program == "letalone"
        assert run(words) == 0, capsys.readouterr().err
    assert "wards.svg" in {path.name for path in tmp_path.iterdir()}
